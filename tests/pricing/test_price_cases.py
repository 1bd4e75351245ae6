"""Hand-computed prices: each case is quoted from the book alone; the rates in the case are never read."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from app.pricing.rules import overlay_from_rows
from app.warehouse.quoting import quote
from tests.pricing.own_book import book_with

if TYPE_CHECKING:
    from app.pricing.book import PriceBook

CASES = Path(os.environ.get("HALVE_DATA", "/nonexistent")).parent / "cases"
BUCKETS = {
    "input_uncached": "tok_input", "cache_read": "tok_cache_read", "cache_write_5m": "tok_cache_write_5m",
    "cache_write_1h": "tok_cache_write_1h", "audio_in": "tok_input_audio", "audio_out": "tok_output_audio",
    "output": "tok_output",
}  # fmt: skip
RATES = {
    "input_uncached": "input", "cache_write_5m": "cache_write", "audio_in": "input_audio", "audio_out": "output_audio",
}  # fmt: skip


def lines(name: str) -> list[dict[str, Any]]:
    path = CASES / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def rated_cases() -> list[dict[str, Any]]:
    return [
        case
        for case in lines("cases.jsonl")
        if case["class"] in "ab"
        and set(case["expected"].get("buckets", {"": 0})) <= set(BUCKETS)
        and {"rates_usd_per_1m", "cost_usd"} <= set(case["expected"])
    ]


@pytest.mark.data
@pytest.mark.parametrize("case", lines("price_cases.jsonl"), ids=lambda case: case["id"])
def test_price_case(book: PriceBook, case: dict[str, Any]) -> None:
    asked = {key: case[key] for key in ("id", "provider", "model", "timestamp", "usage", "context")}
    (quoted,) = quote(book, [asked])
    assert (quoted.usd, quoted.state) == (format(Decimal(case["expected_usd"]).normalize(), "f"), "priced")


@pytest.mark.data
@pytest.mark.parametrize("case", rated_cases(), ids=lambda case: case["id"])
def test_usage_of_a_case_costs_what_its_own_rates_say(case: dict[str, Any]) -> None:
    expected = case["expected"]
    row = {RATES.get(name, name): rate for name, rate in expected["rates_usd_per_1m"].items()}
    own = book_with(overlay_from_rows([{"provider": "case", "model": "case-model", **row}]))
    usage = {BUCKETS[name]: count for name, count in expected["buckets"].items()}
    (quoted,) = quote(own, [{"id": case["id"], "provider": "case", "model": "case-model", "usage": usage}])
    assert quoted.usd is not None
    assert Decimal(quoted.usd) == Decimal(str(expected["cost_usd"]))
