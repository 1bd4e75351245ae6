"""The page on prices says what the code does: its examples are price files, its lists are complete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from app.pricing.rates import FEES, PRICED_CLASSES
from tests.pricing.moments import us
from tests.pricing.own_book import book_from

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def page(pytestconfig: pytest.Config) -> str:
    return (pytestconfig.rootpath / "docs/prices.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["yaml", "csv"])
def test_example_of_a_price_file_prices(tmp_path: Path, page: str, kind: str) -> None:
    found = re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL)
    assert found is not None
    book = book_from(tmp_path, found.group(1), f"prices.{kind}")
    opus = book.rate("anthropic", "claude-opus-4-5", at_us=us("2026-02-01"))
    chat = book.rate("azure", "team-chat-prod", at_us=us("2026-02-01"))
    mini = book.rate("openai", "gpt-4o-mini", at_us=us("2026-02-01"))
    assert opus is not None
    assert chat is not None
    assert mini is not None
    assert (opus.rates["r_input"], opus.rates["r_output"]) == (4_000_000, 20_000_000)
    assert chat.rates["r_input"] == 2_500_000
    assert mini.rates["r_input"] == 127_500


def test_every_class_and_fee_is_named(page: str) -> None:
    assert [name for name in (*PRICED_CLASSES, *FEES) if f"`{name}`" not in page] == []
