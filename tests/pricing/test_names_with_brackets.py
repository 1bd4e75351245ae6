"""Names with brackets in a user's file: they are themselves, and only `*` and `?` stand for other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pricing.moments import us
from tests.pricing.own_book import book_from

if TYPE_CHECKING:
    from pathlib import Path

    from tests.pricing.conftest import PriceRows

CALL = {"provider": "anthropic", "start_us": us("2026-01-10"), "tok_input": 1_000_000, "tok_output": 0}
USD = 10**12


def costs(price_rows: PriceRows, folder: Path, text: str, *names: str, **fields: object) -> list[int | None]:
    rows = price_rows([{**CALL, "model": name, **fields} for name in names], book_from(folder, text))
    return [row["cost_pusd"] for row in rows]


@pytest.mark.parametrize("name", ["m[1m]", "my-model[200k]", "a[b]c", "odd[", "Org/M[1m]"])
def test_a_rate_of_a_name_with_brackets_prices_that_name_and_no_other(
    tmp_path: Path, price_rows: PriceRows, name: str
) -> None:
    text = f'rates:\n  - {{provider: hosted_vllm, model: "{name}", input: 5, output: 7}}\n'
    found = costs(price_rows, tmp_path, text, name, "m1", "mm", "my-model2", "abc", provider="hosted_vllm")
    assert found == [5 * USD, None, None, None, None]


def test_a_rate_of_a_long_context_name_leaves_the_plain_name_at_its_list_price(
    tmp_path: Path, price_rows: PriceRows
) -> None:
    text = 'rates:\n  - {provider: anthropic, model: "claude-opus-4-5[1m]", input: 9}\n'
    assert costs(price_rows, tmp_path, text, "claude-opus-4-5[1m]", "claude-opus-4-5") == [9 * USD, 5 * USD]


def test_a_discount_of_a_long_context_name_is_of_that_name_alone(tmp_path: Path, price_rows: PriceRows) -> None:
    text = 'discounts:\n  - {provider: anthropic, model: "claude-opus-4-5[1m]", percent: 50}\n'
    names = ("claude-opus-4-5[1m]", "claude-opus-4-5", "claude-opus-4-5-20251101")
    assert costs(price_rows, tmp_path, text, *names) == [USD * 5 // 2, 5 * USD, 5 * USD]


def test_without_a_rate_of_its_own_a_long_context_name_costs_what_the_model_costs(
    tmp_path: Path, price_rows: PriceRows
) -> None:
    text = "rates:\n  - {provider: anthropic, model: claude-opus-4-5, input: 4}\n"
    assert costs(price_rows, tmp_path, text, "claude-opus-4-5[1m]", "claude-opus-4-5") == [4 * USD, 4 * USD]


def test_wildcards_stand_for_other_names_and_brackets_beside_them_for_themselves(
    tmp_path: Path, price_rows: PriceRows
) -> None:
    text = (
        "rates:\n"
        '  - {provider: hosted_vllm, model: "m[1m]", input: 5}\n  - {provider: hosted_vllm, model: "m1", input: 6}\n'
        'discounts:\n  - {provider: hosted_vllm, model: "m*[1m]", percent: 50}\n'
    )
    assert costs(price_rows, tmp_path, text, "m[1m]", "m1", provider="hosted_vllm") == [USD * 5 // 2, 6 * USD]


def test_an_account_with_brackets_is_that_account(tmp_path: Path, price_rows: PriceRows) -> None:
    text = 'discounts:\n  - {provider: anthropic, account: "team[eu]", percent: 50}\n'
    book = book_from(tmp_path, text)
    rows = price_rows([{**CALL, "model": "claude-opus-4-5", "account": one} for one in ("team[eu]", "teame")], book)
    assert [row["cost_pusd"] for row in rows] == [USD * 5 // 2, 5 * USD]
