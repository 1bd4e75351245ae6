"""A watched folder: files that changed and then stood still from one look to the next.

A file of lines may keep growing; with `growing=True` ingest then leaves its last unfinished line for the next time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.errors import InputError
from ingest.connectors.files import find, reached

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from threading import Event

State = tuple[int, int]


class WatchedFolder:
    """Remembers how each file looked; `ready()` gives those to read now."""

    def __init__(self, folder: Path, exclude: Sequence[str] = ()) -> None:
        self.folder = folder
        self.exclude = tuple(exclude)
        self._seen: dict[Path, State] = {}
        self._given: dict[Path, State] = {}

    def ready(self) -> list[Path]:
        """Files whose size and time are the same as at the last look and differ from when they were last given.

        Raises:
            InputError: the folder does not exist.
        """
        if not self.folder.is_dir():
            raise InputError(f"The watched folder {self.folder} does not exist. Make it, or change the source.")
        now = dict(self._look())
        settled = [path for path, state in now.items() if self._seen.get(path) == state != self._given.get(path)]
        self._seen = now
        self._given = {path: state for path, state in self._given.items() if path in now}
        self._given |= {path: now[path] for path in settled}
        return sorted(settled)

    def _look(self) -> Iterator[tuple[Path, State]]:
        try:
            found = find([self.folder], self.exclude)
        except InputError:
            return  # an empty folder is no error here: logs may come
        for one in found:
            try:
                status = one.path.stat()
            except FileNotFoundError:
                continue
            yield reached(one.given), (status.st_size, status.st_mtime_ns)


def watch(folder: Path, stop: Event, *, every_s: float = 2.0, exclude: Sequence[str] = ()) -> Iterator[list[Path]]:
    """The files to read, look after look, until `stop` is set; looks without such files are passed over."""
    watched = WatchedFolder(folder, exclude)
    while not stop.is_set():
        files = watched.ready()
        if files:
            yield files
        stop.wait(every_s)
