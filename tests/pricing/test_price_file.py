"""The user's file beyond rates: currencies, percentages, deployments with their type, and fixed fees."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import InputError
from app.pricing import pricefile
from app.pricing.fees import charged_pusd
from app.pricing.rates import DAY_US
from tests.pricing.moments import us
from tests.pricing.own_book import book_from

if TYPE_CHECKING:
    from decimal import Decimal
    from pathlib import Path

USD = 10**12
EURO = """
currencies:
  - {currency: EUR, usd: 1.10}
  - {currency: EUR, usd: 1.20, from: 2026-03-01, source: "bank, March 2026"}
rates:
  - {provider: host, model: m, currency: EUR, input: 2, output: 10, tiers: [{above: 1000, input: 4, output: 20}]}
"""


def midnight(day: str) -> int:
    return us(f"{day}T00:00:00+00:00")


def test_rate_in_another_currency_follows_the_dated_exchange_rates_to_the_microsecond(tmp_path: Path) -> None:
    own = book_from(tmp_path, EURO)
    last, first = (own.rate("host", "m", at_us=midnight("2026-03-01") + step) for step in (-1, 0))
    assert last is not None
    assert first is not None
    assert (last.rates["r_input"], last.rates["r_output"]) == (2_200_000, 11_000_000)
    assert (first.rates["r_input"], first.rates["r_output"]) == (2_400_000, 12_000_000)
    assert "EUR input 2, output 10; 1 EUR = 1.20 USD, bank, March 2026" in first.source
    long = own.rate("host", "m", at_us=midnight("2026-03-01"), prompt_tokens=1001)
    assert long is not None
    assert long.rates["r_input"] == 4_800_000


def test_percent_is_a_discount_for_a_provider_a_model_or_an_account_and_its_days(tmp_path: Path) -> None:
    own = book_from(
        tmp_path,
        "discounts:\n  - {provider: openai, percent: 15, from: 2026-01-01, to: 2026-02-01}\n"
        "  - {provider: anthropic, model: 'claude-opus-*', account: acme, percent: 7.5}\n",
    )

    def paid(provider: str, model: str, at: str, account: str | None = None) -> Decimal | None:
        rate = own.rate(provider, model, at_us=us(at), account=account)
        assert rate is not None
        return rate.rates["r_input"]

    assert [paid("openai", "gpt-4o", day) for day in ("2025-12-31", "2026-01-15", "2026-02-01")] == [
        2_500_000, 2_125_000, 2_500_000
    ]  # fmt: skip
    assert paid("anthropic", "claude-opus-4-5", "2026-01-10", "acme") == 4_625_000
    assert paid("anthropic", "claude-opus-4-5", "2026-01-10", "other") == 5_000_000
    assert paid("anthropic", "claude-sonnet-4-5", "2026-01-10", "acme") == 3_000_000


def test_deployment_says_its_model_and_its_type(tmp_path: Path) -> None:
    own = book_from(
        tmp_path,
        "aliases:\n"
        '  - {provider: azure, name: chat-eu, model: openai/gpt-4.1, ctx: "deployment=DataZoneStandard"}\n'
        "  - {provider: azure, name: six-eu, model: openai/gpt-6-sol,\n"
        '     ctx: "deployment=DataZoneStandard region=swedencentral"}\n'
        "  - {provider: azure, name: chat-any, model: openai/gpt-4.1}\n",
    )
    at = us("2026-11-20")
    prices = [own.rate("azure", name, at_us=at) for name in ("chat-any", "chat-eu", "six-eu")]
    assert [None if rate is None else rate.rates["r_input"] for rate in prices] == [2_000_000, 2_200_000, 2_400_000]


def test_request_that_names_its_own_type_is_believed_over_the_alias(tmp_path: Path) -> None:
    own = book_from(
        tmp_path,
        'aliases:\n  - {provider: azure, name: chat, model: openai/gpt-4.1, ctx: "deployment=DataZoneStandard"}\n',
    )
    rate = own.rate("azure", "chat", at_us=us("2026-11-20"), ctx="deployment=Standard region=westeurope")
    assert rate is not None
    assert rate.rates["r_input"] == 2_640_000
    assert "deployment=Standard" in rate.price_row


def test_fee_of_a_month_is_spread_over_its_days(tmp_path: Path) -> None:
    own = book_from(tmp_path, "fees:\n  - {name: Seats, amount: 31, seats: 2, from: 2026-01-15, to: 2026-03-01}\n")
    (seats,) = own.fees
    assert charged_pusd(seats, midnight("2026-01-01"), midnight("2026-02-01")) == 2 * 17 * USD
    assert charged_pusd(seats, midnight("2026-02-01"), midnight("2026-03-01")) == 62 * USD
    assert charged_pusd(seats, midnight("2026-03-01"), midnight("2026-04-01")) == 0
    assert charged_pusd(seats, us("2026-01-20T00:00:00Z"), us("2026-01-20T06:00:00Z")) == USD // 2


@pytest.mark.parametrize(
    ("per", "day", "usd"), [("hour", "2026-01-10", 24 * 366), ("day", "2026-01-10", 366), ("year", "2024-01-10", 1)]
)
def test_fee_is_charged_by_its_period(tmp_path: Path, per: str, day: str, usd: int) -> None:
    own = book_from(tmp_path, f"fees:\n  - {{name: Capacity, billing: provisioned, amount: 366, per: {per}}}\n")
    start = midnight(day)
    assert charged_pusd(own.fees[0], start, start + DAY_US) == usd * USD


def test_fee_in_another_currency_is_worth_what_the_currency_was_worth_each_day(tmp_path: Path) -> None:
    own = book_from(tmp_path, EURO + "fees:\n  - {name: PTU, amount: 10, per: day, currency: EUR}\n")
    assert charged_pusd(own.fees[0], midnight("2026-02-28"), midnight("2026-03-02")) == 23 * USD
    assert (own.fees[0].currency, own.fees[0].period_amount) == ("EUR", 10)


@given(st.lists(st.integers(0, 400 * 24), min_size=2, max_size=6))
def test_parts_of_a_range_are_charged_what_the_whole_is(hours: list[int]) -> None:
    (fee,) = pricefile.fees("f.yml", b"fees:\n  - {name: F, amount: 100, per: month}\n")
    cuts = [midnight("2025-11-30") + hour * 3_600_000_000 for hour in sorted(hours)]
    parts = [charged_pusd(fee, start, end) for start, end in itertools.pairwise(cuts)]
    assert abs(sum(parts) - charged_pusd(fee, cuts[0], cuts[-1])) <= len(parts)


def test_fees_leave_the_version_of_the_rates_alone(tmp_path: Path) -> None:
    rates = "rates:\n  - {provider: host, model: m, input: 1, output: 2}\n"
    first, second = book_from(tmp_path, rates), book_from(tmp_path, rates + "fees:\n  - {name: F, amount: 1}\n")
    assert first.version == second.version
    assert [len(first.fees), len(second.fees)] == [0, 1]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("rates:\n  - {provider: p, model: m, currency: CNY, input: 1}\n", "line 2", "no exchange rate of CNY"),
        (
            "currencies:\n  - {currency: CNY, usd: 0.14, from: 2026-01-01}\nrates:\n"
            "  - {provider: p, model: m, currency: CNY, input: 1}\n",
            "line 4",
            "later than this entry begins",
        ),
        ("currencies:\n  - {currency: EUR, usd: 0}\n", "line 2", "more than 0"),
        ("currencies:\n  - {currency: Euro, usd: 1}\n", "line 2", "'EURO' is no currency code"),
        ("currencies:\n  - {currency: EUR}\n", "line 2", "'usd'"),
        ("fees:\n  - {amount: 3}\n", "line 2", "'name'"),
        ("fees:\n  - {name: F, amount: 3, per: week}\n", "line 2", "hour, day, month, year"),
        ("fees:\n  - {name: F, amount: 3, billing: gift}\n", "line 2", "'gift'"),
        ("fees:\n  - {name: F, amount: 3, seat: 2}\n", "line 2", "'seat'"),
        ("discounts:\n  - {provider: p, percent: 120}\n", "line 2", "0 to 100"),
        ("discounts:\n  - {provider: p, percent: 12, factor: 0.9}\n", "line 2", "in place of a factor"),
        (
            "aliases:\n  - {provider: azure, name: a, model: b, deployment: DataZoneStandard}\n",
            "line 2",
            "'deployment'",
        ),
        ('aliases:\n  - {provider: azure, name: a, model: b, ctx: "zone=eu"}\n', "line 2", "'zone'"),
    ],
)
def test_mistake_is_named_by_line_and_in_words(tmp_path: Path, text: str, place: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        book_from(tmp_path, text)
    assert f"prices.yml, {place}" in str(caught.value)
    assert words in str(caught.value)


def test_rows_of_a_csv_cannot_name_a_currency_without_rates(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2.*currencies"):
        book_from(tmp_path, "provider,model,input,currency\np,m,1,EUR\n", "prices.csv")
