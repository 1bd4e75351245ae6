"""The analysis: stream -> levers -> cells -> coalitions -> one joint plan with intervals and evidence."""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.control import findings as decisions
from app.levers import LEVERS
from app.plan import cells as cells_of
from app.plan import options, store, window
from app.plan.assemble import Analysis, Found, Priced, assemble
from app.plan.cells import Accepted
from app.plan.evidence import evidence, moves
from app.plan.intervals import MIN_CLUSTERS, Quantiles
from app.plan.layouts import Layouts
from app.plan.outcomes import Engine, outcomes, seat
from app.plan.rates import Lookup
from app.plan.shares import ScopeGame, share_out
from app.plan.spread import Spread, spread
from app.plan.window import DAY_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine as ControlEngine

    from app.levers.lever import Candidate, Lever
    from app.plan.outcomes import Outcomes
    from app.plan.rates import Book
    from app.plan.result import PlanResult
    from app.plan.window import Window
    from app.warehouse.store import Session, Warehouse

FLOOR_PUSD_A_DAY: Final = 10**12 // 30
FLOOR_SHARE: Final = 0.001


def fingerprint(candidate: Candidate) -> str:
    """The identity of a finding: its lever and scope, the same in every analysis."""
    text = f"{candidate.lever}\x00{candidate.scope.provider}\x00{candidate.scope.text()}"
    return blake2b(text.encode(), digest_size=8).hexdigest()


def analyse(
    warehouse: Warehouse,
    book: Book,
    control: ControlEngine | None,
    *,
    from_us: int,
    to_us: int,
    zone: str,
    seed: int = 0,
    levers: Sequence[Lever] = LEVERS,
    now_us: int | None = None,
) -> PlanResult:
    """Analyse a half-open window, store the run and return it. Days are cut in `zone`.

    Dismissed findings (in `control`) are priced alone and left out of the joint plan. Candidates whose stand-alone
    saving is below $1 per 30 days or 0.1 % of what their requests cost are no findings.

    Raises:
        UsageError: no such zone.
    """
    computed_us = time.time_ns() // 1000 if now_us is None else now_us
    dismissed = _dismissed(control, computed_us)
    with warehouse.session() as session:
        loaded = window.load(session, from_us, to_us, zone)
        session.register("model_options", options.frame(session, book, loaded.last_us))
        found = [
            Found(lever, candidate, fingerprint(candidate)) for lever in levers for candidate in lever.detect(session)
        ]
        [(summed,)] = session.rows("plan.summed")
        passed_over = {"rows_that_sum_calls_passed_over": summed} if summed else {}
        said = {lever.name: {**lever.data(session), **passed_over} for lever in levers}
        pricing = _Pricing(session, loaded, Lookup(book), levers)
        analysis = pricing.analysis(found, dismissed, seed)
    result = assemble(analysis, said, run_id=computed_us, computed_us=computed_us, book=book.version)
    if control is not None:
        seen = [(item.fingerprint, item.lever, item.scope) for item in result.findings]
        decisions.note_seen(control, seen, computed_us)
        result = store.with_decisions(result, control, computed_us)
    store.save(warehouse, result, analysis.games, analysis.players)
    return result


def _dismissed(control: ControlEngine | None, now_us: int) -> frozenset[str]:
    if control is None:
        return frozenset()
    states = decisions.states(control, now_us)
    return frozenset(key for key, state in states.items() if state.status == "dismissed")


