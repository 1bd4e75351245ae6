"""Sources that tell of the same calls are found, held out and counted alike on both engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from app.analysis.overlap import NEAR_US
from app.warehouse.dialect import CLICKHOUSE_SETTINGS, clickhouse, clickhouse_text
from app.warehouse.migrate import available
from tests.analysis.facts import SCHEMA
from tests.overlap.twice_told import BEGIN_US, HOUR_US, SECOND_US, Call, Store, calls

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("chdb", reason="the extra `clickhouse` is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the extra `clickhouse` is not installed")

ALWAYS = {"from_us": 0, "to_us": 2**62}
STEPS: tuple[tuple[str, dict[str, str], dict[str, Any]], ...] = (
    ("overlap.calls", {}, {**ALWAYS, "least_tokens": 1}),
    ("overlap.pairs", {}, {"near_us": NEAR_US}),
    ("overlap.islands", {"pairs": "overlap_pairs"}, {"near_us": NEAR_US, "moved_us": 0}),
)
QUESTIONS: tuple[tuple[str, dict[str, str], dict[str, Any]], ...] = (
    ("overlap.found", {}, {}),
    ("overlap.lone_twins", {}, {}),
    ("overlap.crowded", {}, {}),
    ("overlap.reach", {}, {}),
    ("overlap.held", {}, {}),
    ("overlap.held_counts", {}, {}),
    ("overlap.any_held", {}, {}),
    ("rollup.counts", {}, {}),
    ("spend.lost_usage", {}, {**ALWAYS, "few": 20}),
    ("spend.cells", {"column": "source", "facts": "request_facts"}, ALWAYS),
    ("spend.cells", {"column": "feature", "facts": "attributed_spend_facts"}, ALWAYS),
)


@pytest.fixture(scope="module")
def store() -> Store:
    made, told = Store(), calls(300)
    made.tell("gateway", told)
    made.tell("traces", told[::2] + calls(20, seed=6, begin_us=BEGIN_US + 13 * SECOND_US), late_us=900_000)
    made.tell("other", calls(40, seed=7, begin_us=BEGIN_US + HOUR_US))
    burst = [Call(BEGIN_US + 7 * SECOND_US + 100_000 * number, "gpt-5", 512, 1) for number in range(9)]
    made.tell("gateway", burst)
    made.tell("traces", burst[:7], late_us=900_000)
    with made.warehouse.writing() as session:
        session.connection.execute(
            "UPDATE requests SET status = 'aborted', cost_state = 'unknown', cost_pusd = NULL "
            "WHERE request_key % 17 = 0"
        )
    return made


@pytest.fixture(scope="module")
def click(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = tmp_path_factory.mktemp("clickhouse")
    client = clickhouse_connect.get_client(dsn=f"chdb://{path}", settings=CLICKHOUSE_SETTINGS)
    try:
        for _, name, sql in available():
            if name in ("facts", "analysis", "bills", "overlaps", "told_facts"):
                for statement in clickhouse_text(sql, {}):
                    client.command(statement.sql)
            if name == "facts":  # before the views that name every column of it
                client.command("ALTER TABLE requests ADD COLUMN calls_summed Nullable(Int32)")
        with store.warehouse.session() as session:
            for table in ("requests", "attribution", "held_out", "spend_hour"):
                frame = session.connection.sql(f"SELECT * FROM {table}").pl()
                known = (*SCHEMA, "calls_summed")
                kept = [column for column in frame.columns if table != "requests" or column in known]
                client.insert(table, frame.select(kept).rows(), column_names=kept)
        for name, relations, values in STEPS:
            for statement in clickhouse(name, relations, values):
                client.command(statement.sql, parameters=statement.values)
        yield client
    finally:
        client.close()


@pytest.mark.parametrize(
    ("name", "relations", "values"), QUESTIONS, ids=[f"{q[0]} {q[1].get('column', '')}" for q in QUESTIONS]
)
def test_a_question_has_one_answer_on_both_engines(
    store: Store, click: Any, name: str, relations: dict[str, str], values: dict[str, Any]
) -> None:
    with store.warehouse.session() as session:
        for step, given, bound in STEPS:
            session.execute(step, given, **bound)
        expected = session.rows(name, relations, **values)
    (statement,) = clickhouse(name, relations, values)
    found = click.query(statement.sql, parameters=statement.values).result_rows
    assert expected
    assert [_plain(row) for row in found] == [_plain(row) for row in expected]


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value if value is None or isinstance(value, str) else float(value) for value in row)
