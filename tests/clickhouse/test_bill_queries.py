"""The queries on bills give the same answers on ClickHouse as on DuckDB."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from app.analysis.attribution import attribute
from app.analysis.rules import load
from app.warehouse import rollup
from app.warehouse.dialect import CLICKHOUSE_SETTINGS, clickhouse, clickhouse_text
from app.warehouse.migrate import available
from tests.analysis.facts import SCHEMA, add_requests, add_source, open_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.warehouse.store import Session, Warehouse

pytest.importorskip("chdb", reason="the extra `clickhouse` is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the extra `clickhouse` is not installed")

DAY_US = 86_400_000_000
START = 20_758 * DAY_US  # a day's start
END = START + 4 * DAY_US
RANGE = {"from_us": START, "to_us": END}


def made_requests() -> list[dict[str, Any]]:
    rng = random.Random(7)
    rows = []
    for key in range(1, 121):
        start = START + rng.randrange(4 * DAY_US - 10_000_000)
        rows.append(
            {
                "request_key": key,
                "start_us": start,
                "source": "gate",
                "provider": rng.choice(["openai", "anthropic"]),
                "model_id": rng.choice(["a", "b"]),
                "account": rng.choice([None, "org"]),
                "cost_state": rng.choice(["priced", "priced", "unpriced", "not_billed"]),
                "tok_input": 100 + key,
                "tok_cache_read": rng.choice([None, 40]),
                "tok_output": None if key % 9 == 0 else 7,
                "input_pusd": rng.choice([None, 10**9 + key]),
                "output_pusd": 10**8,
                "cost_pusd": 10**9,
                "price_row": rng.choice(["row 1", "row 2"]),
            }
        )
        if rows[-1]["provider"] == "openai":
            rows[-1]["price_row"] = "row 1"
        if key % 10 == 0:  # told by another source too
            rows.append(rows[-1] | {"request_key": 1_000 + key, "source": "trace", "start_us": start + 900_000})
    return rows


def made_bill() -> pl.DataFrame:
    rng = random.Random(8)
    rows = []
    for number in range(60):
        cost = None if number % 5 == 0 else Decimal(rng.randrange(10**9)).scaleb(-6)
        rows.append(
            {
                "source": rng.choice(["one", "two"]),
                "report": rng.choice(["openai_costs", "focus"]),
                "scope": "",
                "day": f"2026-11-{2 + number % 4:02}",
                "provider": rng.choice(["openai", "anthropic"]),
                "account": rng.choice([None, "org"]),
                "model": rng.choice([None, "a", "b"]),
                "class": rng.choice(["input", "output"]),
                "kind": rng.choice(["usage", "usage", "credit", "other"]),
                "region": None,
                "service_tier": rng.choice([None, "flex"]),
                "is_batch": rng.choice([None, True]),
                "line_item": rng.choice([None, "x, input"]),
                "unit": "tokens",
                "quantity": Decimal(number * 1000),
                "requests": number,
                "cost": cost,
                "effective_cost": None,
                "list_cost": None,
                "currency": "USD",
                "lines": 1,
                "file": f"bill-{number % 3}.csv",
                "line": number,
                "path": f"/b/bill-{number % 3}.csv",
                "export": f"/b/bill-{number % 3}.csv",
                "page": 0,
                "file_bytes": 1,
                "file_mtime_ns": number % 3,
                "byte_from": 0,
                "task": "t",
                "has_more": number % 3 == 0,
                "payer": ("org-a", None)[number % 2],
            }
        )
        if number % 13 == 0:
            rows[-1] |= {"kind": "fee", "cost": Decimal(number)}
    schema = dict.fromkeys(rows[0], pl.String) | dict.fromkeys(
        ("requests", "lines", "line", "page", "file_bytes", "file_mtime_ns", "byte_from"), pl.Int64
    )
    decimals = {"quantity": pl.Decimal(38, 6), "is_batch": pl.Boolean, "has_more": pl.Boolean}
    decimals |= dict.fromkeys(("cost", "effective_cost", "list_cost"), pl.Decimal(38, 12))
    frame = pl.DataFrame(rows, schema=schema | decimals)
    return frame.with_columns(pl.col("day").str.to_date())


OLDER = pl.DataFrame(
    {
        "source": "one",
        "report": "focus",
        "scope": "",
        "day": "2026-11-02",
        "last_day": "2026-11-02",
        "export": ["/b/bill-0.csv", "/b/bill-1.csv"],
        "page": 0,
        "is_gone": [True, False],
    }
)
LINES = """
INSERT INTO bill_lines (
    at_us, source, report, provider, account, model, model_id, class, kind, service_tier, is_batch, currency, quantity,
    requests, cost, cost_pusd, value_pusd, price_row, has_cost, doubled_by, cost_elsewhere, last_us
) SELECT
    cast(day - DATE '1970-01-01' AS BIGINT) * 86400000000 + 43200000000, source, report, provider, account, model,
    model,
    class, kind, service_tier, is_batch, currency, quantity, requests, cost,
    CASE WHEN cost IS NOT NULL AND line % 7 <> 3 THEN line * 1000 END, CASE WHEN cost IS NULL THEN line END, NULL,
    cost IS NOT NULL,
    CASE WHEN source = 'two' THEN 'one' END, cost IS NULL AND line % 2 = 0,
    cast(day - DATE '1970-01-01' AS BIGINT) * 86400000000 + 43200000000
