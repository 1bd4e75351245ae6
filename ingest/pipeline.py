"""The one door: log files become shards in the inbox, and the holder of the warehouse merges them.

Small inputs are read in this process; larger ones in worker processes while this one merges.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ingest import tars
from ingest.connectors.files import find
from ingest.inbox import TRANSACTION_ROWS, rows_in, take_inbox, take_shards
from ingest.install_key import install_key
from ingest.plan import Choice, Entry, NoLedger, Plan
from ingest.pool import Crew, in_processes
from ingest.push.taking import take_journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from app.warehouse.merge import Pricer
    from app.warehouse.store import Warehouse
    from ingest.connectors.files import Found
    from ingest.fingerprint import Text
    from ingest.formats.column_map import ColumnMap
    from ingest.summary import Summary
    from ingest.worker import Task

IN_PROCESS_BYTES: Final = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is; bytes are those of the files as they are on disk."""

    done_bytes: int
    total_bytes: int
    summary: Summary


class _Merging:
    """Merges shards in a thread beside the workers, a transaction's worth at a time, so that no worker waits for it."""

    def __init__(self, warehouse: Warehouse, pricer: Pricer, total: Summary) -> None:
        self._warehouse = warehouse
        self._pricer = pricer
        self._total = total
        self._pending: list[Path] = []
        self._rows = 0
        self._thread = ThreadPoolExecutor(1, "merge")
        self._running: Future[Summary] | None = None

    def __enter__(self) -> _Merging:
        return self

    def __exit__(self, *exception: object) -> None:
        self._thread.shutdown()

    def add(self, shards: list[Path]) -> None:
        """Take over shards; merge what has come together, unless a merge is running and no two wait for it."""
        self._pending += shards
        self._rows += sum(map(rows_in, shards))
        if self._rows >= TRANSACTION_ROWS and (
            self._running is None or self._running.done() or self._rows >= 2 * TRANSACTION_ROWS
        ):
            self._wait()
            self._running = self._thread.submit(take_shards, self._warehouse, self._pricer, self._pending)
            self._pending, self._rows = [], 0

    def rest(self) -> None:
        """Merge what is left; the total holds everything afterwards."""
        self._wait()
        self._total.add(take_shards(self._warehouse, self._pricer, self._pending))

    def _wait(self) -> None:
        if self._running is not None:
            self._total.add(self._running.result())
            self._running = None


class WarehouseLedger:
    """The ledger as the warehouse holds it."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse

    def entries(self, path: str) -> list[Entry]:
        with self._warehouse.session() as session:
            return [Entry(*row) for row in session.rows("ingest.ledger_of_file", file=path)]


def ingest_paths(
    paths: Sequence[str | Path | Found],
    *,
    warehouse: Warehouse,
    pricer: Pricer,
    data_dir: Path,
    source: str | None = None,
    exclude: Sequence[str] = (),
    format_name: str | None = None,
    column_map: ColumnMap | None = None,
    text: Text = "shared",
    prose: bool | None = None,
    progress: Callable[[Progress], None] | None = None,
    workers: int | None = None,
    growing: bool = False,
) -> Summary:
    """Read logs into the warehouse; what is in already is left out, so that running it again goes on or does nothing.

    `source` names the origin (default: the format's name). Leftovers of an earlier, killed run are taken first; they
    count in the summary. `growing` leaves a last line that is not ended yet for the next time. `prose` says whether the
    heads of rejected records and the words of errors are kept; by default they are unless `text` is none.

    Raises:
        InputError, UsageError: a path, format or map is wrong. UnavailableError: disk full or store not writable.
    """
    found = find(paths, exclude)
    take_journal(data_dir, text)
    total = take_inbox(warehouse, pricer, data_dir)
    plan = Plan(WarehouseLedger(warehouse), Choice(source, format_name, column_map), growing)
    whole = sum(_size(one) for one in found)
    done = 0
    with _Merging(warehouse, pricer, total) as merging:
        hands = _workers(whole, workers)
        for task, shards in _shards(plan, found, _crew(data_dir, text, column_map, prose), hands):
            merging.add(shards)
            done += sum(chunk.byte_to - chunk.byte_from for chunk in task.chunks)
            if progress is not None:
                progress(Progress(done, whole, total))
        merging.rest()
    total.files, total.skipped = plan.files, plan.skipped
    if progress is not None:
        progress(Progress(whole, whole, total))
    return total


def write_shards(
    paths: Sequence[str | Path | Found],
    data_dir: Path,
    *,
    source: str | None = None,
    exclude: Sequence[str] = (),
    format_name: str | None = None,
    column_map: ColumnMap | None = None,
    billing: str | None = None,
    text: Text = "shared",
    workers: int | None = None,
    growing: bool = False,
) -> int:
    """Read logs into the inbox only, for the running service to take; returns the number of shards written.

    Raises:
        InputError, UsageError: a path, format or map is wrong. UnavailableError: the inbox cannot be written.
    """
    found = find(paths, exclude)
    choice = Choice(source, format_name, column_map, billing)
    return len(_written(found, data_dir, choice, text, workers=workers, growing=growing))


def shards_of(
    found: Sequence[Found], data_dir: Path, *, source: str, format_name: str | None, text: Text = "shared"
) -> list[Path]:
    """Read these files into the inbox; the shards written, each complete on disk. Raises as `write_shards` does."""
    return _written(list(found), data_dir, Choice(source, format_name, None), text)


def _written(
    found: list[Found], data_dir: Path, choice: Choice, text: Text, *, workers: int | None = None, growing: bool = False
) -> list[Path]:
    plan = Plan(NoLedger(), choice, growing)
    crew = _crew(data_dir, text, choice.column_map, None)
    hands = _workers(sum(map(_size, found)), workers)
    return [shard for _, shards in _shards(plan, found, crew, hands) for shard in shards]


def _crew(data_dir: Path, text: Text, column_map: ColumnMap | None, prose: bool | None) -> Crew:
    return Crew(data_dir, install_key(data_dir), text, column_map, text != "none" if prose is None else prose)


def _shards(plan: Plan, found: list[Found], crew: Crew, hands: int) -> Iterator[tuple[Task, list[Path]]]:
    tasks = plan.tasks(found)
    if hands == 0:
        worker = crew.worker()
        try:
            for task in tasks:
                yield task, worker.run(task)
        finally:
            tars.let_go()
    else:
        try:
            yield from in_processes(tasks, crew, hands)
        finally:
            tars.let_go()


def _workers(whole: int, wanted: int | None) -> int:
    if wanted is not None:
        return wanted
    return 0 if whole < IN_PROCESS_BYTES else len(os.sched_getaffinity(0))


def _size(found: Found) -> int:
    try:
        return found.path.stat().st_size
    except OSError:
        return 0
