"""The queries on token positions give the same answers on ClickHouse as on DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from app.analysis.text_measures import measure_texts
from app.warehouse.dialect import CLICKHOUSE_SETTINGS, clickhouse, clickhouse_text
from app.warehouse.migrate import available
from tests.analysis.facts import SCHEMA, open_warehouse
from tests.analysis.mixed_texts import conversations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.warehouse.store import Warehouse

pytest.importorskip("chdb", reason="the extra `clickhouse` is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the extra `clickhouse` is not installed")

STEPS: tuple[tuple[str, dict[str, object]], ...] = (
    ("tokens.measured_prompts", {"from_us": 0, "most": 100}),
    ("tokens.known_places", {}),
)
QUESTIONS: tuple[tuple[str, dict[str, object]], ...] = (
    ("tokens.prompts", {}),
    ("tokens.places", {}),
    ("tokens.prompted_models", {"from_us": 0}),
    ("tokens.fits", {}),
    ("tokens.errors", {}),
)
PLACED = "SELECT request_key, pos, part, weight, weight_upto FROM layout_parts ORDER BY request_key, pos"
REQUESTS = [(key, 1, "made-model", key % 2) for key in range(1, 121)]
FIT = ("made-model", 120, "vocabulary", 0.9, 0.01, 0.2, 0.0, 0.1, 0.3, 0.05, 4.0, 3.0, 0.25)
ERROR = ("made-model", "inner", "bytes", 80, 0.05, 0.2, 0.01)


@pytest.fixture(scope="module")
def duck() -> Warehouse:
    warehouse = open_warehouse()
    prompts = conversations(len)
    for number, row in enumerate(prompts.requests):
        if number % 4 == 0:
            row["tok_cache_read"], row["tok_input"] = 77, int(str(row["tok_input"])) - 77
    prompts.load(warehouse)
    measure_texts(warehouse)
    with warehouse.writing() as session:
        marks = ", ".join("?" * len(FIT))
        session.connection.execute(f"INSERT INTO token_fits VALUES ({marks})", FIT)
        session.connection.execute("INSERT INTO token_errors VALUES (?, ?, ?, ?, ?, ?, ?)", ERROR)
        # some places inside parts, and a part without a measure
        session.connection.execute(
            "INSERT INTO segments SELECT request_key, pos, role, 'block', seg_hash, chain_hash, 10, "
            "bytes_upto - bytes + 10, NULL, false, start_us FROM segments WHERE bytes > 20 AND request_key % 3 = 0"
        )
        session.connection.execute("UPDATE segments SET pos = 2 * pos + CASE WHEN is_boundary THEN 1 ELSE 0 END")
        session.connection.execute(
            "DELETE FROM text_measures WHERE seg_hash = (SELECT min(seg_hash) FROM text_measures)"
        )
    return warehouse


@pytest.fixture(scope="module")
def click(duck: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    client = clickhouse_connect.get_client(
        dsn=f"chdb://{tmp_path_factory.mktemp('clickhouse')}", settings=CLICKHOUSE_SETTINGS
    )
    try:
        for _, name, sql in available():
            if name in ("facts", "token_fits"):
                for statement in clickhouse_text(sql, {}):
                    client.command(statement.sql)
        client.command("ALTER TABLE requests ADD COLUMN calls_summed Nullable(Int32)")
        with duck.session() as session:
            for table in ("requests", "segments", "text_measures", "token_fits", "token_errors"):
                frame = session.connection.sql(f"SELECT * FROM {table}").pl()
                kept = [column for column in frame.columns if table != "requests" or column in SCHEMA]
                kept += ["prompt_bytes", "calls_summed"] if table == "requests" else []
                client.insert(table, frame.select(kept).rows(), column_names=kept)
        client.command(
            "CREATE TABLE layout_requests (request_key Int64, scope_id Int64, model_id String, marked Int64) "
            "ENGINE = Memory"
        )
        client.insert("layout_requests", REQUESTS, column_names=["request_key", "scope_id", "model_id", "marked"])
        for name, values in (*STEPS, ("replay.layout_parts_weighed", {})):
            for statement in clickhouse(name, None, values):
                client.command(statement.sql, parameters=statement.values)
        yield client
    finally:
        client.close()


def answered(duck: Warehouse, name: str, values: dict[str, object]) -> list[tuple[Any, ...]]:
    with duck.session() as session:
        for step, given in STEPS:
            session.execute(step, **given)
        return session.rows(name, **values)


@pytest.mark.parametrize(("name", "values"), QUESTIONS, ids=[question[0] for question in QUESTIONS])
def test_a_question_on_token_positions_has_one_answer_on_both_engines(
    duck: Warehouse, click: Any, name: str, values: dict[str, object]
) -> None:
    expected = answered(duck, name, values)
    (statement,) = clickhouse(name, None, values)
    found = click.query(statement.sql, parameters=statement.values).result_rows
    assert expected
    assert [tuple(row) for row in found] == expected


def test_prompts_are_weighed_alike_on_both_engines(duck: Warehouse, click: Any) -> None:
    with duck.session() as session:
        frame = pl.DataFrame(REQUESTS, schema=["request_key", "scope_id", "model_id", "marked"], orient="row")
        session.register("layout_requests", frame)
        session.execute("replay.layout_parts_weighed")
        expected = session.connection.execute(PLACED).fetchall()
    found = [tuple(row) for row in click.query(PLACED).result_rows]
    assert {row[2] for row in expected} == {0, 1}
    assert [row[:3] for row in found] == [row[:3] for row in expected]
    assert [row[3:] for row in found] == [pytest.approx(row[3:], abs=1) for row in expected]
