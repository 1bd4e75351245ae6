"""The priced join on the in-process ClickHouse: every request costs the same to the pico-dollar as on DuckDB."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from app.core.usage import TOKEN_CLASSES
from app.pricing.frames import PAIR_COLUMNS
from app.pricing.rules import overlay_from_rows
from app.warehouse.dialect import CLICKHOUSE_SETTINGS, clickhouse, clickhouse_text
from app.warehouse.migrate import available, migrate
from app.warehouse.priced import Pricer
from app.warehouse.store import Warehouse
from tests.pricing.conftest import frame_of
from tests.pricing.moments import us
from tests.pricing.own_book import book_with

if TYPE_CHECKING:
    from pathlib import Path

    from app.pricing.book import PriceBook

pytest.importorskip("chdb", reason="the extra `clickhouse` is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the extra `clickhouse` is not installed")

KINDS: dict[Any, str] = {
    pl.Int64: "BIGINT", pl.Int32: "INTEGER", pl.String: "VARCHAR", pl.Boolean: "BOOLEAN",
    pl.Decimal: "DECIMAL(24, 6)",
}  # fmt: skip
MODELS = (
    ("openai", "gpt-4o"), ("openai", "gpt-5.6-sol"), ("openai", "whisper-1"), ("anthropic", "claude-opus-5"),
    ("google", "gemini-2.5-pro"), ("deepseek", "deepseek-v4-pro"), ("odd", "fractions"), ("nobody", "no-model"),
)  # fmt: skip


def made_rows() -> list[dict[str, Any]]:
    pick = random.Random(11)
    rows = []
    for _ in range(400):
        provider, model = pick.choice(MODELS)
        used = pick.sample(TOKEN_CLASSES, pick.randrange(5))
        rows.append(
            {
                "provider": provider,
                "model": model,
                "start_us": pick.choice([None, us("2026-01-01") + pick.randrange(28_000_000_000_000)]),
                "is_batch": pick.random() < 0.2,
                "service_tier": pick.choice([None, None, "flex", "priority"]),
                "units": pick.choice([None, None, '{"web_search": 2.0}', '{"second": 12.5, "web_search": 1}']),
                "cost_state": pick.choice([None, None, None, "not_billed"]),
                **{name: pick.choice([pick.randrange(300_000), -1, 9 * 10**18, 0]) for name in used},
                **({"tok_input": pick.randrange(300_000), "tok_output": 7} if 0 < len(used) < 3 else {}),
            }
        )
    return rows


def book() -> PriceBook:
    odd = {"provider": "odd", "model": "fractions", "input": "0.0000005", "output": "0.0000015"}
    return book_with(overlay_from_rows([odd]))


def on_duckdb(asked: pl.DataFrame, prices: PriceBook) -> list[tuple[Any, ...]]:
    warehouse = Warehouse(None)
    migrate(warehouse)
    with warehouse.session() as session:
        session.register("given", asked)
        pricer = Pricer(prices)
        pricer.prepare(session, "given")
        values = {"book": prices.version, "by_account": prices.by_account, "own_terms": True}
        rows = session.rows("pricing.priced", {"requests": "given"}, **values)
    warehouse.close()
    return sorted(rows)


def on_clickhouse(asked: pl.DataFrame, prices: PriceBook, path: Path) -> list[tuple[Any, ...]]:
    client = clickhouse_connect.get_client(dsn=f"chdb://{path}", settings=CLICKHOUSE_SETTINGS)

    def run(name: str, relations: dict[str, str], **values: object) -> list[tuple[Any, ...]]:
        (statement,) = clickhouse(name, relations, values)
        if statement.sql.upper().startswith("INSERT"):
            client.command(statement.sql, parameters=statement.values)
            return []
        return [tuple(row) for row in client.query(statement.sql, parameters=statement.values).result_rows]

    def take(table: str, frame: pl.DataFrame) -> None:
        columns = ", ".join(f"{name} {KINDS[kind.base_type()]}" for name, kind in frame.schema.items())
        client.command(f"CREATE TABLE {table} ({columns}) ENGINE = Memory")
        client.insert(table, frame.rows(), column_names=frame.columns)

    try:
        for _, name, sql in available():
            if name in ("pricing", "cache_storage"):
                for statement in clickhouse_text(sql, {}):
                    client.command(statement.sql)
        take("given", asked)
        pairs = run("pricing.new_pairs", {"requests": "given"}, book=prices.version, by_account=prices.by_account)
        aliases = prices.resolve(pl.DataFrame(pairs, schema=list(PAIR_COLUMNS), orient="row"))
        take("new_aliases", aliases)
        take("new_rates", prices.rates_for(aliases))
        run("pricing.add_aliases", {"aliases": "new_aliases"}, book=prices.version)
        run("pricing.add_rates", {"rates": "new_rates"}, book=prices.version)
        values = {"book": prices.version, "by_account": prices.by_account, "own_terms": True}
        return sorted(run("pricing.priced", {"requests": "given"}, **values))
    finally:
        client.close()


def test_each_request_costs_the_same_on_both_engines(tmp_path: Path) -> None:
    asked, prices = frame_of(made_rows()), book()
    duck = on_duckdb(asked, prices)
    assert on_clickhouse(asked, prices, tmp_path) == duck
    assert {row[-2] for row in duck} == {"priced", "partly", "unpriced", "not_billed", "unknown"}
