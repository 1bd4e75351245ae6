"""What reading deals in: a chunk of a file, a decoded record with its place, and a place that could not be read."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from ingest.opening import Compression, Layout

UNKNOWN: Final = "unknown"  # the format of a file whose layout nothing knows


class Chunk(msgspec.Struct, frozen=True):
    """A part of one file that one worker reads: a byte range of lines, or a whole file of another layout."""

    source: str
    format: str
    file: str  # as given: the name that rows and messages show
    path: str  # absolute
    compression: Compression
    layout: Layout
    byte_from: int
    byte_to: int
    settled_to: int  # where a later run goes on: before a last line that is not whole yet
    line_from: int
    at_end: bool  # nothing of the file comes after it
    line_to: int  # lines before settled_to; 0 where they are not counted beforehand
    head_bytes: int
    head_hash: int
    file_bytes: int
    file_mtime_ns: int
    billing: str = ""  # what the caller knows of how the source is billed; else its format says it


class Record(msgspec.Struct, gc=False):
    """One decoded record: 1-based line (or index), its value, its bytes as logged (None where it is no line)."""

    line: int
    value: Any
    raw: bytes | None
    byte_from: int | None = None


class Broken(msgspec.Struct):
    """A place that could not be read: why, and its first bytes."""

    line: int
    reason: str
    head: bytes
    byte_from: int | None = None
