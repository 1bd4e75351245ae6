"""Which spans repeat the usage of those under them: decided by the links between spans, never by their names.

A call is counted at the lowest span that reports its usage. A span above such spans repeats them where it is no call
itself (an agent, a workflow), reports nothing, carries no response id or that of one under it, or reports exactly their
sum. A call with a response id and counters of its own stays. `spans.repeating` says the same of spans that came in
different exports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.usage import UsageEvent, tokens_in, tokens_out
from ingest.formats.otlp_event import read_counters
from ingest.formats.otlp_vocabulary import ABOVE, NONE, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.formats.otlp_event import Reading


def repeating(readings: Sequence[Reading]) -> set[int]:
    """The places of the calls in `readings` that repeat the usage of calls under them."""
    places = {reading.span.key: place for place, reading in enumerate(readings)}
    under: dict[int, list[int]] = {}
    for place, reading in enumerate(readings):
        if reading.kind != NONE and reading.usage:
            holder = _call_above(place, readings, places)
            if holder is not None:
                under.setdefault(holder, []).append(place)
    return {place for place, children in under.items() if _repeats(readings[place], [readings[n] for n in children])}


def _call_above(place: int, readings: Sequence[Reading], places: dict[tuple[str, str], int]) -> int | None:
    """The nearest call above a span; spans in between that are none are passed."""
    seen = {place}
    span = readings[place].span
    while span.parent_id is not None:
        above = places.get((span.trace_id, span.parent_id))
        if above is None or above in seen:
            return None
        if readings[above].kind != NONE:
            return above
        seen.add(above)
        span = readings[above].span
    return None


def _repeats(holder: Reading, children: list[Reading]) -> bool:
    if holder.kind == ABOVE or not holder.usage:
        return True
    own = holder.said.get("response_id")
    if own is None or any(child.said.get("response_id") == own for child in children):
        return True
    return _tokens([holder]) == _tokens(children)


def _tokens(readings: list[Reading]) -> tuple[int, int]:
    """Prompt and answer tokens of some spans together."""
    total_in = total_out = 0
    for reading in readings:
        counted = UsageEvent()
        read_counters(reading, counted, [])
        total_in += tokens_in(counted) or 0
        total_out += tokens_out(counted) or 0
    return total_in, total_out


def between(readings: Sequence[Reading]) -> set[int]:
    """The places of spans that are no calls but may stand between calls, here or in another export.

    Those are spans about models, agents and tools, and any span above one of them or above a call: of a program that
    traces everything, only these are worth keeping.
    """
    places = {reading.span.key: place for place, reading in enumerate(readings)}
    marks = vocabulary().marks
    found: set[int] = set()
    for place, reading in enumerate(readings):
        if reading.kind == NONE and not any(name.startswith(marks) for name in reading.span.attributes):
            continue
        at: int | None = place
        while at is not None and at not in found:
            found.add(at)
            span = readings[at].span
            at = None if span.parent_id is None else places.get((span.trace_id, span.parent_id))
    return found
