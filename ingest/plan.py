"""What is to be read: the chunks of each file that the ledger does not hold yet.

A file that only grew is read from where it was left: its first bytes and the bytes before that place must still be the
same. Anything else about a changed file means reading it again, which the merge makes harmless.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

import msgspec

from app.core.errors import InputError
from app.core.hashing import hash64
from ingest import archives
from ingest.connectors.files import written
from ingest.formats import DETECTION_RECORDS, detect_format, format_named, generic_rows
from ingest.formats.stream_events import holds_events, may_hold_events
from ingest.lines import fast
from ingest.opening import MAX_RECORD_BYTES, Shape, damaged_errors, look_at, opened
from ingest.reader import read_chunk
from ingest.records import UNKNOWN, Chunk, Record
from ingest.shipped import unpacked
from ingest.worker import Task, tail_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ingest.connectors.files import Found
    from ingest.formats.column_map import ColumnMap

CHUNK_BYTES: Final = 16 * 1024 * 1024
HEAD_HASHED: Final = 4096
SAMPLE_BYTES: Final = 8 * 1024 * 1024


class Entry(msgspec.Struct, frozen=True):
    """A chunk that the ledger holds."""

    source: str
    format: str
    head_bytes: int
    head_hash: int
    tail_hash: int
    file_bytes: int
    file_mtime_ns: int
    byte_from: int
    byte_to: int
    line_from: int
    line_to: int
    complete: bool
    at_end: bool


class Ledger(Protocol):
    """What was taken of a file before, in order of place."""

    def entries(self, path: str) -> list[Entry]: ...


class NoLedger:
    """For writing shards without a warehouse: everything is read, and the merge drops what is known."""

    def entries(self, path: str) -> list[Entry]:  # noqa: ARG002 - the seam's signature
        return []


@dataclass(frozen=True, slots=True)
class Choice:
    """What the caller fixed: the source's name, the format, how it is billed; None is found out for each file."""

    source: str | None = None
    format_name: str | None = None
    column_map: ColumnMap | None = None
    billing: str | None = None


@dataclass(slots=True)
class Plan:
    """Cuts files into tasks and counts what needs no reading."""

    ledger: Ledger
    choice: Choice
    growing: bool = False  # leave a last line alone that is not ended yet
    files: int = 0
    skipped: int = 0

    def tasks(self, found: Iterable[Found]) -> Iterator[Task]:
        """Tasks of about CHUNK_BYTES each: a part of a large file, or several small files."""
        batch: list[Chunk] = []
        size = 0
        for one in (inner for given in found for inner in archives.expanded(given)):
            for chunk in self._chunks(one):
                batch.append(chunk)
                size += chunk.byte_to - chunk.byte_from
                if size >= CHUNK_BYTES:
                    yield _task(batch, self.choice)
                    batch, size = [], 0
        if batch:
            yield _task(batch, self.choice)

    def _chunks(self, found: Found) -> Iterator[Chunk]:
        place = archives.on_disk(found.path)
        status = place.stat() if place.exists() else None
        entries = self.ledger.entries(written(found.path))
        if (
            status is not None
            and self.choice.column_map is None
            and _unchanged(entries, status, self.choice, found.path)
        ):
            self.skipped += 1
            return
        self.files += 1
        try:
            shape = look_at(found.path)
        except InputError:
            yield self._refused(found, status)
            return
        base = self._base(found, status, shape)
        if base is not None and base.layout == "event_lines" and self.choice.column_map is None:
            base = _grown(entries, base)
            self.skipped += base is None
            self.files -= base is None
        if base is None or base.format == UNKNOWN or base.layout != "lines" or shape.compression != "none":
            if base is not None:
                yield base
            return
        whole = self.choice.column_map is None and format_named(base.format).in_file is not None
        # With a column map everything is read: the ledger does not say by which map it was read before.
        taken = [] if whole or self.choice.column_map is not None else _standing(entries, base)
        for chunk in _cut(base, taken, base.byte_to if whole else CHUNK_BYTES):
            if not self.growing:
                yield chunk
            elif chunk.settled_to > chunk.byte_from:
                yield msgspec.structs.replace(chunk, byte_to=chunk.settled_to)

    def _base(self, found: Found, status: os.stat_result | None, shape: Shape) -> Chunk | None:
        """The whole file as one chunk; None where there is nothing in it."""
        if status is None or shape.layout == "empty":
            return None
        inside = shape.compression in ("zip", "tar")
        head_bytes, head_hash = _head(archives.on_disk(found.path))
        size = archives.packed_bytes(found.path) if inside else status.st_size
        chunk = Chunk(
            source="",
            format=UNKNOWN,
            billing=self.choice.billing or "",
            file=found.given,
            path=str(found.path),
            compression=shape.compression,
            layout=shape.layout,
            byte_from=0,
            byte_to=size,
            settled_to=size,
            line_from=0,
            line_to=0,
            at_end=True,
            head_bytes=head_bytes,
            head_hash=head_hash,
            file_bytes=status.st_size,
            file_mtime_ns=status.st_mtime_ns,
        )
        values = sample(chunk)
        if chunk.layout == "lines" and (holds_events(values) or _may_hold_events(chunk, values)):
            chunk = msgspec.structs.replace(chunk, layout="event_lines")
            values = sample(chunk)
        name = self._fixed() or _detected(values, chunk)
        return msgspec.structs.replace(chunk, source=self.choice.source or name or UNKNOWN, format=name or UNKNOWN)

    def _fixed(self) -> str | None:
        return self.choice.format_name if self.choice.column_map is None else generic_rows.FORMAT.name

    def _refused(self, found: Found, status: os.stat_result | None) -> Chunk:
        """A file that cannot be opened still has its line in the summary and the quarantine."""
        return Chunk(
            source=self.choice.source or UNKNOWN,
            format=UNKNOWN,
            file=found.given,
            path=str(found.path),
            compression="none",
            layout="lines",
            byte_from=0,
            byte_to=0,
            settled_to=0,
            line_from=0,
            line_to=0,
            at_end=True,
            head_bytes=0,
            head_hash=0,
            file_bytes=0 if status is None else status.st_size,
            file_mtime_ns=0,
        )


