"""A wrong price beside a bill is named with the price row that the requests were priced by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_bills import FIRST, Bill, Call, charged, open_books

from app.pricing.book import PriceBook
from reports import reconciliation

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("model", ["house-model-1", "gpt-4o-2024-08-06"])
def test_the_price_row_is_named_also_where_the_log_does_not_say_who_served(tmp_path: Path, model: str) -> None:
    own = tmp_path / "prices.yml"
    rates = "input: 2.5, cache_read: 1.25, output: 10"
    lines = [f"  - {{provider: {name}, model: {model}, {rates}}}" for name in ("unassigned", "openai")]
    own.write_text("rates:\n" + "\n".join(lines) + "\n", encoding="utf-8")
    books = open_books(tmp_path, PriceBook.load(None, own))
    call = Call(1, model, FIRST, 100_000, 40_000, 9_000)
    books.read("calls.jsonl", call.logged())
    billed = {model: {"input": "5", "cached input": "2.5", "output": "20"}}
    keys = {key: billed[model][key[2]] for key in charged([call])}
    bill = Bill(charged([call]), rates=keys, other_models=billed)
    books.read("costs.jsonl", bill.costs_page())
    books.read("usage.jsonl", bill.usage_page())
    (residual,) = reconciliation.document(books.reconciled())["residuals"]
    ((row,),) = books.sql("SELECT DISTINCT price_row FROM requests")
    assert (residual["kind"], residual["price_row"]) == ("price", row)
    assert row in residual["why"]
    books.warehouse.close()
