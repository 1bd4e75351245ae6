"""How a file is packed, told by its first bytes, and the bytes in it: gzip, zstd, bzip2 and xz, part after part."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from typing import IO, TYPE_CHECKING, Any, Final, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import WriteableBuffer

Packing = Literal["gzip", "zstd", "bzip2", "xz"]

MAGIC_BYTES: Final = 4
PACKED_SUFFIXES: Final = (".gz", ".zst", ".zstd", ".bz2", ".xz")
TAR_SUFFIXES: Final = (".tgz", ".tzst", ".tbz2", ".txz")  # of packed tars
# xz says in a header how much memory unpacking takes; its own highest level needs 65 MB.
MOST_XZ_BYTES: Final = 128 * 1024 * 1024
_STEP: Final = 1 << 20


def packing_of(magic: bytes) -> Packing | None:
    """How a file that begins with these MAGIC_BYTES is packed; None where it is not."""
    if magic[:2] == b"\x1f\x8b":
        return "gzip"
    if magic[:3] == b"BZh":
        return "bzip2"
    return {b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zX": "xz"}.get(magic)  # type: ignore[return-value]


def unpacked(stream: IO[bytes], packing: Packing) -> IO[bytes]:
    """The bytes that a packed stream holds; errors of `damaged_errors` where it is damaged or breaks off."""
    if packing == "gzip":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
    if packing == "zstd":
        import zstandard

        frames = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
        return io.BufferedReader(cast("io.RawIOBase", frames), _STEP)
    return io.BufferedReader(_Parts(stream, _xz if packing == "xz" else bz2.BZ2Decompressor), _STEP)


def damaged_errors() -> tuple[type[Exception], ...]:
    """What reading damaged packed data raises."""
    import zstandard

    return (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError)


def _xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_XZ_BYTES)


class _Parts(io.RawIOBase):
    """What parts that follow each other hold, as `cat a.xz b.xz` or a packer of several threads leaves them.

    `bz2.open` and `lzma.open` read the same, but give no limit to the memory that a header may ask for.
    """

    def __init__(self, raw: IO[bytes], begin: Callable[[], Any]) -> None:
        self._raw = raw
        self._begin = begin
        self._part = begin()
        self._read = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        room = memoryview(buffer)
        while True:
            if self._part.eof and not self._next():
                return 0
            if self._part.needs_input and not self._read:
                self._read = self._raw.read(_STEP)
                if not self._read:
                    raise EOFError("the packed data breaks off")
            try:
                data, self._read = self._part.decompress(self._read, room.nbytes), b""
            except OSError as error:  # which bz2 says of its data, not of the file
                raise EOFError("the packed data is damaged") from error
            if data:
                room[: len(data)] = data
                return len(data)

    def _next(self) -> bool:
        """Begin the part that follows; False at the end. Padding may stand between parts."""
        rest: bytes = self._part.unused_data or self._raw.read(_STEP)
        while rest and not (rest := rest.lstrip(b"\0")):
            rest = self._raw.read(_STEP)
        if not rest:
            return False
        self._part, self._read = self._begin(), rest
        return True
