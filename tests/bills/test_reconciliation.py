"""A made bill against made logs: what agrees is reconciled, and each planted error is found by its name."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from made_bills import RATES, Bill, Books, Call, charged, month

from app.core.money import usd

if TYPE_CHECKING:
    from app.analysis.reconciliation import Reconciliation
    from app.analysis.residuals import Residual

LARGE, SMALL = sorted(RATES)
HOUSE = {"house-model-1": {"input": "3", "cached input": "1", "output": "9"}}


def day_of(call: Call) -> str:
    return call.at.date().isoformat()


def found(result: Reconciliation, kind: str) -> list[Residual]:
    return [item for item in result.residuals if item.kind == kind]


def adds_up(result: Reconciliation) -> bool:
    named = sum(item.amount_pusd for item in result.residuals)
    by_cell: dict[object, int] = defaultdict(int)
    for item in result.residuals:
        by_cell[item.key] += item.amount_pusd
    each = all(by_cell[cell.key] == cell.difference for cell in result.cells if cell.difference is not None)
    return each and named == result.difference_pusd


def test_a_bill_that_says_what_was_logged_is_reconciled_whole(books: Books) -> None:
    calls = month()
    bill = Bill(charged(calls))
    books.read("calls.jsonl", *(call.logged() for call in calls))
    books.read("usage.jsonl", bill.usage_page())
    books.read("costs.jsonl", bill.costs_page())
    result = books.reconciled()
    assert usd(result.bill_pusd) == bill.total() == usd(result.logged_pusd)
    assert result.residuals == ()
    assert result.share == 1


def test_six_planted_errors_are_found_by_name_and_add_up_to_the_difference(books: Books) -> None:
    calls = month()
    of_day = defaultdict(list)
    for call in calls:
        of_day[day_of(call), call.model].append(call)
    days = sorted({day_of(call) for call in calls})
    house = [
        replace(call, number=9_000 + call.number, model="house-model-1")
        for call in calls
        if day_of(call) == days[8] and call.model == LARGE
    ]

    lost = of_day[days[2], LARGE][:3]
    late = of_day[days[4], SMALL][-2:]
    twice = of_day[days[10], LARGE][:4]
    unseen = of_day[days[12], SMALL]

    tokens = charged([call for call in calls if call not in late] + house)
    for call in late:
        for name, quantity in call.tokens.items():
            tokens[days[5], SMALL, name] += quantity
    dearer = (days[6], LARGE, "output")
    bill = Bill(tokens, rates={dearer: "12"}, other_models=HOUSE)

    books.read(
        "calls.jsonl",
        *(call.logged(cached=0) if call in unseen else call.logged() for call in [*calls, *house] if call not in lost),
    )
    again = [call.logged(number=5_000 + call.number) for call in twice]
    books.read("gateway.jsonl", *again, source="gateway")
    books.read("usage.jsonl", bill.usage_page())
    books.read("costs.jsonl", bill.costs_page())
    result = books.reconciled()

    assert {item.kind for item in result.residuals if item.kind != "rounding"} == {
        "not logged",
        "mis-dated",
        "price",
        "unpriced class",
        "double",
        "class split",
    }
    assert adds_up(result)
    assert usd(result.bill_pusd) == bill.total()

    missing = found(result, "not logged")
    assert {(item.key.usage_class, item.quantity) for item in missing} == {
        ("input", sum(call.tokens["input"] for call in lost)),
        ("cache_read", sum(call.cached for call in lost)),
        ("output", sum(call.answer for call in lost)),
    }

    shifted = found(result, "mis-dated")
    assert sum(item.quantity or 0 for item in shifted) == 0
    assert {item.quantity for item in shifted if item.key.usage_class == "output"} == {
        sum(call.answer for call in late),
        -sum(call.answer for call in late),
    }

    (price,) = found(result, "price")
    assert price.key.usage_class == "output"
    assert price.rates == (12_000_000, 10_000_000)
    assert usd(price.amount_pusd) == Decimal(2) * tokens[dearer] / 1_000_000

    unpriced = found(result, "unpriced class")
    assert {item.key.model for item in unpriced} == {"house-model-1"}
    assert sum(item.quantity or 0 for item in unpriced) == sum(sum(call.tokens.values()) for call in house)
    assert usd(sum(item.amount_pusd for item in unpriced)) == sum(
        bill.cost(key) for key in tokens if key[1] == "house-model-1"
    )

    doubled = found(result, "double")
    assert sum(item.quantity or 0 for item in doubled) == -sum(sum(call.tokens.values()) for call in twice)
    assert {result.doubles[item.key].sources for item in doubled} == {("gateway", "openai_chat")}
    assert {result.doubles[item.key].calls for item in doubled} == {4}

    split = found(result, "class split")
    cached = sum(call.cached for call in unseen)
    assert {(item.key.usage_class, item.quantity) for item in split} == {("input", -cached), ("cache_read", cached)}
    assert usd(sum(item.amount_pusd for item in split)) == -Decimal(cached) * Decimal("0.075") / 1_000_000


def test_a_run_of_days_that_are_cut_elsewhere_is_mis_dated_as_a_whole(books: Books) -> None:
    calls = month(days=5)
    books.read("calls.jsonl", *(call.logged() for call in calls))
    # The bill's days begin six hours later than those of the logs.
    moved = [replace(call, at=call.at.replace(hour=0) if call.at.hour < 18 else call.at) for call in calls]
    tokens = charged(moved)
    for call in calls:
        day = day_of(call)
        following = sorted({day_of(one) for one in calls if day_of(one) > day})
        if call.at.hour >= 18 and following:
            for name, quantity in call.tokens.items():
                tokens[day, call.model, name] -= quantity
                tokens[following[0], call.model, name] += quantity
    bill = Bill(tokens)
    books.read("usage.jsonl", bill.usage_page())
    books.read("costs.jsonl", bill.costs_page())
    result = books.reconciled()
    assert {item.kind for item in result.residuals} == {"mis-dated"}
    assert result.difference_pusd == 0
    assert adds_up(result)


def test_credits_and_fees_are_no_usage(books: Books) -> None:
    calls = month(days=3)
    bill = Bill(charged(calls), extra=[("2026-03-03", "promotional credit", "-1.25")])
    books.read("calls.jsonl", *(call.logged() for call in calls))
    books.read("costs.jsonl", bill.costs_page())
    result = books.reconciled()
    assert [(item.kind, usd(item.amount_pusd)) for item in result.residuals] == [("credit or fee", Decimal("-1.25"))]
    assert result.share == 1


def test_without_quantities_what_cannot_be_told_apart_is_unknown(books: Books) -> None:
    calls = month(days=3)
    key = ("2026-03-03", LARGE, "output")
    bill = Bill(charged(calls), rates={key: "13"})
    books.read("calls.jsonl", *(call.logged() for call in calls))
    books.read("costs.jsonl", bill.costs_page())
    result = books.reconciled()
    assert {item.kind for item in result.residuals} == {"unknown"}
    assert adds_up(result)


def test_requests_that_the_bill_does_not_charge_are_named(books: Books) -> None:
    calls = month(days=3)
    bill = Bill(charged(call for call in calls if not (day_of(call) == "2026-03-03" and call.model == LARGE)))
    books.read("calls.jsonl", *(call.logged() for call in calls))
    books.read("usage.jsonl", bill.usage_page())
    books.read("costs.jsonl", bill.costs_page())
    result = books.reconciled()
    assert {item.kind for item in result.residuals} == {"not on the bill"}
    assert result.difference_pusd < 0
    assert adds_up(result)


def test_a_usage_report_alone_is_compared_in_tokens_and_valued(books: Books) -> None:
    calls = month(days=3)
    lost = [call for call in calls if day_of(call) == "2026-03-03"][:2]
    bill = Bill(charged(calls))
    books.read("calls.jsonl", *(call.logged() for call in calls if call not in lost))
    books.read("usage.jsonl", bill.usage_page())
    result = books.reconciled()
    assert {item.kind for item in result.residuals} == {"not logged"}
    assert sum(item.quantity or 0 for item in result.residuals) == sum(sum(call.tokens.values()) for call in lost)
    assert all(item.valued for item in result.providers)
    assert usd(result.bill_pusd) == bill.total()


def test_requests_not_billed_by_the_request_are_left_beside_the_bill(books: Books) -> None:
    calls = month(days=3)
    bill = Bill(charged(calls))
    books.read("calls.jsonl", *(call.logged() for call in calls), source="seats")
    books.read("costs.jsonl", bill.costs_page())
    with books.warehouse.writing() as session:
        session.execute("upkeep.set_billing", source="seats", billing="subscription")
    result = books.reconciled()
    assert result.logged_pusd == 0
    assert [(item.what, item.name, usd(item.pusd or 0)) for item in result.asides] == [
        ("requests: not billed by the request", "openai", bill.total())
    ]
