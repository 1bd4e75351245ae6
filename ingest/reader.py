"""Reading: the records of one chunk of a file, in order, each with its place. Broken ones are named, never raised."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import msgspec

from app.core.errors import InputError
from ingest import documents, event_groups
from ingest.lines import fast, salvage
from ingest.opening import BOM, MAX_RECORD_BYTES, damaged_errors, opened
from ingest.records import Broken, Chunk, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD_OF_BROKEN: Final = 2048


def read_chunk(
    chunk: Chunk, at_once: Callable[[bytes], Any] | None = None, cut: event_groups.Cut | None = None
) -> Iterator[Record | Broken]:
    """The records of a chunk. Damage inside it is yielded as `Broken`; only a file that is gone raises.

    What `at_once` makes of a line's bytes takes the place of its decoded value, except None. `cut` notes where a later
    reading of a log of events may begin.

    Raises:
        InputError: the file cannot be opened any more.
    """
    path = Path(chunk.path)
    line = chunk.line_from
    try:
        if chunk.layout == "parquet":
            records: Iterator[Record | Broken] = _numbered(documents.parquet_rows(path))
            for record in records:
                line = record.line
                yield record
            return
        with opened(path, chunk.compression) as stream:
            for record in _records(stream, chunk, at_once, cut):
                line = record.line
                yield record
    except damaged_errors() as error:
        yield Broken(line + 1, f"the compressed data is damaged here: {error}", b"")
    except InputError as error:
        yield Broken(line + 1, str(error), b"")
    except OSError as error:
        raise InputError(f"{chunk.file} cannot be read: {error.strerror or error}.") from error


def _records(
    stream: IO[bytes], chunk: Chunk, at_once: Callable[[bytes], Any] | None, cut: event_groups.Cut | None
) -> Iterator[Record | Broken]:
    if chunk.layout == "lines":
        end = chunk.byte_to if chunk.compression == "none" else None
        if chunk.compression == "none":
            stream.seek(chunk.byte_from)
        yield from read_lines(stream, chunk.byte_from, chunk.line_from, end, at_once)
    elif chunk.layout == "csv":
        for line, row in documents.csv_rows(stream):
            yield Record(line, row, None)
    elif chunk.layout == "events":
        yield from event_groups.grouped(event_groups.event_lines(stream))
    elif chunk.layout == "event_lines":
        if chunk.byte_from:
            stream.seek(chunk.byte_from)
        lines = read_lines(stream, chunk.byte_from, chunk.line_from, None)
        yield from event_groups.grouped(lines, cut, resumed=chunk.byte_from > 0)
    elif chunk.layout == "otlp":
        from ingest.otlp_protobuf import read_exports

        yield from read_exports(stream)
    elif chunk.layout == "document":
        yield from _numbered(documents.json_values(stream))


def read_lines(
    stream: IO[bytes],
    position: int,
    line: int,
    end: int | None,
    at_once: Callable[[bytes], Any] | None = None,
    *,
    keep_torn_tail: bool = True,
) -> Iterator[Record | Broken]:
    """Records of JSON lines from `position` (the stream stands there) to `end` (None: to the end of the stream)."""
    readline = stream.readline
    while end is None or position < end:
        raw = readline(MAX_RECORD_BYTES)
        size = len(raw)
        if not size:
            return
        line += 1
        start = position
        position += size
        if size >= MAX_RECORD_BYTES and raw[-1:] != b"\n":
            position += _skip_line(stream)
            limit = f"{MAX_RECORD_BYTES // 2**20} MiB"
            yield Broken(line, f"the line is longer than the limit of {limit}", raw[:HEAD_OF_BROKEN], start)
            continue
        try:
            value = at_once(raw) if at_once is not None else None
            yield Record(line, fast(raw) if value is None else value, raw, start)
        except (msgspec.DecodeError, RecursionError):
            if keep_torn_tail or raw[-1:] == b"\n":
                yield from _salvaged(raw, line, start)


def _salvaged(raw: bytes, line: int, start: int) -> Iterator[Record | Broken]:
    body = raw.removeprefix(BOM).strip()
    if not body:
        return
    values, wrong = salvage(body)
    # Values of one line share its place; their own text tells them apart where they carry no id.
    for value in values:
        yield Record(line, value, None if len(values) > 1 or wrong else body, start)
    if wrong is not None:
        yield Broken(line, wrong, body[:HEAD_OF_BROKEN], start)


def _skip_line(stream: IO[bytes]) -> int:
    skipped = 0
    while part := stream.readline(1 << 20):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def _numbered(values: Iterator[Any]) -> Iterator[Record | Broken]:
    for index, value in enumerate(values, start=1):
        yield Record(index, value, None)
