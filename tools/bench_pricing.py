"""How many requests a second the priced join does on two threads: prints one line. Bounded: two million rows."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from app.core.usage import TOKEN_CLASSES
from app.pricing.book import PriceBook
from app.warehouse.migrate import migrate
from app.warehouse.priced import install, price, resolve_new
from app.warehouse.store import Warehouse

MODELS = (
    ("openai", "gpt-4o-2024-08-06"), ("openai", "gpt-5-mini-2025-08-07"), ("openai", "gpt-5.6-sol"),
    ("openai", "gpt-6-sol"), ("openai", "o3"), ("anthropic", "claude-sonnet-4-5-20250929"),
    ("anthropic", "claude-opus-5"), ("anthropic", "claude-haiku-4-5-20251001"), ("google", "gemini-2.5-pro"),
    ("google", "gemini-2.5-flash"), ("google", "gemini-3.8-flash"), ("mistral", "mistral-small-latest"),
    ("x-ai", "grok-4.7"), ("deepseek", "deepseek-v4-pro"), ("azure", "gpt-4.1"),
    ("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"), ("groq", "llama-3.3-70b-versatile"),
    ("nobody", "no-such-model"),
)  # fmt: skip
START_US = 1_756_684_800_000_000  # 2025-09-01
USED = {
    "tok_input": 9000,
    "tok_cache_read": 60000,
    "tok_cache_write_5m": 3000,
    "tok_output": 2000,
    "tok_reasoning": 900,
}


def requests_sql(rows: int) -> str:
    names = ", ".join(f"({number}, '{provider}', '{model}')" for number, (provider, model) in enumerate(MODELS))
    tokens = ", ".join(
        f"(i * {index * 7919 + 104729} % {USED[name]})::BIGINT AS {name}" if name in USED else f"NULL::BIGINT AS {name}"
        for index, name in enumerate(TOKEN_CLASSES)
    )
    return f"""
        CREATE TABLE made AS
        SELECT i::BIGINT AS request_key, m.provider, m.model,
            CASE WHEN i % 97 = 0 THEN 'priority' END AS service_tier, i % 31 = 0 AS is_batch, NULL::VARCHAR AS region,
            NULL::VARCHAR AS price_context, NULL::VARCHAR AS account,
            ({START_US} + i * 15000000)::BIGINT AS start_us, {tokens},
            CASE WHEN i % 50 = 0 THEN '{{"web_search": 2}}' END AS units, NULL::VARCHAR AS cost_state
        FROM range({rows}) AS t(i) JOIN (VALUES {names}) AS m(n, provider, model) ON m.n = i % {len(MODELS)}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    rows = min(parser.parse_args().rows, 2_000_000)
    with TemporaryDirectory() as folder:
        book = PriceBook.load(Path(folder))
        started = time.perf_counter()
        book = PriceBook.load(Path(folder))
        load_s = time.perf_counter() - started
        warehouse = Warehouse(None, memory_limit="2GB", threads=2)
        migrate(warehouse)
        with warehouse.session() as session:
            session.connection.execute(requests_sql(rows))
            started = time.perf_counter()
            install(session, book, now_us=0)
            names = resolve_new(session, "made", book)
            resolve_s = time.perf_counter() - started
            best, cpu = float("inf"), float("inf")
            for _ in range(3):
                started, used = time.perf_counter(), time.process_time()
                price(session, "made", book, "priced")
                best = min(best, time.perf_counter() - started)
                cpu = min(cpu, time.process_time() - used)
        warehouse.close()
    print(
        f"pricing: {rows:,} rows in {best:.2f} s = {rows / best:,.0f} rows/s on 2 threads "
        f"({rows / cpu:,.0f} rows a CPU second); {names} names resolved in {resolve_s:.2f} s; "
        f"book loaded in {load_s:.2f} s"
    )


if __name__ == "__main__":
    main()
