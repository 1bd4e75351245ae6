"""Rows that sum calls, from their record to the sums of Spend: counted, priced and merged as what they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from app.main.runtime import load_book
from app.settings import Settings
from app.warehouse import ledger, reprice, rollup
from app.warehouse.merge import Unpriced
from app.warehouse.priced import Pricer
from app.warehouse.reprice import PricedBy
from ingest.inbox import take_inbox
from ingest.pipeline import ingest_paths, write_shards
from ingest.shard import waiting
from tests.cli.halve_command import inside

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store

AT = "2026-11-20T10:00:00Z"
ROW = {"timestamp": AT, "end_time": "2026-11-20T11:00:00Z", "provider": "google", "model": "gemini-2.5-pro"}


def log(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def grouped(tmp_path: Path) -> Path:
    """300,000 prompt tokens three times: of one call, of thirty, and of nobody knows how many."""
    row = {**ROW, "input_tokens": 300_000, "output_tokens": 0}
    span = {
        "traceId": "1" * 32, "spanId": "2" * 16, "name": "run", "startTimeUnixNano": "1795168800000000000",
        "endTimeUnixNano": "1795172400000000000",
        "attributes": {"gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "gemini-2.5-pro",
                       "gen_ai.provider.name": "gcp.gemini", "gen_ai.usage.input_tokens": 300_000,
                       "gen_ai.usage.output_tokens": 0},
    }  # fmt: skip
    folder = tmp_path / "logs"
    folder.mkdir()
    log(folder / "rows.jsonl", {**row, "request_id": "a"}, {**row, "request_id": "b", "num_requests": 30})
    log(folder / "spans.jsonl", {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    return folder


def test_each_is_priced_by_what_one_call_can_have_been_and_says_so(tmp_path: Path, grouped: Path) -> None:
    lines = inside(tmp_path / "data", "inspect", grouped, "--json").lines
    told = [
        (line["calls_summed"], line["cost_usd"], line["warnings"]) for line in lines if line.get("kind") == "request"
    ]
    assert told == [(None, "0.75", []), (30, "0.375", ["sum_of_calls"]), (0, "0.375", ["sum_of_calls"])]


def test_spend_counts_the_calls_and_no_latency_of_a_sum(store: Store, grouped: Path) -> None:
    pricer = Pricer(load_book(Settings()))
    ingest_paths([grouped], warehouse=store.warehouse, pricer=pricer, data_dir=store.data_dir)
    with store.warehouse.writing() as session:
        rollup.rebuild(session)
        assert rollup.differences(session) == []
        assert rollup.counts_agree(session)
    assert store.one("SELECT sum(requests) FROM spend_hour") == 1 + 30 + 1
    assert store.one("SELECT sum(n) FROM latency_hour WHERE metric = 'duration'") == 1


def test_a_reported_cost_that_disagrees_is_told_beside_the_doubt(tmp_path: Path) -> None:
    row = {**ROW, "input_tokens": 300_000, "output_tokens": 0, "calls": 3, "cost_usd": 0.9}
    (line,) = inside(tmp_path / "data", "inspect", log(tmp_path / "rows.jsonl", row), "--json").lines
    assert line["warnings"] == ["sum_of_calls", "reported_cost_disagrees"]


def test_pricing_anew_keeps_the_doubt_once(store: Store, grouped: Path) -> None:
    pricer = Pricer(load_book(Settings()))
    ingest_paths([grouped], warehouse=store.warehouse, pricer=pricer, data_dir=store.data_dir)
    before = store.rows("SELECT request_key, cost_pusd, warnings FROM requests ORDER BY 1")
    with store.warehouse.writing() as session:
        order = ledger.Order("reprice", 0, ledger.END_OF_TIME, "UTC", "test", "", restores=None)
        version = ledger.one(session, ledger.begin(session, order, 1))
        for span in reprice.slices(session, 0, ledger.END_OF_TIME):
            assert ledger.advance(session, version, PricedBy(pricer), span, 2).changed == 0
    assert store.rows("SELECT request_key, cost_pusd, warnings FROM requests ORDER BY 1") == before


def test_the_fuller_snapshot_says_whether_it_sums_calls(store: Store, tmp_path: Path) -> None:
    one = {**ROW, "request_id": "same", "input_tokens": 10, "output_tokens": 1}
    many = {**one, "input_tokens": 500, "calls": 8}
    for number, rows in enumerate(([one, many], [many, one])):
        store.ingest(log(tmp_path / f"{number}.jsonl", *rows), source=f"log-{number}")
    assert store.rows("SELECT tok_input, calls_summed FROM requests") == [(500, 8), (500, 8)]


def test_a_shard_of_an_older_version_is_taken_in(store: Store, tmp_path: Path) -> None:
    path = log(tmp_path / "rows.jsonl", {**ROW, "input_tokens": 10, "output_tokens": 1})
    assert write_shards([path], store.data_dir, workers=0) == 1
    (shard,) = waiting(store.data_dir)
    frame = pl.read_ipc((shard / "requests.arrow").read_bytes())
    frame.drop("calls_summed").write_ipc(shard / "requests.arrow")
    take_inbox(store.warehouse, Unpriced(), store.data_dir)
    assert store.rows("SELECT tok_input, calls_summed FROM requests") == [(10, None)]


def test_reasons_and_exports_count_as_many_calls_as_spend(tmp_path: Path) -> None:
    row = {"timestamp": AT, "provider": "openai", "model": "gpt-4o-2024-08-06", "input_tokens": 90, "output_tokens": 9}
    unpriced = {**row, "model": "no-such-model"}
    log(
        tmp_path / "rows.jsonl",
        *({**row, "request_id": f"g{calls}", "num_requests": calls} for calls in (10, 21)),
        *({**row, "request_id": f"s{number}"} for number in range(3)),
        {**unpriced, "request_id": "u", "num_requests": 7},
    )
    data = tmp_path / "data"
    assert inside(data, "ingest", tmp_path / "rows.jsonl").code == 0
    said = inside(data, "analyze", "--json").json
    assert said["requests"] == 41
    by_model = {row["name"]: row["requests"] for row in said["by_model"]}
    assert by_model == {"gpt-4o": 34, "no-such-model": 7}
    (missing,) = said["unpriced"]["details"]
    assert (missing["requests"], missing["reasons"]) == (7, {"unknown_model": 7})
    assert inside(data, "export", "focus", "--out", tmp_path / "focus.csv").code == 0
    rows = pl.read_csv(tmp_path / "focus.csv", infer_schema_length=0)
    outputs = rows.filter(pl.col("x_TokenClass") == "output")
    assert outputs["x_Requests"].cast(pl.Int64).sum() == 41
