"""Public logs with known answers, through the whole door: files to priced rows."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from app.core.money import usd
from app.pricing.book import PriceBook
from app.warehouse.priced import Pricer
from ingest.inspection import inspect_paths
from ingest.pipeline import ingest_paths

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def pricer(tmp_path_factory: pytest.TempPathFactory) -> Pricer:
    return Pricer(PriceBook.load(tmp_path_factory.mktemp("prices")))


def read(store: Store, pricer: Pricer, *paths: Path, **options: Any) -> Any:
    return ingest_paths(paths, warehouse=store.warehouse, pricer=pricer, data_dir=store.data_dir, **options)


def total(store: Store) -> Decimal:
    return usd(int(store.one("SELECT sum(cast(cost_pusd AS DECIMAL(38, 0))) FROM requests")))


def test_claude_code_sessions(store: Store, pricer: Pricer, data_dir: Path) -> None:
    folder = data_dir / "claude_code"
    assert read(store, pricer, folder, exclude=("edge_cases/**",)).stored == 169
    assert total(store) == Decimal("11.00438155")
    classes = "tok_input, tok_output, tok_cache_read, tok_cache_write_5m, tok_cache_write_1h"
    sums = ", ".join(f"sum({name.strip()})" for name in classes.split(","))
    assert store.rows(f"SELECT {sums} FROM requests") == [(1_866, 30_710, 12_914_585, 559_475, 57_373)]
    again = read(store, pricer, folder, exclude=("edge_cases/**",))
    assert (again.read, again.skipped) == (0, 6)


@pytest.mark.parametrize(
    ("part", "requests", "cost"),
    [
        ("short.jsonl", 1, "0.1444475"),
        ("subagent.jsonl", 12, "0.5195930"),
        ("tool_heavy.jsonl", 4, "0.2266455"),
        ("main", 152, "10.11369555"),
    ],
)
def test_claude_code_by_part(store: Store, pricer: Pricer, data_dir: Path, part: str, requests: int, cost: str) -> None:
    assert read(store, pricer, data_dir / "claude_code" / part).stored == requests
    assert total(store) == Decimal(cost)


def test_every_odd_line_of_claude_code_is_read_or_named(store: Store, pricer: Pricer, data_dir: Path) -> None:
    summary = read(store, pricer, data_dir / "claude_code" / "edge_cases")
    assert store.one("SELECT count(*) FROM quarantine") == summary.rejected
    assert summary.read == summary.stored + summary.merged + summary.benign + summary.rejected


def test_pi_sessions(store: Store, pricer: Pricer, data_dir: Path) -> None:
    read(store, pricer, data_dir / "pi_sessions" / "large-session.jsonl")
    assert store.one("SELECT count(*) FROM requests WHERE cost_state = 'priced'") == 439
    assert total(store) == Decimal("30.3301977")
    unknown = store.rows("SELECT count(*), count(cost_pusd) FROM requests WHERE cost_state = 'unknown'")
    assert unknown == [(14, 0)]


def test_langfuse_traces_and_their_twins(store: Store, pricer: Pricer, data_dir: Path) -> None:
    traces = sorted((data_dir / "langfuse").glob("*.trace.json"))
    assert read(store, pricer, *traces).stored == 21
    whole = read(store, pricer, data_dir / "langfuse", exclude=("*.csv",))
    assert store.one("SELECT count(*) FROM requests") == 22
    assert all("ChatML" in problem for problem in whole.problems)


def test_provider_responses(store: Store, pricer: Pricer, data_dir: Path) -> None:
    summary = read(store, pricer, data_dir / "provider_responses" / "openai_anthropic.jsonl")
    assert (summary.read, summary.rejected) == (391, 0)
    assert store.one("SELECT count(*) FROM requests WHERE warnings LIKE '%sum_mismatch%'") == 0


def test_prefix_hash_traces_keep_every_block(store: Store, pricer: Pricer, data_dir: Path) -> None:
    assert read(store, pricer, data_dir / "mooncake").stored == 3_993
    assert store.one("SELECT count(*) FROM segments") == 121_877


def test_inspection_shows_what_would_be_stored(store: Store, pricer: Pricer, data_dir: Path) -> None:
    lines = list(
        inspect_paths(
            [data_dir / "claude_code" / "tool_heavy.jsonl", data_dir / "azure_llm_2023"],
            warehouse=store.warehouse,
            pricer=pricer,
            data_dir=store.data_dir,
        )
    )
    requests = [line for line in lines if line["kind"] == "request"]
    assert sum(Decimal(line["cost_usd"]) for line in requests) == Decimal("0.2266455")
    assert all(line["price_row"] and line["origin"]["line"] for line in requests)
    proposed = [line["column_map"] for line in lines if line["kind"] == "unknown_layout"]
    assert proposed == ["timestamp=TIMESTAMP, input_tokens=ContextTokens, output_tokens=GeneratedTokens"] * 2
