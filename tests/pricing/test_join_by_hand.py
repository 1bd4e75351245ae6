"""The priced join against prices by hand: every class at its own rate, every gap named, every edge of a window."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from app.core.usage import TOKEN_CLASSES
from app.pricing.rates import UNITS
from app.pricing.rules import overlay_from_rows
from tests.pricing.moments import us
from tests.pricing.own_book import book_with

if TYPE_CHECKING:
    from app.pricing.book import PriceBook
    from tests.pricing.conftest import PriceRows

CLASSES = tuple(name.removeprefix("tok_") for name in TOKEN_CLASSES)
# USD per million tokens that no two classes share; the second set is no whole number of pico-USD a token.
WHOLE = {name: str(Decimal(place + 2) / 4) for place, name in enumerate(CLASSES)}
BROKEN = {name: str(Decimal(place + 2) / 4 + Decimal("0.0000003")) for place, name in enumerate(CLASSES)}


def own(rates: dict[str, str]) -> PriceBook:
    return book_with(overlay_from_rows([{"provider": "made", "model": "made-1", **rates}]))


@pytest.mark.parametrize("rates", [WHOLE, BROKEN], ids=["whole", "broken"])
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_costs_its_own_rate_and_no_other(price_rows: PriceRows, name: str, rates: dict[str, str]) -> None:
    call = {"provider": "made", "model": "made-1", "start_us": us("2026-11-10"), "tok_input": 0, f"tok_{name}": 1000}
    (row,) = price_rows([call], own(rates))
    assert row["cost_state"] == "priced"
    assert row["cost_pusd"] == 1000 * Decimal(rates[name]) * 1_000_000


HELD_BY = {
    "cache_read": "input",
    "cache_write_30m": "cache_write_5m",
    "input_audio": "input",
    "cache_read_audio": "cache_read",
    "input_image": "input",
    "reasoning": "output",
    "output_audio": "output",
    "output_image": "output",
}
"""A class without a rate of its own costs what the class that contains it costs."""


@pytest.mark.parametrize("name", CLASSES[1:])
def test_a_class_without_a_rate_costs_as_the_class_that_holds_it_or_is_left_open(
    price_rows: PriceRows, name: str
) -> None:
    call = {"provider": "made", "model": "made-1", "start_us": us("2026-11-10"), "tok_input": 10, f"tok_{name}": 7}
    (row,) = price_rows([call], own({other: rate for other, rate in WHOLE.items() if other != name}))
    borrowed = WHOLE[HELD_BY[name]] if name in HELD_BY else "0"
    cost = (10 * Decimal(WHOLE["input"]) + 7 * Decimal(borrowed)) * 1_000_000
    assert (row["cost_state"], row["cost_pusd"]) == ("priced" if name in HELD_BY else "partly", cost)


@pytest.mark.parametrize("name", [name for name in CLASSES if name.startswith(("output", "reasoning"))])
def test_an_answer_of_a_model_with_input_rates_alone_is_open_whatever_its_kind(
    price_rows: PriceRows, name: str
) -> None:
    call = {"provider": "made", "model": "made-1", "start_us": us("2026-11-10"), "tok_input": 10, f"tok_{name}": 7}
    (row,) = price_rows([call], own({"input": "1"}))
    assert (row["cost_state"], row["cost_pusd"]) == ("partly", 10_000_000)


@pytest.mark.parametrize("name", [name for name in CLASSES if not name.startswith(("output", "reasoning"))])
def test_a_prompt_of_a_model_with_output_rates_alone_is_open_whatever_its_kind(
    price_rows: PriceRows, name: str
) -> None:
    call = {"provider": "made", "model": "made-1", "start_us": us("2026-11-10"), "tok_output": 10, f"tok_{name}": 7}
    (row,) = price_rows([call], own({"output": "1"}))
    assert (row["cost_state"], row["cost_pusd"]) == ("partly", 10_000_000)


@pytest.mark.parametrize("unit", [name for name in UNITS if name != "call"])  # a call without a fee costs nothing
def test_a_unit_without_a_fee_leaves_the_call_partly_priced(price_rows: PriceRows, unit: str) -> None:
    call = {"provider": "made", "model": "made-1", "start_us": us("2026-11-10"), "tok_input": 10}
    (row,) = price_rows([{**call, "units": f'{{"{unit}": 3}}'}], own({"input": "1", "output": "1"}))
    assert (row["cost_state"], row["cost_pusd"], row["other_pusd"]) == ("partly", 10_000_000, None)


@pytest.mark.parametrize(
    ("at", "usd"),
    [
        ("2026-10-27T00:59:59Z", "0.66"),  # a Tuesday
        ("2026-10-27T01:00:00Z", "1.32"),
        ("2026-10-27T03:59:59Z", "1.32"),
        ("2026-10-27T04:00:00Z", "0.66"),
        ("2026-10-27T10:00:00Z", "0.66"),
        ("2026-10-30T02:00:00Z", "1.32"),  # a Friday
        ("2026-10-31T02:00:00Z", "0.66"),  # a Saturday
        ("2026-11-01T02:00:00Z", "0.66"),  # a Sunday
        ("2026-11-02T02:00:00Z", "1.32"),  # a Monday
        ("2026-10-01T02:00:00Z", "0.66"),  # a holiday
    ],
)
def test_peak_hours_of_working_days_hold_in_the_join_too(price_rows: PriceRows, at: str, usd: str) -> None:
    (row,) = price_rows([{"provider": "deepseek", "model": "deepseek-v4-pro", "start_us": us(at), "tok_input": 1000}])
    assert (row["cost_state"], row["cost_pusd"]) == ("priced", 1000 * Decimal(usd) * 1_000_000)
