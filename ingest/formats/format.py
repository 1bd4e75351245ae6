"""What a format is: the layout of one record and its token convention, as a value holding functions.

`parse` is pure and total: it never raises on any JSON value, keeps what it can and says what it could not use. Only of
a value nested as deep as the stack may it let a RecursionError through, which readers take for a rejected record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from app.core.billed import BilledLine
    from app.core.usage import Billing, Rejected, UsageEvent

    Given = UsageEvent | BilledLine | Rejected


class Origin(msgspec.Struct, frozen=True, gc=False):
    """Where a record stands: the source's name, the file as given, and the 1-based line or index in it."""

    source: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Format:
    """One layout of a usage record.

    Attributes:
        name: the slug used on the command line, in columns and in the documentation.
        title: how people call it.
        convention: one sentence: which counters of this layout contain which others.
        billing: what its tokens mean in money unless the user says otherwise.
        detect: a score from 0 (not this) to 1 (certainly this) for one decoded JSON record.
        parse: the events of one decoded JSON record (lines of one of a bill); may yield none, one or several.
        provider_logs: false for traces that only `halve replay` can use.
        gather: joins records that only together are one call (stream events written one a line): takes and gives
            (line, record) pairs in order, holds a bounded number back, passes everything else through. None where
            every record stands alone.
        at_once: makes, for the lines of one chunk, a reader that gives the event of a line without decoding it for
            `parse`, or None where `parse` must look. None for formats without such a commonest shape.
        in_file: makes a `parse` with a memory for the records of one file in order, for layouts whose records only
            mean something one after another; such a file is always read whole. None where every record stands alone.
    """

    name: str
    title: str
    convention: str
    billing: Billing
    detect: Callable[[Any], float]
    parse: Callable[[Any, Origin], Iterator[Given]]
    provider_logs: bool = True
    gather: Callable[[Iterable[tuple[int, Any]]], Iterator[tuple[int, Any]]] | None = None
    at_once: Callable[[], Callable[[bytes], UsageEvent | None]] | None = None
    in_file: Callable[[], Callable[[Any, Origin], Iterator[Given]]] | None = None

    def parser(self) -> Callable[[Any, Origin], Iterator[Given]]:
        """What reads the records of one file from its first to its last."""
        return self.parse if self.in_file is None else self.in_file()
