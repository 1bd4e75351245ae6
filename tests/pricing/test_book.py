"""The book as a whole: its version, its cache, what a start costs, and what it shows."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

from app.core.errors import InputError, NotFoundError
from app.core.usage import TOKEN_CLASSES
from app.pricing import compile as compiling
from app.pricing import models
from app.pricing.book import PriceBook
from app.pricing.frames import RATES_SCHEMA
from app.pricing.rates import TOKEN_RATES
from app.pricing.rules import Overlay
from app.pricing.show import show
from app.warehouse.quoting import quote, read_lines
from reports.price_tables import rate_lines
from tests.pricing.moments import us

if TYPE_CHECKING:
    from pathlib import Path


def test_cached_book_is_the_same_book(tmp_path: Path, book: PriceBook) -> None:
    first = PriceBook.load(tmp_path)
    again = PriceBook.load(tmp_path)
    assert first.version == again.version == book.version
    assert again.rates.equals(first.rates)


def test_start_from_the_cache_does_not_import_the_price_library(tmp_path: Path) -> None:
    PriceBook.load(tmp_path)
    program = (
        "import sys; from pathlib import Path; from app.pricing.book import PriceBook; "
        f"book = PriceBook.load(Path({str(tmp_path)!r})); "
        "assert book.rate('openai', 'gpt-4o', at_us=0) is not None; "
        "print([name for name in sys.modules if name.startswith('genai_prices')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("damage", [b"", b"not msgpack", b"\x00" * 100], ids=["empty", "text", "zeros"])
def test_damaged_cache_is_rebuilt(tmp_path: Path, book: PriceBook, damage: bytes) -> None:
    PriceBook.load(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)
    assert PriceBook.load(tmp_path).version == book.version


def test_few_compiled_books_are_kept(tmp_path: Path) -> None:
    sources = compiling.fresh_sources(Overlay())
    for number in range(compiling.KEPT_BOOKS + 3):
        compiling.store(tmp_path, f"{number:02d}", sources)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert len(kept) == compiling.KEPT_BOOKS
    assert kept[-1] == "prices-10.msgpack"


def test_folder_that_cannot_be_written_only_costs_time(tmp_path: Path, book: PriceBook) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    assert PriceBook.load(blocked / "cache").version == book.version


def test_compiled_table_has_one_row_a_moment_and_names_its_source(book: PriceBook) -> None:
    rates = book.rates
    assert rates.schema == pl.Schema(RATES_SCHEMA)
    assert rates.height > 3000
    assert rates["price_row"].is_unique().all()
    assert rates.filter(pl.col("source") == "").is_empty()
    assert set(rates["status"]) == {"confirmed", "estimated"}
    assert rates.filter(
        (pl.col("valid_from_us") >= pl.col("valid_to_us")) | (pl.col("tier_gt") >= pl.col("tier_le"))
    ).is_empty()
    assert rates.select(pl.min_horizontal(pl.col(TOKEN_RATES).min())).item() >= 0


def test_no_model_has_a_zero_price_unless_the_provider_says_so(book: PriceBook) -> None:
    free = book.rates.filter(pl.all_horizontal(pl.col(TOKEN_RATES).fill_null(0) == 0) & pl.col("r_input").is_not_null())
    assert set(free["price_row"]) == {
        "openai/moderation@start standard", "openai/moderation@2024-04-15 batch"
    }  # fmt: skip


def test_every_token_class_has_a_rate_column() -> None:
    assert [name.replace("r_", "tok_", 1) for name in TOKEN_RATES] == list(TOKEN_CLASSES)


def test_show_lists_each_dated_row_with_its_source(book: PriceBook) -> None:
    lines = show(book, "claude-sonnet-4-6")
    assert lines[0].usd_per_mtok["input"] == "3"
    assert [line.prompt_above for line in lines[:3]] == [None, 200_000, None]
    assert lines[2].valid_from == "2026-03-13T00:00:00Z"
    text = "\n".join(rate_lines(lines))
    assert "anthropic/claude-sonnet-4-6@start standard >200000" in text
    assert "genai-prices" in text


def test_show_of_an_unknown_model_says_what_is_close(book: PriceBook) -> None:
    with pytest.raises(NotFoundError, match=r"No price for 'gpt-4oo'.*Close names: gpt-4o"):
        show(book, "gpt-4oo")


def test_quote_file_is_json_lines_or_one_array(tmp_path: Path, book: PriceBook) -> None:
    usage = '{"in_text": 1000000, "out": 10, "reasoning": 10}'
    call = '"provider": "openai", "model": "gpt-4o", "timestamp": "2026-01-10T00:00:00Z"'
    line = f'{{"id": "a", {call}, "usage": {usage}}}'
    unknown = '{"id": "b", "provider": "openai", "model": "none", "usage": {"in_text": 5}}'
    for name, text in (("lines", f"{line}\n\n{unknown}\n"), ("array", f"[{line},\n{unknown}]")):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        first, second = quote(book, read_lines(path))
        assert (first.id, first.usd, first.state) == ("a", "2.5001", "priced")
        assert first.price_rows == ("openai/gpt-4o@2024-10-02 name=gpt-4o",)
        assert (second.usd, second.state, second.warning) == (None, "unpriced", "unknown_model")


def test_rates_in_a_quoted_line_are_ignored(book: PriceBook) -> None:
    line = {"model": "none", "usage": {"in_text": 5}, "rates_usd_per_mtok": {"in_text": "1"}}
    (quoted,) = quote(book, [line])
    assert quoted.usd is None


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "line 1"), ("[1]", "JSON object"), ('{"usage": {"in_text": -1}}', "in_text"), ('{"timestamp": "x"}', "ISO")],
)
def test_quote_line_that_cannot_be_read_is_named(tmp_path: Path, book: PriceBook, text: str, message: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        quote(book, read_lines(path))


def test_every_model_with_capabilities_is_priced(book: PriceBook) -> None:
    at = us("2026-11-20")
    assert [m.model for m in models.known() if book.rate(m.provider, m.model, at_us=at) is None] == []
    assert len(models.known()) >= 60


def test_unknown_capability_keeps_the_gate_closed() -> None:
    unknown = models.Model("p", "m", None, 10, None, None, None, None, None, "f", 1, False, "s")
    small = models.find("openai", "gpt-4o-mini")
    assert small is not None
    ask = {"prompt_tokens": 1000, "output_tokens": 10, "tools": True, "vision": True, "json_schema": True}
    assert small.fits(**ask)
    assert not unknown.fits(**ask)
    assert not small.fits(**{**ask, "prompt_tokens": 200_000})


def test_reseller_offers_the_makers_capabilities() -> None:
    assert models.find("azure", "gpt-4o") == models.find("openai", "gpt-4o")
    assert models.find("aws", "regional.anthropic.claude-sonnet-4-5-20250929-v1:0") == models.find(
        "anthropic", "claude-sonnet-4-5"
    )
    assert models.find("aws", "meta.llama3-8b-instruct-v1:0") is None


def test_token_ratio_is_known_only_between_measured_vocabularies() -> None:
    forth, back = models.token_ratio("o200k", "claude_47", "code"), models.token_ratio("claude_47", "o200k", "code")
    assert forth is not None
    assert back is not None
    assert forth > 1.4
    assert abs(forth * back - 1) < 1e-9
    assert models.token_ratio("o200k", "o200k") == 1.0
    assert models.token_ratio("o200k", None) is None
    assert models.token_ratio("o200k", "gemini", "korean") is None
