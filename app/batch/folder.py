"""Where a job's bodies and results lie: `data/batches/<job>/`, written whole or not at all."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from app.core.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class JobFolder:
    """The files of one job.

    Attributes:
        items: the caller's lines as they were handed in, one a request.
        results: what the caller gets: one line an item in the caller's order, under the caller's ids.
    """

    path: Path

    @property
    def items(self) -> Path:
        return self.path / "items.jsonl"

    @property
    def results(self) -> Path:
        return self.path / "results.jsonl"

    def sent(self, part: int) -> Path:
        """The file that goes to the provider; it is made anew for every try."""
        return self.path / f"part-{part:04}.sent.jsonl"

    def received(self, part: int) -> Path:
        """The provider's result lines as they came; there only when the download is whole."""
        return self.path / f"part-{part:04}.results.jsonl"

    def clear(self) -> None:
        """Remove everything but the results."""
        for path in self.path.iterdir():
            if path != self.results:
                path.unlink()


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under its name only when it is written and safe on disk.

    Raises:
        UnavailableError: the disk is full or the folder cannot be written.
    """
    made = path.with_name(f"{path.name}.part")
    try:
        with made.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        made.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        made.unlink(missing_ok=True)
        raise UnavailableError(
            f"{path} cannot be written: {error.strerror}. Nothing is lost; free space or correct the rights."
        ) from error


def sync_folder(path: Path) -> None:
    """Make the names in a folder safe."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Hold the folder of all jobs for one thread of one process; False where another has it. The dead hold nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("wb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
