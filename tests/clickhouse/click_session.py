"""A session on the in-process ClickHouse that code written for a session of the warehouse can be given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from app.warehouse.dialect import clickhouse, clickhouse_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_KINDS = {pl.Int64: "BIGINT", pl.Int32: "INTEGER", pl.String: "VARCHAR", pl.Boolean: "BOOLEAN", pl.Float64: "DOUBLE"}


class ClickConnection:
    """What code asks of a connection beside named queries: a statement for its effect."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def execute(self, sql: str) -> None:
        for statement in clickhouse_text(sql, {}):
            self.client.command(statement.sql)


class ClickSession:
    """Named queries through the dialect; frames are kept as tables."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.connection = ClickConnection(client)

    def rows(self, name: str, /, relations: Mapping[str, str] | None = None, **values: object) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._answer(name, relations, values).result_rows]

    def frame(self, name: str, /, relations: Mapping[str, str] | None = None, **values: object) -> pl.DataFrame:
        found = self._answer(name, relations, values)
        return pl.DataFrame(list(found.result_rows), schema=list(found.column_names), orient="row")

    def execute(self, name: str, /, relations: Mapping[str, str] | None = None, **values: object) -> None:
        for statement in clickhouse(name, relations, values):
            self.client.command(statement.sql, parameters=statement.values)

    def register(self, name: str, frame: pl.DataFrame) -> None:
        columns = ", ".join(f"{column} {_KINDS[type(kind)]}" for column, kind in frame.schema.items())
        self.client.command(f"CREATE OR REPLACE TABLE {name} ({columns}) ENGINE = Memory")
        if not frame.is_empty():
            self.client.insert(name, frame.rows(), column_names=frame.columns)

    def unregister(self, name: str) -> None:
        self.client.command(f"DROP TABLE {name}")

    def _answer(self, name: str, relations: Mapping[str, str] | None, values: Mapping[str, object]) -> Any:
        *before, last = clickhouse(name, relations, values)
        for statement in before:
            self.client.command(statement.sql, parameters=statement.values)
        return self.client.query(last.sql, parameters=last.values)


def taken(session: ClickSession, tables: Mapping[str, tuple[Sequence[str], list[tuple[Any, ...]]]]) -> None:
    """Make tables of typed columns (`name type`) and rows."""
    for name, (columns, rows) in tables.items():
        session.client.command(f"CREATE OR REPLACE TABLE {name} ({', '.join(columns)}) ENGINE = Memory")
        if rows:
            session.client.insert(name, rows, column_names=[column.split()[0] for column in columns])


def copied(click: ClickSession, duck: Any, tables: Sequence[str]) -> None:
    """Copy tables of a session on DuckDB: their columns of numbers, texts, truths and days."""
    made = {}
    for name in tables:
        shape = [
            (column, _type_of(kind)) for column, kind, *_ in duck.connection.execute(f"DESCRIBE {name}").fetchall()
        ]
        kept = [(column, kind) for column, kind in shape if kind is not None]
        names = ", ".join(column for column, _ in kept)
        rows = duck.connection.execute(f"SELECT {names} FROM {name}").fetchall()
        made[name] = ([f"{column} Nullable({kind})" for column, kind in kept], rows)
    taken(click, made)


def _type_of(kind: str) -> str | None:
    known = {"BIGINT": "Int64", "INTEGER": "Int32", "VARCHAR": "String", "BOOLEAN": "Bool", "DOUBLE": "Float64"}
    return kind.replace("DECIMAL", "Decimal") if kind.startswith("DECIMAL(") else known.get(kind)
