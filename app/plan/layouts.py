"""Cache layouts by structural state: the replay of what is left after removal, a new model or another tier.

Only levers that touch a scope with a layout candidate change its replay, so most coalitions share one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from app.core.usage import TOKEN_CLASSES
from app.levers.lever import SCOPE, Draw
from app.plan import cells as cells_of
from app.plan.cells import LAYOUT_STAGE
from app.plan.game import players as members_of
from app.replay.capture import Capture, Captures
from app.replay.layout import apply_layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.levers.lever import Candidate
    from app.plan.cells import Accepted
    from app.plan.outcomes import Players
    from app.warehouse.store import Session


def replay_prompts(session: Session, stream: str, into: str, candidates: Sequence[Candidate]) -> None:
    """Replay the candidates' layouts at the capture rates that each of them was calibrated with."""
    rates: dict[tuple[str, ...], Capture] = {}
    for item in candidates:
        held = item.params
        capture = Capture(held["kappa"], held["kappa_p10"], held["kappa_p90"], 0 if held["kappa_assumed"] else 1)
        rates[item.scope.provider, item.scope.model_id] = capture
        rates.setdefault((item.scope.provider,), capture)
    apply_layout(session, stream, into, candidates, None, Captures(rates))


@dataclass(slots=True)
class Layouts:
    """Replays layouts on demand and remembers them."""

    session: Session
    accepted: Sequence[Accepted]
    players: Players
    cells: pl.DataFrame
    _tables: dict[tuple[str, ...], str] = field(default_factory=dict)
    _folded: dict[str, pl.DataFrame] = field(default_factory=dict)

    def of(self, mask: int) -> pl.DataFrame | None:
        """The replayed split by cell for a coalition, or None where nobody proposes a layout."""
        table = self.table(mask)
        if table is None:
            return None
        if table not in self._folded:
            self._folded[table] = self.session.frame("plan.layout_cells", {"keyed": "cell_of", "layout": table})
        return self._folded[table]

    def table(self, mask: int) -> str | None:
        """The temporary table with the replayed split by request."""
        planners = [item for item in self.accepted if item.lever.stage == LAYOUT_STAGE and item.candidates]
        if not planners:
            return None
        structural = sum(1 << place for place in members_of(mask) if self._matters(place))
        key = tuple(sorted(self.players.all[place].lever for place in members_of(structural)))
        if key not in self._tables:
            self._tables[key] = self._replayed(structural, planners, f"layout_state_{len(self._tables)}")
        return self._tables[key]

    def take_over(self, earlier: Layouts) -> None:
        """Keep the replay of the untouched stream where the same layouts are proposed as in an earlier round."""
        table = earlier._tables.get(())
        if table is not None and self._proposed() == earlier._proposed():
            self._tables[()] = table

    def _proposed(self) -> list[int]:
        return [id(one) for item in self.accepted if item.lever.stage == LAYOUT_STAGE for one in item.candidates]

    def _matters(self, place: int) -> bool:
        """Whether a player changes requests in a scope that has a layout candidate."""
        player = self.players.all[place]
        if player.stage >= LAYOUT_STAGE:
            return False
        planned = pl.any_horizontal(
            [
                pl.col(f"at_{item.lever.name}").is_not_null()
                for item in self.accepted
                if item.lever.stage == LAYOUT_STAGE
            ]
        )
        scopes = self.cells.filter(planned).select(SCOPE).unique()
        touched = self.cells.filter(pl.col(f"at_{player.lever}").is_in(sorted(player.indices)))
        return touched.join(scopes, on=list(SCOPE), how="semi", nulls_equal=True).height > 0

    def _replayed(self, structural: int, planners: Sequence[Accepted], into: str) -> str:
        stream = "stream"
        if structural:
            stream = f"{into}_stream"
            self.session.register("plan_state", self._state(structural))
            self.session.execute("plan.stream_after", {"into": stream, "state": "plan_state"})
        candidates = [candidate for item in planners for candidate in item.candidates]
        replay_prompts(self.session, stream, into, candidates)
        return into

    def _state(self, structural: int) -> pl.DataFrame:
        """What becomes of a request by its candidates and model: kept or not, model, tier, tokens a token."""
        marks = [f"at_{item.lever.name}" for item in self.accepted]
        kinds = self.cells.unique(subset=["code", "provider", "model_id"], maintain_order=True).with_columns(
            is_batch=pl.lit(False),
            requests=pl.lit(1, dtype=pl.Int64),
            **{name: pl.lit(1.0 if name == "tok_input" else 0.0) for name in TOKEN_CLASSES},
        )
        active = self.players.active(structural)
        after = cells_of.apply(kinds.lazy(), self.accepted, active, Draw()).collect()
        return pl.DataFrame(
            {
                "code": kinds["code"],
                "provider": kinds["provider"],
                "model_id": kinds["model_id"],
                "keep": after["share"] > 0,
                "new_provider": after["provider"],
                "new_model_id": after["model_id"],
                "new_is_batch": after.select(moved=pl.when(pl.col("is_batch")).then(pl.lit(True)))["moved"],
                "ratio": after["tok_input"],
            }
        ).filter(pl.any_horizontal([kinds[mark].is_not_null() for mark in marks]))
