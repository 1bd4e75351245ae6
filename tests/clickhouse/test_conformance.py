"""The catalogue on the in-process ClickHouse: the same texts give the same answers as on DuckDB."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from app.analysis.attribution import attribute
from app.analysis.days import local_days
from app.analysis.rules import load
from app.core.errors import UsageError
from app.warehouse import rollup
from app.warehouse.dialect import CLICKHOUSE_SETTINGS, clickhouse, clickhouse_text
from app.warehouse.migrate import available
from tests.analysis.facts import SCHEMA, add_prompts, add_requests, add_source, open_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.warehouse.store import Warehouse

pytest.importorskip("chdb", reason="the extra `clickhouse` is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the extra `clickhouse` is not installed")

START = 1_793_527_200_000_000  # 2026-11-01T10:00:00Z
END = START + 3 * 86_400_000_000
RANGE = {"from_us": START, "to_us": END}
COPIED = ("requests", "attribution", "sources")


class Click:
    """A ClickHouse that runs the catalogue's queries through the dialect."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def rows(self, name: str, relations: dict[str, str] | None = None, **values: object) -> list[tuple[Any, ...]]:
        *before, last = clickhouse(name, relations, values)
        for statement in before:
            self.client.command(statement.sql, parameters=statement.values)
        return [tuple(row) for row in self.client.query(last.sql, parameters=last.values).result_rows]

    def execute(self, name: str, relations: dict[str, str] | None = None, **values: object) -> None:
        for statement in clickhouse(name, relations, values):
            self.client.command(statement.sql, parameters=statement.values)

    def script(self, sql: str) -> None:
        for statement in clickhouse_text(sql, {}):
            self.client.command(statement.sql)

    def register(self, name: str, frame: pl.DataFrame) -> None:
        kinds = {pl.Int64: "BIGINT", pl.String: "VARCHAR", pl.Boolean: "BOOLEAN"}
        columns = ", ".join(f"{column} {kinds[type(kind)]}" for column, kind in frame.schema.items())
        self.client.command(f"CREATE OR REPLACE TABLE {name} ({columns}) ENGINE = Memory")
        if not frame.is_empty():
            self.take(name, frame)

    def take(self, table: str, frame: pl.DataFrame) -> None:
        self.client.insert(table, frame.rows(), column_names=frame.columns)


PROMPTS = {
    key: [
        ("system", f"Now it is {key}\nYou are a helpful assistant.\nAnswer as team {key % 3} would."),
        ("user", f"Question {key}"),
    ]
    for key in range(1, 120)
}


def made_rows() -> list[dict[str, Any]]:
    rng = random.Random(4)
    rows = []
    for key in range(1, 200):
        start = START + rng.randrange(3 * 86_400_000_000)
        rows.append(
            {
                "request_key": key,
                "exact_key": key if key in PROMPTS else None,
                "start_us": None if key % 50 == 0 else start,
                "first_token_us": None if key % 7 == 0 else start + rng.randrange(1, 3_000_000),
                "end_us": start + rng.randrange(3_000_000, 9_000_000),
                "source": rng.choice(["gate", "seat"]),
                "provider": rng.choice(["openai", None]),
                "model_id": rng.choice(["a", "b", "c"]),
                "account": rng.choice([None, "org"]),
                "user_hash": rng.choice([None, 5, -6]),
                "is_batch": key % 9 == 0,
                "status": rng.choice(["ok", "ok", "error"]),
                "cost_state": rng.choice(["priced", "unpriced"]),
                "tok_input": rng.choice([None, rng.randrange(10**6)]),
                "tok_output": rng.randrange(1, 900),
                "input_pusd": rng.randrange(10**12),
                "cost_pusd": rng.choice([None, rng.randrange(10**12)]),
                "tags": rng.choice([None, '{"feature": "x"}', '{"feature": "y", "team": "t"}']),
            }
        )
        if key < 60:
            rows[-1] |= {"provider": "openai", "account": "org", "model_id": "a", "tags": None}
    return rows


@pytest.fixture(scope="module")
def duck() -> Warehouse:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, made_rows())
        add_prompts(session, PROMPTS)
        add_source(session, "gate", "api")
        attribute(session, load(), now_us=1)
        rollup.rebuild(session)
    return warehouse


