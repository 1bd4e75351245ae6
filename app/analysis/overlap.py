"""Two sources that tell of the same calls but share no id: found by model, tokens and start, and kept from adding up.

Twins are calls of two sources of the same model and tokens, at most NEAR_US apart (`app.analysis.twins`). What chance
would give is measured by moving one clock. Until somebody says which source counts, the one with fewer calls in the
time that both cover is held out of all sums there; afterwards only its twins are, whatever a later comparison finds.
Facts never change: `held_out` is made anew from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from app.analysis import twins
from app.warehouse import rollup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from app.analysis.twins import Counts
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

    Call inside `Warehouse.writing()`, after the roll-ups were filled. A source that is new or has grown by half is
    compared with all others; else only the time of the new requests is looked at.
    """
    if session.rows("overlap.grown"):
        compare(session)
        hold(session, decisions)
        return
    if not any(stands(one, decisions) for one in standing(session)):
        return
    first, last = session.rows("overlap.pending")[0]
    if first is not None:
        hold(session, decisions, from_us=int(first) - NEAR_US, to_us=int(last) + NEAR_US + 1)


def compare(session: Session) -> tuple[Overlap, ...]:
    """Compare every source with every other over the whole log, and keep what was found.

    Call inside `Warehouse.writing()`. Calls are read only where the times of two sources meet.
    """
    if not _some_meet(session):
        _keep(session, ())
        return ()
    session.execute("overlap.calls", from_us=_ALWAYS[0], to_us=_ALWAYS[1], least_tokens=1)
    session.execute("overlap.pairs", near_us=NEAR_US)
    counted = [_meetings(session, moved_us) for moved_us in (0, LATER_US, EARLIER_US)]
    found = tuple(_sharper(row, *counted) for row in session.rows("overlap.found"))
    _keep(session, found)
    _drop(session, "overlap_calls", "overlap_pairs", "overlap_islands")
    return found


def _some_meet(session: Session) -> bool:
    """Whether any two sources may have calls at the same time."""
    latest: int | None = None
    for first, last in sorted((int(first), int(last)) for _, first, last in session.rows("overlap.reach")):
        if latest is not None and first <= latest + NEAR_US:
            return True
        latest = last if latest is None else max(latest, last)
    return False


def _keep(session: Session, found: tuple[Overlap, ...]) -> None:
    session.register("overlap_found", _frame(found))
    session.execute("overlap.keep", {"found": "overlap_found"})
    session.unregister("overlap_found")


def _meetings(session: Session, moved_us: int) -> tuple[Counts, Counts]:
    """Calls that are each other's nearest, and the most pairs that could be made, with one clock moved."""
    session.execute("overlap.islands", {"pairs": "overlap_pairs"}, near_us=NEAR_US, moved_us=moved_us)
    nearest, most = twins.meetings(session.frame("overlap.crowded"), NEAR_US)
    for a, b, count in session.rows("overlap.lone_twins"):
        nearest[a, b] = nearest.get((a, b), 0) + int(count)
        most[a, b] = most.get((a, b), 0) + int(count)
    return nearest, most


def _sharper(row: tuple[object, ...], *counted: tuple[Counts, Counts]) -> Overlap:
    """A pair by the way of counting that stands out more from chance; `counted` by clock: as it is, later, earlier.

    Calls that are each other's nearest tell more where equal calls come all the time, the most pairs where they come in
    bursts, in which only few are each other's nearest when one clock is late.
    """
    a, b, from_us, to_us, calls_a, calls_b = row
    pair = str(a), str(b)
    ways = [[counts.get(pair, 0) for counts in way] for way in zip(*counted, strict=True)]
    sums = [(real, (later + earlier) / 2) for real, later, earlier in ways]
    found, chance = max(sums, key=lambda way: way[0] - way[1])
    return Overlap(*_typed((a, b, from_us, to_us, calls_a, calls_b, found, chance)))


