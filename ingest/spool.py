"""The bytes of one member of an archive while they are read: in memory, beyond a limit in a file without a name."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from app.core.errors import InputError

IN_MEMORY: Final = 16 * 1024 * 1024


class Spool:
    """The bytes of one member: in memory, beyond that in a file without a name. It goes with its last reader."""

    def __init__(self) -> None:
        self._memory: bytearray | None = bytearray()
        self._file: Descriptor | None = None
        self.damage: str | None = None

    def write(self, data: bytes) -> None:
        if self._memory is not None:
            self._memory += data
            if len(self._memory) <= IN_MEMORY:
                return
            data, self._memory = bytes(self._memory), None
        try:
            if self._file is None:
                number, name = tempfile.mkstemp(prefix="halve-")
                self._file = Descriptor(number)
                Path(name).unlink()
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._file.fileno(), rest) :]
        except OSError as error:
            raise InputError(
                f"there is no room to unpack it in passing: {error.strerror}. Unpack it by hand"
            ) from error

    def read(self, position: int, size: int) -> bytes:
        if self._file is None:
            return bytes((self._memory or b"")[position : position + size])
        return os.pread(self._file.fileno(), size, position)


class Descriptor(io.RawIOBase):
    """An open file that is closed with its last user, whoever that is."""

    def __init__(self, number: int) -> None:
        self._number = number

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def readinto(self, buffer: Any) -> int:
        data = os.read(self._number, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            os.close(self._number)
        super().close()


class SpoolReader(io.RawIOBase):
    """One reading of a spool, from its front."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._spool.read(self._at, len(buffer))
        if not data and len(buffer) and self._spool.damage is not None:
            raise EOFError(self._spool.damage)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
