"""What a planted flaw costs: the bill with it minus the bill without it, added up by an oracle that is not ours."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from app.demo.generate import FLAWS, NAMES, generate
from tests.demo.oracle import bill

if TYPE_CHECKING:
    from decimal import Decimal

FRIDAY = date(2026, 11, 27)
REQUESTS = 8_000
BILLED_AS = {"address-cleanup": "untagged"}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Five busy days, with every flaw on (True) and off (False)."""
    root = tmp_path_factory.mktemp("flaws")
    return {
        on: Path(
            generate(
                root / str(on), seed=11, days=5, requests=REQUESTS, last_day=FRIDAY,
                flaws=FLAWS if on else frozenset(),
            ).logs
        )
        for on in (True, False)
    }  # fmt: skip


@pytest.fixture(scope="module")
def bills(logs: dict[bool, Path]) -> dict[bool, dict[str, Decimal]]:
    return {on: bill(folder) for on, folder in logs.items()}


def _records(folder: Path, feature: str) -> list[dict[str, Any]]:
    lines = (line for file in sorted(folder.rglob("*.jsonl")) for line in file.read_bytes().splitlines())
    return [record for record in map(json.loads, lines) if _feature(record) == feature]


def _feature(record: dict[str, Any]) -> str | None:
    if "request_tags" in record:
        return str(json.loads(record["request_tags"])[0]).removeprefix("feature:")
    name = record.get("metadata", {}).get("feature")
    return None if name is None else str(name)


@pytest.mark.parametrize("flaw", sorted(FLAWS))
def test_a_flaw_costs_money(bills: dict[bool, dict[str, Decimal]], flaw: str) -> None:
    assert 10 * bills[True][flaw] > 11 * bills[False][flaw] > 0


@pytest.mark.parametrize("workload", sorted(NAMES - FLAWS))
def test_a_workload_without_a_flaw_costs_the_same(bills: dict[bool, dict[str, Decimal]], workload: str) -> None:
    name = BILLED_AS.get(workload, workload)
    assert bills[True][name] == bills[False][name]


def test_a_flaw_changes_no_other_workload(logs: dict[bool, Path], tmp_path: Path) -> None:
    one = generate(tmp_path, seed=11, days=5, requests=REQUESTS, last_day=FRIDAY, flaws=frozenset({"docs-search"}))
    single, all_on, none_on = bill(Path(one.logs)), bill(logs[True]), bill(logs[False])
    assert single["docs-search"] == all_on["docs-search"]
    assert {name: usd for name, usd in single.items() if name != "docs-search"} == {
        name: usd for name, usd in none_on.items() if name != "docs-search"
    }


def test_a_workload_made_alone_is_the_one_of_the_whole_month(
    bills: dict[bool, dict[str, Decimal]], tmp_path: Path
) -> None:
    alone = generate(tmp_path, seed=11, days=5, requests=REQUESTS, last_day=FRIDAY, only=frozenset({"support-chat"}))
    assert bill(Path(alone.logs)) == {"support-chat": bills[True]["support-chat"]}


def test_the_support_bot_is_asked_the_same_at_the_same_times(logs: dict[bool, Path]) -> None:
    on, off = (_records(logs[flaw], "support-chat") for flaw in (True, False))
    assert [(r["timestamp"], r["user"], r["request"]["messages"][1]) for r in on] == [
        (r["timestamp"], r["user"], r["request"]["messages"][1]) for r in off
    ]
    assert all(r["request"]["messages"][0]["content"].startswith("Current time: ") for r in on)
    assert all(not r["request"]["messages"][0]["content"].startswith("Current time: ") for r in off)


def test_a_clock_at_the_head_lets_nothing_be_read_from_the_cache(logs: dict[bool, Path]) -> None:
    reads = {
        flaw: sum(
            record["response"]["usage"]["prompt_tokens_details"]["cached_tokens"]
            for record in _records(logs[flaw], "support-chat")
            if record["status"] == 200
        )
        for flaw in (True, False)
    }
    assert reads[True] == 0
    assert reads[False] > 0


def test_the_nightly_job_is_the_same_work_at_half_the_price(bills: dict[bool, dict[str, Decimal]]) -> None:
    assert bills[True]["ticket-classify"] == 2 * bills[False]["ticket-classify"]


def test_the_agent_pays_for_the_same_tokens_in_other_classes(logs: dict[bool, Path]) -> None:
    totals = {}
    for flaw in (True, False):
        usages = [record["response"]["usage"] for record in _records(logs[flaw], "coding-agent")]
        totals[flaw] = [
            usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
            for usage in usages
        ]
        marks = sum("cache_control" in json.dumps(record["request"]) for record in _records(logs[flaw], "coding-agent"))
        assert marks == (0 if flaw else len(usages))
        assert all(
            usage["cache_creation"]["ephemeral_5m_input_tokens"] == usage["cache_creation_input_tokens"]
            for usage in usages
        )
        assert (sum(usage["cache_read_input_tokens"] for usage in usages) == 0) is flaw
    assert totals[True] == totals[False]


def test_repeated_questions_come_from_many_users_with_equal_answers(logs: dict[bool, Path]) -> None:
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in _records(logs[True], "docs-search"):
        asked[json.dumps(record["request"])].append(record)
    repeats = [rows for rows in asked.values() if len(rows) > 1]
    assert sum(len(rows) - 1 for rows in repeats) > 300
    assert all(len({row["response"]["choices"][0]["message"]["content"] for row in rows}) == 1 for rows in repeats)
    assert sum(len({row["user"] for row in rows}) > 1 for rows in repeats) > 0.95 * len(repeats)
    kept = Counter(json.dumps(record["request"]) for record in _records(logs[False], "docs-search"))
    assert set(kept) == set(asked)
    assert max(kept.values()) == 1


def test_both_extractors_answer_the_same(logs: dict[bool, Path]) -> None:
    on, off = (_records(logs[flaw], "invoice-extract") for flaw in (True, False))
    assert [r["response"]["choices"] for r in on] == [r["response"]["choices"] for r in off]
    assert [r["response"]["usage"] for r in on] == [r["response"]["usage"] for r in off]
    assert {r["request"]["model"] for r in on} != {r["request"]["model"] for r in off}


def test_what_the_worker_gave_up_on_is_billed_and_asked_again(logs: dict[bool, Path]) -> None:
    on, off = (_records(logs[flaw], "sync-worker") for flaw in (True, False))
    lost = [row for row in on if row["status"] == "failure"]
    assert lost
    assert all(row["spend"] > 0 and row["request_duration_ms"] == 4_000 for row in lost)
    answered = [row for row in on if row["status"] == "success"]
    assert Counter(row["proxy_server_request"] for row in answered) == Counter(
        row["proxy_server_request"] for row in off
    )
    assert all(row["status"] == "success" for row in off)
    again = {row["proxy_server_request"] for row in answered}
    assert all(row["proxy_server_request"] in again for row in lost)
