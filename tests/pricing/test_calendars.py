"""When a rate holds: peak hours, weekdays, holidays, price changes, announced prices, boundaries of prompt length."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.pricing.moments import us

if TYPE_CHECKING:
    from app.pricing.book import PriceBook

MTOK = 1_000_000


def input_usd(book: PriceBook, provider: str, model: str, at: str, prompt: int = 1000, ctx: str = "") -> Decimal | None:
    rate = book.rate(provider, model, at_us=us(at), prompt_tokens=prompt, ctx=ctx)
    return None if rate is None or rate.rates["r_input"] is None else rate.rates["r_input"] / MTOK


@pytest.mark.parametrize(
    ("at", "usd"),
    [
        ("2026-10-27T02:00:00Z", "1.32"),  # Tuesday, peak
        ("2026-10-27T00:59:59Z", "0.66"),
        ("2026-10-27T01:00:00Z", "1.32"),
        ("2026-10-27T03:59:59Z", "1.32"),
        ("2026-10-27T04:00:00Z", "0.66"),
        ("2026-10-27T09:59:59Z", "1.32"),
        ("2026-10-27T10:00:00Z", "0.66"),
        ("2026-10-31T02:00:00Z", "0.66"),  # Saturday
        ("2026-10-01T02:00:00Z", "0.66"),  # a Thursday, but a holiday
        ("2026-10-08T02:00:00Z", "1.32"),  # the working day after the holidays
        ("2026-08-10T02:00:00Z", "0.435"),  # before peak prices existed
        ("2026-08-16T16:00:00Z", "0.66"),
        ("2026-08-16T15:59:59Z", "0.435"),
    ],
)
def test_peak_price_holds_in_the_window_on_working_days_only(book: PriceBook, at: str, usd: str) -> None:
    assert input_usd(book, "deepseek", "deepseek-v4-pro", at) == Decimal(usd)


def test_window_over_midnight_covers_both_days(book: PriceBook) -> None:
    prices = [
        input_usd(book, "deepseek", "deepseek-chat", f"2025-03-1{day}T{clock}Z")
        for day, clock in ((0, "16:29:59"), (0, "16:30:00"), (1, "00:29:59"), (1, "00:30:00"))
    ]
    assert prices == [Decimal(text) for text in ("0.27", "0.135", "0.135", "0.27")]


@pytest.mark.parametrize(
    ("provider", "model", "last_low", "low", "high"),
    [
        ("google", "gemini-2.5-pro", 200_000, "1.25", "2.5"),
        ("openai", "gpt-5.6-sol", 272_000, "4", "8"),
        ("x-ai", "grok-4.7", 199_999, "2", "4"),
        ("anthropic", "claude-haiku-5-5", 100_000, "0.1", "0.5"),
    ],
)
def test_long_prompt_price_starts_where_the_provider_says(
    book: PriceBook, provider: str, model: str, last_low: int, low: str, high: str
) -> None:
    at = "2026-10-20"
    assert input_usd(book, provider, model, at, last_low) == Decimal(low)
    assert input_usd(book, provider, model, at, last_low + 1) == Decimal(high)


@pytest.mark.parametrize(
    ("provider", "model", "at", "boundary", "low", "high"),
    [
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "2026-01-10", 200_000, "3.3", "6.6"),
        ("bedrock", "global.anthropic.claude-sonnet-4-20250514-v1:0", "2026-01-10", 200_000, "3", "6"),
        ("bedrock", "us.openai.gpt-5.4", "2026-11-10", 272_000, "2.75", "5.5"),
        ("openai", "gpt-5.6-cyber", "2026-11-10", 272_000, "12.5", "25"),
    ],
)
def test_long_prompt_price_of_a_reseller_starts_one_token_above_its_boundary(
    book: PriceBook, provider: str, model: str, at: str, boundary: int, low: str, high: str
) -> None:
    assert input_usd(book, provider, model, at, boundary) == Decimal(low)
    assert input_usd(book, provider, model, at, boundary + 1) == Decimal(high)


def test_tier_without_a_price_stays_unpriced_where_the_place_has_one(book: PriceBook) -> None:
    at, model = "2026-11-20", "meta.llama3-70b-instruct-v1:0"
    assert input_usd(book, "bedrock", model, at, ctx="region=eu-west-1") == Decimal("2.86")
    assert input_usd(book, "bedrock", model, at, ctx="priority region=eu-west-1") is None
    assert input_usd(book, "bedrock", model, at, ctx="batch region=eu-west-1") == Decimal("1.43")


def test_flex_halves_new_tokens_but_not_what_older_models_read_from_a_cache(book: PriceBook) -> None:
    old, new = (
        book.rate("google", model, at_us=us("2026-11-20"), ctx="flex")
        for model in ("gemini-2.5-pro", "gemini-3.5-flash")
    )
    assert old is not None
    assert new is not None
    assert (old.rates["r_input"], old.rates["r_cache_read"]) == (625_000, 125_000)
    assert (new.rates["r_input"], new.rates["r_cache_read"]) == (750_000, 75_000)


@pytest.mark.parametrize(
    ("provider", "model", "fee", "usd"),
    [
        ("openai", "o3-pro", "web_search", "0.01"),
        ("openai", "gpt-4o-mini-search-preview-2025-03-11", "web_search", "0.025"),
        ("openai", "gpt-5", "storage_search", "0.0025"),
        ("openai", "gpt-5", "code_execution", None),
        ("azure", "gpt-5", "web_search", "0.014"),
        ("anthropic", "claude-mythos-5", "web_search", "0.01"),
        ("vertex", "claude-sonnet-4-5@20250929", "web_search", "0.01"),
        ("google", "gemini-2.5-pro", "cache_storage", "4.5"),
        ("google", "gemini-2.5-flash", "cache_storage", "1"),
        ("openai", "text-embedding-3-small", "cache_storage", None),
    ],
)
def test_tool_and_storage_fees_are_usd_each(
    book: PriceBook, provider: str, model: str, fee: str, usd: str | None
) -> None:
    rate = book.rate(provider, model, at_us=us("2026-11-20"))
    assert rate is not None
    assert rate.rates[f"r_{fee}"] == (None if usd is None else Decimal(usd) * 10**12)


def test_overwritten_price_of_the_past_is_kept(book: PriceBook) -> None:
    then = book.rate("google", "gemini-2.5-pro", at_us=us("2025-09-24"), prompt_tokens=262_960)
    now = book.rate("google", "gemini-2.5-pro", at_us=us("2026-09-24"), prompt_tokens=262_960)
    assert then is not None
    assert now is not None
    assert (then.rates["r_cache_read"], now.rates["r_cache_read"]) == (Decimal(625_000), Decimal(250_000))


def test_announced_price_waits_until_it_is_confirmed(book: PriceBook) -> None:
    assert input_usd(book, "google", "gemini-3.8-flash", "2027-02-01") == Decimal("0.75")


def test_tier_price_is_carried_back_in_proportion_to_the_standard_price(book: PriceBook) -> None:
    assert input_usd(book, "openai", "gpt-5.6-sol", "2026-08-10", ctx="flex") == Decimal("2.5")
    assert input_usd(book, "openai", "gpt-5.6-sol", "2026-09-10", ctx="flex") == Decimal(2)
    assert input_usd(book, "anthropic", "claude-sonnet-4-6", "2026-03-01", 250_000, "batch") == Decimal(3)


def test_retired_model_is_half_price_in_a_batch_of_its_time(book: PriceBook) -> None:
    assert input_usd(book, "anthropic", "claude-3-7-sonnet-20250219", "2025-05-01", ctx="batch") == Decimal("1.5")
    assert input_usd(book, "anthropic", "claude-3-7-sonnet-20250219", "2024-09-01", ctx="batch") is None


def test_tier_without_a_price_is_unpriced_not_standard(book: PriceBook) -> None:
    assert input_usd(book, "anthropic", "claude-opus-4-5", "2026-01-10", ctx="priority") is None
    assert input_usd(book, "openai", "gpt-4o", "2026-01-10", ctx="service_tier=scale") is None


def test_reseller_does_not_inherit_the_tiers_of_the_maker(book: PriceBook) -> None:
    assert input_usd(book, "azure", "gpt-4.1", "2026-10-20") == Decimal(2)
    assert input_usd(book, "openai", "gpt-4o", "2026-10-20", ctx="priority") == Decimal("4.25")
    assert input_usd(book, "azure", "gpt-4o", "2026-10-20", ctx="priority") is None
    assert input_usd(book, "azure", "gpt-4.1", "2026-10-20", ctx="deployment=DataZoneStandard") == Decimal("2.2")


def test_priority_at_a_reseller_has_no_price_before_it_was_sold(book: PriceBook) -> None:
    assert input_usd(book, "azure", "gpt-4.1", "2026-02-28T23:59:59Z", ctx="priority") is None
    assert input_usd(book, "azure", "gpt-4.1", "2026-03-01T00:00:00Z", ctx="priority") == Decimal("3.5")


def test_regional_endpoint_costs_ten_percent_more(book: PriceBook) -> None:
    at = "2026-02-01"
    assert input_usd(book, "vertex", "claude-sonnet-4-5@20250929", at) == Decimal(3)
    assert input_usd(book, "vertex", "claude-sonnet-4-5@20250929", at, ctx="region=us-east5") == Decimal("3.3")
    assert input_usd(book, "anthropic", "claude-opus-4-6", at, ctx="geo=us") == Decimal("5.5")
    assert input_usd(book, "anthropic", "claude-opus-4-5", at, ctx="geo=us") == Decimal(5)


def test_longer_lifetime_never_borrows_the_price_of_a_shorter_one(book: PriceBook) -> None:
    fable = book.rate("anthropic", "claude-fable-5", at_us=us("2026-10-01"))
    assert fable is not None
    assert fable.rates["r_cache_write_1h"] == Decimal(20_000_000)
    assert fable.rates["r_cache_write_12h"] is None


def test_rows_of_a_model_cover_each_moment_once(book: PriceBook) -> None:
    moments = [us("2025-01-01") + hour * 3_600_000_000 for hour in range(0, 24 * 700, 5)]
    for provider, model in (("deepseek", "deepseek-v4-pro"), ("google", "gemini-2.5-pro"), ("openai", "o3")):
        standard = [row for row in book.rows_of(provider, model) if row.ctx == ""]
        for prompt in (0, 200_000, 200_001, 5_000_000):
            assert all(sum(row.holds(at, prompt) for row in standard) == 1 for at in moments)


@pytest.mark.parametrize(
    ("provider", "model", "ctx", "usd"),
    [
        ("google", "gemini-2.5-pro", "flex", "0.625"),
        ("google", "gemini-2.5-pro", "priority", "2.25"),
        ("google", "claude-sonnet-5", "region=us-east5", "2.2"),
        ("google", "claude-sonnet-5", "batch", "1"),
        ("bedrock", "eu.amazon.nova-pro-v1:0", "", "1.05"),
        ("bedrock", "us.amazon.nova-pro-v1:0", "", "0.8"),
        ("bedrock", "meta.llama3-70b-instruct-v1:0", "region=eu-west-1", "2.86"),
        ("bedrock", "meta.llama3-70b-instruct-v1:0", "region=us-east-1", "2.65"),
        ("bedrock", "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "", "3.6"),
        ("bedrock", "us-gov.anthropic.claude-haiku-4-5-20251001-v1:0", "", "1.2"),
        ("bedrock", "us-gov.minimax.minimax-m2.1", "", None),
        ("bedrock", "bedrock/us-gov-east-1/amazon.nova-pro-v1:0", "", "0.96"),
        ("bedrock", "bedrock/us-gov-east-1/meta.llama3-70b-instruct-v1:0", "", None),
        ("bedrock", "bedrock/sa-east-1/meta.llama3-70b-instruct-v1:0", "", "4.45"),
        ("bedrock", "bedrock/eu-west-2/nvidia.nemotron-super-3-120b", "", "0.23"),
        ("bedrock", "bedrock/sa-east-1/meta.llama3-70b-instruct-v1:0", "region=ap-south-1", "3.18"),
        ("bedrock", "arn:aws:bedrock:eu-west-2::foundation-model/meta.llama3-70b-instruct-v1:0", "", "3.45"),
        ("bedrock", "arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/anthropic.claude-opus-5", "", "6"),
        ("bedrock", "apac.amazon.nova-2-lite-v1:0", "", "0.396"),
        ("bedrock", "bedrock/eu-west-2/minimax.minimax-m2.1", "", "0.47"),
        ("bedrock", "minimax.minimax-m2.1", "flex", "0.15"),
        ("bedrock", "minimax.minimax-m2.1", "region=us-gov-west-1", None),
        ("bedrock", "eu.deepseek.v3.2", "batch", "0.37"),
        ("bedrock", "mistral.voxtral-small-24b-2507", "region=ap-southeast-2", "0.103"),
        ("openai", "ft:gpt-4.1-2025-04-14:acme::x", "batch", "1.5"),
        ("openai", "gpt-5.6-sol", "region=eu", "4.4"),
        ("openai", "gpt-4o", "region=eu", "2.5"),
        ("bedrock", "eu.amazon.nova-2-lite-v1:0", "", "0.429"),
        ("bedrock", "us.amazon.nova-2-lite-v1:0", "", "0.33"),
        ("bedrock", "mistral.voxtral-mini-3b-2507", "region=eu-west-2", "0.06"),
        ("bedrock", "amazon.nova-pro-v1:0", "flex", "0.4"),
        ("bedrock", "amazon.nova-pro-v1:0", "priority", "1.4"),
        ("bedrock", "anthropic.claude-opus-5", "flex", None),
        ("bedrock", "anthropic.claude-opus-5", "region=us-gov-west-1", "6"),
        ("bedrock", "anthropic.claude-3-haiku-20240307-v1:0", "region=us-gov-east-1", "0.3"),
        ("bedrock", "meta.llama3-8b-instruct-v1:0", "region=us-gov-west-1", None),
        ("google", "gemini-3.5-flash", "region=europe-west4", "1.65"),
        ("google", "gemini-2.5-flash", "region=europe-west4", "0.3"),
        ("azure", "gpt-6-sol", "deployment=DataZoneStandard", "2.2"),
        ("azure", "gpt-6-sol", "deployment=DataZoneStandard region=swedencentral", "2.4"),
        ("azure", "gpt-5.6-sol", "deployment=DataZoneStandard region=swedencentral", "4.4"),
        ("azure", "gpt-5.4", "deployment=DataZoneStandard region=japanwest", "3"),
        ("azure", "gpt-4.1", "deployment=DataZoneStandard region=japanwest", "2.2"),
        ("azure", "gpt-4.1", "deployment=DataZoneStandard region=usgovvirginia", "2.75"),
        ("azure", "gpt-4.1", "deployment=Standard region=eastus", "2.2"),
        ("azure", "gpt-4.1", "deployment=Standard region=swedencentral", "2.42"),
        ("azure", "gpt-4.1", "deployment=Standard region=westeurope", "2.64"),
        ("azure", "gpt-4.1", "deployment=Standard region=usgovarizona", "2.75"),
        ("azure", "gpt-4.1", "region=swedencentral", "2"),
        ("azure", "gpt-4", "deployment=Standard region=swedencentral", "30"),
        ("azure", "gpt-4.1", "priority", "3.5"),
        ("azure", "gpt-4.1", "priority deployment=DataZoneStandard", "3.85"),
        ("azure", "gpt-5.4", "priority", "5"),
        ("azure", "gpt-5-mini", "priority", "0.45"),
        ("azure", "gpt-4o", "batch deployment=DataZoneStandard", "1.375"),
        ("azure", "gpt-5.6-sol", "flex", "2"),
        ("azure", "gpt-4.1", "flex", None),
    ],
)
def test_place_and_tier_have_their_own_price_or_none(
    book: PriceBook, provider: str, model: str, ctx: str, usd: str | None
) -> None:
    assert input_usd(book, provider, model, "2026-11-20", ctx=ctx) == (None if usd is None else Decimal(usd))


def test_every_rule_of_the_overlay_names_a_model_that_is_priced(book: PriceBook) -> None:
    rules = book.sources.overlay.rules
    priced = {(row["provider"], row["price_model"]) for row in book.rates.iter_rows(named=True)}
    idle = [rule.where for rule in rules if not any(rule.names(provider, model) for provider, model in priced)]
    assert idle == []
