"""`Warehouse`: owns the DuckDB files of one process; a cursor for each reader, one lock for writers.

Two files: `warehouse.duckdb` (facts) and `contents.duckdb` (prompt texts, attached as `texts`). Memory, spill space and
file access are bounded before the configuration is locked: no query can read a file outside the data folder.
"""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb
import polars as pl

from app.core.errors import UnavailableError
from app.warehouse import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

STORAGE_VERSION = "v1.5.0"
MAX_SPILL = "50GB"
CHECKPOINT_AT = "64MB"
KEPT_PAGES_BYTES = 128 * 1024 * 1024
# Each piece of memory that a query gave back leaves its handle (0.2 KB) in the engine's queues of what could go, some
# 800 a take. The engine clears a queue of these when it is long (tens of megabytes), and whenever it looks for room.
HANDLES_CLEARED_EVERY = 32
NO_PAGES_BYTES = 1
# Each checkpoint leaves a piece of a row group in every table that grew. Merging pieces holds up to four row groups of
# a table in memory (68 MB each of `requests`) and costs a tenth of an ingest: checkpoints leave it to quiet moments.
MERGES_AT_CLOSE = 1
MERGES_AT_NIGHT = 4


class Session:
    """One cursor with its own temporary tables: runs named queries. Not shared between threads."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self._kept: dict[str, Any] | None = None

    def keep(self) -> None:
        """From here on `once` asks each question a single time: for a reader who shows one state of the store."""
        self._kept = {}

    def once(self, question: str, ask: Callable[[], Answer]) -> Answer:
        """The answer to a question, asked again each time unless this session keeps answers."""
        if self._kept is None:
            return ask()
        if question not in self._kept:
            self._kept[question] = ask()
        answer: Answer = self._kept[question]
        return answer

    def frame(self, name: str, /, relations: Mapping[str, str] | None = None, **values: object) -> pl.DataFrame:
        """Run a named query and return all its rows as a Polars frame."""
        sql, bound = _prepare(name, relations, values)
        frame: pl.DataFrame = self.connection.sql(sql, params=bound).pl()
        return frame

    def rows(self, name: str, /, relations: Mapping[str, str] | None = None, **values: object) -> list[tuple[Any, ...]]:
        """Run a named query and return all its rows as tuples."""
        sql, bound = _prepare(name, relations, values)
        return self.connection.execute(sql, bound).fetchall()

    def batches(
        self, name: str, /, relations: Mapping[str, str] | None = None, *, size: int, **values: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Run a named query and yield its rows, `size` at a time: for answers that do not fit into memory.

        Nothing else may run on this session until the last batch was taken.
        """
        sql, bound = _prepare(name, relations, values)
        running = self.connection.execute(sql, bound)
        while rows := running.fetchmany(size):
            yield rows

    def execute(self, name: str, /, relations: Mapping[str, str] | None = None, **values: object) -> None:
        """Run a named statement (or several, separated by semicolons) for its effect."""
        sql, bound = _prepare(name, relations, values)
        self.connection.execute(sql, bound)

    def register(self, name: str, frame: pl.DataFrame) -> None:
        """Make a Polars frame readable as a relation of this cursor."""
        # In Arrow's newest layout texts are handed over as they are; the default would copy each of them.
        self.connection.register(name, frame.to_arrow(compat_level=pl.CompatLevel.newest()))

    def unregister(self, name: str) -> None:
        """Forget a registered frame, so that its memory can go."""
        self.connection.unregister(name)

    def script(self, sql: str) -> None:
        """Run the text of a migration file. Everything else is a named query."""
        self.connection.execute(sql)


def _prepare(
    name: str, relations: Mapping[str, str] | None, values: Mapping[str, object]
) -> tuple[str, dict[str, object] | None]:
    sql = catalogue.render(name, dict(relations or {}))
    used = catalogue.parameters(sql)
    return sql, {key: value for key, value in values.items() if key in used} or None


