"""Reading the journal: segments become shards, merged like those of any log. Called by who takes the inbox in.

A shard stands under a name made of its segments, and a segment goes only after its shard is on disk: killed in between,
the same calls come a second time and merge with themselves.
"""

from __future__ import annotations

import fcntl
import logging
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.core.errors import HalveError
from app.core.hashing import hash64
from ingest.connectors.files import Found
from ingest.install_key import install_key
from ingest.plan import Choice, NoLedger, Plan
from ingest.push.journal import segments, waits
from ingest.records import Chunk
from ingest.shard import PUSHED, inbox
from ingest.worker import Task, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.fingerprint import Text
    from ingest.opening import Layout
    from ingest.push.journal import Segment

log = logging.getLogger(__name__)

ASIDE: Final = ".damaged-"
LOCK: Final = ".push.lock"
TASK_BYTES: Final = 8 * 1024 * 1024
# What a kind of segment is: its layout and its format.
_LAYOUTS: Final[dict[str, tuple[Layout, str]]] = {
    "spans": ("otlp", "otlp_genai"),
    "logs": ("otlp", "otlp_genai"),
    "agent-spans": ("otlp", "claude_code_telemetry"),
    "agent-logs": ("otlp", "claude_code_telemetry"),
    "spans-json": ("lines", "otlp_genai"),
    "logs-json": ("lines", "otlp_genai"),
    "agent-spans-json": ("lines", "claude_code_telemetry"),
    "agent-logs-json": ("lines", "claude_code_telemetry"),
}


class Taker:
    """Turns waiting segments into shards; keeps its memory of texts from one time to the next."""

    def __init__(self, data_dir: Path, key: bytes, text: Text) -> None:
        self._data_dir = data_dir
        self._worker = Worker(data_dir, key, text)

    def take(self) -> int:
        """Read everything that waits; returns the number of segments, none where somebody else reads them now.

        Raises:
            UnavailableError: shards cannot be written; what was not read keeps waiting.
        """
        with _alone(self._data_dir) as alone:
            return self._take() if alone else 0

    def _take(self) -> int:
        taken = 0
        for group in _groups(segments(self._data_dir)):
            self._take_whole_ones(group)
            taken += len(group)
        return taken

    def _take_whole_ones(self, group: list[Segment]) -> None:
        """Read some segments; one that trips over a fault of ours is set aside and does not hold up the others."""
        try:
            self._read(group)
        except HalveError:
            raise
        except Exception:
            log.exception("%s could not be read", ", ".join(Path(segment.path).name for segment in group))
            if len(group) > 1:
                for segment in group:
                    self._take_whole_ones([segment])
                return
            Path(group[0].path).rename(inbox(self._data_dir) / f"{ASIDE}{Path(group[0].path).name}")

    def _read(self, group: list[Segment]) -> None:
        chunks = [chunk for segment in group for chunk in _chunks(segment)]
        if chunks:
            name = hash64(repr([segment.path for segment in group]).encode()) & (2**64 - 1)
            self._worker.run(Task(f"{PUSHED}{name:016x}", chunks))
        for segment in group:
            Path(segment.path).unlink(missing_ok=True)


@contextmanager
def _alone(data_dir: Path) -> Iterator[bool]:
    """Whether this process and thread are the only ones that read the journal now."""
    with (inbox(data_dir) / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def bring_back(data_dir: Path) -> int:
    """Let what an earlier process could not read wait again: another version may read it. Returns how many segments."""
    aside = sorted(inbox(data_dir).glob(f"{ASIDE}push.*"))
    for path in aside:
        path.rename(path.with_name(path.name.removeprefix(ASIDE)))
    return len(aside)


def take_journal(data_dir: Path, text: Text) -> None:
    """Read what a service that is gone left in the journal, for who holds the warehouse."""
    if waits(data_dir):
        Taker(data_dir, install_key(data_dir), text).take()


def _groups(found: list[Segment]) -> Iterator[list[Segment]]:
    group: list[Segment] = []
    size = 0
    for segment in found:
        group.append(segment)
        size += segment.size
        if size >= TASK_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _chunks(segment: Segment) -> Iterator[Chunk]:
    """The chunks of a segment; plain records are looked at like any file."""
    shown = f"pushed {_moment(segment.stamp)}"
    if segment.kind == "records":
        plan = Plan(NoLedger(), Choice(source=segment.source, format_name=segment.form or None))
        for task in plan.tasks([Found(shown, Path(segment.path))]):
            yield from task.chunks
        return
    layout, form = _LAYOUTS[segment.kind]
    yield Chunk(
        source=segment.source,
        format=form,
        file=shown,
        path=segment.path,
        compression="none",
        layout=layout,
        byte_from=0,
        byte_to=segment.size,
        settled_to=segment.size,
        line_from=0,
        line_to=0,
        at_end=True,
        head_bytes=0,
        head_hash=0,
        file_bytes=segment.size,
        file_mtime_ns=0,
    )


def _moment(stamp: str) -> str:
    nanoseconds = stamp.partition("-")[0]
    if not nanoseconds.isdigit():
        return stamp
    return f"{datetime.fromtimestamp(int(nanoseconds) / 1e9, UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
