"""The commands on real files: documented JSON, sums that add up, the same answer twice, the service up or down."""

from __future__ import annotations

import json
import re
import shutil
import stat
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from app.core.usage import TOKEN_CLASSES
from tests.cli.halve_command import Answer, halve, inside, service, wait_for
from tests.ingest.made_logs import call, line, lines

if TYPE_CHECKING:
    from pathlib import Path

CLASSES = [name.removeprefix("tok_") for name in TOKEN_CLASSES]
PARTS = ("input_usd", "cache_read_usd", "cache_write_usd", "output_usd", "reasoning_usd", "other_usd")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two features, one model without a price, one torn line, one file to leave out."""
    folder = tmp_path_factory.mktemp("logs")
    (folder / "search.jsonl").write_text(lines(range(40), feature="search"), encoding="utf-8")
    own = json.dumps(call(100, feature="chat")).replace("gpt-4o-mini-2024-07-18", "our-own-model")
    (folder / "chat.jsonl").write_text(lines(range(50, 60), feature="chat") + own + '\n{"torn\n', encoding="utf-8")
    (folder / "old").mkdir()
    (folder / "old" / "old.jsonl").write_text(line(200, feature="old"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def analysis(home: Path, logs: Path) -> dict[str, Any]:
    answer = inside(home, "analyze", logs, "--exclude", "old/**", "--json")
    assert answer.code == 0, answer
    document: dict[str, Any] = answer.json
    return document


def test_analyze_gives_the_documented_object(analysis: dict[str, Any]) -> None:
    assert list(analysis) == [
        "schema", "window", "currency", "basis", "price_book", "coverage", "requests", "cost_usd", "paid_usd",
        "tokens", "unpriced", "rejected", "rejected_examples", "by_model", "by_feature", "levers_data", "plan",
        "held_out",
        "other_services",
        "without_rate",
        "alike_logs",
    ]  # fmt: skip
    assert {"from", "to", "days"} <= set(analysis["window"])
    assert {"priced_share", "reconciled_share"} <= set(analysis["coverage"])
    assert {"requests", "tokens", "models"} <= set(analysis["unpriced"])
    assert list(analysis["tokens"]) == CLASSES
    assert (analysis["requests"], analysis["rejected"]) == (51, 1)
    assert (analysis["currency"], analysis["basis"]) == ("USD", "paid")
    assert analysis["unpriced"]["models"] == ["our-own-model"]
    for row in (*analysis["by_model"], *analysis["by_feature"]):
        assert {"name", "requests", "cost_usd", *PARTS, "cost_per_request_usd", "tokens"} <= set(row)


def test_the_plan_of_analyze_has_the_documented_keys(analysis: dict[str, Any]) -> None:
    plan = analysis["plan"]
    assert set(plan["joint_usd"]) == {"p10", "p50", "p90"}
    assert Decimal(plan["joint_usd"]["p50"]) <= Decimal(analysis["paid_usd"])
    assert Decimal(plan["potential_usd"]) >= 0
    assert set(analysis["levers_data"]) >= {"prompt_caching", "response_cache", "smaller_model", "batch"}
    keys = "lever scope grade standalone_usd last_in_usd allocated_usd p10 p50 p90 requests"
    for finding in plan["levers"]:
        assert set(keys.split()) <= set(finding)
        assert finding["requests"] > 0


@pytest.mark.parametrize("rows", ["by_model", "by_feature"])
def test_the_rows_of_analyze_add_up_to_its_totals(analysis: dict[str, Any], rows: str) -> None:
    found = analysis[rows]
    assert sum(row["requests"] for row in found) == analysis["requests"]
    assert sum(Decimal(row["cost_usd"]) for row in found if row["cost_usd"]) == Decimal(analysis["cost_usd"])
    for name in CLASSES:
        assert sum(row["tokens"][name] or 0 for row in found) == (analysis["tokens"][name] or 0)
    for row in found:
        if row["cost_usd"] is not None:
            assert sum(Decimal(row[part]) for part in PARTS if row[part]) == Decimal(row["cost_usd"])


def test_analyze_leaves_nothing_behind_and_says_the_same_twice(
    home: Path, logs: Path, analysis: dict[str, Any]
) -> None:
    again = inside(home, "analyze", logs, "--exclude", "old/**", "--json").json
    for document in (again, analysis):
        for key in ("computed_us", "run_id"):
            document["plan"].pop(key, None)
    assert again == analysis
    assert not (home / "warehouse.duckdb").exists()


def test_inspect_gives_one_line_a_request_and_one_a_rejected_record(
    home: Path, logs: Path, analysis: dict[str, Any]
) -> None:
    found = inside(home, "inspect", logs, "--exclude", "old/**", "--json").lines
    requests = [row for row in found if row["kind"] == "request"]
    (rejected,) = [row for row in found if row["kind"] == "rejected"]
    assert (rejected["origin"]["line"], rejected["reason"][:4]) == (12, "torn")
    assert len(requests) == analysis["requests"]
    for row in requests:
        assert {
            "request_key", "source_record", "session_id", "start", "end", "model", "feature", "status", "tokens",
            "cost_parts", "cost_usd", "price_row", "cost_state", "origin", "warnings",
        } <= set(row)  # fmt: skip
        assert list(row["tokens"]) == CLASSES
        assert set(row["cost_parts"]) == set(PARTS)
        assert set(row["origin"]) == {"file", "line"}
    priced = [row for row in requests if row["cost_usd"] is not None]
    assert sum(Decimal(row["cost_usd"]) for row in priced) == Decimal(analysis["cost_usd"])
    (own,) = [row for row in requests if row["model"] == "our-own-model"]
    assert (own["cost_usd"], own["price_row"], own["cost_state"]) == (None, None, "unpriced")
    assert own["warnings"] == ["unknown_model"]


def test_replay_gives_the_documented_object_and_its_scopes_add_up(home: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    records = [
        {"timestamp": 1000 * n, "input_length": 1024, "output_length": 5, "hash_ids": [0, 1 + n % 3]} for n in range(9)
    ]
    trace.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    whole = inside(home, "replay", trace, "--ttl", "unlimited", "--json").json
    assert {"requests", "blocks", "hit_blocks", "tokens", "hit_tokens", "hit_rate"} <= set(whole)
    assert (whole["requests"], whole["blocks"], whole["hit_blocks"]) == (9, 18, 8 + 6)
    assert inside(home, "replay", trace, "--ttl", "1s", "--json").json["hit_blocks"] <= whole["hit_blocks"]
    scoped = inside(home, "replay", trace, "--ttl", "1h", "--scope", "session", "--json").json
    for key in ("requests", "blocks", "hit_blocks"):
        assert sum(row[key] for row in scoped["by_scope"]) == scoped[key]


def test_ingest_twice_changes_nothing_and_its_numbers_add_up(tmp_path: Path, logs: Path) -> None:
    data = tmp_path / "data"
    first, second = (inside(data, "ingest", "--json", logs).json for _ in range(2))
    for summary in (first, second):
        parts = ("stored", "updated", "merged", "benign", "rejected")
        assert summary["read"] == sum(summary[part] for part in parts)
        assert summary["handed_to_service"] is False
    assert (first["stored"], first["rejected"]) == (52, 1)
    assert (second["stored"], second["updated"], second["skipped"]) == (0, 0, 3)
    documents = [inside(data, "analyze", "--json").json for _ in range(2)]
    assert documents[0]["requests"] == documents[1]["requests"] == 52
    assert documents[0]["cost_usd"] == documents[1]["cost_usd"]
    plan = inside(data, "plan", "--json").json
    assert plan["joint_usd"] == documents[1]["plan"]["joint_usd"]
    checks = inside(data, "doctor", "--json").json
    assert {"name", "ok", "message"} == set(checks[0])
    assert next(check for check in checks if check["name"] == "roll-ups equal facts")["ok"]


def test_a_backup_restores_to_the_same_answers(tmp_path: Path, logs: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    assert inside(data, "ingest", logs).code == 0
    assert inside(data, "sources", "billing", "openai_chat", "subscription").code == 0
    before = inside(data, "analyze", "--json").json
    assert inside(data, "backup", copy).code == 0
    shutil.rmtree(data)
    restored = inside(copy, "analyze", "--json").json
    assert restored["basis"] == before["basis"] == "list-price value"
    for key in ("requests", "cost_usd", "paid_usd", "tokens", "by_model", "by_feature"):
        assert restored[key] == before[key]
    again = inside(copy, "ingest", "--json", logs).json
    assert (again["stored"], again["updated"]) == (0, 0), "the install key came along, so that keys still match"


def test_prices_show_and_quote_answer_from_the_book(home: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text("provider,model,from,input,output\nopenai,gpt-4o-mini,2026-01-01,0.10,0.40\n", encoding="utf-8")
    shown = inside(home, "prices", "show", "gpt-4o-mini", "--prices", own, "--json").json
    assert any(row["source"].endswith("own.csv, line 2") for row in shown)
    asked = tmp_path / "asked.jsonl"
    usage = {"tok_input": 1_000_000, "tok_output": 1_000_000}
    moments = ("2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z")
    asked.write_text(
        "".join(
            json.dumps({"id": at, "provider": "openai", "model": model, "timestamp": at, "usage": usage}) + "\n"
            for at in moments
            for model in ("gpt-4o-mini", "our-own-model")
        ),
        encoding="utf-8",
    )
    quoted = inside(home, "prices", "quote", asked, "--prices", own, "--json").lines
    assert [(row["usd"], row["state"]) for row in quoted] == [
        ("0.75", "priced"), (None, "unpriced"), ("0.5", "priced"), (None, "unpriced"),
    ]  # fmt: skip


def test_sources_are_added_and_listed_without_their_secrets(tmp_path: Path) -> None:
    data = tmp_path / "data"
    added = inside(
        data, "sources", "add", "litellm", "--url", "http://127.0.0.1:4000", "--token", "env:PROXY_KEY",
        PROXY_KEY="sk-very-secret-proxy-key", HALVE_ALLOW_HOSTS="127.0.0.1",
    )  # fmt: skip
    assert added.code == 0, added
    folder = inside(
        data, "sources", "add", "folder", "--name", "team", "--path", str(tmp_path), "--every", "1m",
        HALVE_INGEST_ROOTS=str(tmp_path),
    )  # fmt: skip
    assert folder.code == 0, folder
    listed = inside(data, "sources", "list", "--json")
    assert [(row["name"], row["kind"], row["state"]) for row in listed.json] == [
        ("litellm", "litellm", "never"), ("team", "folder", "never"),
    ]  # fmt: skip
    assert "very-secret" not in listed.out + inside(data, "sources", "list").out
    assert b"very-secret" not in (data / "control.sqlite3").read_bytes()


def test_the_service_takes_what_ingest_hands_over_and_answers_on_its_socket(tmp_path: Path, logs: Path) -> None:
    data = tmp_path / "data"
    with service(data):
        inside(data, "plan").failed(1, "Nothing was analysed yet")
        handed = halve(data, "ingest", "--json", logs)
        assert handed.code == 0, handed
        assert handed.json["handed_to_service"] is True
        assert handed.json["shards"] > 0

        def planned() -> Answer | None:
            answer = inside(data, "plan", "--json")
            return answer if answer.code == 0 else None

        plan = wait_for(planned, "a first plan is made of the rows that were handed over").json
        assert Decimal(plan["before_usd"]) > 0
        said = inside(data, "plan").out
        assert said.startswith("Savings plan\n")
        assert not re.search(r"\$[1-9][\d,]*\.\d{3}", said), "dollars are written as everywhere else"
        inside(data, "sources", "billing", "nobody", "api").failed(1, "nobody")
        assert inside(data, "sources", "billing", "openai_chat", "subscription").code == 0
        assert inside(data, "ingest", logs).code == 0, "the same logs again, for the service to pass over"
        wait_for(lambda: not list((data / "inbox").glob("[!.]*")), "the inbox is empty")
        assert stat.S_IMODE((data / "halve.sock").stat().st_mode) == 0o600
    document = inside(data, "analyze", "--json").json
    assert (document["requests"], document["basis"]) == (52, "list-price value")
    assert not (data / "halve.sock").exists()
