"""Files of bare stream events: the events of one answer belong together, so they become one record, a list."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import msgspec

from ingest.formats.streams import gather, is_unnamed
from ingest.lines import fast, salvage
from ingest.opening import BOM, MAX_RECORD_BYTES
from ingest.records import Broken, Record

if TYPE_CHECKING:
    from collections.abc import Iterator


def grouped(items: Iterator[Record | Broken]) -> Iterator[Record | Broken]:
    """One record for the events of one answer, at the place of the first; other records as they are.

    Where the events carry no id of their answer the first one's bytes stand for it: they stay when the log grows.
    """
    for item, value in gather((item, item.value if isinstance(item, Record) else item) for item in items):
        if not isinstance(item, Record) or value is item.value:
            yield item
        else:
            yield Record(item.line, value, item.raw if is_unnamed(value) else None, item.byte_from)


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