def hold(session: Session, decisions: Decisions, *, from_us: int = _ALWAYS[0], to_us: int = _ALWAYS[1]) -> int:
    """Hold out of [from_us, to_us) what must not count, and fill the roll-ups of hours where that changed.

    `decisions` gives by pair the source that counts, None where both do. Returns how many requests changed sides.
    Call inside `Warehouse.writing()`.
    """
    doubled = [one for one in standing(session) if stands(one, decisions)]
    if not doubled and not session.rows("overlap.any_held")[0][0]:
        return 0
    session.execute("overlap.new_held")
    reach = {str(source): (int(first), int(last)) for source, first, last in session.rows("overlap.reach")}
    spans = sorted((_span(one, reach) for one in doubled), key=lambda one: -one.twins)
    # What is held out whole comes first: a call whose only counting twin is held out itself must count.
    looked = from_us - 2 * NEAR_US, to_us + 2 * NEAR_US
    _hold_whole(session, [one for one in spans if one.pair not in decisions], looked)
    _hold_twins(session, [one for one in spans if one.pair in decisions], decisions, looked)
    moved = session.frame("overlap.moved", from_us=from_us, to_us=to_us)["start_us"]
    if len(moved):
        session.execute("overlap.hold_forget", from_us=from_us, to_us=to_us)
        session.execute("overlap.hold_put", from_us=from_us, to_us=to_us)
        rollup.rebuild_for(session, moved)
    _drop(session, "overlap_held")
    return len(moved)


def stands(one: Overlap, decisions: Decisions) -> bool:
    """Whether a pair has something to hold out: it is double, or somebody said which one counts when it was."""
    return decisions[one.pair] is not None if one.pair in decisions else one.is_double


def _hold_whole(session: Session, undecided: list[Overlap], looked: tuple[int, int]) -> None:
    """Hold out, in the time `looked` at, the source with fewer calls, but not for one that is out there itself."""
    out: dict[str, list[tuple[int, int]]] = {}
    for one in _winners_first(undecided):
        held_source = one.other(one.larger)
        span = max(one.from_us, looked[0]), min(one.to_us, looked[1])
        for from_us, to_us in _without(span, out.get(one.larger, [])):
            session.execute("overlap.hold_all", held=held_source, counted=one.larger, from_us=from_us, to_us=to_us)
        out.setdefault(held_source, []).append((one.from_us, one.to_us))


def _winners_first(pairs: list[Overlap]) -> Iterator[Overlap]:
    """Each pair after those in which the source that counts in it is held out."""
    left = list(pairs)
    while left:
        losers = {one.other(one.larger) for one in left}
        chosen = next((one for one in left if one.larger not in losers), left[0])
        left.remove(chosen)
        yield chosen


def _without(span: tuple[int, int], cut: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of a half-open span."""
    left = [span]
    for begin, end in cut:
        left = [
            (first, last)
            for one in left
            for first, last in ((one[0], min(one[1], begin)), (max(one[0], end), one[1]))
            if first < last
        ]
    return left


def _hold_twins(session: Session, decided: list[Overlap], decisions: Decisions, looked: tuple[int, int]) -> None:
    """Hold out the twins of sources that do not count; calls without tokens have twins too, now that it is known."""
    if not decided:
        return
    session.execute("overlap.calls", from_us=looked[0], to_us=looked[1], least_tokens=0)
    session.register("overlap_chosen", _frame(decided))
    session.execute("overlap.islands", {"pairs": "overlap_chosen"}, near_us=NEAR_US, moved_us=0)
    session.register("overlap_crowded", twins.paired(session.frame("overlap.crowded"), NEAR_US))
    session.execute("overlap.keep_twins", {"crowded": "overlap_crowded"})
    for one in decided:
        counted = decisions[one.pair]
        if counted is not None:
            session.execute("overlap.hold_twins", held=one.other(counted), counted=counted)
    session.unregister("overlap_chosen")
    session.unregister("overlap_crowded")
    _drop(session, "overlap_calls", "overlap_islands", "overlap_twins")


def _span(one: Overlap, reach: Mapping[str, tuple[int, int]]) -> Overlap:
    """The pair with the time that both cover by now: logs may have come since the two were compared, older ones too."""
    if not all(source in reach for source in one.pair):
        return one
    (first_a, last_a), (first_b, last_b) = (reach[source] for source in one.pair)
    from_us = min(one.from_us, max(first_a, first_b) - NEAR_US)
    to_us = max(one.to_us, min(last_a, last_b) + NEAR_US + 1)
    return Overlap(*one.pair, from_us, to_us, one.calls_a, one.calls_b, one.twins, one.chance)


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
