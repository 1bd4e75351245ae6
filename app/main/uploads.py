"""What lies in the data folder only until it was read: uploaded logs, and what was pulled from a source.

Both are logs as they came, secrets included: only their owner may read them, and they are gone once they were read,
also where that failed. What a crash leaves is removed at the next start.
"""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Final

from app.core.errors import UnavailableError, UsageError
from app.core.hashing import hash64
from app.web.names import plain_name
from ingest.connectors.files import Found

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_UPLOAD_BYTES: Final = 2 * 1024**3
COPY_BYTES: Final = 1 << 20
UPLOADS: Final = "uploads"
PULLED: Final = "pulled"
_NAME_BYTES: Final = 200  # a file system takes 255


def keep_upload(data_dir: Path, name: str, stream: BinaryIO) -> Found:
    """Store an upload in a folder of its own; rows and messages show the name that its owner gave it.

    Raises:
        UsageError: it is larger than the limit. UnavailableError: it cannot be stored, as on a full disk.
    """
    safe = plain_name(name).encode("utf-8", "ignore")[-_NAME_BYTES:].decode("utf-8", "ignore") or "upload.jsonl"
    folder = data_dir / UPLOADS / secrets.token_hex(8)
    kept = Found(safe, folder / safe)
    try:
        folder.mkdir(mode=0o700, parents=True)
        with private_file(kept.path) as out:
            whole = _copy(stream, out)
    except OSError as error:
        drop_upload(kept)
        raise UnavailableError(
            f"The upload could not be stored: {error.strerror}. See that the disk has room."
        ) from error
    if not whole:
        drop_upload(kept)
        raise UsageError("The upload is larger than 2 GiB. Read it with `halve ingest` instead.")
    return kept


def drop_upload(kept: Found) -> None:
    """Remove an upload with its folder."""
    shutil.rmtree(kept.path.parent, ignore_errors=True)


@contextmanager
def scratch(data_dir: Path, source: str) -> Iterator[Path]:
    """A private folder for what is pulled from a source, gone afterwards; the same one each time, so that a record that
    cannot be read has one place in the quarantine, however often it comes.
    """
    folder = data_dir / PULLED / f"{hash64(source.encode()) & (2**64 - 1):016x}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def private_file(path: Path) -> BinaryIO:
    """A new file that only its owner may read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def sweep(data_dir: Path) -> list[str]:
    """Remove what an earlier run left unread; the names of those files."""
    left = []
    for folder in (data_dir / UPLOADS, data_dir / PULLED):
        if folder.is_dir():
            left += sorted(file.name for file in folder.rglob("*") if file.is_file())
            shutil.rmtree(folder, ignore_errors=True)
    return left


def _copy(stream: BinaryIO, out: BinaryIO) -> bool:
    """Copy up to the limit; whether that was all."""
    size = 0
    while block := stream.read(COPY_BYTES):
        size += len(block)
        if size > MAX_UPLOAD_BYTES:
            return False
        out.write(block)
    return True
