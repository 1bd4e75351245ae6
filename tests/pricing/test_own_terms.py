"""The user's file: negotiated rates, discounts, self-hosted rates; list and contract cost side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.core.errors import InputError
from app.pricing.book import PriceBook
from app.pricing.rules import overlay_from_rows
from tests.pricing.moments import us
from tests.pricing.own_book import book_from, book_with

if TYPE_CHECKING:
    from tests.pricing.conftest import PriceRows

CALL = {
    "provider": "anthropic", "model": "claude-opus-4-5", "start_us": us("2026-01-10"), "tok_input": 10_000,
    "tok_output": 1_000,
}  # fmt: skip
USD = 10**12


def test_discount_lowers_the_contract_cost_and_leaves_the_list_cost(tmp_path: Path, price_rows: PriceRows) -> None:
    own = book_from(tmp_path, "discounts:\n  - {provider: anthropic, factor: 0.8, from: 2026-01-01}\n")
    before, after = price_rows([{**CALL, "start_us": us("2025-12-31")}, CALL], own)
    assert (before["cost_list_pusd"], before["cost_pusd"]) == (75 * USD // 1000, 75 * USD // 1000)
    assert (after["cost_list_pusd"], after["cost_pusd"]) == (75 * USD // 1000, 60 * USD // 1000)
    assert after["price_row"].startswith("anthropic/claude-opus-4-5@2026-01-01 contract")


def test_discount_of_one_account_leaves_the_others_alone(tmp_path: Path, price_rows: PriceRows) -> None:
    own = book_from(tmp_path, "discounts:\n  - {provider: anthropic, account: 'acme-*', factor: 0.5}\n")
    rows = [{**CALL, "account": account} for account in ("acme-eu", "other", None)]
    assert [row["cost_pusd"] for row in price_rows(rows, own)] == [37_500_000_000, 75_000_000_000, 75_000_000_000]


def test_negotiated_rate_replaces_only_the_classes_it_names(tmp_path: Path, price_rows: PriceRows) -> None:
    own = book_from(tmp_path, "provider,model,input,output\nanthropic,claude-opus-4-5-20251101,4,20\n", "prices.csv")
    (row,) = price_rows([{**CALL, "tok_cache_read": 100_000}], own)
    assert row["input_pusd"] == 40 * USD // 1000
    assert row["cache_read_pusd"] == 50 * USD // 1000
    assert row["output_pusd"] == 20 * USD // 1000


def test_batch_keeps_its_price_under_a_negotiated_standard_rate(tmp_path: Path, price_rows: PriceRows) -> None:
    own = book_from(tmp_path, "rates:\n  - {provider: anthropic, model: claude-opus-4-5, input: 4, output: 20}\n")
    (row,) = price_rows([{**CALL, "is_batch": True}], own)
    assert row["cost_pusd"] == 37_500_000_000


def test_self_hosted_model_has_the_rates_of_the_file_and_nothing_else(price_rows: PriceRows) -> None:
    own = book_with(
        overlay_from_rows([{"provider": "hosted_vllm", "model": "qwen3-32b", "input": "0.2", "output": "0.6"}])
    )
    rows = [{**CALL, "provider": "hosted_vllm", "model": name} for name in ("hosted_vllm/qwen3-32b", "qwen3-14b")]
    known, unknown = price_rows(rows, own)
    assert known["cost_pusd"] == 2_600_000_000
    assert (unknown["cost_pusd"], unknown["cost_state"]) == (None, "unpriced")


def test_fraction_of_a_pico_dollar_is_rounded_half_to_even(price_rows: PriceRows) -> None:
    own = book_with(overlay_from_rows([{"provider": "p", "model": "m", "input": "0.0000005", "output": "0.0000015"}]))
    rows = [{"provider": "p", "model": "m", "tok_input": n, "tok_output": n} for n in (1, 2, 3, 4, 5)]
    priced = price_rows(rows, own)
    assert [row["input_pusd"] for row in priced] == [0, 1, 2, 2, 2]
    assert [row["output_pusd"] for row in priced] == [2, 3, 4, 6, 8]


def test_rates_in_scientific_notation_are_numbers() -> None:
    own = book_with(overlay_from_rows([{"provider": "p", "model": "m", "input": "5e0", "output": "2.5E+1"}]))
    rate = own.rate("p", "m", at_us=0)
    assert rate is not None
    assert (rate.rates["r_input"], rate.rates["r_output"]) == (5_000_000, 25_000_000)


def test_book_with_own_terms_has_a_version_of_its_own(tmp_path: Path, book: PriceBook) -> None:
    first = book_from(tmp_path, "discounts:\n  - {provider: anthropic, factor: 0.8}\n")
    second = book_from(tmp_path, "discounts:\n  - {provider: anthropic, factor: 0.7}\n")
    assert len({book.version, first.version, second.version}) == 3


@pytest.mark.parametrize(
    ("name", "text", "place", "field"),
    [
        ("p.yml", "rates:\n  - {provider: openai, model: gpt-4o, input: cheap}\n", "p.yml, line 2", "'input'"),
        ("p.yml", "rates:\n  - {provider: openai, model: gpt-4o, input: -1}\n", "p.yml, line 2", "'input'"),
        ("p.yml", "rates:\n  - provider: openai\n    inptu: 3\n", "p.yml, line 2", "'inptu'"),
        ("p.yml", "rates:\n  - {model: gpt-4o, input: 1}\n", "p.yml, line 2", "'provider'"),
        ("p.yml", "rates:\n  - {provider: openai, input: 1, from: yesterday}\n", "p.yml, line 2", "'from'"),
        ("p.yml", "discounts:\n\n  - {provider: openai, factor: x}\n", "p.yml, line 3", "'factor'"),
        ("p.yml", "aliases:\n  - {provider: azure, name: chat}\n", "p.yml, line 2", "'model'"),
        ("p.yml", "ratse: []\n", "p.yml, line 1", "'ratse'"),
        ("p.yml", "rates: [\n", "p.yml, line 2", "YAML"),
        ("p.csv", "provider,model,input\nopenai,gpt-4o,2\nopenai,gpt-4o,two\n", "p.csv, line 3", "'input'"),
        ("p.csv", "provider,model,input\nopenai,gpt-4o,2,9\n", "p.csv, line 2", "heading"),
    ],
)
def test_wrong_price_file_is_named_by_line_and_field(
    tmp_path: Path, name: str, text: str, place: str, field: str
) -> None:
    with pytest.raises(InputError) as caught:
        book_from(tmp_path, text, name)
    assert place in str(caught.value)
    assert field in str(caught.value)


def test_missing_price_file_says_which() -> None:
    with pytest.raises(InputError, match=r"nowhere\.yml cannot be read"):
        PriceBook.load(None, Path("/nowhere.yml"))
