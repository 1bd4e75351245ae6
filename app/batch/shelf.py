"""Files of a batch's caller: requests that were handed in, and answers, each under an id that tells nothing.

The bytes lie in one folder under the ids; names, sizes and times are rows of `app.control.batch_files`.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from app.batch.folder import whole_file
from app.control import batch_files
from app.control.batch_files import BatchFile
from app.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Engine

    from app.control.batch_files import Purpose

KEPT_US: Final = 30 * 86_400_000_000
"""How long a file is kept, as providers keep theirs."""
COPY_BYTES: Final = 1 << 20
NAME_MAX: Final = 200


class TooLargeError(InputError):
    """A file above the size that is taken."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The files in a folder. `max_bytes` bounds each one that is handed in."""

    control: Engine
    folder: Path
    now_us: Callable[[], int]
    max_bytes: int

    def keep(self, name: str, stream: BinaryIO) -> BatchFile:
        """Copy what a caller hands in to disk, in pieces.

        Raises:
            TooLargeError: it is above the limit. InputError: it is empty. UnavailableError: the disk is full.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self.prune()
        file_id = f"file-{secrets.token_hex(12)}"
        size = 0
        with whole_file(self.path(file_id)) as out:
            while size <= self.max_bytes and (block := stream.read(COPY_BYTES)):
                size += len(block)
                out.write(block)
        if not 0 < size <= self.max_bytes:
            self.path(file_id).unlink()
            if size == 0:
                raise InputError("The file is empty. Write one JSON object a line.")
            raise TooLargeError(f"The file is larger than {self.max_bytes:,} bytes. Cut it into several files.")
        return self.add(file_id, "batch", name, size)

    def add(self, file_id: str, purpose: Purpose, name: str, size: int) -> BatchFile:
        """Make a file known whose bytes are on disk; the same file again changes nothing."""
        now_us = self.now_us()
        file = BatchFile(file_id, purpose, name[:NAME_MAX], size, now_us, now_us + KEPT_US)
        batch_files.add_file(self.control, file)
        return file

    def path(self, file_id: str) -> Path:
        """Where the bytes of a known file lie."""
        return self.folder / f"{file_id}.jsonl"

    def remove(self, file_id: str) -> None:
        """Forget a file and its bytes.

        Raises:
            NotFoundError: no such file.
        """
        self._drop(batch_files.file(self.control, file_id).id)

    def prune(self) -> None:
        """Remove the files whose time is over."""
        for file_id in batch_files.expired(self.control, self.now_us()):
            self._drop(file_id)

    def _drop(self, file_id: str) -> None:
        batch_files.remove_file(self.control, file_id)
        self.path(file_id).unlink(missing_ok=True)
