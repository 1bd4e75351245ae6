"""An import says what it names: contexts that the book prices by itself keep all their classes, factors follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.main.runtime import load_book
from app.settings import Settings
from tests.pricing.moments import us
from tests.pricing.test_price_books import taken_over

if TYPE_CHECKING:
    from pathlib import Path

    from app.pricing.book import PriceBook

NOW = us("2026-11-25")
FIELDS = {
    "input": "input_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "output": "output_cost_per_token",
    "batch_input": "input_cost_per_token_batches",
    "batch_output": "output_cost_per_token_batches",
}


def imported(folder: Path, model: str, provider: str = "openai", day: str = "2026-11-21", **usd: str) -> PriceBook:
    folder.mkdir(exist_ok=True)
    settings = Settings(data_dir=folder)
    entry: dict[str, Any] = {FIELDS[name]: f"{rate}e-6" for name, rate in usd.items()}
    taken_over(folder, settings, {"sample_spec": {}, model: {"litellm_provider": provider, **entry}}, day)
    return load_book(settings)


def usd(book: PriceBook, model: str, ctx: str = "", provider: str = "openai", at_us: int = NOW) -> list[str]:
    """USD per million tokens of input, cached input and output."""
    rate = book.rate(provider, model, ctx=ctx, at_us=at_us)
    assert rate is not None
    rates = [rate.rates[name] for name in ("r_input", "r_cache_read", "r_output")]
    return ["?" if one is None else format((one / 10**6).normalize(), "f") for one in rates]


def test_contexts_that_the_book_prices_keep_every_class_when_an_import_names_standard_rates(tmp_path: Path) -> None:
    book = imported(tmp_path, "gpt-4o", input="2.6", cache_read="1.3", output="11")
    assert usd(book, "gpt-4o") == ["2.6", "1.3", "11"]
    assert usd(book, "gpt-4o", "batch") == ["1.25", "1.25", "5"]
    assert usd(book, "gpt-4o", "priority") == ["4.25", "2.125", "17"]
    batch = book.rate("openai", "gpt-4o", ctx="batch", at_us=NOW)
    assert batch is not None
    assert (batch.price_row, batch.status) == ("openai/gpt-4o@2026-10-14 batch name=gpt-4o", "confirmed")


def test_context_that_is_a_factor_moves_with_the_imported_rate(tmp_path: Path) -> None:
    book = imported(tmp_path, "claude-opus-4-6", "anthropic", input="6", cache_read="0.7", output="30")
    assert usd(book, "claude-opus-4-6", provider="anthropic") == ["6", "0.7", "30"]
    assert usd(book, "claude-opus-4-6", "geo=us", "anthropic") == ["6.6", "0.77", "33"]


def test_imported_batch_rates_leave_the_cached_rate_of_the_book_but_not_above_their_input(tmp_path: Path) -> None:
    above = imported(tmp_path / "a", "gpt-4o", batch_input="1.3", batch_output="5.2")
    assert usd(above, "gpt-4o", "batch") == ["1.3", "1.25", "5.2"]
    below = imported(tmp_path / "b", "gpt-4o", batch_input="1.2", batch_output="5")
    assert usd(below, "gpt-4o", "batch") == ["1.2", "1.2", "5"]
    assert usd(below, "gpt-4o") == ["2.5", "1.25", "10"]


def test_cached_rate_that_an_import_does_not_name_keeps_its_ratio_where_it_would_be_dearer(tmp_path: Path) -> None:
    lower = imported(tmp_path / "a", "gpt-4o", input="1", output="10")
    assert usd(lower, "gpt-4o") == ["1", "0.5", "10"]
    mild = imported(tmp_path / "b", "gpt-4o", input="2", output="10")
    assert usd(mild, "gpt-4o") == ["2", "1.25", "10"], "nothing is wrong with the rate of the book, so it stays"
    named = imported(tmp_path / "c", "gpt-4o", input="1", cache_read="1.25", output="10")
    assert usd(named, "gpt-4o") == ["1", "1.25", "10"], "what a table says of both is what it says"
