"""Two sources that tell of the same calls but share no id: found by model, tokens and start, and kept from adding up.

Twins are calls of two sources that are each other's nearest, of the same model and tokens, at most NEAR_US apart. What
chance would give is measured by moving one clock. Until somebody says which source counts, the one with fewer calls in
the time that both cover is held out of all sums there; afterwards only its twins are. Facts never change: `held_out` is
made anew from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from app.warehouse import rollup

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from app.warehouse.store import Session

    Decisions = Mapping[tuple[str, str], str | None]

NEAR_US: Final = 2_000_000
LATER_US: Final = 607_000_000
EARLIER_US: Final = -613_000_000
"""Clocks moved by about ten minutes, by primes of seconds: calls by a schedule do not meet themselves there."""
MAX_SHARE: Final = 0.2
MIN_TWINS: Final = 5
_ALWAYS: Final = (0, 2**62)
_SCHEMA: Final = {
    "source_a": pl.String,
    "source_b": pl.String,
    "from_us": pl.Int64,
    "to_us": pl.Int64,
    "calls_a": pl.Int64,
    "calls_b": pl.Int64,
    "twins": pl.Int64,
    "chance": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two sources in the time that both cover, microseconds UTC: their calls, the twins, and the twins by chance."""

    source_a: str
    source_b: str
    from_us: int
    to_us: int
    calls_a: int
    calls_b: int
    twins: int
    chance: float

    @property
    def pair(self) -> tuple[str, str]:
        return self.source_a, self.source_b

    @property
    def share(self) -> float:
        """Share of the smaller source's calls that the other has too, beyond chance."""
        return max(0.0, self.twins - self.chance) / max(1, min(self.calls_a, self.calls_b))

    @property
    def is_double(self) -> bool:
        """Whether the two must not add up."""
        return self.share > MAX_SHARE and self.twins - self.chance >= MIN_TWINS

    @property
    def larger(self) -> str:
        """The source with more calls in the time that both cover (the first by name of two with as many): it counts
        until somebody says otherwise.
        """
        return self.source_a if self.calls_a >= self.calls_b else self.source_b

    def other(self, source: str) -> str:
        return self.source_b if source == self.source_a else self.source_a


@dataclass(frozen=True, slots=True)
class Held:
    """Requests of a source that do not count because another one tells of the same calls; pico-USD."""

    source: str
    counted: str
    requests: int
    cost_pusd: int | None


def standing(session: Session) -> tuple[Overlap, ...]:
    """What the last comparison found, every pair whose times meet."""
    return tuple(Overlap(*_typed(row)) for row in session.rows("overlap.standing"))


def held(session: Session) -> tuple[Held, ...]:
    """What is held out of all sums."""
    return tuple(
        Held(str(source), str(counted), int(requests), None if cost is None else int(cost))
        for source, counted, requests, cost in session.rows("overlap.held")
    )


def follow(session: Session, decisions: Decisions) -> None:
    """Bring `held_out` up to date after new requests were attributed; milliseconds where no source overlaps.

    Call inside `Warehouse.writing()`, after the roll-ups were filled. A source that is new or has doubled is compared
    with all others; else only the time of the new requests is looked at.
    """
    if session.rows("overlap.grown"):
        compare(session)
        hold(session, decisions)
        return
    if not any(one.is_double for one in standing(session)):
        return
    first, last = session.rows("overlap.pending")[0]
    if first is not None:
        hold(session, decisions, from_us=int(first) - NEAR_US, to_us=int(last) + NEAR_US + 1)


def compare(session: Session) -> tuple[Overlap, ...]:
    """Compare every source with every other over the whole log, and keep what was found.

    Call inside `Warehouse.writing()`.
    """
    session.execute("overlap.calls", from_us=_ALWAYS[0], to_us=_ALWAYS[1], near_us=NEAR_US)
    session.execute("overlap.pairs", near_us=NEAR_US)
    for into, moved_us in (("overlap_twins", 0), ("overlap_later", LATER_US), ("overlap_earlier", EARLIER_US)):
        _find_twins(session, "overlap_pairs", into, moved_us)
    found = tuple(Overlap(*_typed(row)) for row in session.rows("overlap.found"))
    session.register("overlap_found", _frame(found))
    session.execute("overlap.keep", {"found": "overlap_found"})
    session.unregister("overlap_found")
    _drop(session, "overlap_calls", "overlap_pairs", "overlap_twins", "overlap_later", "overlap_earlier")
    return found


