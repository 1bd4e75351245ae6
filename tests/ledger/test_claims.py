"""A reported cost that differs from ours: counted, summed, and told why, one test a likely reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from app.analysis import spend
from app.analysis.claims import Disagreement, disagreements, side_by_side
from app.core.view import View
from app.warehouse import rollup
from tests.analysis.facts import open_warehouse
from tests.ledger.books import DAY_US, START_US, add, by, change

if TYPE_CHECKING:
    from collections.abc import Sequence

M = 1_000_000  # pico-USD a token of $1 per million
TERMS = """
rates:
  - provider: openai
    model: made-1
    input: "10"
    cache_read: "1"
    cache_write_5m: "12.5"
    output: "40"
    web_search: "0.01"
  - {provider: openai, model: made-1, ctx: batch, input: "5", cache_read: "0.5", output: "20"}
  - {provider: openai, model: made-9, input: "10", tiers: [{above: 1000, input: "20"}]}
  - {provider: openai, model: made-1, from: "2026-11-02", input: "8", cache_read: "0.8", output: "32"}
"""
CACHED = {"tok_input": 200, "tok_cache_read": 800, "tok_output": 10}
PAID = 200 * 10 * M + 800 * M + 10 * 40 * M


def found(calls: Sequence[dict[str, Any]]) -> tuple[Disagreement, ...]:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add(session, [{"model": "made-1", "start_us": START_US, **call} for call in calls])
        rollup.rebuild(session)
    change(warehouse, by(TERMS))
    with warehouse.session() as session:
        view = View(spend.whole_period(session, "UTC"))
        told = disagreements(session, view)
        (row, *_) = side_by_side(session, view)
        assert row.differing == sum(item.requests for item in told if item.model_id == row.model_id)
    warehouse.close()
    return told


@pytest.mark.parametrize(
    ("reason", "call", "reported"),
    [
        ("zero", CACHED, 0),
        ("cached_twice", CACHED, PAID + 800 * 10 * M),
        ("cached_full", CACHED, PAID + 800 * 9 * M),
        ("cached_free", CACHED, PAID - 800 * M),
        ("writes_free", {"tok_input": 100, "tok_cache_write_5m": 1000}, 100 * 10 * M),
        ("writes_full", {"tok_input": 100, "tok_cache_write_5m": 1000}, 1100 * 10 * M),
        ("reasoning_twice", {"tok_input": 10, "tok_output": 5, "tok_reasoning": 500}, (100 + 200 + 2 * 20_000) * M),
        ("reasoning_free", {"tok_input": 10, "tok_output": 5, "tok_reasoning": 500}, 300 * M),
        ("fees_free", {"tok_input": 100, "tok_output": 5, "units": '{"web_search": 1}'}, 1200 * M),
        ("standard_rate", {"tok_input": 100, "tok_output": 50, "is_batch": True}, 3000 * M),
        ("batch_rate", {"tok_input": 100, "tok_output": 50}, 1500 * M),
        ("other_row", {"tok_input": 100, "tok_output": 50}, 2400 * M),
        ("cache_not_logged", {"tok_input": 1000, "tok_output": 50, "warnings": "cache_not_logged"}, 9000 * M),
        ("unexplained", {"tok_input": 1000, "tok_output": 50, "warnings": "cache_not_logged"}, 2500 * M),
        ("sum_of_calls", {"model": "made-9", "tok_input": 3000, "calls_summed": 0}, 44_000 * M),
        ("unexplained", {"model": "made-9", "tok_input": 3000, "calls_summed": 0}, 22_000 * M),
        ("unexplained", {"tok_input": 100, "tok_output": 50}, 7777 * M),
    ],
)
def test_a_difference_is_told_with_its_likely_reason(reason: str, call: dict[str, Any], reported: int) -> None:
    (told,) = found([{**call, "cost_reported_pusd": reported}])
    assert (told.reason, told.requests, told.reported_pusd, told.example) == (reason, 1, reported, 1)
    assert told.said.endswith(".")
    if reason == "other_row":
        assert "2026-11-02" in told.said


def test_the_same_multiple_over_and_over_is_a_currency_a_discount_or_a_markup() -> None:
    calls = [{"tok_input": 100 * n, "tok_output": 7 * n * n} for n in range(1, 6)]
    (told,) = found([{**one, "cost_reported_pusd": _euro(one)} for one in calls])
    assert (told.reason, told.requests) == ("factor", 5)
    assert "(× 0.92)" in told.said


def _euro(call: dict[str, Any]) -> int:
    return (call["tok_input"] * 10 * M + call["tok_output"] * 40 * M) * 92 // 100


def test_agreement_within_rounding_and_list_prices_is_no_difference() -> None:
    exact = {**CACHED, "cost_reported_pusd": PAID}
    close = {**CACHED, "cost_reported_pusd": PAID * 1009 // 1000}
    tiny = {"tok_output": 1, "cost_reported_pusd": 40 * M - 900_000}
    silent = dict(CACHED)
    later = {**CACHED, "start_us": START_US + 2 * DAY_US, "cost_reported_pusd": PAID * 8 // 10}
    assert found([exact, close, tiny, silent, later]) == ()


def test_sums_compare_like_with_like() -> None:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add(
            session,
            [
                {"model": "made-1", "start_us": START_US, **CACHED, "cost_reported_pusd": PAID},
                {"model": "made-1", "start_us": START_US, **CACHED},
                {"model": "nobody-knows-9", "start_us": START_US, **CACHED, "cost_reported_pusd": 5},
            ],
        )
        rollup.rebuild(session)
    change(warehouse, by(TERMS))
    with warehouse.session() as session:
        known, unknown = side_by_side(session, View(spend.whole_period(session, "UTC")))
    assert (known.requests, known.cost_pusd, known.reports, known.reported_pusd) == (2, 2 * PAID, 1, PAID)
    assert (known.both, known.both_cost_pusd, known.both_reported_pusd) == (1, PAID, PAID)
    assert (unknown.cost_pusd, unknown.reported_pusd, unknown.both, unknown.both_cost_pusd) == (None, 5, 0, None)
    assert [(row.reports, row.compared) for row in (known, unknown)] == [(1, 1), (1, 0)]
    warehouse.close()
