"""Spend takes the days that only a bill knows, says so, and never adds a bill to requests of one account and day."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from made_bills import RATES, Bill, Books, Call, charged, month, open_books

from app.analysis import coverage, spend
from app.analysis.bill_share import from_bills
from app.core.money import pico, usd
from app.core.view import DIMENSIONS, View
from app.pricing.book import PriceBook
from app.warehouse import rollup

if TYPE_CHECKING:
    from pathlib import Path

LARGE, SMALL = sorted(RATES)


def everything(books: Books) -> View:
    with books.warehouse.session() as session:
        return View(spend.whole_period(session, "UTC"))


def total(books: Books) -> Decimal:
    with books.warehouse.session() as session:
        return usd(spend.totals(session, everything(books)).cost_pusd or 0)


def test_a_user_with_only_bills_sees_spend_from_them(books: Books) -> None:
    bill = Bill(charged(month(days=5)))
    books.read("usage.jsonl", bill.usage_page())
    books.read("costs.jsonl", bill.costs_page())
    view = everything(books)
    with books.warehouse.session() as session:
        figures = spend.totals(session, view)
        by_model = spend.ranking(session, view, by="model")
        days = spend.daily(session, view, by="model")
        assert usd(figures.cost_pusd or 0) == bill.total()
        assert figures.paid_pusd == figures.cost_pusd
        assert figures.requests == 5 * 2 * 6, "as the usage report counts them"
        assert figures.tokens["tok_cache_read"] == sum(n for key, n in bill.tokens.items() if key[2] == "cached input")
        assert figures.parts["output_pusd"] == pico(sum(bill.cost(key) for key in bill.tokens if key[2] == "output"))
        assert {row.name for row in by_model.rows} == {"gpt-4o", "gpt-4o-mini"}
        assert [day.date.isoformat() for day in days.days] == [f"2026-03-0{n}" for n in range(2, 7)]
        assert sum(value or 0 for value in days.totals) == figures.cost_pusd
        assert from_bills(session, view) == figures.cost_pusd
        assert coverage.basis(session, view) == "paid"


def test_every_view_adds_up_to_the_same_total_with_bills_in_it(books: Books) -> None:
    calls = month(days=6)
    logged = [call for call in calls if call.at.day <= 4]
    bill = Bill(charged(calls))
    books.read("costs.jsonl", bill.costs_page())
    books.read("calls.jsonl", *(call.logged() for call in logged))
    view = everything(books)
    with books.warehouse.session() as session:
        whole = spend.totals(session, view).cost_pusd
        for dimension in DIMENSIONS:
            ranking = spend.ranking(session, view, by=dimension, top=1)
            assert ranking.total.cost_pusd == whole, dimension
            assert sum(value or 0 for value in spend.daily(session, view, by=dimension).totals) == whole, dimension
        assert rollup.differences(session) == []
        assert rollup.counts_agree(session)
    assert usd(whole or 0) == bill.total(), "half of the days come from the requests, half from the bill"


@pytest.mark.parametrize("bill_first", [True, False])
def test_bill_and_requests_of_a_day_never_add(books: Books, bill_first: bool) -> None:
    calls = month(days=3)
    bill = Bill(charged(calls))
    if bill_first:
        books.read("costs.jsonl", bill.costs_page())
        assert total(books) == bill.total()
    books.read("calls.jsonl", *(call.logged() for call in calls))
    if not bill_first:
        books.read("costs.jsonl", bill.costs_page())
    assert total(books) == bill.total()
    assert books.sql("SELECT count(*) FROM bill_facts") == [(0,)]
    with books.warehouse.session() as session:
        assert rollup.differences(session) == []


def test_a_day_that_is_logged_in_part_is_left_to_the_requests(books: Books) -> None:
    calls = month(days=2)
    books.read("costs.jsonl", Bill(charged(calls)).costs_page())
    books.read("calls.jsonl", calls[0].logged())
    second = Bill(charged(call for call in calls if call.at.day == 3))
    first = Bill(charged(calls[:1]))
    assert total(books) == second.total() + first.total()


def test_usage_without_costs_is_valued_at_the_price_book_until_the_costs_come(books: Books) -> None:
    bill = Bill(charged(month(days=2)), rates={("2026-03-02", LARGE, "output"): "11"})
    books.read("usage.jsonl", bill.usage_page())
    at_list = Bill(bill.tokens).total()
    assert total(books) == at_list
    books.read("costs.jsonl", bill.costs_page())
    assert total(books) == bill.total() != at_list


def test_usage_without_a_price_is_unpriced_and_never_free(books: Books) -> None:
    call = Call(1, "house-model-1", datetime(2026, 3, 2, 10, tzinfo=UTC), 1_000, 0, 10)
    books.read("usage.jsonl", Bill(charged([call])).usage_page())
    view = everything(books)
    with books.warehouse.session() as session:
        figures = spend.totals(session, view)
        assert figures.cost_pusd is None
        assert figures.tokens_all == 1_010
        assert [item.model for item in coverage.coverage(session, view).unpriced] == ["house-model-1"]


def test_a_currency_without_a_rate_is_unpriced_and_named(books: Books) -> None:
    page = Bill(charged(month(days=1))).costs_page()
    for bucket in page["data"]:
        for result in bucket["results"]:
            result["amount"]["currency"] = "eur"
    books.read("costs.jsonl", page)
    assert books.sql("SELECT count(*) FROM bill_facts WHERE cost_pusd IS NOT NULL") == [(0,)]
    (aside,) = books.reconciled().asides
    assert (aside.what, aside.name, aside.pusd) == ("a currency without a rate", "EUR", None)
    assert Decimal(aside.native or "0") == Bill(charged(month(days=1))).total()


def test_a_bill_in_another_currency_counts_at_the_rate_of_its_day(tmp_path: Path) -> None:
    own = tmp_path / "prices.yml"
    own.write_text(
        "currencies:\n  - {currency: EUR, usd: 1.10}\n  - {currency: EUR, usd: 1.20, from: 2026-03-03}\n",
        encoding="utf-8",
    )
    books = open_books(tmp_path, PriceBook.load(None, own))
    page = Bill(charged(month(days=2))).costs_page()
    for bucket in page["data"]:
        for result in bucket["results"]:
            result["amount"]["currency"] = "eur"
    books.read("costs.jsonl", page)
    first, second = (Bill(charged(call for call in month(days=2) if call.at.day == day)).total() for day in (2, 3))
    assert total(books) == first * Decimal("1.10") + second * Decimal("1.20")
    assert books.sql("SELECT DISTINCT currency FROM bill_lines") == [("EUR",)], "native amounts are kept"
    books.warehouse.close()


FOCUS: dict[str, Any] = {
    "BilledCost": "1.5",
    "BillingAccountId": "1",
    "BillingCurrency": "USD",
    "ChargeCategory": "Usage",
    "ChargeDescription": "Claude Sonnet 4.6 output tokens",
    "ChargePeriodStart": "2026-03-02T00:00:00Z",
    "ConsumedQuantity": "100000",
    "ConsumedUnit": "Tokens",
    "ProviderName": "AWS",
    "ServiceCategory": "AI and Machine Learning",
    "ServiceSubcategory": "Generative AI",
    "SubAccountId": "2",
}
CUR: dict[str, Any] = {
    "line_item_line_item_type": "Usage",
    "line_item_product_code": "AmazonBedrock",
    "line_item_usage_account_id": "2",
    "line_item_usage_start_date": "2026-03-02T00:00:00Z",
    "line_item_usage_amount": "100",
    "line_item_usage_type": "USE1-Claude4.6Sonnet-output-tokens",
    "line_item_unblended_cost": "1.5",
    "line_item_currency_code": "USD",
    "pricing_unit": "1K tokens",
}


@pytest.mark.parametrize("order", [(FOCUS, CUR), (CUR, FOCUS)])
def test_the_same_bill_from_two_exports_counts_once(books: Books, order: tuple[dict[str, Any], ...]) -> None:
    for number, record in enumerate(order):
        books.read(f"bill-{number}.jsonl", record)
    assert total(books) == Decimal("1.5")
    (aside,) = books.reconciled().asides
    assert (aside.what, aside.name, aside.pusd) == ("the same bill twice", "focus (counted from aws_cur)", pico("1.5"))


def test_another_account_of_the_same_provider_adds(books: Books) -> None:
    books.read("bill.jsonl", CUR)
    books.read("focus.jsonl", FOCUS | {"SubAccountId": "3", "BilledCost": "2"})
    assert total(books) == Decimal("3.5")


def test_services_that_are_no_models_are_not_spent_on_models(books: Books) -> None:
    books.read("bill.jsonl", CUR, CUR | {"line_item_product_code": "AmazonEC2", "line_item_unblended_cost": "99"})
    assert total(books) == Decimal("1.5")
    (aside,) = books.reconciled().asides
    assert (aside.what, aside.pusd) == ("other services on the bill", pico(99))


def test_logs_that_do_not_say_who_was_billed_keep_a_bill_of_the_same_model_out(books: Books) -> None:
    calls = month(days=1)
    books.read("calls.jsonl", *(call.logged() for call in calls))
    before = total(books)
    azure = {
        "Date": "03/02/2026",
        "MeterCategory": "Foundry Models",
        "MeterName": "gpt-4o 0806 Outp glbl Tokens",
        "UnitOfMeasure": "1K",
        "Quantity": 5,
        "CostInBillingCurrency": 7,
        "SubscriptionId": "s",
        "ChargeType": "Usage",
    }
    books.read("azure.jsonl", azure)
    assert total(books) == before, "the calls may have been Azure's"


@pytest.mark.data
def test_the_cookbooks_usage_reconciles_with_logs_of_the_same_calls(books: Books, data_dir: Path) -> None:
    path = data_dir / "openai_usage/openai_usage_completions_cookbook_2025-01.json"
    page = json.loads(path.read_text(encoding="utf-8"))
    logs = [
        {
            "timestamp": (datetime.fromtimestamp(bucket["start_time"], UTC) + timedelta(hours=1)).isoformat(),
            "provider": "openai",
            "model": "gpt-4o-mini",
            "input_tokens": result["input_tokens"] + result["input_audio_tokens"],
            "cache_read_tokens": result["input_cached_tokens"],
            "output_tokens": result["output_tokens"] + result["output_audio_tokens"],
            "request_id": str(bucket["start_time"]),
        }
        for bucket in page["data"]
        for result in bucket["results"]
    ]
    summary = books.read_file(path)
    assert summary.rejected == 0
    assert books.sql("SELECT cast(sum(requests) AS BIGINT), cast(sum(quantity) AS BIGINT) FROM billed") == [
        (
            sum(r["num_model_requests"] for b in page["data"] for r in b["results"]),
            sum(log["input_tokens"] + log["output_tokens"] for log in logs),
        )
    ]
    books.read("logs.jsonl", *logs, source="logs")
    with books.warehouse.writing() as session:
        session.execute("upkeep.set_billing", source="logs", billing="api")
    result = books.reconciled()
    assert result.residuals == ()
    assert result.share == 1
    assert result.unknown_cells == 0
    with_usage = [bucket for bucket in page["data"] if any(row["input_tokens"] for row in bucket["results"])]
    days = {datetime.fromtimestamp(bucket["start_time"], UTC).date() for bucket in with_usage}
    assert len({cell.key.at_us for cell in result.cells}) == len(days)


def test_bills_are_settled_anew_only_where_something_changed(books: Books) -> None:
    calls = month(days=3)
    books.read("costs.jsonl", Bill(charged(calls)).costs_page())

    def made_of() -> list[tuple[Any, ...]]:
        return books.sql("SELECT made_of FROM bill_state")

    first = made_of()
    books.read("elsewhere.jsonl", replace(calls[0], number=99, at=calls[0].at + timedelta(days=90)).logged())
    assert made_of() == first
    assert books.sql("SELECT count(DISTINCT at_us) FROM bill_facts") == [(3,)]
    books.read("calls.jsonl", calls[0].logged())
    assert made_of() != first
    assert books.sql("SELECT count(DISTINCT at_us) FROM bill_facts") == [(2,)]


def test_dollars_without_requests_are_in_no_cost_per_request(books: Books) -> None:
    calls = month(days=1)
    books.read("calls.jsonl", *(call.logged() for call in calls))
    with books.warehouse.session() as session:
        before = spend.totals(session, everything(books))
    books.read("costs.jsonl", Bill({}, extra=[("2026-03-20", "gpt-4o, output", "5")]).costs_page())
    with books.warehouse.session() as session:
        after = spend.totals(session, everything(books))
        rows = spend.ranking(session, everything(books), by="model").rows
    assert (after.cost_pusd or 0) - (before.cost_pusd or 0) == after.bill_pusd == pico(5)
    assert after.cost_per_request_pusd == before.cost_per_request_pusd == (before.cost_pusd or 0) // len(calls)
    assert after.tokens_per_request == before.tokens_per_request
    own = {name: [call for call in calls if call.model == name] for name in RATES}
    each = {row.figures.cost_per_request_pusd for row in rows}
    large = pico(Bill(charged(own[LARGE])).total()) // len(own[LARGE])
    assert large in each


def test_a_bill_that_counts_requests_has_a_cost_per_request(books: Books) -> None:
    books.read("usage.jsonl", Bill(charged(month(days=1))).usage_page())
    with books.warehouse.session() as session:
        figures = spend.totals(session, everything(books))
    assert figures.cost_per_request_pusd == (figures.cost_pusd or 0) // 12
