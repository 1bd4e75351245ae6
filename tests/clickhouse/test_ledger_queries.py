"""The ledger on ClickHouse: versions are read, images found and differences kept as on DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from app.warehouse import rollup
from app.warehouse.dialect import CLICKHOUSE_SETTINGS, clickhouse_text
from app.warehouse.migrate import available
from tests.analysis.facts import open_warehouse
from tests.clickhouse.click_session import ClickSession, copied
from tests.ledger.books import DAY_US, START_US, A, B, add, by, change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.warehouse.store import Warehouse

pytest.importorskip("chdb", reason="the extra `clickhouse` is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the extra `clickhouse` is not installed")

TABLES = (
    "requests", "request_parts", "cost_versions", "cost_slices", "cost_changes", "cost_ledger", "cost_ledger_parts",
    "held_out",
)  # fmt: skip
QUESTIONS: tuple[tuple[str, dict[str, str], dict[str, object]], ...] = (
    ("ledger.versions", {}, {}),
    ("ledger.changes_of", {}, {"version": 2}),
    ("ledger.last_change", {}, {}),
    ("ledger.buckets", {}, {"from_us": 0, "to_us": 2**62, "bucket_us": DAY_US}),
    ("ledger.usage", {}, {"from_us": 0, "to_us": 2**62, "piece": 1, "pieces": 3}),
    ("ledger.side_by_side", {"facts": "timed"}, {"from_us": 0, "to_us": 2**62}),
)
TIMED = "CREATE OR REPLACE VIEW timed AS SELECT start_us AS at_us, * FROM requests WHERE start_us IS NOT NULL"
REQUESTS, FRESH, CHANGED, PARTS = "told", "fresh", "changed", "parts"
ROLLBACK: tuple[tuple[str, dict[str, str], dict[str, object]], ...] = (
    ("ledger.images", {"requests": REQUESTS, "into": "images"}, {"version": 1}),
    ("ledger.same_call", {"images": "images", "into": FRESH}, {}),
    ("ledger.part_images", {"fresh": FRESH, "into": "fresh_parts"}, {"version": 1}),
    ("ledger.parts_changed", {"fresh": "fresh_parts", "into": PARTS}, {}),
    ("ledger.changed", {"requests": REQUESTS, "fresh": FRESH, "parts": PARTS, "into": CHANGED}, {}),
    ("ledger.keep", {"changed": CHANGED}, {"version": 3}),
    ("ledger.keep_parts", {"parts": PARTS}, {"version": 3}),
    ("ledger.no_parts_changed", {"into": "none_changed"}, {}),
)
FOUND: tuple[tuple[str, dict[str, str], dict[str, object]], ...] = (
    ("ledger.replaced_calls", {"images": "images"}, {}),
    ("ledger.parts", {"requests": REQUESTS}, {}),
    ("ledger.totals", {"requests": REQUESTS, "changed": CHANGED}, {}),
    ("ledger.changes", {"changed": CHANGED}, {}),
)
MADE = ("images", FRESH, "fresh_parts", PARTS, CHANGED, "cost_ledger", "cost_ledger_parts", "none_changed")


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, ClickSession]]:
    warehouse = _repriced()
    client = clickhouse_connect.get_client(
        dsn=f"chdb://{tmp_path_factory.mktemp('clickhouse')}", settings=CLICKHOUSE_SETTINGS
    )
    try:
        for _, name, sql in available():
            if name in ("ledger", "overlaps"):
                for statement in clickhouse_text(sql, {}):
                    if "VIEW" not in statement.sql:
                        client.command(statement.sql)
        with warehouse.session() as session:
            click = ClickSession(client)
            copied(click, session, TABLES)
            for engine in (session, click):
                engine.connection.execute(TIMED)
            yield session, click
    finally:
        client.close()
        warehouse.close()


def _repriced() -> Warehouse:
    """A store priced by book A, then by book B, with a call of parts and one that a fuller snapshot replaced since."""
    warehouse = open_warehouse()
    rows = [
        {
            "model": f"made-{1 + number % 5}",
            "start_us": None if number % 9 == 0 else START_US + number % 4 * DAY_US + number,
            "tok_input": number * 10,
            "tok_output": number if number % 2 else None,
            "cost_reported_pusd": 10**7 * number if number % 3 == 0 else None,
        }
        for number in range(1, 60)
    ]
    parts = [
        {"request_key": 1, "part": part, "model_id": f"made-{1 + part}", "tok_input": 1_000, "tok_output": 10}
        for part in range(2)
    ]
    with warehouse.writing() as session:
        add(session, rows, parts)
        rollup.rebuild(session)
    for book in (A, B):
        change(warehouse, by(book))
    with warehouse.writing() as session:
        session.connection.execute("UPDATE requests SET fullness = 2 WHERE request_key = 5")
    return warehouse


def plain(rows: list[tuple[Any, ...]]) -> list[str]:
    """Rows as text in one order; an empty table and a decimal without a fraction look alike on both engines."""
    return sorted(
        repr(tuple(int(value) if isinstance(value, bool) else _plain(value) for value in row)) for row in rows
    )


def _plain(value: Any) -> Any:
    return int(value) if hasattr(value, "as_tuple") and value == value.to_integral_value() else value


@pytest.mark.parametrize(("name", "relations", "values"), QUESTIONS)
def test_the_ledger_is_read_equally_on_both_engines(
    engines: tuple[Any, ClickSession], name: str, relations: dict[str, str], values: dict[str, object]
) -> None:
    expected, found = (plain(engine.rows(name, relations, **values)) for engine in engines)
    assert found == expected
    assert expected


def test_a_way_back_is_found_and_kept_equally_on_both_engines(engines: tuple[Any, ClickSession]) -> None:
    duck, click = engines
    told = duck.frame("ledger.usage", from_us=0, to_us=2**62, piece=0, pieces=1)
    for engine in engines:
        engine.register(REQUESTS, told)
        for name, relations, values in ROLLBACK:
            engine.execute(name, relations, **values)
    for name, relations, values in FOUND:
        assert plain(click.rows(name, relations, **values)) == plain(duck.rows(name, relations, **values)), name
    assert duck.rows("ledger.replaced_calls", {"images": "images"}) == [(1,)]
    for table in MADE:
        expected = duck.connection.execute(f"SELECT * FROM {table}").fetchall()
        found = [tuple(row) for row in click.client.query(f"SELECT * FROM {table}").result_rows]
        assert plain(found) == plain(expected), table
    assert duck.connection.execute(f"SELECT count(*) FROM {CHANGED}").fetchone()[0] > 10