FROM billed
"""
MIGRATIONS = (
    "facts", "analysis", "bills", "bill_lines", "overlaps", "bill_state", "bill_costs", "cut_short", "days_of_bills",
    "payers_of_bills", "items_gone", "bills_unlike", "charges_of_bills",
)  # fmt: skip
COPIED = ("requests", "attribution", "sources", "billed", "bill_lines")


@pytest.fixture(scope="module")
def duck() -> Warehouse:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, made_requests())
        add_source(session, "gate", "api")
        session.register("made_bill", made_bill())
        session.connection.execute(f"INSERT INTO billed ({', '.join(made_bill().columns)}) SELECT * FROM made_bill")
        session.connection.execute(LINES)
        attribute(session, load(), now_us=1)
        rollup.rebuild(session)
        session.register("days", pl.DataFrame({"day_us": [START, START + DAY_US]}))
    return warehouse


@pytest.fixture(scope="module")
def click(duck: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    client = clickhouse_connect.get_client(
        dsn=f"chdb://{tmp_path_factory.mktemp('clickhouse')}", settings=CLICKHOUSE_SETTINGS
    )
    try:
        for _, name, sql in available():
            if name in MIGRATIONS:
                for statement in clickhouse_text(sql, {}):
                    client.command(statement.sql)
        with duck.session() as session:
            for table in COPIED:
                frame = session.connection.sql(f"SELECT * FROM {table}").pl()
                kept = [column for column in frame.columns if table != "requests" or column in SCHEMA]
                client.insert(table, frame.select(kept).rows(), column_names=kept)
        client.command("CREATE TABLE days (day_us Int64) ENGINE = Memory")
        client.insert("days", [(START,), (START + DAY_US,)], column_names=["day_us"])
        names = ("source", "report", "scope", "day", "last_day", "export")
        columns = f"{' String, '.join(names)} String, page Int64, is_gone Bool"
        client.command(f"CREATE TABLE older_periods ({columns}) ENGINE = Memory")
        client.insert("older_periods", OLDER.rows(), column_names=OLDER.columns)
        client.command("CREATE TABLE wanted_lines (at_us Int64, named_by String, named String) ENGINE = Memory")
        with duck.session() as session:
            client.insert("wanted_lines", wanted(session), column_names=list(WANTED))
        for statement in clickhouse(
            "rollup.spend_fill",
            {"facts": "attributed_spend_facts"},
            {"from_us": 0, "to_us": END, "bucket_us": 3_600_000_000},
        ):
            client.command(statement.sql, parameters=statement.values)
        yield client
    finally:
        client.close()


WANTED = {"at_us": pl.Int64, "named_by": pl.String, "named": pl.String}


def wanted(session: Session) -> list[tuple[int, str, str]]:
    """Every day, provider and model that a line of a bill names."""
    return session.connection.execute(
        "SELECT DISTINCT epoch_us(cast(day AS TIMESTAMP)) + 43200000000, provider, coalesce(model, '') FROM billed"
    ).fetchall()


QUESTIONS: tuple[tuple[str, dict[str, str], dict[str, object]], ...] = (
    ("billed.sums", {"older": "older_periods"}, {}),
    ("billed.periods", {"days": "older_periods"}, {"flat": "item %", "whole": "%/"}),
    ("billed.lines", {}, RANGE),
    ("billed.logged", {}, RANGE),
    ("billed.logged_days", {}, RANGE),
    ("billed.made_of", {}, {}),
    ("billed.doubles", {"days": "days"}, {}),
    ("billed.unknown_tokens", {"days": "days"}, {}),
    ("billed.price_rows", {"days": "days"}, {}),
    ("billed.evidence", {"wanted": "wanted_lines"}, {"most": 3}),
    ("billed.inspect", {}, {}),
    ("billed.cut_short", {}, {}),
    ("billed.reports", {}, {}),
    ("billed.facts", {}, {}),
    ("billed.any", {}, {}),
    ("billed.fees", {}, RANGE),
    ("billed.without_rate", {}, RANGE),
    ("spend.from_bills", {"facts": "spend_hour"}, RANGE),
    ("spend.extent", {}, {}),
    ("spend.request_extent", {}, {"before_us": 2**62}),
)


def plain(rows: list[tuple[Any, ...]]) -> list[str]:
    """Rows as text, numbers alike in both engines, in one order."""

    def cell(value: Any) -> str:
        if isinstance(value, (int, float, Decimal)):
            return f"{Decimal(value).normalize():f}"
        return str(value)

    return sorted("|".join(cell(value) for value in row) for row in rows)


@pytest.mark.parametrize(("name", "relations", "values"), QUESTIONS, ids=[question[0] for question in QUESTIONS])
def test_a_question_on_bills_has_one_answer_on_both_engines(
    duck: Warehouse, click: Any, name: str, relations: dict[str, str], values: dict[str, object]
) -> None:
    with duck.session() as session:
        session.register("days", pl.DataFrame({"day_us": [START, START + DAY_US]}))
        session.register("older_periods", OLDER)
        session.register("wanted_lines", pl.DataFrame(wanted(session), schema=WANTED, orient="row"))
        expected = session.rows(name, relations, **values)
    (statement,) = clickhouse(name, relations, values)
    found = click.query(statement.sql, parameters=statement.values).result_rows
    assert plain([tuple(row) for row in found]) == plain(expected)
    if name not in ("billed.facts", "spend.from_bills"):
        assert expected
