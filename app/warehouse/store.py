"""`Warehouse`: owns the DuckDB file of one process; a cursor for each reader, one lock for writers.

`memory_limit` and `temp_directory` bound it; external access is shut after opening except the data folder, so no
query can read another file. Extensions are never installed at run time.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb

from app.core.errors import UnavailableError
from app.warehouse import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import polars as pl

STORAGE_VERSION = "v1.5.0"


class Session:
    """One cursor with its own temporary tables: runs named queries. Not shared between threads."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def frame(self, name: str, relations: Mapping[str, str] | None = None, **values: object) -> pl.DataFrame:
        """Run a named query and return all its rows as a Polars frame."""
        sql, bound = _prepare(name, relations, values)
        frame: pl.DataFrame = self.connection.sql(sql, params=bound).pl()
        return frame

    def rows(self, name: str, relations: Mapping[str, str] | None = None, **values: object) -> list[tuple[Any, ...]]:
        """Run a named query and return all its rows as tuples."""
        sql, bound = _prepare(name, relations, values)
        return self.connection.execute(sql, bound).fetchall()

    def execute(self, name: str, relations: Mapping[str, str] | None = None, **values: object) -> None:
        """Run a named statement (or several, separated by semicolons) for its effect."""
        sql, bound = _prepare(name, relations, values)
        self.connection.execute(sql, bound)

    def register(self, name: str, frame: pl.DataFrame) -> None:
        """Make a Polars frame readable as a relation of this cursor."""
        self.connection.register(name, frame)


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
        self.write_lock = threading.RLock()
        path = ":memory:" if directory is None else str(directory / "warehouse.duckdb")
        try:
            self._connection = duckdb.connect(path, config={"memory_limit": memory_limit, "threads": threads})
        except duckdb.IOException as error:
            raise UnavailableError(
                f"The warehouse {path} cannot be opened: {error}. Another Halve process may hold it; "
                "stop that process, or let it do the work."
            ) from error

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A reader's cursor, closed afterwards."""
        cursor = self._connection.cursor()
        try:
            yield Session(cursor)
        finally:
            cursor.close()

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """The one writer's cursor inside a transaction: all of it or nothing."""
        with self.write_lock, self.session() as session:
            session.connection.execute("BEGIN")
            try:
                yield session
            except BaseException:
                session.connection.execute("ROLLBACK")
                raise
            session.connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()
