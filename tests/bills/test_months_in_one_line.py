"""Lines of a bill about several days: they never add to requests or to another report of any of these days."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from made_bills import Bill, Call, charged, month

from app.analysis import spend
from app.core.money import usd
from app.core.view import View, period
from reports import reconciliation

if TYPE_CHECKING:
    from made_bills import Books

NAMES = {"input": "input", "cached input": "cache_read", "output": "output"}
MARCH = ("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")


def in_one_line(calls: list[Call], starts: str = MARCH[0], ends: str = MARCH[1]) -> list[dict[str, Any]]:
    """The charges of calls as FOCUS rows of one period."""
    sums: dict[tuple[str, str], tuple[int, Decimal]] = defaultdict(lambda: (0, Decimal(0)))
    bill = Bill(charged(calls))
    for key, tokens in bill.tokens.items():
        _, model, name = key
        before = sums[model, name]
        sums[model, name] = before[0] + tokens, before[1] + bill.cost(key)
    return [
        {
            "BilledCost": str(cost),
            "BillingAccountId": "org",
            "BillingCurrency": "USD",
            "ChargeCategory": "Usage",
            "ChargePeriodStart": starts,
            "ChargePeriodEnd": ends,
            "ConsumedQuantity": str(tokens),
            "ConsumedUnit": "Tokens",
            "ProviderName": "OpenAI",
            "ServiceCategory": "AI and Machine Learning",
            "ServiceSubcategory": "Generative AI",
            "SkuPriceDetails": {"x_Model": model, "x_TokenClass": NAMES[name]},
        }
        for (model, name), (tokens, cost) in sums.items()
    ]


def spent(books: Books, days: str = "") -> Decimal:
    with books.warehouse.session() as session:
        when = period(days, "UTC", 1) if days else spend.whole_period(session, "UTC")
        return usd(spend.totals(session, View(when)).cost_pusd or 0)


def test_a_month_of_which_one_day_was_logged_is_left_to_the_requests(books: Books) -> None:
    """Its line stands on a day without requests, and adding it would count those of the other days twice."""
    calls = month(days=3)
    books.read("month.jsonl", *in_one_line(calls))
    assert spent(books) == Bill(charged(calls)).total()
    last = [call for call in calls if call.at.day == calls[-1].at.day]
    books.read("calls.jsonl", *(call.logged() for call in last))
    assert spent(books) == Bill(charged(last)).total()


def test_a_month_without_requests_stands_whole_on_its_first_day(books: Books) -> None:
    calls = month(days=3)
    books.read("month.jsonl", *in_one_line(calls))
    assert spent(books, "2026-03-01..2026-03-01") == Bill(charged(calls)).total()
    assert spent(books, "2026-03-02..2026-03-31") == 0


def test_a_month_in_one_line_is_compared_with_all_of_its_days(books: Books) -> None:
    calls = month(days=3)
    books.read("calls.jsonl", *(call.logged() for call in calls[1:]))
    books.read("month.jsonl", *in_one_line(calls))
    result = books.reconciled()
    assert {item.kind for item in result.residuals if item.kind != "rounding"} == {"not logged"}
    assert sum(item.quantity or 0 for item in result.residuals) == sum(calls[0].tokens.values())
    assert usd(result.bill_pusd) == Bill(charged(calls)).total()
    (place,) = {(cell["day"], cell["last_day"]) for cell in reconciliation.document(result)["cells"]}
    assert place == ("2026-03-01", "2026-03-31")


def test_months_that_overlap_are_compared_together(books: Books) -> None:
    calls = month(days=4)
    early, late = calls[: len(calls) // 2], calls[len(calls) // 2 :]
    books.read("calls.jsonl", *(call.logged() for call in calls))
    rows = in_one_line(early, "2026-03-01T00:00:00Z", "2026-03-05T00:00:00Z")
    books.read("bill.jsonl", *rows, *in_one_line(late, "2026-03-04T00:00:00Z", "2026-03-08T00:00:00Z"))
    result = books.reconciled()
    assert result.residuals == ()
    assert result.share == 1


@pytest.mark.parametrize("month_first", [True, False])
def test_a_month_and_the_days_of_another_report_count_once(books: Books, month_first: bool) -> None:
    calls = month(days=3)
    both = [("month.jsonl", in_one_line(calls)), ("costs.jsonl", [Bill(charged(calls)).costs_page()])]
    for name, records in both if month_first else reversed(both):
        books.read(name, *records)
    assert spent(books) == Bill(charged(calls)).total()


def test_the_usage_of_days_has_its_cost_in_the_line_of_their_month(books: Books) -> None:
    calls = month(days=3)
    books.read("usage.jsonl", Bill(charged(calls)).usage_page())
    books.read("month.jsonl", *in_one_line(calls))
    assert spent(books) == Bill(charged(calls)).total()
    with books.warehouse.session() as session:
        tokens = spend.totals(session, View(spend.whole_period(session, "UTC"))).tokens_all
    assert tokens == sum(sum(call.tokens.values()) for call in calls)


def test_an_hour_that_ends_at_midnight_is_of_one_day(books: Books) -> None:
    calls = [replace(call, at=datetime(2026, 3, 2, 23, 30, tzinfo=UTC)) for call in month(days=1)]
    books.read("calls.jsonl", *(call.logged() for call in calls))
    books.read("hour.jsonl", *in_one_line(calls, "2026-03-02T23:00:00Z", "2026-03-03T00:00:00Z"))
    result = books.reconciled()
    assert result.residuals == ()
    assert {cell.last_us for cell in result.cells} == {cell.key.at_us for cell in result.cells}