class Warehouse:
    """The store of facts in `directory/warehouse.duckdb`; `directory` None keeps it in memory."""

    def __init__(self, directory: Path | None, *, memory_limit: str = "1GB", threads: int = 2) -> None:
        self.directory = directory
        self.memory_limit = memory_limit
        self.threads = threads
        self.write_lock = threading.RLock()
        self.generation = 0
        """Grows with every commit: what was read at one generation holds until the next."""
        self._let_go = 0
        self._connection = self._open()

    @contextmanager
    def session(self, *, timeout_s: float | None = None) -> Iterator[Session]:
        """A reader's cursor, closed afterwards; what still runs after `timeout_s` seconds is interrupted.

        Raises:
            UnavailableError: the time-out passed, the disk is full, or the store had to be closed and opened again.
        """
        cursor = self._connection.cursor()
        alarm = None if timeout_s is None else threading.Timer(timeout_s, cursor.interrupt)
        if alarm is not None:
            alarm.daemon = True
            alarm.start()
        try:
            yield Session(cursor)
        except duckdb.InterruptException as error:
            if timeout_s is None:
                raise
            raise UnavailableError(
                f"The query did not end within {timeout_s:g} s and was stopped. Choose a shorter period."
            ) from error
        except duckdb.FatalException as error:
            self._reopen()
            raise UnavailableError(
                f"The warehouse failed and was opened again: {_first_line(error)}. Nothing that was committed is lost; "
                "see that the disk has room, then repeat what you did."
            ) from error
        except duckdb.IOException as error:
            raise UnavailableError(
                f"The warehouse could not write or read its files: {_first_line(error)}. Nothing that was committed is "
                "lost; see that the disk has room and the data folder can be written, then repeat what you did."
            ) from error
        except duckdb.OutOfMemoryException as error:
            raise UnavailableError(
                f"The warehouse ran out of its memory or spill space: {_first_line(error)}. Nothing that was committed "
                "is lost; set HALVE_MEMORY higher, or choose a shorter period."
            ) from error
        finally:
            if alarm is not None:
                alarm.cancel()
            cursor.close()

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """The one writer's cursor inside a transaction: all of it or nothing."""
        with self.write_lock, self.session() as session:
            session.connection.execute("BEGIN")
            try:
                yield session
                self._commit(session)
            except BaseException:
                _roll_back(session.connection)
                raise
            finally:
                # Also after a failure: whether a broken commit stands is known only once the files are open again.
                self.generation += 1

    @contextmanager
    def trying(self) -> Iterator[Session]:
        """A cursor inside a transaction of which nothing is ever kept: to see what a change would do."""
        with self.session() as session:
            session.connection.execute("BEGIN")
            try:
                yield session
            finally:
                _roll_back(session.connection)

    def _commit(self, session: Session) -> None:
        try:
            session.connection.execute("COMMIT")
        except duckdb.TransactionException as error:
            # A commit fails for want of room; the files are whole only after they were opened anew.
            raise duckdb.FatalException(str(error)) from error

    def checkpoint(self) -> None:
        """Write everything into the two files, so that a copy of them is complete."""
        with self.write_lock, self.session() as session:
            session.execute("migrate.checkpoint")

    def merge_row_groups(self) -> None:
        """Write everything into the files, and some pieces of row groups as whole ones; readers go on meanwhile."""
        with self.write_lock:
            self._set("max_vacuum_tasks", MERGES_AT_NIGHT)
            try:
                self.checkpoint()
            finally:
                self._set("max_vacuum_tasks", 0)

    def let_go(self) -> None:
        """Give back what the engine keeps in memory of pages that nobody reads now, beyond KEPT_PAGES_BYTES.

        It keeps every page that it read or wrote until its limit is reached, so that a store that only grows would take
        all of it. A query that holds more right now keeps what it has. Once in HANDLES_CLEARED_EVERY times every page
        goes, and with it the handles of what went before.
        """
        self._let_go += 1
        if self._let_go % HANDLES_CLEARED_EVERY == 0:
            self._shrink(NO_PAGES_BYTES)
        elif self.held_bytes() > KEPT_PAGES_BYTES:
            self._shrink(KEPT_PAGES_BYTES)

    def held_bytes(self) -> int:
        """What the engine holds in memory: pages, tables that are not in the files yet, running queries."""
        cursor = self._connection.cursor()
        try:
            ((held,),) = cursor.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
        finally:
            cursor.close()
        return int(held or 0)

    def _shrink(self, to_bytes: int) -> None:
        """Lower the limit for a moment; where more is held by queries, all that can go goes and the limit stays."""
        try:
            self._set("memory_limit", f"{to_bytes}B")
        except duckdb.OutOfMemoryException:
            log.debug("queries hold more than %d bytes now", to_bytes)
        self._set("memory_limit", self.memory_limit)

    def close(self) -> None:
        """Close the store; a reader that still runs is ended. What the engine writes at the end is merged a little."""
        with suppress(duckdb.Error):  # a store that failed cannot be set up, only closed
            self._set("max_vacuum_tasks", MERGES_AT_CLOSE)
        self._connection.close()

    def _set(self, setting: str, value: int | str) -> None:
        """Change one of the settings that are left unlocked."""
        cursor = self._connection.cursor()
        try:
            cursor.execute(f"SET {setting} = {_quoted(value) if isinstance(value, str) else value}")
        finally:
            cursor.close()

    def _reopen(self) -> None:
        with self.write_lock:
            self._connection.close()
            self._connection = self._open()
            self.generation += 1

    def _open(self) -> duckdb.DuckDBPyConnection:
        facts, texts = ":memory:", ":memory:"
        if self.directory is not None:
            self._make_directory(self.directory)
            facts, texts = str(self.directory / "warehouse.duckdb"), str(self.directory / "contents.duckdb")
        try:
            connection = duckdb.connect(
                facts,
                config={
                    "memory_limit": self.memory_limit,
                    "threads": self.threads,
                    "storage_compatibility_version": STORAGE_VERSION,
                    "preserve_insertion_order": False,
                    "autoinstall_known_extensions": False,
                    "autoload_known_extensions": False,
                    "checkpoint_threshold": CHECKPOINT_AT,
                    "max_vacuum_tasks": 0,
                    # Without them memory that was freed goes back to the system only when its own thread asks for more.
                    "allocator_background_threads": True,
                },
            )
            _attach_and_lock(connection, texts, self.directory)
        except (duckdb.IOException, duckdb.BinderException) as error:
            raise UnavailableError(
                f"The warehouse {facts} cannot be opened: {_first_line(error).rstrip('.')}. {_remedy(str(error))}"
            ) from error
        return connection

    @staticmethod
    def _make_directory(directory: Path) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnavailableError(
                f"The data folder {directory} cannot be made: {error.strerror}. Name another one with HALVE_DATA_DIR."
            ) from error


