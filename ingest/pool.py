"""Worker processes: started by `spawn`, fed one task at a time through a pipe, gone when their parent is.

Each worker writes shards itself; through the pipe go only tasks, names of shards and errors.
"""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from app.core.errors import HalveError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.context import SpawnProcess
    from pathlib import Path

    from ingest.fingerprint import Text
    from ingest.formats.column_map import ColumnMap
    from ingest.worker import Task, Worker


@dataclass(frozen=True, slots=True)
class Crew:
    """What every worker of one ingest needs to know."""

    data_dir: Path
    key: bytes
    text: Text
    column_map: ColumnMap | None
    prose: bool

    def worker(self) -> Worker:
        """One of the crew, for this process."""
        from ingest.worker import Worker

        return Worker(self.data_dir, self.key, self.text, self.column_map, prose=self.prose)


@dataclass(slots=True)
class _Hand:
    process: SpawnProcess
    pipe: Connection
    busy_with: Task | None = None


def in_processes(tasks: Iterator[Task], crew: Crew, workers: int) -> Iterator[tuple[Task, list[Path]]]:
    """Run tasks in `workers` processes; yields (task, its shards) as they end. Closing the iterator stops the workers.

    Raises:
        HalveError: what a worker met, after which the others are stopped.
        UnavailableError: a worker died.
    """
    context = multiprocessing.get_context("spawn")
    hands: list[_Hand] = []
    try:
        for _ in range(workers):
            near, far = context.Pipe()
            process = context.Process(target=_work, args=(far, crew), daemon=True)
            process.start()
            far.close()
            hands.append(_Hand(process, near))
        for hand in hands:
            _feed(hand, tasks)
        while busy := [hand for hand in hands if hand.busy_with is not None]:
            for ready in wait([hand.pipe for hand in busy]):
                hand = next(one for one in busy if one.pipe is ready)
                task = hand.busy_with
                assert task is not None
                shards = _answer(hand)
                _feed(hand, tasks)
                yield task, shards
    finally:
        for hand in hands:
            hand.pipe.close()
        for hand in hands:
            hand.process.join(timeout=5)
            if hand.process.is_alive():
                hand.process.terminate()
                hand.process.join()


def _feed(hand: _Hand, tasks: Iterator[Task]) -> None:
    hand.busy_with = next(tasks, None)
    if hand.busy_with is not None:
        hand.pipe.send(hand.busy_with)


def _answer(hand: _Hand) -> list[Path]:
    try:
        answer: list[Path] | HalveError = hand.pipe.recv()
    except (EOFError, ConnectionResetError) as error:
        hand.process.join(timeout=5)
        raise UnavailableError(
            f"A worker process ended unexpectedly (exit code {hand.process.exitcode}), perhaps for want of memory. "
            "What was read so far is kept; run the same command again."
        ) from error
    if isinstance(answer, HalveError):
        raise answer
    return answer


def _work(pipe: Connection, crew: Crew) -> None:
    """The life of a worker. The pipe breaks when the parent is gone, however it went."""
    import signal

    # Ctrl-C reaches the whole process group; the parent decides, and closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = crew.worker()
    while True:
        try:
            task: Any = pipe.recv()
        except (EOFError, ConnectionResetError):
            return
        answer: list[Path] | HalveError
        try:
            answer = worker.run(task)
        except HalveError as error:
            answer = error
        try:
            pipe.send(answer)
        except (BrokenPipeError, ConnectionResetError):
            return