@pytest.fixture(scope="module")
def click(duck: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Click]:
    path = tmp_path_factory.mktemp("clickhouse")
    client = clickhouse_connect.get_client(dsn=f"chdb://{path}", settings=CLICKHOUSE_SETTINGS)
    try:
        engine = Click(client)
        for _, name, sql in available():
            if name in ("facts", "analysis", "bills", "overlaps", "told_facts", "unattributed"):
                engine.script(sql)
        with duck.session() as session:
            for table in COPIED:
                frame = session.connection.sql(f"SELECT * FROM {table}").pl()
                kept = [column for column in frame.columns if table != "requests" or column in SCHEMA]
                engine.take(table, frame.select(kept))
        for name, facts in (("spend", "attributed_spend_facts"), ("latency", "attributed_facts")):
            filled = {"facts": facts, "into": f"{name}_hour", "name": "feature"}
            engine.execute(f"rollup.{name}_fill", filled, from_us=0, to_us=END, bucket_us=rollup.HOUR_US)
        yield engine
    finally:
        client.close()


def plain(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows with one kind of number; engines differ in the width of a sum, never in its value."""
    return [tuple(int(cell) if isinstance(cell, (Decimal, bool)) else cell for cell in row) for row in rows]


BY_COST = {"order": "cost_pusd", "direction": "DESC"}
BY_TOKENS = {"sort": "tokens_in", "direction": "DESC"}
QUESTIONS: tuple[tuple[str, dict[str, str], dict[str, object]], ...] = (
    *(
        ("spend.ranking", BY_COST | {"facts": facts, "column": by}, RANGE | {"top": top})
        for facts, by in (("spend_hour", "feature"), ("spend_hour", "model_id"), ("attributed_facts", "user_name"))
        for top in (0, 1, 9)
    ),
    ("spend.series", {"facts": "spend_hour", "column": "feature"}, RANGE | {"top": 1}),
    ("spend.cells", {"facts": "spend_hour", "column": "feature"}, RANGE),
    ("spend.coverage", {"facts": "spend_hour"}, RANGE),
    ("spend.unpriced", {"facts": "spend_hour"}, RANGE),
    ("spend.billing", {"facts": "spend_hour"}, RANGE),
    ("spend.undated", {}, {}),
    ("sources.freshness", {}, {}),
    ("latency.quantiles", {"bins": "latency_hour", "column": "feature"}, RANGE),
    ("latency.overall", {"bins": "latency_hour"}, RANGE),
    ("latency.calls", {"facts": "attributed_facts", "column": "feature"}, RANGE),
    ("requests.count", {"facts": "attributed_facts"}, RANGE),
    ("requests.page_keys", BY_TOKENS | {"facts": "request_facts"}, RANGE | {"limit": 20, "offset": 3}),
    ("requests.distribution", {"facts": "request_facts"}, RANGE),
)  # fmt: skip


@pytest.mark.parametrize(("name", "relations", "values"), QUESTIONS)
def test_a_question_has_one_answer_on_both_engines(
    duck: Warehouse, click: Click, name: str, relations: dict[str, str], values: dict[str, object]
) -> None:
    days = local_days(START, END, "Europe/Berlin")
    frame = pl.DataFrame(
        {
            "day": list(range(len(days))),
            "day_from_us": [day.from_us for day in days],
            "day_to_us": [day.to_us for day in days],
        }
    )
    if name == "spend.series":
        click.register("series_days", frame)
    with duck.session() as session:
        session.register("series_days", frame)
        expected = plain(session.rows(name, relations, **values))
    assert plain(click.rows(name, relations, **values)) == expected
    assert expected


@pytest.mark.parametrize("table", ["spend_hour", "latency_hour"])
def test_roll_ups_are_equal_on_both_engines(duck: Warehouse, click: Click, table: str) -> None:
    with duck.session() as session:
        expected = session.connection.execute(f"SELECT * FROM {table}").fetchall()
    found = [tuple(row) for row in click.client.query(f"SELECT * FROM {table}").result_rows]
    assert sorted(map(repr, plain(found))) == sorted(map(repr, plain(expected)))
    assert expected


def test_the_standing_check_finds_the_same_lie(duck: Warehouse, click: Click) -> None:
    everything = {"from_us": 0, "to_us": 2**62, "bucket_us": rollup.HOUR_US}
    assert click.rows("rollup.spend_check", **everything) == []
    assert click.rows("rollup.latency_check", **everything) == []
    lie = "INSERT INTO spend_hour SELECT * FROM spend_hour ORDER BY at_us DESC, cost_pusd LIMIT 1"
    click.client.command(lie)
    found = plain(click.rows("rollup.spend_check", **everything))
    assert found
    assert {row[1] for row in found} >= {"requests"}
    click.execute("rollup.spend_clear", from_us=0, to_us=2**62)
    facts = {"facts": "attributed_spend_facts"}
    click.execute("rollup.spend_fill", facts, from_us=0, to_us=END, bucket_us=rollup.HOUR_US)
    assert click.rows("rollup.spend_check", **everything) == []


def test_cache_hits_are_equal_on_both_engines(duck: Warehouse, click: Click) -> None:
    rng = random.Random(7)
    ttl = 300_000_000
    events = pl.DataFrame(
        [
            (rng.randrange(6), START + rng.randrange(40) * 60_000_000, key, pos, 128 * pos, ready, ttl)
            for key in range(120)
            for pos in range(3)
            for ready in [rng.choice([None, START + rng.randrange(40) * 60_000_000])]
        ],
        schema={
            "key": pl.Int64, "start_us": pl.Int64, "request_key": pl.Int64, "pos": pl.Int64, "tokens_upto": pl.Int64,
            "ready_us": pl.Int64, "ttl_us": pl.Int64,
        },
        orient="row",
    )  # fmt: skip
    click.register("events", events)
    with duck.session() as session:
        session.register("events", events)
        expected = sorted(plain(session.rows("replay.hits", {"events": "events"})))
    found = sorted(plain(click.rows("replay.hits", {"events": "events"})))
    assert found == expected
    assert {row[-1] for row in expected} == {0, 1}


def test_a_value_that_is_missing_or_has_no_type_is_refused() -> None:
    with pytest.raises(UsageError, match=re.escape("$from_us")):
        clickhouse("rollup.spend_clear", values={"to_us": 1})
    with pytest.raises(UsageError, match="bytes"):
        clickhouse("rollup.spend_clear", values={"from_us": b"1", "to_us": 1})


MORE_RULES = """
rules:
  - name: tag
    priority: 1
    when: {tag.feature: "*", source: "!seat_!"}
    feature: "{tag.feature}"
  - name: parts
    priority: 2
    when: {source: [ga*, "100%"], model: "!c"}
    feature: {from: source, extract: 'g(at)'}
    team: {from: provider, extract: 'never(x)'}
"""


@pytest.mark.parametrize("built_in", [True, False])
def test_attribution_is_equal_on_both_engines(duck: Warehouse, click: Click, tmp_path: Path, built_in: bool) -> None:
    path = tmp_path / "rules.yml"
    path.write_text(MORE_RULES, encoding="utf-8")
    rules = load() if built_in else load(path)
    chosen = "SELECT request_key, feature, team, environment, template, rule, version FROM attribution ORDER BY 1, 7"
    for table in ("segments", "lines", "attribution", "attribution_state", "templates"):
        click.client.command(f"TRUNCATE TABLE {table}")
    with duck.writing() as session:
        for table in ("segments", "lines"):
            click.take(table, session.connection.sql(f"SELECT * FROM {table}").pl())
        session.connection.execute("DELETE FROM attribution; DELETE FROM attribution_state; DELETE FROM templates")
        done = attribute(session, rules, now_us=1)
        expected = session.connection.execute(chosen).fetchall()
    assert attribute(click, rules, now_us=1) == done  # type: ignore[arg-type]
    assert [tuple(row) for row in click.client.query(chosen).result_rows] == expected
    assert {row[-2] for row in expected} >= {"tag", "template", "none"}
    assert len({row[4] for row in expected}) >= 4  # prompts with one line in common are told apart


def test_what_is_named_as_new_is_found_equally_on_both_engines(duck: Warehouse, click: Click) -> None:
    """Names may be out of date: of a request that is gone, and of one that starts at another time by now."""
    chosen = "SELECT request_key, start_us FROM pending ORDER BY 1"
    names = pl.DataFrame(
        {"request_key": [1, 1, 2, 50, 9_999], "start_us": [None, None, 5, None, START]},
        schema={"request_key": pl.Int64, "start_us": pl.Int64},
    )
    found = []
    for engine in (duck, click):
        if isinstance(engine, Click):
            engine.take("unattributed", names)
            engine.execute("attribution.pending_queued")
            left = engine.rows("attribution.unqueued", version=1)
            found.append([[tuple(row) for row in engine.client.query(chosen).result_rows], left])
            engine.execute("attribution.clear_queue")
            continue
        with engine.writing() as session:
            session.register("names", names)
            session.connection.execute("INSERT INTO unattributed SELECT * FROM names")
            session.execute("attribution.pending_queued")
            left = session.rows("attribution.unqueued", version=1)
            found.append([session.connection.execute(chosen).fetchall(), left])
            session.execute("attribution.clear_queue")
    assert found[0] == found[1]
    assert found[0][0] == [(50, None)]
