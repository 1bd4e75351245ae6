"""The events of log files without storing them: what `halve replay` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.usage import UsageEvent
from ingest.connectors.files import find
from ingest.formats.format import Origin
from ingest.mixture import parser_of
from ingest.plan import Choice, NoLedger, Plan
from ingest.reader import read_chunk
from ingest.records import UNKNOWN, Record
from ingest.worker import resolve_format

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def events(paths: Sequence[str | Path], *, exclude: Sequence[str] = ()) -> Iterator[tuple[UsageEvent, Origin]]:
    """Every call of the files with its place, in file order; records that are no calls are passed over.

    Raises:
        InputError: a path that cannot be read, or files of which none has a known layout.
    """
    for task in Plan(NoLedger(), Choice()).tasks(find(paths, exclude)):
        for chunk in task.chunks:
            if chunk.format == UNKNOWN:
                continue
            parse = parser_of(resolve_format(chunk.format, None))
            for item in read_chunk(chunk):
                if type(item) is not Record:
                    continue
                place = Origin(chunk.source, chunk.file, item.line)
                try:
                    for given in parse(item.value, place):
                        if type(given) is UsageEvent:
                            yield given, place
                except RecursionError:
                    continue  # nested too deeply to be followed
