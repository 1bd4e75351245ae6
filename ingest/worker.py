"""One worker's work: chunks in, one shard out. Runs in the calling process for small inputs, else in a child."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.core.billed import BilledLine
from app.core.errors import InputError
from app.core.hashing import hash64
from app.core.usage import Rejected, SpanLink, UsageEvent
from ingest.billed_rows import BilledRows
from ingest.connectors import files
from ingest.event_groups import Cut
from ingest.fingerprint import Fingerprinter, Text
from ingest.formats import format_named, generic_rows
from ingest.formats.format import Format, Origin
from ingest.mixture import parser_of
from ingest.opening import look_at
from ingest.reader import read_chunk
from ingest.records import UNKNOWN, Broken, Chunk, Record
from ingest.redact import error_code, redact
from ingest.rows import Rows
from ingest.shard import ChunkResult, Reject, ShardMeta, write_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from ingest.formats.column_map import ColumnMap

    Parse = Callable[[Any, Origin], Iterator[UsageEvent | BilledLine | Rejected]]


TAIL_BYTES: Final = 256
QUARANTINE_HEAD: Final = 512
ROWS_PER_SHARD: Final = 12_000  # a file that is read as one chunk is handed over in shards of this many
BATCH_EVENTS: Final = 64
BATCH_BYTES: Final = 1 << 20
LONG_RECORD: Final = 4096
MAX_REJECTS_KEPT: Final = 10_000  # a shard quarantines at most so many places one by one, then counts
_encode: Final = msgspec.json.Encoder().encode


class Task(msgspec.Struct, frozen=True):
    """The chunks of one shard, and its name."""

    name: str
    chunks: list[Chunk]
    replays: list[tuple[str, str, int]] = []


class Worker:
    """Reads chunks and writes shards; keeps its memory of seen texts from one shard to the next."""

    def __init__(
        self,
        data_dir: Path,
        key: bytes,
        text: Text,
        column_map: ColumnMap | None = None,
        *,
        prose: bool | None = None,
    ) -> None:
        self.data_dir = data_dir
        self.prose = text != "none" if prose is None else prose
        self.prints = Fingerprinter(key, text)
        self.column_map = column_map
        self._formats: dict[str, Format] = {}

    def run(self, task: Task) -> list[Path]:
        """Write the shard, or for a long file the shards, of a task."""
        # What a shard was filled with is gone before the collector is on again: nothing of it is left to look through.
        with _without_collector():
            return self._run(task)

    def _run(self, task: Task) -> list[Path]:
        shard = _Shard(task.name, task.replays, prose=self.prose)
        written: list[Path] = []
        for chunk in task.chunks:
            result = ChunkResult(
                chunk=chunk,
                line_to=chunk.line_to,
                tail_hash=tail_hash(chunk.path, chunk.settled_to),
                complete=True,
            )
            parse = None if chunk.format == UNKNOWN else self._parser(chunk)
            shard.begin(chunk)
            cut = Cut() if chunk.layout == "event_lines" else None
            for item in self._items(chunk, cut):
                if not chunk.line_to:
                    result.line_to = item.line
                self._take(shard, item, chunk, result, parse)
                if shard.waiting_bytes >= BATCH_BYTES or len(shard.waiting) >= BATCH_EVENTS:
                    shard.print_waiting(self.prints)
                    if len(shard.rows) >= ROWS_PER_SHARD:
                        written.append(self._hand_over(shard, result))
                        shard = _Shard(f"{task.name}-{len(written):05d}", task.replays, prose=self.prose)
                        shard.begin(chunk)
                        result = msgspec.structs.replace(result, read=0, benign=0, rejected=0)
            shard.print_waiting(self.prints)
            if cut is not None:
                result = _up_to(cut, result)
            shard.close(result.chunk, result, self._billing(chunk))
        written.append(write_shard(self.data_dir, shard.meta(), shard.frames()))
        return written

    def _take(
        self, shard: _Shard, item: Record | Broken, chunk: Chunk, result: ChunkResult, parse: Parse | None
    ) -> None:
        """Everything that one record gives, counted. A record that gives nothing is one benign outcome."""
        place = Origin(chunk.source, chunk.file, item.line)
        if type(item) is not Record or parse is None:
            assert isinstance(item, Broken)
            shard.reject(place, item.head, item.byte_from, Rejected(item.reason), result)
            return
        value = item.value
        raw = item.raw if item.raw is not None else _bytes_of(value)
        if type(value) is UsageEvent:
            shard.take(value, place, raw, 0, result)
            return
        nth = -1
        short = raw
        try:
            for nth, given in enumerate(parse(value, place)):
                if isinstance(given, Rejected):
                    part = raw if given.part is None else _bytes_of(given.part)
                    shard.reject(place, part, item.byte_from, given, result)
                    continue
                if isinstance(given, BilledLine):
                    shard.bill(given, place, result)
                    continue
                if nth and short is raw and len(raw) > LONG_RECORD:
                    short = blake2b(raw, digest_size=16).digest()
                # Hundreds of calls in one long record: only those without an id need all of its bytes for one.
                named = given.source_record is not None or given.provider_response_id is not None
                shard.take(given, place, short if named else raw, nth, result)
        except RecursionError:
            shard.reject(place, raw, item.byte_from, Rejected("JSON nested too deeply"), result)
            return
        if nth < 0:
            shard.reject(place, raw, item.byte_from, Rejected("holds no call", benign=True), result)

    def _items(self, chunk: Chunk, cut: Cut | None) -> Iterator[Record | Broken]:
        if chunk.format == UNKNOWN:
            yield Broken(0, why_unknown(chunk), b"")
            return
        try:
            at_once = self._format(chunk).at_once
            yield from read_chunk(chunk, None if at_once is None else at_once(), cut)
        except InputError as error:
            yield Broken(0, str(error), b"")

    def _hand_over(self, shard: _Shard, result: ChunkResult) -> Path:
        """Write a shard that ends inside a chunk."""
        shard.print_waiting(self.prints)
        early = msgspec.structs.replace(result, complete=False)
        shard.close(result.chunk, early, self._billing(result.chunk))
        return write_shard(self.data_dir, shard.meta(), shard.frames())

    def _format(self, chunk: Chunk) -> Format:
        found = self._formats.get(chunk.format)
        if found is None:
            found = self._formats[chunk.format] = resolve_format(chunk.format, self.column_map)
        return found

    def _parser(self, chunk: Chunk) -> Parse:
        """What reads the chunk; with a column map the caller said what every row is."""
        form = self._format(chunk)
        return form.parser() if self.column_map is not None else parser_of(form)

    def _billing(self, chunk: Chunk) -> str:
        known = "unknown" if chunk.format == UNKNOWN else self._format(chunk).billing
        return chunk.billing or known


def _up_to(cut: Cut, result: ChunkResult) -> ChunkResult:
    """Of a log of events: a later run goes on where no answer is torn; without such a place it reads all again."""
    chunk = result.chunk
    result = msgspec.structs.replace(result, read_to=cut.read_to)
    if cut.at is None or cut.at[0] <= chunk.byte_from or chunk.compression != "none":
        return result
    byte_at, line = cut.at
    return msgspec.structs.replace(
        result,
        chunk=msgspec.structs.replace(chunk, settled_to=byte_at),
        line_to=line,
        tail_hash=tail_hash(chunk.path, byte_at),
    )


def why_unknown(chunk: Chunk) -> str:
    """Why nothing of a file is read: it cannot be opened, or shows no layout that Halve knows."""
    try:
        look_at(Path(chunk.path))
    except InputError as error:
        return str(error).replace(chunk.path, chunk.file)  # under the name that its owner knows
    return "the layout is none that Halve knows; see what it finds with `halve inspect`, or say --format or --map"


def resolve_format(name: str, column_map: ColumnMap | None) -> Format:
    """The format of a chunk; the generic one is made for its column map."""
    return format_named(name) if column_map is None else generic_rows.with_map(column_map)


def _bytes_of(value: Any) -> bytes:
    try:
        return _encode(value)
    except (UnicodeEncodeError, ValueError, TypeError, RecursionError):
        return repr(value).encode("utf-8", "backslashreplace")


class _Shard:
    """A shard while it is filled."""

    def __init__(self, name: str, replays: list[tuple[str, str, int]], *, prose: bool) -> None:
        self._prose = prose  # False: no word of what was logged is kept, neither in the quarantine nor in an error
        self.name = name
        self.replays = replays
        self.rows = Rows()
        self.billed = BilledRows()
        self.chunks: list[ChunkResult] = []
        self._rejects: list[Reject] = []
        self._billing: dict[str, tuple[str, str]] = {}
        self.waiting: list[tuple[UsageEvent, Origin, bytes, int]] = []
        self.waiting_bytes = 0

    def begin(self, chunk: Chunk) -> None:
        """What is taken from here on is of this chunk."""
        self.rows.begin(len(self.chunks), chunk.source)

    def take(self, event: UsageEvent, place: Origin, raw: bytes, nth: int, result: ChunkResult) -> None:
        """Count an event, and let it wait for its fingerprints."""
        result.read += 1
        if event.error is not None and not self._prose:
            event.error = error_code(event.error)
        self.waiting.append((event, place, raw, nth))
        self.waiting_bytes += len(raw)

    def bill(self, line: BilledLine, place: Origin, result: ChunkResult) -> None:
        """Count a line of a bill and add it to equal ones."""
        result.read += 1
        self.billed.add(line, place.line, len(self.chunks))

    def frames(self) -> dict[str, pl.DataFrame]:
        """The tables of the shard; empty ones are left out."""
        billed = self.billed.frame()
        return self.rows.frames() if billed is None else {**self.rows.frames(), "billed": billed}

    def print_waiting(self, prints: Fingerprinter) -> None:
        """Fingerprint the events of some records at once: a tenth faster than one by one, in turns with parsing."""
        for event, place, raw, nth in self.waiting:
            prints.add(self.rows, event, place, len(self.chunks), raw, nth)
        self.waiting.clear()
        self.waiting_bytes = 0

    def reject(self, place: Origin, raw: bytes, byte_from: int | None, given: Rejected, result: ChunkResult) -> None:
        """Count what is no call, and keep the place of what could not be read."""
        result.read += 1
        if given.benign:
            result.benign += 1
            if type(given) is SpanLink:
                self.rows.link(given)
            return
        result.rejected += 1
        if len(self._rejects) < MAX_REJECTS_KEPT:
            # A secret that the cut would tear apart is masked first: more is decoded than is kept.
            text = redact(raw[: 4 * QUARANTINE_HEAD].decode("utf-8", "replace")) if self._prose else ""
            head = text.encode()[:QUARANTINE_HEAD].decode("utf-8", "ignore")
            self._rejects.append(
                Reject(
                    place.source,
                    place.file,
                    files.written(result.chunk.path),
                    place.line,
                    byte_from,
                    redact(given.reason),
                    head,
                    hash64(raw) if raw and place.line else None,
                )
            )

    def close(self, chunk: Chunk, result: ChunkResult, billing: str) -> None:
        """Note a chunk as read, or as far as this shard goes."""
        path = files.written(chunk.path)
        if path != chunk.path:  # the store takes UTF-8 only
            result = msgspec.structs.replace(result, chunk=msgspec.structs.replace(chunk, path=path))
        self.chunks.append(result)
        self._billing[chunk.source] = (chunk.format, billing)

    def meta(self) -> ShardMeta:
        return ShardMeta(
            name=self.name, billing=self._billing, chunks=self.chunks, rejects=self._rejects, replays=self.replays
        )


@contextmanager
def _without_collector() -> Iterator[None]:
    """Rows are many small tuples without cycles: looking through them again and again costs a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def tail_hash(path: str, end: int) -> int:
    """Of the last bytes before `end`: shows later whether the file only grew. 0 where it cannot be read."""
    start = max(0, end - TAIL_BYTES)
    try:
        with Path(path).open("rb") as file:
            file.seek(start)
            return hash64(file.read(end - start))
    except OSError:
        return 0
