"""Opening a log file: compression by its magic bytes, layout by its first bytes, names only as a tie-break."""

from __future__ import annotations

import io
import json
import re
import tarfile
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, Literal, cast

from app.core.errors import InputError
from ingest import archives, packing, tars
from ingest.connectors.files import unrotated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Compression = Literal["none", "gzip", "zstd", "bzip2", "xz", "zip", "tar"]
Layout = Literal["lines", "document", "csv", "events", "event_lines", "parquet", "otlp", "empty"]

MAX_RECORD_BYTES: Final = 64 * 1024 * 1024
HEAD_BYTES: Final = 256 * 1024
BOM: Final = b"\xef\xbb\xbf"

# A time or a level in brackets, then an object: lines of a log, and no list.
_BRACKETED: Final = re.compile(rb'\[[^\[\]{}"]*\][^{]*\{\s*"')
_LINE_SUFFIXES = (".jsonl", ".ndjson", ".log", ".jsonlines")


@dataclass(frozen=True, slots=True)
class Shape:
    """How a file is to be read: its compression, its layout, and its first decompressed bytes."""

    compression: Compression
    layout: Layout
    head: bytes


def look_at(path: Path) -> Shape:
    """The shape of a file.

    Raises:
        InputError: the file cannot be opened or read, it holds text in an encoding that is not UTF-8, nothing of its
            compressed data can be unpacked, or it holds NUL bytes alone.
    """
    try:
        archives.refuse(path)
        compression = _compression_of(path)
        with opened(path, compression) as stream:
            head, damage = _read_up_to(stream, HEAD_BYTES)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}. Check that it exists and may be read."
        ) from (error)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{path} is UTF-16 text. Halve reads UTF-8; convert it, for example with iconv -f UTF-16.")
    layout = _layout(head, path)
    if layout == "parquet" and compression != "none":
        raise InputError(f"{path} is a packed Parquet file, which is not read. Unpack it: Parquet packs by itself.")
    if layout == "empty" and damage is not None:
        raise InputError(f"{path} cannot be unpacked: the compressed data is damaged from its start ({damage}).")
    if layout == "empty" and len(head) >= HEAD_BYTES:
        layout = "lines"  # records may still follow so long a gap
    elif layout == "empty" and b"\x00" in head:
        raise InputError(f"{path} holds only NUL bytes, as an unclean shutdown leaves them. No record is in it.")
    return Shape(compression, layout, head)


@contextmanager
def opened(path: Path, compression: Compression) -> Iterator[IO[bytes]]:
    """The decompressed bytes of a file as a buffered stream."""
    if compression == "zip":
        with archives.member_stream(path) as member:
            yield io.BufferedReader(cast("io.RawIOBase", member), 1 << 20)
    elif compression == "tar":
        with archives.member_stream(path) as member, tars.unpacked(member) as stream:
            yield stream
    elif compression == "none":
        with path.open("rb", buffering=1 << 20) as stream:
            yield stream
    else:
        with path.open("rb") as raw, packing.unpacked(raw, compression) as stream:
            yield stream


def damaged_errors() -> tuple[type[Exception], ...]:
    """What reading damaged compressed data raises."""
    return (*packing.damaged_errors(), zipfile.BadZipFile, tarfile.TarError)


def _compression_of(path: Path) -> Compression:
    inside = archives.holding(path)
    if inside is not None:
        return inside
    with path.open("rb") as raw:
        return packing.packing_of(raw.read(packing.MAGIC_BYTES)) or "none"


def _read_up_to(stream: IO[bytes], limit: int) -> tuple[bytes, Exception | None]:
    """The first bytes of a stream, and what ended them early; of damaged data what can be read."""
    parts: list[bytes] = []
    size = 0
    damaged = damaged_errors()
    while size < limit:
        try:
            part = stream.read(min(65536, limit - size))
        except damaged as error:
            return b"".join(parts), error
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts), None


def _layout(head: bytes, path: Path) -> Layout:
    if head.startswith(b"PAR1"):
        return "parquet"
    if _is_otlp(head):
        return "otlp"
    body = head.removeprefix(BOM).replace(b"\x00", b"").lstrip()
    if not body:
        return "empty"
    first, newline, rest = body.partition(b"\n")
    first = first.strip()
    if re.match(rb"(data|event|id|retry)?:", first):
        return "events"
    if first[:1] in b"[{":
        return _json_layout(first, bool(newline), rest, path)
    if _is_header(first, path):
        return "csv"
    return "lines"


def _is_otlp(head: bytes) -> bool:
    """OTLP's protobuf behind its length: the first field of an export, a message, ends within it."""
    size = int.from_bytes(head[:4], "big")
    return (
        head[:1] == b"\x00" and 0 < size <= MAX_RECORD_BYTES and head[4:5] == b"\n" and head[5:6] not in (b"", b"\x00")
    )


def _json_layout(first: bytes, ended: bool, rest: bytes, path: Path) -> Layout:
    if _decodes(first):
        alone = first.startswith(b"[") and not rest.strip()
        return "document" if alone else "lines"
    if first.startswith(b"["):
        return "lines" if _BRACKETED.match(first) else "document"
    if not ended:
        return "lines"
    if first.endswith((b"{", b"[", b",")):
        return "document"
    later = any(line.lstrip().startswith(b"{") and _decodes(line.strip()) for line in rest.split(b"\n", 4)[:3])
    return "lines" if later or unrotated(path.name).endswith(_LINE_SUFFIXES) else "document"


def _decodes(text: bytes) -> bool:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, (dict, list))


def delimiter(header: bytes) -> str:
    """The field delimiter of a CSV header line: the most frequent of comma, semicolon, tab and bar."""
    return max((",", ";", "\t", "|"), key=lambda mark: header.count(mark.encode()))


def _is_header(line: bytes, path: Path) -> bool:
    mark = delimiter(line).encode()
    if line.count(mark) == 0:
        return unrotated(path.name).endswith((".csv", ".tsv"))
    return all(re.fullmatch(rb'\s*"?[A-Za-z_][\w .()/%:-]{0,80}"?\s*', cell) for cell in line.split(mark))
