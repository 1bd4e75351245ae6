"""Cases a and b through the whole pipeline: from the bytes of a log and a price file to the figures shown."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from case_checks import CHECKS, check_days, check_sessions
from driven import calls_in, driven, input_between, named_rates, priced_as_logged, write_logs
from failure_cases import load
from test_format_cases import FORMATS_OF_CASES, NOT_READ_YET

from app.analysis.days import HOUR_US, local_days
from app.core.view import midnight_us, zone_info
from app.pricing import compile as compiling
from app.pricing.book import PriceBook
from app.pricing.listprices import PriceList
from app.pricing.rules import Overlay, overlay_from_rows
from app.warehouse.merge import Unpriced
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse
from ingest.pipeline import ingest_paths

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.data

CASES = load("ab")
ALONE = ("LLMC-028", "LLMC-034", "LLMC-061", "LLMC-070", "LLMC-071", "LLMC-077")  # in tests of their own
DRIVEN = [
    name
    for name, case in CASES.items()
    if case["minimal_input"]["format"] in FORMATS_OF_CASES and name not in ALONE
]  # fmt: skip
NOT_DRIVEN_YET = (
    *NOT_READ_YET,
    ("LLMC-043", "a price table and no log: driven by the tests of `prices import`"),
)
NOT_SHOWN = {
    "rates_usd_per_1m": "the price file of the case",
    "acceptable": "a choice that the case leaves open",
    "lines": "counted among requests and rejected",
    "tier": "told by the rates",
    "source": "told by the reported cost",
    "fee_usd": "a part of the reported cost",
    "upstream_usd": "a part of the reported cost",
    "must_not_be_negative": "holds for every case",
    "tool_calls": "answers are kept as a hash only",
    "avoided_cost_usd": "what a gateway's own cache saved is not shown yet",
    "extra_cost_of_fallback_usd": "the price of another model is the plan's to say",
    "possible_unbilled_or_billed_input_tokens": "estimates of lost usage are not read yet",
    "shown_as": "an example of wording",
    "naive_text": "an explanation of the flag",
    "nice_to_have": "more than is asked",
    "note": "an explanation",
}


def entries_of(name: str, case: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """The price file of a case: its own table where it has one, else its rates for the models as logged."""
    if name in TABLES:
        return TABLES[name](case)
    return priced_as_logged(case["expected"], calls_in(folder))


def own_table(case: dict[str, Any]) -> list[dict[str, Any]]:
    """A case's price table; rows that name no provider are of the one that serves the case's models."""
    serves = {"claude": "anthropic", "gpt-": "openai"}
    return [
        {
            "provider": row.get("provider") or next(maker for start, maker in serves.items() if start in row["model"]),
            "model": row["model"],
            **named_rates(row["rates"]),
            "tiers": [
                {"above": str(tier["above_tokens"]), **named_rates(tier["rates"])} for tier in row.get("tiers", ())
            ],
        }
        for row in case["minimal_input"]["price_table"]
    ]


def two_steps(case: dict[str, Any]) -> list[dict[str, Any]]:
    """One model with a price above 200,000 prompt tokens."""
    base, above = (named_rates(row["rates_usd_per_1m"]) for row in case["expected"]["per_record"])
    tier = {"above": "200000", **above}
    return [{"provider": "anthropic", "model": "claude-sonnet-4-5-20250929", **base, "tiers": [tier]}]


TABLES: dict[str, Callable[[dict[str, Any]], list[dict[str, Any]]]] = {
    "LLMC-013": two_steps,
    "LLMC-014": own_table,
    "LLMC-031": own_table,
    "LLMC-046": own_table,
}


def book_of(name: str) -> PriceBook | None:
    """The book of a case whose outcome depends on what no list knows; None: the usual one under the price file."""
    if name != "LLMC-032":
        return None
    own = overlay_from_rows([{"provider": "github_copilot", "model": "gpt-5.3-codex", "input": "0", "output": "0"}])
    listed = compiling.fresh_sources(Overlay()).price_list
    unlisted = PriceList(listed.version, listed.providers, [])
    return PriceBook.of(compiling.Sources(version="", price_list=unlisted, overlay=Overlay(), own=own))


@pytest.mark.parametrize("name", DRIVEN)
def test_case(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    logs = write_logs(case["minimal_input"], tmp_path / "logs")
    checked = 0
    with driven([logs], tmp_path / "store", entries_of(name, case, logs), book_of(name)) as outcome:
        for key, value in case["expected"].items():
            if key in CHECKS and (name, key) not in OWN_CHECKS:
                CHECKS[key](outcome, value)
                checked += 1
        for row in outcome.requests:
            assert row["cost_usd"] is None or Decimal(row["cost_usd"]) >= 0
            assert all(count is None or count >= 0 for count in row["tokens"].values())
    assert checked, "nothing of this case is checked"


# Buckets of the priced lines only (the others keep the counts that could be read).
# The price list names what is sold within a region apart from what is routed anywhere: `regional.` before the id.
OWN_CHECKS = {("LLMC-065", "buckets"), ("LLMC-026", "resolved_model")}


def test_every_case_is_driven_or_listed_with_its_reason() -> None:
    listed = {name for name, _ in NOT_DRIVEN_YET}
    for name, case in CASES.items():
        if name in DRIVEN or name in ALONE:
            known = {*CHECKS, *NOT_SHOWN, *OWN_TESTS.get(name, ())}
            assert set(case["expected"]) <= known, name
        else:
            assert {name, case["minimal_input"]["format"]} & listed, name


OWN_TESTS = {
    "LLMC-028": ("with_map", "without_map"),
    "LLMC-034": ("cost_usd_before", "cost_usd_after", "audit_entry_required", "old_value_kept"),  # tests/ledger
    "LLMC-052": ("independent_of_file_order",),
    "LLMC-056": ("by_day",),
    "LLMC-061": ("merged_sources",),
    "LLMC-065": ("totals_must_be_finite",),
    "LLMC-070": ("peak_memory_extra_mb_below", "non_usage_lines"),
    "LLMC-073": ("literal_backslash_text_kept",),
    "LLMC-076": ("by_day",),
    "LLMC-077": ("by_day", "hours_in_day", "hourly_2026-10-25"),
    "LLMC-080": ("independent_of_event_order",),
}


def test_llmc_026_three_spellings_are_one_model(tmp_path: Path) -> None:
    case = CASES["LLMC-026"]
    logs = write_logs(case["minimal_input"], tmp_path / "logs")
    with driven([logs], tmp_path / "store") as outcome:
        assert {row["model_id"] for row in outcome.requests} == {f"regional.{case['expected']['resolved_model']}"}
        assert [row["cost_usd"] for row in outcome.requests] == ["0.000375"] * 3


@pytest.mark.parametrize("mapped", [True, False])
def test_llmc_028_only_a_mapped_deployment_is_priced(mapped: bool, tmp_path: Path) -> None:
    given, expected = CASES["LLMC-028"]["minimal_input"], CASES["LLMC-028"]["expected"]
    logs = write_logs(given, tmp_path / "logs")
    ((deployment, model),) = given["deployment_map"].items()
    aliases = [{"provider": "azure", "name": deployment, "model": f"openai/{model}"}] if mapped else []
    rates = {"provider": "azure", "model": model, **named_rates(expected["with_map"]["rates_usd_per_1m"])}
    with driven([logs], tmp_path / "store", [rates] if mapped else [], aliases=aliases) as outcome:
        (row,) = outcome.requests
        assert row["cost_usd"] not in expected["wrong_values_to_reject"]
        if mapped:
            CHECKS["buckets"](outcome, expected["with_map"]["buckets"])
            CHECKS["cost_usd"](outcome, expected["with_map"]["cost_usd"])
            assert expected["with_map"]["resolved_model"].startswith(row["model_id"])
        else:
            CHECKS["cost_usd"](outcome, expected["without_map"]["cost_usd"])
            assert (row["cost_state"], row["warnings"]) == ("unpriced", ["unknown_model"])
            assert row["model_id"] == expected["without_map"]["listed_in_unmatched_models"]


def test_llmc_052_a_copied_history_is_the_same_in_any_order_of_files(tmp_path: Path) -> None:
    case = CASES["LLMC-052"]
    logs = write_logs(case["minimal_input"], tmp_path / "logs")
    entries = priced_as_logged(case["expected"], calls_in(logs))
    for number, order in enumerate(itertools.permutations(sorted(logs.iterdir()))):
        with driven(order, tmp_path / f"store{number}", entries) as outcome:
            assert outcome.cost == Decimal(case["expected"]["cost_usd"])
            check_sessions(outcome, case["expected"]["by_session"])


def test_llmc_061_a_call_of_a_trace_and_of_a_gateway_is_one_row_with_both_its_origins(tmp_path: Path) -> None:
    case = CASES["LLMC-061"]
    # Ids as short as the case's prove nothing; those that providers give hold at least 64 random bits.
    text = json.dumps(case["minimal_input"]["sources"]).replace("gen-b13", "gen-1772445600-b13b13b13b13b13b13b1")
    given = {"files": {f"{name}.jsonl": [record] for name, record in json.loads(text).items()}}
    logs = write_logs(given, tmp_path / "logs")
    entries = priced_as_logged(case["expected"], calls_in(logs))
    for number, order in enumerate(itertools.permutations(sorted(logs.iterdir()))):
        with driven(order, tmp_path / f"store{number}", entries) as outcome:
            for key in ("buckets", "cost_usd", "requests"):
                CHECKS[key](outcome, case["expected"][key])
            assert len(outcome.requests[0]["origins"]) == case["expected"]["merged_sources"]


def test_llmc_065_totals_stay_finite_and_unreadable_counts_are_no_zero(tmp_path: Path) -> None:
    case = CASES["LLMC-065"]
    logs = write_logs(case["minimal_input"], tmp_path / "logs")
    with driven([logs], tmp_path / "store", priced_as_logged(case["expected"], calls_in(logs))) as outcome:
        priced = [row for row in outcome.requests if row["cost_state"] == "priced"]
        assert sum(row["tokens"]["input"] for row in priced) == case["expected"]["buckets"]["input_uncached"]
        assert sum(row["tokens"]["output"] for row in priced) == case["expected"]["buckets"]["output"]
        unknown = [row for row in outcome.requests if row["cost_state"] != "priced"]
        assert [row["tokens"]["input"] for row in unknown] == [None] * len(unknown)


def test_llmc_071_a_mark_at_the_start_costs_no_record_and_utf_16_is_refused_by_name(tmp_path: Path) -> None:
    logs = write_logs(CASES["LLMC-071"]["minimal_input"], tmp_path / "logs")
    with driven([logs], tmp_path / "store") as outcome:
        assert [row["tokens"]["input"] for row in outcome.requests] == [100, 100]
        (refused,) = outcome.rejected
    assert "UTF-16" in refused["reason"]


@pytest.mark.parametrize("name", ["LLMC-056", "LLMC-076", "LLMC-077"])
def test_days_are_cut_in_the_named_zone(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    zone = case["minimal_input"]["timezone"]
    logs = write_logs(case["minimal_input"], tmp_path / "logs")
    with driven([logs], tmp_path / "store", zone=zone) as outcome:
        check_days(outcome, case["expected"]["by_day"], zone)


def test_llmc_077_the_days_of_a_clock_change_have_their_own_length_and_hours(tmp_path: Path) -> None:
    case = CASES["LLMC-077"]
    zone = case["minimal_input"]["timezone"]
    for day, hours in case["expected"]["hours_in_day"].items():
        start = midnight_us(date.fromisoformat(day), zone_info(zone))
        assert [one.hours for one in local_days(start, start + HOUR_US, zone)] == [hours]
    logs = write_logs(case["minimal_input"], tmp_path / "logs")
    with driven([logs], tmp_path / "store", zone=zone) as outcome:
        for hour, count in case["expected"]["hourly_2026-10-25"].items():
            start = round(datetime.fromisoformat(f"2026-10-25T{hour}").timestamp()) * 1_000_000
            assert input_between(outcome, start, start + HOUR_US, zone) == count


def test_llmc_073_a_nul_costs_no_row_and_literal_text_stays(tmp_path: Path) -> None:
    case = CASES["LLMC-073"]
    logs = write_logs(case["minimal_input"], tmp_path / "logs")
    warehouse = Warehouse(tmp_path / "store", memory_limit="256MB")
    migrate(warehouse)
    ingest_paths([logs], warehouse=warehouse, pricer=Unpriced(), data_dir=tmp_path / "store", text="all")
    with warehouse.session() as session:
        ((kept,),) = session.connection.execute("SELECT text FROM texts.contents").fetchall()
    warehouse.close()
    assert kept == "binary  dump and the literal text \\u0000"


def test_llmc_080_events_of_one_call_may_come_in_any_order(tmp_path: Path) -> None:
    case = CASES["LLMC-080"]
    batch = case["minimal_input"]["record"]["batch"]
    for number, order in enumerate(set(itertools.permutations(map(json.dumps, batch)))):
        logs = write_logs({"record": {"batch": [json.loads(event) for event in order]}}, tmp_path / f"logs{number}")
        with driven([logs], tmp_path / f"store{number}", priced_as_logged(case["expected"], calls_in(logs))) as outcome:
            for key in ("buckets", "cost_usd", "requests", "feature"):
                CHECKS[key](outcome, case["expected"][key])


def test_llmc_080_updates_in_a_file_of_their_own_may_be_read_first(tmp_path: Path) -> None:
    case = CASES["LLMC-080"]
    update, create, _ = case["minimal_input"]["record"]["batch"]
    first = write_logs({"record": {"batch": [update]}}, tmp_path / "first")
    second = write_logs({"record": {"batch": [create]}}, tmp_path / "second")
    entries = priced_as_logged(case["expected"], calls_in(second))
    for number, order in enumerate(([first, second], [second, first])):
        with driven(order, tmp_path / f"store{number}", entries) as outcome:
            for key in ("buckets", "cost_usd", "requests", "feature"):
                CHECKS[key](outcome, case["expected"][key])


MEASURED = """
import resource, sys
from pathlib import Path
from app.warehouse.merge import Unpriced
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse
from ingest.pipeline import ingest_paths
log, small, home = (Path(text) for text in sys.argv[1:])
warehouse = Warehouse(home, memory_limit="256MB")
migrate(warehouse)
ingest_paths([small], warehouse=warehouse, pricer=Unpriced(), data_dir=home, workers=0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
summary = ingest_paths([log], warehouse=warehouse, pricer=Unpriced(), data_dir=home, workers=0)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with warehouse.session() as session:
    (row,) = session.connection.execute("SELECT count(*), sum(tok_input) FROM requests").fetchall()
print((after - before) // 1024, summary.benign, *row)
"""


def test_llmc_070_a_huge_file_of_snapshots_is_streamed(tmp_path: Path) -> None:
    case = CASES["LLMC-070"]
    given, expected = case["minimal_input"]["generate"], case["expected"]
    first, *rest = (json.dumps(line).replace("{pad}", "x" * given["pad_bytes"]) + "\n" for line in given["lines"])
    log, small = tmp_path / given["file"], tmp_path / "small.jsonl"
    small.write_text("".join(rest), encoding="utf-8")
    with log.open("w", encoding="utf-8") as file:
        for _ in range(given["repeat_first_line"]):
            file.write(first)
        file.writelines(rest)
    arguments = [sys.executable, "-c", MEASURED, str(log), str(small), str(tmp_path / "store")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=120)
    log.unlink()
    extra_mb, benign, requests, tokens = map(int, done.stdout.split())
    assert extra_mb < expected["peak_memory_extra_mb_below"]
    assert (benign, requests, tokens) == (expected["non_usage_lines"], expected["requests"], expected["input_tokens"])