@dataclass(frozen=True, slots=True)
class _Pricing:
    """One analysis session with its loaded stream."""

    session: Session
    window: Window
    lookup: Lookup
    levers: Sequence[Lever]

    def analysis(self, found: Sequence[Found], dismissed: frozenset[str], seed: int) -> Analysis:
        clusters, days, active = self._extent()
        kept, layouts = self._worthwhile(found, active)
        small = len(found) - len(kept)
        if not kept:
            nothing = Spread({}, _nothing(clusters), clusters)
            return Analysis(self.window, days, seat([]), (), nothing, (), dismissed, small)
        engine, layouts = self._engine(kept, layouts)
        outcome = outcomes(engine, engine.players.needed())
        owned = _owners(engine, kept)
        games = _games(outcome, owned)
        shares = share_out(games, engine.players.joint, dismissed)
        spreads = spread(engine, outcome, games, shares.choice, seed=seed)
        priced = self._priced(engine, layouts, kept)
        return Analysis(self.window, days, engine.players, games, spreads, priced, dismissed, small)

    def _extent(self) -> tuple[int, int, int]:
        """Clusters, local days, and local days with requests.

        Thirty times 24 hours are thirty days though they touch 31 dates.
        """
        [(clusters, first, last, active)] = self.session.rows("plan.clusters")
        if first is None:
            return clusters, 0, 0
        whole = -((self.window.from_us - self.window.to_us) // DAY_US)
        return clusters, min((last - first).days + 1, whole), active

    def _engine(self, found: Sequence[Found], earlier: Layouts | None = None) -> tuple[Engine, Layouts]:
        accepted = [
            Accepted(lever, tuple(item.candidate for item in found if item.lever is lever)) for lever in self.levers
        ]
        accepted = [item for item in accepted if item.candidates]
        cells = cells_of.fold(self.session, accepted)
        players = seat(accepted)
        layouts = Layouts(self.session, accepted, players, cells)
        if earlier is not None:
            layouts.take_over(earlier)
        return Engine(cells, accepted, players, self.lookup, layouts.of), layouts

    def _worthwhile(self, found: Sequence[Found], active_days: int) -> tuple[list[Found], Layouts | None]:
        """The candidates that save enough alone to be worth reading, and the layouts replayed on the way.

        The floor grows with the days that had requests: a few old records must not raise it for everybody else.
        """
        if not found:
            return [], None
        engine, layouts = self._engine(found)
        outcome = outcomes(engine, [1 << place for place in range(len(engine.players.all))])
        alone: dict[str, int] = {}
        before: dict[str, int] = {}
        for game in _games(outcome, _owners(engine, found)):
            for player, owner in game.owners.items():
                alone[owner] = alone.get(owner, 0) + max(game.saved[1 << player], 0)
                before[owner] = before.get(owner, 0) + game.before_pusd
        floor = FLOOR_PUSD_A_DAY * active_days
        kept = [
            item
            for item in found
            if (saved := alone.get(item.fingerprint, 0)) >= floor
            and saved > FLOOR_SHARE * before.get(item.fingerprint, 0)
        ]
        return kept, layouts

    def _priced(self, engine: Engine, layouts: Layouts, found: Sequence[Found]) -> tuple[Priced, ...]:
        places = _places(engine, found)
        wanted = {item.fingerprint: (places[item.fingerprint][0], item.candidate.evidence) for item in found}
        rows = evidence(self.session, engine, layouts, wanted)
        moved = {player: moves(engine, player) for player in {player for player, _ in places.values()}}
        sizes = _sizes(engine)
        priced = []
        for item in found:
            player, index = places[item.fingerprint]
            requests, before = sizes.get((item.lever.name, index), (0, 0))
            example = rows.get(item.fingerprint, ())
            priced.append(Priced(item, requests, before, moved[player].get(index, []), example))
        return tuple(priced)


def _sizes(engine: Engine) -> dict[tuple[str, int], tuple[int, int]]:
    """Requests that each candidate touches and what they cost, by lever and index."""
    sizes = {}
    for item in engine.accepted:
        column = f"at_{item.lever.name}"
        sums = engine.cells.filter(pl.col(column).is_not_null()).group_by(column)
        for index, requests, cost in sums.agg(pl.col("requests").sum(), pl.col("cost_pusd").sum()).iter_rows():
            sizes[item.lever.name, index] = (requests, cost)
    return sizes


def _nothing(clusters: int) -> Quantiles | None:
    """The spread of an empty plan: sure to be nothing where the log is long enough to tell."""
    return Quantiles(0, 0, 0) if clusters >= MIN_CLUSTERS else None


def _places(engine: Engine, found: Sequence[Found]) -> dict[str, tuple[int, int]]:
    """Where a finding sits: its player, and its index among its lever's candidates."""
    by_identity = {id(item.candidate): item.fingerprint for item in found}
    places: dict[str, tuple[int, int]] = {}
    for place, player in enumerate(engine.players.all):
        accepted = next(item for item in engine.accepted if item.lever.name == player.lever)
        for index in player.indices:
            places[by_identity[id(accepted.candidates[index])]] = (place, index)
    return places


def _owners(engine: Engine, found: Sequence[Found]) -> list[tuple[int, int, str]]:
    """(group, player, fingerprint) for every scope that a finding touches."""
    return engine.owners({place: owner for owner, place in _places(engine, found).items()})


def _games(outcome: Outcomes, owned: Sequence[tuple[int, int, str]]) -> tuple[ScopeGame, ...]:
    owners: dict[int, dict[int, str]] = {}
    for group, player, owner in owned:
        owners.setdefault(group, {})[player] = owner
    rows: list[dict[str, Any]] = outcome.groups().sort("group").to_dicts()
    return tuple(
        ScopeGame(
            before_pusd=row["before_pusd"],
            owners=owners.get(row["group"], {}),
            saved={mask: row[f"m{mask}"] for mask in outcome.masks},
        )
        for row in rows
    )
