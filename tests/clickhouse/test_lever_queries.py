"""The queries of the levers on the in-process ClickHouse: the same stream gives the same rows as on DuckDB."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from app.plan import window
from app.pricing.rules import overlay_from_rows
from app.warehouse.dialect import CLICKHOUSE_SETTINGS, clickhouse
from tests.plan.planted import DAY, HOUR, START, Stream
from tests.pricing.own_book import book_with

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("chdb", reason="the extra `clickhouse` is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the extra `clickhouse` is not installed")

KINDS: dict[Any, str] = {
    pl.Int64: "Nullable(Int64)", pl.Int32: "Nullable(Int32)", pl.String: "Nullable(String)",
    pl.Boolean: "Nullable(Bool)", pl.Float64: "Nullable(Float64)", pl.Date: "Nullable(Date)",
}  # fmt: skip
STEPS = ("levers_response_cache.repeats", "levers_waste.attempts", "levers_batch.rows")
QUESTIONS = {
    "levers_response_cache.rows": ("request_key",),
    "levers_waste.scopes": ("feature",),
    "levers_batch.scopes": ("feature",),
    "levers_batch.day_bins": ("feature", "bin"),
    "plan.clusters": (),
    "plan.models": ("provider",),
}


def traffic() -> Stream:
    rng = random.Random(6)
    rates = {"provider": "made", "model": "up", "input": "1", "output": "2", "cache_read": "0.1"}
    stream = Stream(book_with(overlay_from_rows([rates])))
    for number in range(600):
        feature = rng.choice(["night", "day"])
        hour = 2 if feature == "night" else rng.randrange(24)
        at = START + rng.randrange(5) * DAY + hour * HOUR + rng.randrange(1200) * 1_000_000
        who = {"user_hash": rng.choice([1, 2, None]), "api_key_hash": rng.choice([5, 6])}
        for status in ("timeout", "ok") if number % 7 == 0 else ("ok",):
            stream.add(
                at, feature=feature, template=rng.choice([1, None]), provider="made", model="up", status=status,
                tok_input=rng.randrange(1, 900), tok_output=rng.randrange(90), exact_key=number % 150,
                temperature=rng.choice([0.0, 0.5, None]), session_id=rng.choice([None, "a", "b"]),
                stream=rng.choice([True, False, None]), out_hash=number % 150, **who,
            )  # fmt: skip
            at += 4_000_000
    return stream


def ordered(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    plain = [tuple(int(value) if isinstance(value, bool) else value for value in row) for row in rows]
    return sorted(plain, key=lambda row: [(value is None, str(value)) for value in row])


def test_the_same_stream_gives_the_same_rows_on_both_engines(tmp_path: Path) -> None:
    warehouse = traffic().store()
    with warehouse.session() as session:
        window.load(session, START, START + 5 * DAY, "Europe/Berlin")
        stream = session.connection.sql("SELECT * FROM stream").pl()
        for name in STEPS:
            session.execute(name)
        duck = {name: ordered(session.rows(name)) for name in QUESTIONS}
    client = clickhouse_connect.get_client(dsn=f"chdb://{tmp_path}", settings=CLICKHOUSE_SETTINGS)
    try:
        columns = ", ".join(f"{name} {KINDS[kind.base_type()]}" for name, kind in stream.schema.items())
        client.command(f"CREATE TABLE stream ({columns}) ENGINE = Memory")
        client.insert("stream", stream.rows(), column_names=stream.columns)
        for name in STEPS:
            for statement in clickhouse(name):
                client.command(statement.sql)
        for name, expected in duck.items():
            (statement,) = clickhouse(name)
            found = ordered([tuple(row) for row in client.query(statement.sql).result_rows])
            assert found == expected, name
            assert found, name
    finally:
        client.close()
