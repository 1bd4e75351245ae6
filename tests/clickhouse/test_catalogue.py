"""Every query of the catalogue is read by ClickHouse, but for those of one list, each with its reason."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

from app.warehouse import catalogue
from app.warehouse.dialect import CLICKHOUSE_SETTINGS, clickhouse

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("chdb", reason="the extra `clickhouse` is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the extra `clickhouse` is not installed")

_IN_PLACE = "sets columns of stored rows from another table; there a newer row of a ReplacingMergeTree takes the place"
ENGINE_SPECIFIC = {
    "ingest.place_segments": _IN_PLACE,
    "ledger.put": _IN_PLACE,
    "ledger.put_parts": _IN_PLACE,
    "migrate.checkpoint": "writes the log of DuckDB's own file into it",
    "migrate.texts": "a table with DuckDB's compression of a column, in DuckDB's file of texts",
    "upkeep.checkpoint": "writes the log of DuckDB's own file into it",
}
WORDS = {"direction": "DESC", "nulls": "LAST"}
"""What a query's places stand for where it is no relation or column."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    made = clickhouse_connect.get_client(
        dsn=f"chdb://{tmp_path_factory.mktemp('clickhouse')}", settings=CLICKHOUSE_SETTINGS
    )
    yield made
    made.close()


def names() -> list[str]:
    root = resources.files("app.warehouse").joinpath("queries")
    return sorted(
        f"{area.name}.{query.name.removesuffix('.sql')}"
        for area in root.iterdir()
        if area.is_dir()
        for query in area.iterdir()
        if query.name.endswith(".sql")
    )


def problem(client: Any, name: str) -> str | None:
    """Why ClickHouse cannot read a query; None where it can."""
    places = {place: WORDS.get(place, place) for place in re.findall(r"\{([a-z_]+)\}", catalogue.text(name))}
    values = dict.fromkeys(catalogue.parameters(catalogue.render(name, places)), 1)
    for statement in clickhouse(name, places, values):
        try:
            client.query(f"EXPLAIN AST {statement.sql}", parameters=statement.values)
        except clickhouse_connect.driver.exceptions.DatabaseError as error:
            return str(error)
    return None


def test_every_query_is_read_by_clickhouse_or_is_declared_to_be_of_one_engine(client: Any) -> None:
    known = names()
    assert len(known) > 300
    assert ENGINE_SPECIFIC.keys() <= set(known)
    unread = {name: why for name in known if (why := problem(client, name)) is not None}
    assert unread.keys() == ENGINE_SPECIFIC.keys(), unread
