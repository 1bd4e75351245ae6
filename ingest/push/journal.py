"""The journal of what was pushed: segments in `data/inbox`, flushed to disk and renamed before anybody is answered.

Requests that come at the same time share a flush of the folder, and those of one source and kind a segment. A segment's
name says what it is, so that it can be read after any crash. Who takes the inbox in reads it (`ingest.push.taking`).
"""

from __future__ import annotations

import base64
import binascii
import os
import queue
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

import msgspec

from app.core.errors import UnavailableError, UsageError
from ingest.shard import inbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FRAMED: Final = ("spans", "logs", "agent-spans", "agent-logs")
KINDS: Final[frozenset[str]] = frozenset((*FRAMED, *(f"{kind}-json" for kind in FRAMED), "records"))
START: Final = "push."
DRAFT: Final = ".push-draft-"
SOURCE_BYTES: Final = 60  # its name is part of a file's name
GROUP_BYTES: Final = 16 * 1024 * 1024
GROUP_REQUESTS: Final = 64


class Pushed(msgspec.Struct, frozen=True):
    """A body to keep, its source and kind; `form` is the format of plain records, empty for what says it itself."""

    source: str
    kind: str
    body: bytes
    form: str = ""


class Segment(msgspec.Struct, frozen=True):
    """A segment as its name says what it is; `form` as in Pushed."""

    path: str
    stamp: str
    source: str
    kind: str
    form: str
    size: int


def check_source(name: str) -> None:
    """Refuse a source's name that cannot be part of a file's name.

    Raises:
        UsageError: it is empty, too long or holds characters that cannot be seen.
    """
    if not name.strip() or not name.isprintable() or len(name.encode("utf-8", "replace")) > SOURCE_BYTES:
        raise UsageError(f"Name the source in at most {SOURCE_BYTES} bytes of characters that can be seen.")


class Journal:
    """Writes segments in a thread of its own; `add` gives what is done once a body is safe on disk."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = inbox(data_dir)
        self._waiting: queue.Queue[tuple[Pushed, Future[None]] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._number = 0
        self._started = False

    def start(self) -> None:
        """Begin to write.

        Raises:
            UnavailableError: the inbox cannot be made.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for left in self._folder.glob(f"{DRAFT}*"):  # never acknowledged
                left.unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(self._folder, error) from error
        self._started = True
        self._thread.start()

    def close(self) -> None:
        """End after everything that was added is written."""
        if self._started:
            self._waiting.put(None)
            self._thread.join()

    def add(self, pushed: Pushed) -> Future[None]:
        """Keep a body; done when it is safe, failed with an UnavailableError where it cannot be written."""
        done: Future[None] = Future()
        self._waiting.put((pushed, done))
        return done

    def _work(self) -> None:
        while True:
            first = self._waiting.get()
            if first is None:
                return
            group, ended = self._group(first)
            self._write(group)
            if ended:
                return

    def _group(self, first: tuple[Pushed, Future[None]]) -> tuple[list[tuple[Pushed, Future[None]]], bool]:
        """What waits now, up to a bound; and whether the end was in it."""
        group = [first]
        size = len(first[0].body)
        while size < GROUP_BYTES and len(group) < GROUP_REQUESTS:
            try:
                item = self._waiting.get_nowait()
            except queue.Empty:
                break
            if item is None:
                return group, True
            group.append(item)
            size += len(item[0].body)
        return group, False

    def _write(self, group: list[tuple[Pushed, Future[None]]]) -> None:
        together: dict[tuple[str, ...], list[tuple[Pushed, Future[None]]]] = {}
        for number, (pushed, done) in enumerate(group):
            # Records without an id are told apart by their line: each body of them stays a segment of its own.
            alone = str(number) if pushed.kind == "records" else ""
            together.setdefault((pushed.source, pushed.kind, pushed.form, alone), []).append((pushed, done))
        drafts: list[tuple[Path, Path]] = []
        try:
            drafts.extend(self._draft([pushed for pushed, _ in members]) for members in together.values())
            for draft, target in drafts:
                draft.rename(target)
            _sync_folder(self._folder)
        except OSError as error:
            for draft, target in drafts:
                draft.unlink(missing_ok=True)
                target.unlink(missing_ok=True)
            for _, done in group:
                done.set_exception(_unwritable(self._folder, error))
            return
        for _, done in group:
            done.set_result(None)

    def _draft(self, members: list[Pushed]) -> tuple[Path, Path]:
        """Write a segment aside and flush it; where it is and where it belongs."""
        self._number += 1
        first = members[0]
        name = segment_name(f"{time.time_ns():020d}-{os.getpid()}-{self._number}", first.source, first.kind, first.form)
        draft = self._folder / f"{DRAFT}{name}"
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                for member in members:
                    file.write(_framed(member))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        return draft, self._folder / name


def _framed(member: Pushed) -> bytes:
    """Protobuf behind its length, as the collector's file exporter writes it; everything else as lines."""
    if member.kind in FRAMED:
        return len(member.body).to_bytes(4, "big") + member.body
    return member.body if member.body.endswith(b"\n") else member.body + b"\n"


def segment_name(stamp: str, source: str, kind: str, form: str) -> str:
    """The name of a segment's file."""
    coded = base64.urlsafe_b64encode(source.encode()).decode().rstrip("=")
    return f"{START}{stamp}.{coded}.{kind}.{form}"


def segments(data_dir: Path) -> list[Segment]:
    """The segments that wait, the oldest first. A file that is none is passed over."""
    return sorted(_segments(inbox(data_dir)), key=lambda one: one.stamp)


def waits(data_dir: Path) -> bool:
    """Whether any segment waits: a cheap look."""
    return next(_segments(inbox(data_dir)), None) is not None


def waiting_bytes(data_dir: Path) -> int:
    """What the waiting segments hold."""
    return sum(one.size for one in _segments(inbox(data_dir)))


def _segments(folder: Path) -> Iterator[Segment]:
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(START):
                found = _segment(entry)
                if found is not None:
                    yield found


def _segment(entry: os.DirEntry[str]) -> Segment | None:
    parts = entry.name.removeprefix(START).split(".")
    if len(parts) != 4 or parts[2] not in KINDS:
        return None
    stamp, coded, kind, form = parts
    try:
        source = base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4)).decode()
        size = entry.stat().st_size
    except (binascii.Error, ValueError, OSError):
        return None
    return Segment(entry.path, stamp, source, kind, form, size)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(folder: Path, error: OSError) -> UnavailableError:
    return UnavailableError(
        f"The inbox {folder} cannot be written: {error.strerror or error}. Nothing of this request was kept; make room "
        "or fix the folder, then send it again."
    )