def _remedy(said: str) -> str:
    """What to do about a store that cannot be opened, by what its engine said."""
    if "lock" in said:
        return (
            "Another Halve process holds it: the service, or a command that still runs. Stop that process or wait for "
            "it; while the service runs, its pages show the same."
        )
    if "Read-only" in said or "Permission denied" in said:
        return "The data folder must be writable: allow writing there, or name another one with HALVE_DATA_DIR."
    if "No space" in said:
        return "The disk is full: make room, then repeat the command."
    return (
        "The file may be damaged, or come from a newer Halve: restore a backup, update Halve, or name another "
        "data folder with HALVE_DATA_DIR."
    )


def _attach_and_lock(connection: duckdb.DuckDBPyConnection, texts: str, directory: Path | None) -> None:
    """Attach the texts, then shut every door that a query could open; the order matters."""
    version = "" if directory is None else f" (STORAGE_VERSION {_quoted(STORAGE_VERSION)})"
    connection.execute(f"ATTACH {_quoted(texts)} AS texts{version}")
    if directory is not None:
        home = str(directory.resolve())
        connection.execute(f"SET temp_directory = {_quoted(home + '/spill')}")
        connection.execute(f"SET max_temp_directory_size = {_quoted(MAX_SPILL)}")
        connection.execute(f"SET allowed_directories = [{_quoted(home + '/')}]")
    connection.execute("SET enable_external_access = false")
    # Changed for a moment by `let_go` and `merge_row_groups`.
    connection.execute("SET allowed_configs = ['memory_limit', 'max_vacuum_tasks']")
    connection.execute("SET lock_configuration = true")


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    try:
        connection.execute("ROLLBACK")
    except duckdb.Error:
        # A failed COMMIT has already ended the transaction and a fatal error has ended the connection; either way
        # nothing of it stands, and the first error is the one to report.
        return


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0]