def hold(session: Session, decisions: Decisions, *, from_us: int = _ALWAYS[0], to_us: int = _ALWAYS[1]) -> int:
    """Hold out of [from_us, to_us) what must not count, and fill the roll-ups of hours where that changed.

    `decisions` gives by pair the source that counts, None where both do. Returns how many requests changed sides.
    Call inside `Warehouse.writing()`.
    """
    doubled = sorted((one for one in standing(session) if one.is_double), key=lambda one: -one.twins)
    if not doubled and not session.rows("overlap.any_held")[0][0]:
        return 0
    session.execute("overlap.new_held")
    reached = {str(source): int(last) for source, last in session.rows("sources.newest")}
    spans = [_span(one, reached) for one in doubled]
    session.execute("overlap.calls", from_us=from_us - 2 * NEAR_US, to_us=to_us + 2 * NEAR_US, near_us=NEAR_US)
    session.register("overlap_chosen", _frame(spans))
    _find_twins(session, "overlap_chosen", "overlap_twins", 0)
    for one in _undecided_first(spans, decisions):
        counted = decisions.get(one.pair, one.larger)
        if counted is None:
            continue
        held_source = one.other(counted)
        if one.pair in decisions:
            session.execute("overlap.hold_twins", held=held_source, counted=counted)
        else:
            span = {"from_us": one.from_us, "to_us": one.to_us}
            session.execute("overlap.hold_all", None, held=held_source, counted=counted, **span)
    moved = session.frame("overlap.moved", from_us=from_us, to_us=to_us)["start_us"]
    if len(moved):
        session.execute("overlap.hold_forget", from_us=from_us, to_us=to_us)
        session.execute("overlap.hold_put", from_us=from_us, to_us=to_us)
        rollup.rebuild_for(session, moved)
    session.unregister("overlap_chosen")
    _drop(session, "overlap_calls", "overlap_twins", "overlap_held")
    return len(moved)


def _span(one: Overlap, reached: Mapping[str, int]) -> Overlap:
    """The pair with the time that both cover by now: logs may have come since the two were compared."""
    ends = [reached[source] for source in one.pair if source in reached]
    to_us = max(one.to_us, min(ends) + NEAR_US + 1) if len(ends) == 2 else one.to_us
    return Overlap(*one.pair, one.from_us, to_us, one.calls_a, one.calls_b, one.twins, one.chance)


def _undecided_first(pairs: Sequence[Overlap], decisions: Decisions) -> list[Overlap]:
    """What is held out whole comes first: a call whose only counting twin is held out itself must count."""
    return sorted(pairs, key=lambda one: one.pair in decisions)


def _find_twins(session: Session, pairs: str, into: str, moved_us: int) -> None:
    session.execute("overlap.twins", {"pairs": pairs, "into": into}, near_us=NEAR_US, moved_us=moved_us)


def _drop(session: Session, *names: str) -> None:
    for name in names:
        session.execute("overlap.drop", {"name": name})


def _frame(overlaps: Iterable[Overlap]) -> pl.DataFrame:
    rows = [tuple(getattr(one, name) for name in _SCHEMA) for one in overlaps]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _typed(row: tuple[object, ...]) -> tuple[str, str, int, int, int, int, int, float]:
    a, b, *counts, chance = row
    from_us, to_us, calls_a, calls_b, twins = (int(str(value)) for value in counts)
    return str(a), str(b), from_us, to_us, calls_a, calls_b, twins, float(str(chance))


def waiting(session: Session, decisions: Decisions) -> int:
    """How many requests stand in no sum until somebody says which of two sources counts."""
    return sum(
        int(requests)
        for source, counted, requests in session.rows("overlap.held_counts")
        if (min(source, counted), max(source, counted)) not in decisions
    )


def counted_instead(session: Session, request_key: int) -> str | None:
    """The source whose call counts instead of this one; None where it counts itself."""
    rows = session.rows("overlap.held_of", request_key=request_key)
    return str(rows[0][0]) if rows else None
