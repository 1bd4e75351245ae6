"""Files of bare stream events: the events of one answer belong together, so they become one record, a list."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

import msgspec

from ingest.formats.envelope import is_event
from ingest.lines import fast, salvage
from ingest.opening import BOM, MAX_RECORD_BYTES
from ingest.records import Broken, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_EVENTS: Final = 100_000
_STARTS: Final = ("message_start", "response.created")


def holds_events(values: list[Any]) -> bool:
    """True where the first records of a file are events of a stream, not whole answers."""
    return bool(values) and all(isinstance(value, dict) and is_event(value) for value in values[:3])


def grouped(items: Iterator[Record | Broken]) -> Iterator[Record | Broken]:
    """One record for the consecutive events of one answer, at the place of the first; other records as they are."""
    events: list[Any] = []
    place: Record | None = None
    for item in items:
        if isinstance(item, Record) and isinstance(item.value, dict) and is_event(item.value):
            if place is not None and (_is_other(events[-1], item.value) or len(events) >= MAX_EVENTS):
                yield Record(place.line, events, None, place.byte_from)
                events, place = [], None
            place = place or item
            events.append(item.value)
            continue
        if place is not None:
            yield Record(place.line, events, None, place.byte_from)
            events, place = [], None
        yield item
    if place is not None:
        yield Record(place.line, events, None, place.byte_from)


def _is_other(last: dict[str, Any], event: dict[str, Any]) -> bool:
    """True where an event begins another answer than the one before it."""
    if event.get("type") in _STARTS:
        return True
    if "choices" in last and not last["choices"] and last.get("usage"):
        return True  # the usage alone comes last: what follows is another answer, or the same one logged again
    return event.get("id") != last.get("id") and "choices" in event and "choices" in last


def event_lines(stream: IO[bytes]) -> Iterator[Record | Broken]:
    """The JSON payloads of a server-sent event stream; field lines that carry none are passed over."""
    line = 0
    while raw := stream.readline(MAX_RECORD_BYTES):
        line += 1
        body = raw.removeprefix(BOM).strip()
        if not body.startswith(b"data:"):
            continue
        body = body[5:].strip()
        if not body or body == b"[DONE]":
            continue
        try:
            yield Record(line, fast(body), body)
        except (msgspec.DecodeError, RecursionError):
            values, wrong = salvage(body)
            for value in values:
                yield Record(line, value, None)
            if wrong is not None:
                yield Broken(line, wrong, body[:2048])
