"""The analysis document: exact sums, unknown money, its documented keys; its text at 80 and 120 columns."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest

from app.analysis import spend
from app.analysis.attribution import attribute
from app.analysis.rules import load
from app.core.view import View
from app.plan.result import Finding, PlanResult, Range
from app.warehouse import rollup
from reports.analysis import SCHEMA, AnalysisDocument, build, document
from reports.terminal import render
from tests.analysis.facts import add_requests, add_source, open_warehouse

START = 1_793_527_200_000_000  # 2026-11-01T10:00:00Z
PARTS = ("input_usd", "cache_read_usd", "cache_write_usd", "output_usd", "reasoning_usd", "other_usd")


def finding(grade: Any, allocated: str) -> Finding:
    return Finding(
        fingerprint="f1", lever="batch", title="Batch tier", stage=60, feature="night", template=None,
        provider="openai", model_id="gpt-4.1", scope="feature=night model=gpt-4.1", grade=grade, in_joint=grade != "D",
        requests=40, before_usd="10", standalone_usd="5", last_in_usd="4", allocated_usd=allocated,
        standalone=Range("4.5", "5", "5.5"), effort="medium", risk="latency", reversible=True,
        headline="Send the nightly job through the batch tier.", steps=("Do it.",), verify="Look.",
    )  # fmt: skip


def plan(*findings: Finding) -> PlanResult:
    return PlanResult(
        run_id=1, computed_us=1, from_us=START, to_us=START + 1, zone="UTC", basis="paid", price_book="book-1",
        requests=3, unpriced_requests=1, left_out_requests=0, before_usd="10.5", joint=Range("4.4", "4.6", "5"),
        potential_usd="1.25", clusters=20, days="30", per_30_days="1", findings=findings, levers=(),
        levers_data={
            "batch": {"state": "ok", "scopes": 2},
            "prompt_caching": {"state": "not enough data", "why": "No prompt is logged.", "do": "Log requests whole."},
        },
    )  # fmt: skip


def made(rows: list[dict[str, Any]], billing: str = "api", **rest: Any) -> AnalysisDocument:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, rows)
        add_source(session, "log", billing)
        attribute(session, load(), now_us=1)
        rollup.rebuild(session)
        return build(session, View(spend.whole_period(session, "UTC")), **rest)


def priced(number: int, **rest: Any) -> dict[str, Any]:
    parts = {"input_pusd": 10**12 + number, "cache_read_pusd": 7, "output_pusd": 333_333_333_333}
    return {
        "start_us": START + number * 3_600_000_000, "model_id": f"m{number % 3}", "provider": "openai",
        "tok_input": 100, "tok_cache_read": 10, "tok_output": 5, "cost_pusd": sum(parts.values()),
        "tags": f'{{"feature": "f{number % 4}"}}', "price_book": "book-1", **parts, **rest,
    }  # fmt: skip


ROWS = [priced(number) for number in range(11)] + [
    {
        "start_us": START,
        "model_id": "own",
        "cost_state": "unpriced",
        "warnings": "unknown_model",
        "tok_input": 50,
        "tok_output": 5,
    }
]


def test_the_document_has_the_documented_keys_in_order() -> None:
    plain = document(made(ROWS, plan=plan(finding("B", "4.6")), rejected=2))
    assert list(plain) == [
        "schema", "window", "currency", "basis", "price_book", "coverage", "requests", "cost_usd", "paid_usd",
        "tokens", "unpriced", "rejected", "rejected_examples", "by_model", "by_feature", "levers_data", "plan",
        "held_out", "other_services", "without_rate", "alike_logs",
    ]  # fmt: skip
    assert plain["schema"] == SCHEMA == "halve.analyze/1"
    assert plain["window"]["from"] == "2026-11-01T10:00:00Z"
    assert plain["window"]["days"] == 1
    assert plain["coverage"]["reconciled_share"] is None
    assert list(plain["by_model"][0]) == [
        "name", "requests", "cost_usd", *PARTS, "cost_per_request_usd", "unpriced_requests", "tokens",
    ]  # fmt: skip
    assert plain["tokens"]["input"] == 11 * 100 + 50
    assert plain["tokens"]["cache_write_5m"] is None
    assert plain["rejected"] == 2
    assert plain["plan"]["joint_usd"] == {"p10": "4.4", "p50": "4.6", "p90": "5"}
    assert plain["plan"]["levers"][0]["scope"] == "feature=night model=gpt-4.1"
    assert json.loads(json.dumps(plain)) == plain


@pytest.mark.parametrize("dimension", ["by_model", "by_feature"])
def test_rows_add_up_to_the_total_in_every_digit(dimension: str) -> None:
    plain = document(made(ROWS))
    rows = plain[dimension]
    assert sum(Decimal(row["cost_usd"]) for row in rows if row["cost_usd"]) == Decimal(plain["cost_usd"])
    assert sum(row["requests"] for row in rows) == plain["requests"] == 12
    for row in rows:
        if row["cost_usd"] is not None:
            assert sum(Decimal(row[part]) for part in PARTS if row[part]) == Decimal(row["cost_usd"])
    assert sum(row["tokens"]["input"] for row in rows) == plain["tokens"]["input"]


def test_what_has_no_price_is_named_and_costs_nothing_known() -> None:
    plain = document(made(ROWS))
    assert plain["unpriced"] == {
        "requests": 1,
        "tokens": 55,
        "models": ["own"],
        "details": [
            {
                "provider": "unassigned",
                "model": "own",
                "cost_state": "unpriced",
                "requests": 1,
                "tokens": 55,
                "unreadable": 0,
                "reasons": {"unknown_model": 1},
            }
        ],
    }
    own = next(row for row in plain["by_model"] if row["name"] == "own")
    assert own["cost_usd"] is None
    assert own["cost_per_request_usd"] is None
    assert plain["coverage"]["priced_share"] == round(1265 / 1320 - 5e-7, 6)


@pytest.mark.parametrize(
    ("billing", "basis", "paid"),
    [("api", "paid", True), ("unknown", "list-price value", False), ("subscription", "list-price value", False)],
)
def test_only_sources_billed_by_the_api_are_paid(billing: str, basis: str, paid: bool) -> None:
    plain = document(made(ROWS, billing))
    assert plain["basis"] == basis
    assert plain["paid_usd"] == (plain["cost_usd"] if paid else "0")


def test_api_traffic_without_any_price_has_an_unknown_bill() -> None:
    plain = document(made([{"start_us": START, "cost_state": "unpriced", "tok_input": 5}]))
    assert plain["cost_usd"] is None
    assert plain["paid_usd"] is None
    assert plain["price_book"] is None


def test_an_empty_log_is_a_document_too() -> None:
    plain = document(made([]))
    assert plain["requests"] == 0
    assert plain["window"]["from"] is None
    assert plain["coverage"]["priced_share"] is None
    assert (plain["basis"], plain["cost_usd"], plain["paid_usd"]) == (None, None, None)
    text = render(made([]))
    assert "no requests" in text
    assert "no costs of models · 0 requests" in text
    assert "paid" not in text


@pytest.mark.parametrize("width", [80, 120])
def test_the_text_fits_its_width_and_says_everything(width: int) -> None:
    text = render(made(ROWS, plan=plan(finding("B", "4.6"), finding("D", "0")), rejected=2), width=width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    for wanted in (
        "$14.67 paid", "12 requests", "2 records rejected", "Spend by feature", "Spend by model", "own",
        "not in the price book", "$4.60 ($4.40 to $5.00) of $10.50", "$1.25 of potential", "batch",
        "Send the nightly job through the batch tier.", "prompt_caching: No prompt is logged. Log requests whole.",
    ):  # fmt: skip
        assert wanted in flat
    assert "\x1b" not in text


def test_a_plan_of_priors_alone_claims_no_dollar() -> None:
    text = render(made(ROWS, plan=plan(finding("D", "0"))))
    assert "Nothing has evidence yet: $0.00 of $10.50" in text
    assert "All together" not in text


def test_colour_is_written_only_where_asked() -> None:
    assert "\x1b[" in render(made(ROWS), colour=True)


def test_names_from_logs_are_neither_markup_nor_control_characters() -> None:
    hostile = "[bold]x[/bold]\x1b[2Jy"
    text = render(made([priced(0, model_id=hostile)]), width=120)
    assert "[bold]x[/bold]" in text
    assert "\x1b" not in text


def test_a_mixed_log_says_how_much_of_it_is_paid() -> None:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, [priced(0), priced(1, source="seat")])
        add_source(session, "log", "api")
        add_source(session, "seat", "subscription")
        attribute(session, load(), now_us=1)
        rollup.rebuild(session)
        mixed = build(session, View(spend.whole_period(session, "UTC")))
    assert mixed.basis == "mixed"
    assert (mixed.paid_usd, mixed.cost_usd) == ("1.33333333334", "2.666666666681")
    assert "of it $1.33 paid, the rest list-price value" in render(mixed)


@pytest.mark.parametrize("width", [60, 80, 99, 100, 101, 120, 160])
def test_names_have_room_before_columns_of_money(width: int) -> None:
    names = ["support-chat-with-tools", "n" * (width * 2 // 5)]
    parts = dict.fromkeys(("cache_write_pusd", "reasoning_pusd", "other_pusd"), 123456 * 10**12)
    whole = {"cost_pusd": sum(parts.values()) + 10**12 + 7 + 333_333_333_333}
    rows = [priced(0, **parts, **whole, tags=json.dumps({"feature": name})) for name in names]
    text = render(made(rows), width=width)
    assert max(map(len, text.splitlines())) <= width
    for name in names:
        assert re.search(rf"^{name} +\$370,", text, re.MULTILINE), text
    if width == 160:
        assert "reasoning" in text


def test_what_is_paid_of_a_mixed_cost_stands_after_a_comma() -> None:
    rows = [priced(0), priced(1, source="seats")]
    assert re.search(r"^\$[\d.]+, of it \$[\d.]+ paid, the rest list-price value ·", render(made(rows)), re.MULTILINE)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_column_of_money_is_what_its_title_says(width: int) -> None:
    """Fees are in no column of tokens, and a column with reasoning in it says so."""
    parts = {"input_pusd": 10**10, "output_pusd": 2 * 10**10, "reasoning_pusd": 3 * 10**10, "other_pusd": 2 * 10**11}
    rows = [priced(number, **parts, model_id="m", cost_pusd=sum(parts.values())) for number in range(10)]
    after = render(made(rows), width=width).partition("Spend by model")[2]
    columns, line = re.split(r"\s{2,}", after.split("\n")[1].strip()), after.split("\n")[2]
    cells = dict(zip(columns[1:], re.split(r"\s{2,}", line.strip())[1:], strict=True))
    expected = {"input": "$0.10", "output": "$0.20", "reasoning": "$0.30", "all output": "$0.50", "other": "$2.00"}
    assert {name: cell for name, cell in cells.items() if name in expected}.items() <= expected.items()
    assert "output" in cells or "all output" in cells