def _detected(values: list[Any], chunk: Chunk) -> str | None:
    best = detect_format(values, chunk.file) or detect_format(
        [one for value in values for one in unpacked(value, _is_known)][:DETECTION_RECORDS], chunk.file
    )
    return None if best is None else best.name


def _is_known(record: Any) -> bool:
    return detect_format([record]) is not None


def sample(chunk: Chunk) -> list[Any]:
    """The first decoded records of a file, for detection and for column maps."""
    end = min(chunk.byte_to, SAMPLE_BYTES) if chunk.compression == "none" and chunk.layout == "lines" else chunk.byte_to
    values: list[Any] = []
    for item in read_chunk(msgspec.structs.replace(chunk, byte_to=end)):
        if isinstance(item, Record):
            values.append(item.value)
            if len(values) >= DETECTION_RECORDS:
                break
    return values


def _may_hold_events(chunk: Chunk, values: list[Any]) -> bool:
    """Whether a log turns to single events of streams only after its first records."""
    if len(values) < DETECTION_RECORDS:
        return False
    try:
        with opened(Path(chunk.path), chunk.compression) as stream:
            return may_hold_events(stream.read(SAMPLE_BYTES))
    except damaged_errors():
        return False


def _unchanged(entries: list[Entry], status: os.stat_result, choice: Choice, path: Path) -> bool:
    """True where the whole file, as it is now, was taken before under the same names; its beginning maybe earlier."""
    same = [
        entry
        for entry in entries
        if (entry.file_bytes, entry.file_mtime_ns) == (status.st_size, status.st_mtime_ns)
        and (choice.source is None or choice.source == entry.source)
        and (choice.format_name is None or choice.format_name == entry.format)
    ]
    reached, _ = _reach(same, 0)
    if not reached and same and path == archives.on_disk(path):
        names = {(entry.source, entry.format) for entry in same}
        before = [one for one in entries if one.file_bytes < status.st_size and (one.source, one.format) in names]
        reached, _ = _reach([*same, *(one for one in before if one.complete and _is_as_it_was(path, one))], 0)
    return any(entry.complete and entry.at_end and entry.byte_to <= reached for entry in same)


def _is_as_it_was(path: Path, entry: Entry) -> bool:
    """Whether the beginning of a file is what an entry was read from."""
    return (
        _head(path, entry.head_bytes)[1] == entry.head_hash and tail_hash(str(path), entry.byte_to) == entry.tail_hash
    )


def _reach(entries: list[Entry], start: int) -> tuple[int, int]:
    """(byte, line) up to which complete chunks cover the file without a gap."""
    at, line = start, 0
    for entry in sorted(entries, key=lambda one: one.byte_from):
        if entry.complete and entry.byte_from <= at < entry.byte_to:
            at, line = entry.byte_to, entry.line_to
    return at, line


