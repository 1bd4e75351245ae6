"""Which logs keep a bill out of Spend: those that may be on it, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_bills import BOOK, Bill, charged, month

from app.analysis import bills, spend
from app.core.money import usd
from app.core.view import View
from app.warehouse.upkeep import set_billing

if TYPE_CHECKING:
    from decimal import Decimal

    from made_bills import Books


def said(books: Books) -> tuple[Decimal, Decimal]:
    """Cost, and what of it was paid by the request."""
    with books.warehouse.session() as session:
        sums = spend.totals(session, View(spend.whole_period(session, "UTC")))
    return usd(sums.cost_pusd or 0), usd(sums.paid_pusd or 0)


def billed(books: Books, source: str, billing: str) -> None:
    set_billing(books.warehouse, source, billing)
    with books.warehouse.writing() as session:
        bills.settle(session, BOOK)


@pytest.mark.parametrize("billing", ["subscription", "free"])
def test_logs_paid_by_seats_do_not_keep_a_bill_of_requests_out(books: Books, billing: str) -> None:
    """Every day has such logs; the bill of the API charges other calls of the same provider."""
    calls = month(days=2)
    seats, charged_calls = calls[::2], calls[1::2]
    bill = Bill(charged(charged_calls))
    books.read("seats.jsonl", *(call.logged() for call in seats), source="desk")
    books.read("costs.jsonl", bill.costs_page())
    assert said(books)[0] == Bill(charged(seats)).total(), "as long as nobody said it, they may be on the bill"
    billed(books, "desk", billing)
    assert said(books) == (Bill(charged(seats)).total() + bill.total(), bill.total())
    billed(books, "desk", "api")
    assert said(books)[0] == Bill(charged(seats)).total()


def test_calls_that_cost_nothing_do_not_keep_a_bill_out(books: Books) -> None:
    calls = month(days=2)
    books.read("costs.jsonl", Bill(charged(calls)).costs_page())
    answered = [
        {
            "id": f"log-{call.number}",
            "created_at": call.at.isoformat(),
            "provider": "openai",
            "model": call.model,
            "cached": True,
            "success": True,
            "duration": 12,
            "tokens_in": call.prompt,
            "tokens_out": call.answer,
            "status_code": 200,
            "path": "chat/completions",
        }
        for call in calls
    ]
    books.read("answered.jsonl", *answered)
    assert books.sql("SELECT count(*), count(CASE WHEN cost_state = 'not_billed' THEN 1 END) FROM requests") == [
        (len(calls), len(calls))
    ]
    assert said(books)[0] == Bill(charged(calls)).total()
