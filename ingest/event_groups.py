"""Files of bare stream events: the events of one answer belong together, so they become one record, a list."""

from __future__ import annotations

from collections import deque
from typing import IO, TYPE_CHECKING, Final

import msgspec

from ingest.formats.streams import gather, is_unnamed
from ingest.lines import fast, salvage
from ingest.opening import BOM, MAX_RECORD_BYTES
from ingest.records import Broken, Record

if TYPE_CHECKING:
    from collections.abc import Iterator


MOST_CUTS: Final = 512


class Cut:
    """Where a later reading of a log of events may begin: at the last line before which no answer goes on after it."""

    __slots__ = ("_before", "_found", "read_to")

    def __init__(self) -> None:
        self.read_to = 0  # the last line that was read
        self._before = 0
        self._found: deque[tuple[int, int, int]] = deque(maxlen=MOST_CUTS)  # number of the record, byte, lines before

    @property
    def at(self) -> tuple[int, int] | None:
        """The byte and the number of lines before it; None where there is no such place."""
        return self._found[-1][1:] if self._found else None

    def passing(self, items: Iterator[Record | Broken]) -> Iterator[Record | Broken]:
        """The items, noted as read."""
        for item in items:
            self._before, self.read_to = self.read_to, item.line
            yield item

    def note(self, number: int, item: Record | Broken) -> None:
        """The item just read is such a place, unless its line holds others before it or is torn."""
        if type(item) is Record and item.byte_from is not None and item.line != self._before:
            self._found.append((number, item.byte_from, item.line - 1))

    def take_back(self, number: int) -> None:
        """Places after this record are none."""
        while self._found and self._found[-1][0] > number:
            self._found.pop()


def grouped(
    items: Iterator[Record | Broken], cut: Cut | None = None, *, resumed: bool = False
) -> Iterator[Record | Broken]:
    """One record for the events of one answer, at the place of the first; other records as they are.

    Where the events carry no id of their answer the first one's bytes stand for it: they stay when the log grows.
    """
    cut = Cut() if cut is None else cut
    values = ((item, item.value if isinstance(item, Record) else item) for item in cut.passing(items))
    for item, value in gather(values, resumed=resumed, cuts=cut):
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
