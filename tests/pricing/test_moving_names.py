"""Names that moved between models: a call costs what the name meant on its day, a snapshot what the snapshot costs."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.pricing.moments import us

if TYPE_CHECKING:
    from app.pricing.book import PriceBook
    from tests.pricing.conftest import PriceRows

MTOK = Decimal(1_000_000)


@pytest.mark.parametrize(
    ("provider", "name", "day", "rates"),
    [
        ("openai", "gpt-4o", "2024-10-01", ("5", "5", "15")),
        ("openai", "gpt-4o", "2024-10-02", ("2.5", "1.25", "10")),
        (None, "openai/gpt-4o", "2024-06-01", ("5", "5", "15")),
        (None, "gpt-4o", "2024-06-01", ("5", "5", "15")),
        (None, "gpt-4o-2024-08-06", "2024-09-01", ("2.5", "1.25", "10")),
        ("openai", "gpt-4o-2024-08-06", "2024-09-01", ("2.5", "1.25", "10")),
        ("openai", "gpt-4o-2024-05-13", "2026-01-01", ("5", "5", "15")),
        ("openai", "gpt-3.5-turbo", "2023-06-12", ("2", "2", "2")),
        ("openai", "gpt-3.5-turbo", "2023-06-13", ("1.5", "1.5", "2")),
        ("openai", "gpt-3.5-turbo-0301", "2023-06-12", ("2", "2", "2")),
        ("openai", "gpt-3.5-turbo-0301", "2023-06-13", ("1.5", "1.5", "2")),
        ("openai", "gpt-3.5-turbo", "2024-02-15", ("1.5", "1.5", "2")),
        ("openai", "gpt-3.5-turbo", "2024-02-16", ("0.5", "0.5", "1.5")),
        ("openai", "gpt-3.5-turbo-0125", "2024-02-01", ("0.5", "0.5", "1.5")),
        ("google", "gemini-flash-latest", "2025-12-01", ("0.3", "0.03", "2.5")),
        ("google", "gemini-flash-latest", "2026-02-01", ("0.5", "0.05", "3")),
        ("google", "gemini-flash-latest", "2026-06-28", ("1.5", "0.15", "9")),
        ("google", "gemini-pro-latest", "2025-10-20", ("1.25", "0.3125", "10")),
        ("google", "gemini-pro-latest", "2026-01-20", ("1.25", "0.125", "10")),
        ("google", "gemini-pro-latest", "2026-01-21", ("2", "0.2", "12")),
        ("google", "gemini-1.5-flash-latest", "2024-08-07", ("0.35", "0.0875", "1.05")),
        ("google", "gemini-1.5-flash-latest", "2024-08-13", ("0.075", "0.01875", "0.3")),
        ("google", "gemini-pro", "2024-06-01", ("0.5", "0.5", "1.5")),
        ("cohere", "command-r", "2025-01-01", ("0.5", "0.5", "1.5")),
        ("cohere", "command-r-03-2024", "2025-01-01", ("0.5", "0.5", "1.5")),
        ("cohere", "command-r-08-2024", "2025-01-01", ("0.15", "0.15", "0.6")),
        ("cohere", "command-r-plus", "2025-01-01", ("3", "3", "15")),
        ("cohere", "command-r-plus-08-2024", "2025-01-01", ("2.5", "2.5", "10")),
        ("mistral", "mistral-large-latest", "2024-08-01", ("3", "0.3", "9")),
        ("mistral", "mistral-large-latest", "2024-09-17", ("2", "0.2", "6")),
        ("mistral", "codestral-latest", "2024-12-01", ("0.2", "0.02", "0.6")),
        ("anthropic", "claude-3-5-sonnet-latest", "2024-10-22", ("3", "0.3", "15")),
        ("openai", "gpt-4-turbo-preview", "2024-01-10", ("10", "10", "30")),
        ("x-ai", "grok-latest", "2026-06-01", ("1.25", "0.2", "2.5")),
        ("x-ai", "grok-latest", "2026-11-01", ("2", "0.5", "6")),
    ],
)
def test_a_call_costs_what_its_name_meant_on_its_day(
    book: PriceBook, provider: str | None, name: str, day: str, rates: tuple[str, str, str]
) -> None:
    found = book.rate(provider, name, at_us=us(day))
    assert found is not None
    assert tuple(found.rates[f"r_{one}"] for one in ("input", "cache_read", "output")) == tuple(
        Decimal(rate) * MTOK for rate in rates
    )


def test_the_batch_price_moved_with_the_name(book: PriceBook) -> None:
    old = book.rate("openai", "gpt-4o", at_us=us("2024-09-01"), ctx="batch")
    new = book.rate("openai", "gpt-4o", at_us=us("2024-11-01"), ctx="batch")
    assert old is not None
    assert new is not None
    assert (old.rates["r_input"], old.rates["r_output"]) == (Decimal("2.5") * MTOK, Decimal("7.5") * MTOK)
    assert (new.rates["r_input"], new.rates["r_output"]) == (Decimal("1.25") * MTOK, 5 * MTOK)


@pytest.mark.parametrize(
    ("provider", "name", "day"),
    [
        ("x-ai", "grok-latest", "2026-01-01"),
        ("x-ai", "grok-latest", "2026-07-20"),
        ("mistral", "mistral-large-latest", "2024-05-01"),
        ("mistral", "mistral-large", "2024-05-01"),
        ("mistral", "mistral-small-latest", "2024-05-01"),
    ],
)
def test_a_name_of_which_it_is_not_known_what_it_meant_has_no_price(
    book: PriceBook, provider: str, name: str, day: str
) -> None:
    assert book.rate(provider, name, at_us=us(day)) is None


def test_requests_of_a_moved_name_and_of_its_snapshot_stand_under_one_model_with_their_own_costs(
    price_rows: PriceRows,
) -> None:
    call = {"provider": "openai", "start_us": us("2024-09-01"), "tok_input": 1_000, "tok_output": 100}
    moved, pinned = price_rows([{**call, "model": name} for name in ("gpt-4o", "gpt-4o-2024-08-06")])
    assert (moved["model_id"], pinned["model_id"]) == ("gpt-4o", "gpt-4o")
    assert (moved["cost_pusd"], pinned["cost_pusd"]) == (6_500_000_000, 3_500_000_000)
    assert moved["price_row"] == "openai/gpt-4o@start name=gpt-4o"


@pytest.mark.parametrize(
    ("name", "day", "sound", "status"),
    [
        ("gpt-4o-realtime-preview", "2024-11-01", ("100", "20", "200"), "confirmed"),
        ("gpt-4o-realtime-preview", "2025-02-01", ("40", "2.5", "80"), "estimated"),
        ("gpt-4o-realtime-preview", "2025-07-01", ("40", "2.5", "80"), "confirmed"),
        ("gpt-4o-realtime-preview-2024-10-01", "2025-02-01", ("100", "20", "200"), "confirmed"),
        ("gpt-4o-realtime-preview-2024-12-17", "2025-02-01", ("40", "2.5", "80"), "confirmed"),
        ("gpt-4o-audio-preview-2024-10-01", "2025-02-01", ("100", "100", "200"), "estimated"),
    ],
)
def test_the_first_snapshot_that_speaks_keeps_its_dearer_sound(
    book: PriceBook, name: str, day: str, sound: tuple[str, str, str], status: str
) -> None:
    found = book.rate("openai", name, at_us=us(day))
    assert found is not None
    rates = tuple(found.rates[f"r_{one}"] for one in ("input_audio", "cache_read_audio", "output_audio"))
    assert rates == tuple(Decimal(rate) * MTOK for rate in sound)
    assert found.status == status


@pytest.mark.parametrize(
    ("provider", "name", "day"),
    [
        ("google", "gemini-pro", "2024-06-01"),
        ("google", "gemini-1.5-flash", "2024-08-10"),
        ("google", "gemini-pro-latest", "2026-01-20"),
        ("google", "gemini-flash-latest", "2026-06-28"),
        ("mistral", "mistral-large-latest", "2024-08-01"),
        ("mistral", "codestral-latest", "2024-12-01"),
        ("x-ai", "grok-latest", "2026-11-01"),
        ("cohere", "command-r", "2026-01-01"),
    ],
)
def test_a_price_that_no_page_of_its_provider_tells_is_an_estimate(
    book: PriceBook, provider: str, name: str, day: str
) -> None:
    found = book.rate(provider, name, at_us=us(day))
    assert found is not None
    assert found.status == "estimated"