def _standing(entries: list[Entry], base: Chunk) -> list[Entry]:
    """The entries that still hold for the file as it is now: it only grew since."""
    if not entries:
        return []
    path = Path(base.path)
    kept = []
    for entry in entries:
        grown = entry.byte_to <= base.file_bytes and entry.complete
        rewritten = entry.file_bytes == base.file_bytes and entry.file_mtime_ns != base.file_mtime_ns
        same_names = entry.source == base.source and entry.format == base.format
        if not grown or rewritten or not same_names:
            continue
        if _is_as_it_was(path, entry):
            kept.append(entry)
    return kept


def _grown(entries: list[Entry], base: Chunk) -> Chunk | None:
    """What is to be read of a log of events: from the last place where no answer is torn; None where nothing is new.

    An entry that reaches to the end of its file is of no such place.
    """
    if base.compression != "none" or base.format == UNKNOWN or format_named(base.format).in_file is not None:
        return base
    standing = _standing(entries, base)
    at, line = _reach([entry for entry in standing if entry.byte_to < entry.file_bytes], 0)
    now = base.file_bytes, base.file_mtime_ns
    if any(one.at_end and one.byte_from <= at and (one.file_bytes, one.file_mtime_ns) == now for one in standing):
        return None
    return msgspec.structs.replace(base, byte_from=at, line_from=line)


def _cut(base: Chunk, taken: list[Entry], most: int) -> Iterator[Chunk]:
    """The parts of a file of lines that were not taken, cut at line ends after about `most` bytes."""
    at = line = 0
    with Path(base.path).open("rb", buffering=1 << 20) as file:
        for entry in [*taken, None]:
            until = base.byte_to if entry is None else entry.byte_from
            while at < until:
                chunk = _next(file, base, at, until, line, most)
                yield chunk
                at, line = chunk.byte_to, chunk.line_to
            if entry is not None and entry.byte_to > at:
                at, line = entry.byte_to, entry.line_to


def _next(file: IO[bytes], base: Chunk, at: int, until: int, line: int, most: int) -> Chunk:
    file.seek(at)
    lines = 0
    end = at
    last = b""
    while end < until and end - at < most:
        last = file.read(min(1 << 20, until - end, most - (end - at)))
        if not last:
            break
        lines += last.count(b"\n")
        end += len(last)
    while end < until and not last.endswith(b"\n"):
        last = file.readline(min(1 << 20, until - end))
        if not last:
            break
        lines += last.count(b"\n")
        end += len(last)
    settled, whole = (end, lines) if last.endswith(b"\n") else _before_torn_tail(file, at, end, lines)
    return msgspec.structs.replace(
        base,
        byte_from=at,
        byte_to=max(end, at + 1),
        settled_to=settled,
        line_from=line,
        line_to=line + whole,
        at_end=end >= base.byte_to,
    )


def _before_torn_tail(file: IO[bytes], start: int, end: int, lines: int) -> tuple[int, int]:
    """(byte, lines) where a later run goes on: after the last line if it is whole JSON, else before it."""
    size = 4096
    while True:
        begin = max(start, end - size)
        file.seek(begin)
        tail = file.read(end - begin)
        cut = tail.rfind(b"\n")
        if cut >= 0 or begin == start:
            break
        if size > MAX_RECORD_BYTES:
            return end, lines + 1
        size *= 4
    try:
        fast(tail[cut + 1 :])
    except (msgspec.DecodeError, RecursionError):
        return begin + cut + 1, lines
    return end, lines + 1


def _head(path: Path, size: int = HEAD_HASHED) -> tuple[int, int]:
    """(bytes covered, hash) of a file's first bytes."""
    with path.open("rb") as file:
        data = file.read(size)
    return len(data), hash64(data)


def _task(chunks: list[Chunk], choice: Choice) -> Task:
    """A task whose name says exactly what is read, so that the same shard is never written under two names."""
    unknown = any(chunk.format == UNKNOWN for chunk in chunks)
    text = repr(
        [
            (
                one.source,
                one.format,
                one.path,
                one.byte_from,
                one.byte_to,
                one.head_hash,
                one.file_bytes,
                one.file_mtime_ns,
            )
            for one in chunks
        ]
    )
    mapped = "" if choice.column_map is None else choice.column_map.text()
    salt = os.urandom(8).hex() if unknown else mapped
    return Task(f"{hash64((text + salt).encode()) & (2**64 - 1):016x}", list(chunks))
