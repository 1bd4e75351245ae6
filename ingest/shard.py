"""A shard: a folder in the inbox with the rows of some chunks as Arrow files and `meta.json`, complete or absent.

It is written aside, every file and the folder are flushed to disk, and one rename makes it visible.
"""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING, Final

import msgspec
import polars as pl

from app.core.errors import InputError, UnavailableError
from ingest.records import Chunk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

INBOX: Final = "inbox"
META: Final = "meta.json"
PUSHED: Final = "push-"  # how the names of shards begin that are made of the journal
_DRAFT: Final = ".draft-"
_GONE: Final = ".taken-"
_DAMAGED: Final = ".damaged-"


class ChunkResult(msgspec.Struct, kw_only=True):
    """What one chunk held; `line_to` and `tail_hash` are where a later run goes on."""

    chunk: Chunk
    line_to: int
    tail_hash: int
    complete: bool
    read: int = 0
    benign: int = 0
    rejected: int = 0
    read_to: int = 0  # the last line that was read, where a later run goes on before it


class Reject(msgspec.Struct, frozen=True):
    """One thing that could not be read, for the quarantine; `head` is already redacted."""

    source: str
    file: str
    path: str
    line: int
    byte_from: int | None
    reason: str
    head: str
    record: int | None = None  # a hash of its bytes; None for a file as a whole


class ShardMeta(msgspec.Struct, kw_only=True):
    """What a shard says of itself."""

    name: str
    billing: dict[str, tuple[str, str]]  # source -> (format, billing of the format)
    chunks: list[ChunkResult]
    rejects: list[Reject]
    replays: list[tuple[str, str, int]] = []  # (source, path, line) of places that were read again from the quarantine


def inbox(data_dir: Path) -> Path:
    """The inbox of a data folder."""
    return data_dir / INBOX


def write_shard(data_dir: Path, meta: ShardMeta, frames: Mapping[str, pl.DataFrame]) -> Path:
    """Write a shard; returns its folder. A shard of that name that is already there stays as it is.

    Raises:
        UnavailableError: it cannot be written, for example because the disk is full.
    """
    target = inbox(data_dir) / meta.name
    draft = inbox(data_dir) / f"{_DRAFT}{os.getpid()}-{meta.name}"
    try:
        draft.mkdir(parents=True)
        for name, frame in frames.items():
            with (draft / f"{name}.arrow").open("wb") as file:
                frame.write_ipc(file, compression="lz4")
                file.flush()
                os.fsync(file.fileno())
        with (draft / META).open("wb") as file:
            file.write(msgspec.json.encode(meta))
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(draft)
        _put_in_place(draft, target)
        _sync_folder(target.parent)
    except (OSError, pl.exceptions.ComputeError) as error:
        shutil.rmtree(draft, ignore_errors=True)
        reason = getattr(error, "strerror", None) or str(error)
        raise UnavailableError(
            f"The inbox {inbox(data_dir)} cannot be written: {reason}. What was read so far is kept; make room or fix "
            "the folder, then run the same command again: it goes on where it stopped."
        ) from error
    return target


def _put_in_place(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
        shutil.rmtree(draft)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def waiting(data_dir: Path) -> list[Path]:
    """The complete shards in the inbox, oldest name first."""
    folder = inbox(data_dir)
    if not folder.is_dir():
        return []
    return sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def read_meta(shard: Path) -> ShardMeta:
    """What a shard says of itself.

    Raises:
        InputError: it is damaged.
    """
    try:
        return msgspec.json.decode((shard / META).read_bytes(), type=ShardMeta)
    except (OSError, msgspec.DecodeError) as error:
        raise _damaged(shard, error) from error


def read_frame(shard: Path, name: str) -> pl.DataFrame | None:
    """One table of a shard, or None where it has none.

    Raises:
        InputError: it is damaged.
    """
    path = shard / f"{name}.arrow"
    try:
        return pl.read_ipc(path) if path.exists() else None
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _damaged(shard, error) from error


def _damaged(shard: Path, error: Exception) -> InputError:
    return InputError(f"The shard {shard.name} in the inbox is damaged ({error}). Ingest its source again.")


def left_aside(data_dir: Path) -> int:
    """How much in the inbox was moved out of the way because it could not be read, and is in no figure."""
    return sum(1 for _ in inbox(data_dir).glob(f"{_DAMAGED}*"))


def set_aside(shard: Path) -> Path:
    """Move a damaged shard out of the way of the others; returns where it is now."""
    aside = shard.with_name(f"{_DAMAGED}{shard.name}")
    shutil.rmtree(aside, ignore_errors=True)
    return shard.rename(aside)


def discard(shard: Path) -> None:
    """Remove a shard: out of sight by one rename, then from disk."""
    gone = shard.with_name(f"{_GONE}{os.getpid()}-{shard.name}")
    shard.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def sweep(data_dir: Path) -> None:
    """Remove drafts of processes that are gone, and shards that were taken but not removed."""
    folder = inbox(data_dir)
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        kind = next((mark for mark in (_DRAFT, _GONE) if entry.name.startswith(mark)), None)
        if kind is None:
            continue
        pid = entry.name.removeprefix(kind).partition("-")[0]
        if not pid.isdigit() or not _alive(int(pid)):
            shutil.rmtree(entry, ignore_errors=True)


def _alive(pid: int) -> bool:
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
