"""Rows that sum calls: each call has its own length, so their sum crosses no boundary of a price.

What one call cost is known where the whole sum is within the first boundary, or where the model has one price for every
length. Beyond it the average decides, or the shortest where nobody says how many calls there were: that is the least
the calls can have cost in the first case of doubt and stands in the total with a warning, since no price at all would
take known dollars out of every sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.errors import InputError
from app.warehouse.quoting import quote
from tests.pricing.moments import us

if TYPE_CHECKING:
    from app.pricing.book import PriceBook
    from tests.pricing.conftest import PriceRows

M = 1_000_000
SONNET = {"provider": "anthropic", "model": "claude-sonnet-4-5-20250929", "start_us": us("2026-01-10")}  # 3 -> 6 USD
AT_US = us("2026-11-20")
TIERED = [("google", "gemini-2.5-pro"), ("openai", "gpt-5.6-sol"), ("anthropic", "claude-sonnet-4-5-20250929")]


def priced(price_rows: PriceRows, **row: Any) -> tuple[int | None, str, str | None]:
    (got,) = price_rows([{**SONNET, **row}])
    return got["cost_pusd"], got["cost_state"], got["price_warning"]


@pytest.mark.parametrize(
    ("tokens", "calls", "rate", "warning"),
    [
        (900_000, None, 6 * M, None),  # one call that long
        (900_000, 12, 3 * M, "sum_of_calls"),  # 75,000 a call
        (900_000, 0, 3 * M, "sum_of_calls"),  # nobody says how many
        (200_000, 0, 3 * M, None),  # no call can be longer than their sum
        (200_000, 2, 3 * M, None),
        (200_001, 0, 3 * M, "sum_of_calls"),
        (600_000, 3, 3 * M, "sum_of_calls"),  # 200,000 a call: not above the boundary
        (600_001, 3, 6 * M, "sum_of_calls"),  # at least one is above it
    ],
)
def test_the_average_call_decides_the_step_and_the_doubt_is_named(
    price_rows: PriceRows, tokens: int, calls: int | None, rate: int, warning: str | None
) -> None:
    assert priced(price_rows, tok_input=tokens, calls_summed=calls) == (tokens * rate, "priced", warning)


def test_cached_and_written_tokens_count_towards_the_average(price_rows: PriceRows) -> None:
    usage = {"tok_input": 100_000, "tok_cache_read": 290_000, "tok_cache_write_5m": 10_001, "tok_output": 500}
    low = 100_000 * 3 * M + 290_000 * 300_000 + 10_001 * 3_750_000 + 500 * 15 * M
    high = 100_000 * 6 * M + 290_000 * 600_000 + 10_001 * 7_500_000 + 500 * 22_500_000
    assert priced(price_rows, **usage, calls_summed=3) == (low, "priced", "sum_of_calls")
    assert priced(price_rows, **usage, calls_summed=2) == (high, "priced", "sum_of_calls")


def test_one_price_for_every_length_leaves_no_doubt(price_rows: PriceRows) -> None:
    row = {"provider": "openai", "model": "gpt-4o", "tok_input": 5 * M, "calls_summed": 0}
    assert priced(price_rows, **row) == (5 * M * 2_500_000, "priced", None)


def test_a_sum_without_prompt_tokens_stays_without_a_price(price_rows: PriceRows) -> None:
    row = {"provider": "openai", "model": "gpt-5.6-sol", "start_us": AT_US, "tok_output": 100, "calls_summed": 0}
    assert priced(price_rows, **row) == (None, "unpriced", "no_prompt_tokens")


def test_a_fee_for_each_request_is_charged_as_often_as_there_were_requests(price_rows: PriceRows) -> None:
    sonar = {"provider": "perplexity", "model": "sonar-pro", "price_context": '{"search_context": "low"}'}
    sonar |= {"start_us": AT_US, "tok_input": 1000, "tok_output": 100}
    one, many, unsaid = price_rows([{**sonar, "calls_summed": calls} for calls in (None, 40, 0)])
    assert one["other_pusd"] > 0
    assert many["other_pusd"] == 40 * one["other_pusd"]
    assert many["input_pusd"] == one["input_pusd"]
    assert (unsaid["cost_state"], unsaid["other_pusd"], unsaid["input_pusd"]) == ("partly", None, one["input_pusd"])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(TIERED), st.lists(st.integers(0, 700_000), min_size=1, max_size=9))
def test_a_sum_is_never_dearer_than_one_call_of_its_length_and_exact_where_it_warns_of_nothing(
    price_rows: PriceRows, model: tuple[str, str], lengths: list[int]
) -> None:
    base = {"provider": model[0], "model": model[1], "start_us": AT_US}
    calls = price_rows([{**base, "tok_input": tokens} for tokens in lengths])
    true = sum(call["cost_pusd"] for call in calls)
    whole = sum(lengths)
    alone, counted, unsaid = price_rows(
        [{**base, "tok_input": whole, "calls_summed": told} for told in (None, max(len(lengths), 2), 0)]
    )
    assert unsaid["cost_pusd"] <= counted["cost_pusd"] <= alone["cost_pusd"]
    assert unsaid["cost_pusd"] <= true <= alone["cost_pusd"]
    for row in (counted, unsaid):
        assert row["price_warning"] in (None, "sum_of_calls")
        if row["price_warning"] is None:
            assert row["cost_pusd"] == true


def test_a_quote_takes_the_number_of_calls_of_its_line(book: PriceBook) -> None:
    line = {"provider": "google", "model": "gemini-2.5-pro", "timestamp": "2026-11-20T00:00:00Z"}
    lines = [{**line, "usage": {"in_text": 300_000}, **told} for told in ({}, {"calls": 1}, {"calls": 2}, {"calls": 0})]
    one, same, two, unsaid = quote(book, lines)
    assert (one.usd, one.warning) == (same.usd, same.warning) == ("0.75", None)
    assert (two.usd, two.warning) == (unsaid.usd, unsaid.warning) == ("0.375", "sum_of_calls")


@pytest.mark.parametrize("calls", [-1, 1.5, True, "3"])
def test_a_quote_refuses_what_is_no_number_of_calls(book: PriceBook, calls: object) -> None:
    with pytest.raises(InputError, match="calls is"):
        quote(book, [{"provider": "openai", "model": "gpt-4o", "usage": {"in_text": 1}, "calls": calls}])
