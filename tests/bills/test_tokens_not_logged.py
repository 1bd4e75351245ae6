"""Calls that were logged without their tokens: what the bill has above the others may be theirs, so nobody knows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from made_bills import Bill, charged, month

from app.analysis.residual_groups import grouped
from app.core.money import pico
from app.warehouse.upkeep import set_billing
from app.web.bill_words import why

if TYPE_CHECKING:
    from made_bills import Books, Call

CALLS = month(days=3)
LARGE = [call for call in CALLS if call.model == "gpt-4o-2024-08-06"]
SILENT = [call for call in LARGE if call.at.day == LARGE[6].at.day][:2]


def without_usage(call: Call) -> dict[str, Any]:
    record = call.logged()
    del record["usage"]
    return record


def without_answer(call: Call) -> dict[str, Any]:
    """A row of a table that says the prompt's tokens alone."""
    return {
        "request_id": f"row-{call.number}",
        "timestamp": call.at.isoformat(),
        "provider": "openai",
        "model": call.model,
        "input_tokens": call.prompt,
        "cache_read_tokens": call.cached,
    }


def logged(books: Books, silent: list[dict[str, Any]]) -> None:
    known = [call.logged() for call in CALLS if call not in SILENT]
    books.read("known.jsonl", *known)
    if silent:
        books.read("silent.jsonl", *silent, source="silent")
    for source in ("openai_chat", "silent") if silent else ("openai_chat",):
        set_billing(books.warehouse, source, "api")


def kinds(books: Books) -> dict[str, int]:
    return dict(books.reconciled().by_kind())


def missing(*names: str) -> int:
    bill = Bill(charged(SILENT))
    return pico(sum(bill.cost(key) for key in bill.tokens if key[2] in names))


@pytest.mark.parametrize("with_usage_report", [True, False])
def test_what_the_bill_has_above_calls_without_usage_is_unknown(books: Books, with_usage_report: bool) -> None:
    bill = Bill(charged(CALLS))
    books.read("costs.jsonl", bill.costs_page())
    if with_usage_report:
        books.read("usage.jsonl", bill.usage_page())
    logged(books, [without_usage(call) for call in SILENT])
    found = kinds(books)
    assert found.pop("rounding", 0) == pytest.approx(0, abs=pico("0.01"))
    assert found == {"unknown": pytest.approx(missing("input", "cached input", "output"), abs=pico("0.01"))}


def test_only_the_class_that_is_not_known_is_unknown(books: Books) -> None:
    bill = Bill(charged(CALLS))
    books.read("costs.jsonl", bill.costs_page())
    books.read("usage.jsonl", bill.usage_page())
    logged(books, [without_answer(call) for call in SILENT])
    result = books.reconciled()
    assert {(item.key.usage_class, item.kind) for item in result.named} == {("output", "unknown")}
    assert result.by_kind()["unknown"] == missing("output")
    (item,) = result.named
    assert item.quantity == sum(call.answer for call in SILENT)


def test_the_mean_of_some_classes_is_no_other_price(books: Books) -> None:
    """A bill of all tokens together beside calls of which some say their prompts alone."""
    bill = Bill(charged(CALLS))
    page = bill.costs_page()
    for bucket in page["data"]:
        day = datetime.fromtimestamp(bucket["start_time"], UTC).date().isoformat()
        for result in bucket["results"]:
            model, _, name = result["line_item"].partition(", ")
            result |= {"line_item": f"{model}, tokens", "quantity": bill.tokens[day, model, name]}
    books.read("costs.jsonl", page)
    logged(books, [without_answer(call) for call in SILENT])
    result = books.reconciled()
    assert {item.kind for item in result.named} == {"unknown"}
    assert sum(item.amount_pusd for item in result.named) == missing("output")


def test_calls_that_nobody_logged_are_not_logged(books: Books) -> None:
    bill = Bill(charged(CALLS))
    books.read("costs.jsonl", bill.costs_page())
    books.read("usage.jsonl", bill.usage_page())
    logged(books, [])
    assert set(kinds(books)) == {"not logged"}


def test_it_is_said_how_many_calls_do_not_say_their_tokens(books: Books) -> None:
    bill = Bill(charged(CALLS))
    books.read("costs.jsonl", bill.costs_page())
    books.read("usage.jsonl", bill.usage_page())
    logged(books, [without_answer(call) for call in SILENT])
    result = books.reconciled()
    (group,) = grouped(result.named)
    assert why(group, result).startswith("2 calls were logged without these tokens: ")
