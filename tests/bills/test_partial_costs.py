"""Usage whose cost is not on the bill yet is valued by class, never free; mixed tiers and units keep their names."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from made_bills import RATES, Bill, Books, charged, month

from app.analysis import spend
from app.analysis.bill_share import from_bills, valued_from_bills
from app.cli import main
from app.core.money import pico, usd
from app.core.view import View
from reports import reconciliation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LARGE, SMALL = sorted(RATES)
Key = tuple[str, str, str]


def figures(books: Books) -> tuple[Decimal, Decimal, Decimal]:
    """Cost, what of it comes from bills alone, and what of that has no cost there yet."""
    with books.warehouse.session() as session:
        view = View(spend.whole_period(session, "UTC"))
        sums = (spend.totals(session, view).cost_pusd, from_bills(session, view), valued_from_bills(session, view))
    cost, billed, valued = (usd(one or 0) for one in sums)
    return cost, billed, valued


def said(books: Books) -> dict[str, Any]:
    return reconciliation.document(books.reconciled())


@pytest.mark.parametrize(
    "known",
    [
        lambda key: key[2] == "input",
        lambda key: key[2] != "output",
        lambda key: key[1] == SMALL,
        lambda key: key[0] == "2026-03-02",
        lambda key: key == ("2026-03-03", LARGE, "cached input"),
    ],
)
def test_each_class_without_a_cost_stands_at_the_price_book(books: Books, known: Callable[[Key], bool]) -> None:
    bill = Bill(charged(month(days=2)), rates=dict.fromkeys(charged(month(days=2)), "20"))
    books.read("usage.jsonl", bill.usage_page())
    part = replace(bill, tokens={key: tokens for key, tokens in bill.tokens.items() if known(key)})
    books.read("costs.jsonl", part.costs_page())
    missing = Bill({key: tokens for key, tokens in bill.tokens.items() if not known(key)}).total()
    assert figures(books) == (part.total() + missing, part.total() + missing, missing)
    found = said(books)
    assert Decimal(found["bill_usd"]) == part.total() + missing
    assert found["providers"][0]["bill_is"] == reconciliation.PARTLY
    assert "no cost on the bill yet" in reconciliation.text(found)


def test_a_class_without_a_cost_is_no_price_of_zero(books: Books) -> None:
    calls = month(days=2)
    bill = Bill(charged(calls))
    books.read("calls.jsonl", *(call.logged() for call in calls))
    books.read("usage.jsonl", bill.usage_page())
    part = replace(bill, tokens={key: tokens for key, tokens in bill.tokens.items() if key[2] == "input"})
    books.read("costs.jsonl", part.costs_page())
    result = books.reconciled()
    assert result.residuals == ()
    assert result.share == 1


@pytest.mark.parametrize("item", ["API usage", None])
def test_a_total_of_no_class_is_the_cost_of_all_classes(books: Books, item: str | None) -> None:
    bill = Bill(charged(month(days=1)))
    books.read("usage.jsonl", bill.usage_page())
    page = Bill({}, extra=[("2026-03-02", "API usage", "7.5")]).costs_page()
    page["data"][0]["results"][0]["line_item"] = item
    books.read("costs.jsonl", page)
    assert figures(books) == (Decimal("7.5"), Decimal("7.5"), Decimal(0))


def anthropic_usage(model: str) -> dict[str, Any]:
    result = {"uncached_input_tokens": 0, "model": model, "server_tool_use": {"web_search_requests": 12}}
    return {"data": [{"starting_at": "2026-03-02T00:00:00Z", "results": [result]}], "has_more": False}


def test_searches_without_a_cost_are_searches_and_their_cost_unknown(books: Books) -> None:
    books.read("usage.jsonl", anthropic_usage("house-model-1"))
    found = said(books)
    assert found["residuals"] == []
    (one,) = found["cost_not_on_bill"]
    assert (one["counted"], one["bill_usd"]) == ("12 web searches", None)
    text = reconciliation.text(found)
    assert "12 web searches  n/a" in text
    assert "tokens" not in text


def test_searches_with_a_price_are_no_tokens(books: Books) -> None:
    books.read("usage.jsonl", anthropic_usage("claude-sonnet-4-5"))
    (one,) = said(books)["residuals"]
    assert Decimal(one["amount_usd"]) == Decimal("0.12")
    assert one["why"].startswith("12 web searches on the bill")


@pytest.mark.data
@pytest.mark.parametrize(
    ("names", "cost"),
    [
        (("openai_org_usage_completions", "openai_org_costs"), "13.24"),
        (("anthropic_usage_report_messages", "anthropic_cost_report"), "1.46"),
    ],
)
def test_a_cost_line_takes_nothing_from_the_other_classes(
    books: Books, data_dir: Path, names: tuple[str, ...], cost: str
) -> None:
    for name in names:
        text = (data_dir.parent / "samples" / f"{name}.jsonl").read_text(encoding="utf-8")
        books.read(f"{name}.jsonl", *(json.loads(line) for line in text.splitlines()))
    assert figures(books)[0] == pytest.approx(Decimal(cost), abs=Decimal("0.01"))


def tiered(books: Books, rate: str, *, tiers: tuple[str, ...]) -> dict[str, Any]:
    """The one residual of calls of these tiers beside a bill at this rate for input."""
    calls = [call for call in month(days=1) if call.model == LARGE]
    logs = []
    for number, call in enumerate(calls):
        logs.append(call.logged() | {"service_tier": tiers[number % len(tiers)]})
    books.read("calls.jsonl", *logs)
    day = "2026-03-02"
    tokens = {key: count for key, count in charged(calls).items() if key[2] == "input"}
    bill = Bill(tokens, rates={(day, LARGE, "input"): rate})
    page = bill.costs_page()
    page["data"][0]["results"][0] |= {"quantity": tokens[day, LARGE, "input"], "quantity_unit": "tokens"}
    books.read("costs.jsonl", page)
    rows: list[dict[str, Any]] = [row for row in said(books)["residuals"] if row["kind"] in ("price", "tier mix")]
    (one,) = rows
    return one


def test_another_mix_of_tiers_is_no_other_price(books: Books) -> None:
    mixed = tiered(books, "2.5", tiers=("default", "priority"))
    assert (mixed["kind"], mixed["price_row"]) == ("tier mix", None)
    assert "tiers" in mixed["why"]
    assert "contract" not in mixed["do"]


def test_a_rate_beyond_all_tiers_is_a_price_and_no_one_row_is_named(books: Books) -> None:
    dear = tiered(books, "25", tiers=("default", "priority"))
    assert (dear["kind"], dear["price_row"]) == ("price", None)
    assert "row" not in dear["why"]


def test_a_price_of_one_tier_names_its_row(books: Books) -> None:
    dear = tiered(books, "25", tiers=("default",))
    assert dear["kind"] == "price"
    assert dear["price_row"]
    assert Decimal(dear["amount_usd"]) > pico(0)


def test_a_page_whose_next_one_was_not_read_is_named(books: Books) -> None:
    bill = Bill(charged(month(days=2)))
    first = replace(bill, tokens={key: tokens for key, tokens in bill.tokens.items() if key[0] == "2026-03-02"})
    last = replace(bill, tokens={key: tokens for key, tokens in bill.tokens.items() if key[0] == "2026-03-03"})
    books.read("first.jsonl", first.costs_page() | {"has_more": True, "next_page": "page_2"}, source="bill")
    (aside,) = books.reconciled().asides
    assert (aside.what, aside.pusd) == ("a bill cut short", None)
    assert "has_more after 2026-03-02" in aside.name
    assert "a bill cut short" in reconciliation.text(said(books))
    books.read("second.jsonl", last.costs_page(), source="bill")
    assert books.reconciled().asides == ()


def test_an_inspection_warns_of_a_page_that_says_more(tmp_path: Path) -> None:
    path = tmp_path / "costs.jsonl"
    path.write_text(json.dumps(Bill(charged(month(days=1))).costs_page() | {"has_more": True}), encoding="utf-8")
    answer = CliRunner().invoke(main, ["inspect", str(path)], env={"HALVE_DATA_DIR": str(tmp_path / "data")})
    assert "another follows (has_more)" in answer.stdout
