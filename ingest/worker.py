"""One worker's work: chunks in, one shard out. Runs in the calling process for small inputs, else in a child."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.core.errors import InputError
from app.core.hashing import hash64
from app.core.usage import Rejected, UsageEvent
from ingest.fingerprint import Fingerprinter, Text
from ingest.formats import format_named, generic_rows
from ingest.formats.format import Format, Origin
from ingest.opening import look_at
from ingest.reader import UNKNOWN, Broken, Chunk, Record, read_chunk
from ingest.redact import redact
from ingest.rows import Rows
from ingest.shard import ChunkResult, Reject, ShardMeta, write_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ingest.formats.column_map import ColumnMap


TAIL_BYTES: Final = 256
QUARANTINE_HEAD: Final = 512
ROWS_PER_SHARD: Final = 12_000  # a file that is read as one chunk is handed over in shards of this many
MAX_REJECTS_KEPT: Final = 10_000  # a shard quarantines at most so many places one by one, then counts
_encode: Final = msgspec.json.Encoder().encode


class Task(msgspec.Struct, frozen=True):
    """The chunks of one shard, and its name."""

    name: str
    chunks: list[Chunk]


class Worker:
    """Reads chunks and writes shards; keeps its memory of seen texts from one shard to the next."""

    def __init__(self, data_dir: Path, key: bytes, text: Text, column_map: ColumnMap | None = None) -> None:
        self.data_dir = data_dir
        self.prints = Fingerprinter(key, text)
        self.column_map = column_map

    def run(self, task: Task, advanced: Callable[[int], None] | None = None) -> list[Path]:
        """Write the shard, or for a long file the shards, of a task; `advanced` is told the bytes gone through."""
        shard = _Shard(task.name)
        written: list[Path] = []
        for chunk in task.chunks:
            result = ChunkResult(
                chunk=chunk,
                line_to=chunk.line_to,
                tail_hash=tail_hash(chunk.path, chunk.settled_to),
                complete=True,
            )
            for outcome in self._outcomes(chunk, result):
                shard.count(self.prints, outcome, result)
                if len(shard.rows) >= ROWS_PER_SHARD and chunk.layout != "lines":
                    written.append(self._hand_over(shard, result, complete=False))
                    shard = _Shard(f"{task.name}-{len(written):05d}")
                    result = _continued(result)
            shard.close(chunk, result, self._billing(chunk))
            if advanced is not None:
                advanced(chunk.byte_to - chunk.byte_from)
        written.append(write_shard(self.data_dir, shard.meta(), shard.rows.frames()))
        return written

    def _hand_over(self, shard: _Shard, result: ChunkResult, *, complete: bool) -> Path:
        early = msgspec.structs.replace(result, complete=complete)
        shard.close(result.chunk, early, self._billing(result.chunk))
        return write_shard(self.data_dir, shard.meta(), shard.rows.frames())

    def _format(self, chunk: Chunk) -> Format:
        return resolve_format(chunk.format, self.column_map)

    def _billing(self, chunk: Chunk) -> str:
        return "unknown" if chunk.format == UNKNOWN else self._format(chunk).billing

    def _outcomes(self, chunk: Chunk, result: ChunkResult) -> Iterator[Outcome]:
        if chunk.format == UNKNOWN:
            yield Outcome(Origin(chunk.source, chunk.file, 0), b"", Rejected(why_unknown(chunk)), None, 0)
            return
        chosen = self._format(chunk)
        try:
            for item in read_chunk(chunk):
                if not chunk.line_to:
                    result.line_to = item.line
                yield from outcomes(item, chosen, chunk)
        except InputError as error:
            yield Outcome(Origin(chunk.source, chunk.file, 0), b"", Rejected(str(error)), None, 0)


class Outcome(msgspec.Struct, gc=False):
    """One thing that a record gave: an event or a rejection, with its place and its record's bytes."""

    place: Origin
    raw: bytes
    given: UsageEvent | Rejected
    byte_from: int | None
    nth: int


def why_unknown(chunk: Chunk) -> str:
    """Why nothing of a file is read: it cannot be opened, or shows no layout that Halve knows."""
    try:
        look_at(Path(chunk.path))
    except InputError as error:
        return str(error)
    return "the layout is none that Halve knows; see what it finds with `halve inspect`, or say --format or --map"


def resolve_format(name: str, column_map: ColumnMap | None) -> Format:
    """The format of a chunk; the generic one is made for its column map."""
    return format_named(name) if column_map is None else generic_rows.with_map(column_map)


def outcomes(item: Record | Broken, chosen: Format, chunk: Chunk) -> Iterator[Outcome]:
    """What one record gives. A record that gives nothing is one benign outcome, so that counts add up."""
    place = Origin(chunk.source, chunk.file, item.line)
    if type(item) is not Record:
        assert isinstance(item, Broken)
        yield Outcome(place, item.head, Rejected(item.reason), item.byte_from, 0)
        return
    raw = item.raw if item.raw is not None else _bytes_of(item.value)
    nth = -1
    for nth, given in enumerate(chosen.parse(item.value, place)):
        yield Outcome(place, raw, given, item.byte_from, nth)
    if nth < 0:
        yield Outcome(place, raw, Rejected("holds no call", benign=True), item.byte_from, 0)


def _bytes_of(value: Any) -> bytes:
    try:
        return _encode(value)
    except (UnicodeEncodeError, ValueError, TypeError, RecursionError):
        return repr(value).encode("utf-8", "backslashreplace")


class _Shard:
    """A shard while it is filled."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows = Rows()
        self._chunks: list[ChunkResult] = []
        self._rejects: list[Reject] = []
        self._billing: dict[str, tuple[str, str]] = {}

    def count(self, prints: Fingerprinter, outcome: Outcome, result: ChunkResult) -> None:
        result.read += 1
        given = outcome.given
        if not isinstance(given, Rejected):
            prints.add(self.rows, given, outcome.place, len(self._chunks), outcome.raw, outcome.nth)
        elif given.benign:
            result.benign += 1
        else:
            result.rejected += 1
            if len(self._rejects) < MAX_REJECTS_KEPT:
                self._rejects.append(_reject(outcome, given.reason))

    def close(self, chunk: Chunk, result: ChunkResult, billing: str) -> None:
        self._chunks.append(result)
        self._billing[chunk.source] = (chunk.format, billing)

    def meta(self) -> ShardMeta:
        return ShardMeta(name=self.name, billing=self._billing, chunks=self._chunks, rejects=self._rejects)


def _reject(outcome: Outcome, reason: str) -> Reject:
    # A secret that the cut would tear apart is masked first: more is decoded than is kept.
    text = redact(outcome.raw[: 4 * QUARANTINE_HEAD].decode("utf-8", "replace"))
    head = text.encode()[:QUARANTINE_HEAD].decode("utf-8", "ignore")
    place = outcome.place
    return Reject(place.source, place.file, place.line, outcome.byte_from, redact(reason), head)


def _continued(result: ChunkResult) -> ChunkResult:
    return msgspec.structs.replace(result, read=0, benign=0, rejected=0)


def tail_hash(path: str, end: int) -> int:
    """Of the last bytes before `end`: shows later whether the file only grew. 0 where it cannot be read."""
    start = max(0, end - TAIL_BYTES)
    try:
        with Path(path).open("rb") as file:
            file.seek(start)
            return hash64(file.read(end - start))
    except OSError:
        return 0
