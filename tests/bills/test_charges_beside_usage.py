"""What bills charge beside usage leaves as what it is: credits, purchases, taxes, adjustments in FOCUS 1.2's words."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from made_bills import Bill, open_books
from test_bills_of_several_payers import costs
from test_focus_of_bills import rows_of
from test_spend_from_bills import CUR, FOCUS

if TYPE_CHECKING:
    from pathlib import Path

    from made_bills import Books

LARGE = "gpt-4o-2024-08-06"
KEY = ("2026-03-02", LARGE, "output")
AZURE: dict[str, Any] = {
    "Date": "03/02/2026",
    "MeterCategory": "Foundry Models",
    "MeterName": "gpt-4o 0806 Outp glbl Tokens",
    "UnitOfMeasure": "1K",
    "Quantity": 5,
    "CostInBillingCurrency": 7,
    "SubscriptionId": "s",
    "ChargeType": "Usage",
}
GCP: dict[str, Any] = {
    "billing_account_id": "b",
    "project": {"id": "p"},
    "service": {"description": "Vertex AI"},
    "sku": {"description": "Gemini 2.5 Flash Text Output - Predictions"},
    "usage_start_time": "2026-03-02T00:00:00Z",
    "cost": 7,
    "currency": "USD",
    "usage": {"amount": 1000, "unit": "count"},
    "credits": [{"name": "promotion", "type": "PROMOTION", "amount": -2}],
}


def cur(kind: str, cost: str) -> dict[str, Any]:
    return CUR | {"line_item_line_item_type": kind, "line_item_unblended_cost": cost}


def azure(kind: str, cost: float) -> dict[str, Any]:
    return AZURE | {"ChargeType": kind, "CostInBillingCurrency": cost}


def focus_row(category: str, cost: str) -> dict[str, Any]:
    return FOCUS | {"ChargeCategory": category, "BilledCost": cost}


def page_of(*pages: dict[str, Any]) -> dict[str, Any]:
    return pages[0] | {"data": [bucket for page in pages for bucket in page["data"]]}


BILLS: dict[str, tuple[list[Any], dict[str, str]]] = {
    "openai": (
        [Bill({KEY: 1_000_000}, extra=[(KEY[0], "promotional credit", "-2.5")]).costs_page()],
        {"Usage": "10", "Credit": "-2.5"},
    ),
    "anthropic": ([page_of(costs("1000"), costs("-250", workspace="w"))], {"Usage": "10", "Credit": "-2.5"}),
    "aws": (
        [
            *(cur("Usage", "8"), cur("Credit", "-1"), cur("SppDiscount", "-0.5"), cur("Refund", "-2")),
            *(cur("Fee", "3"), cur("Tax", "0.7")),
        ],
        {"Usage": "8", "Credit": "-1.5", "Adjustment": "-2", "Purchase": "3", "Tax": "0.7"},
    ),
    "azure": (
        [
            *(azure("Usage", 8), azure("Adjustment", -1), azure("Refund", -2), azure("Purchase", 3)),
            azure("Tax", 0.7),
        ],
        {"Usage": "8", "Credit": "-1", "Adjustment": "-2", "Purchase": "3", "Tax": "0.7"},
    ),
    "gcp": ([GCP, GCP | {"cost_type": "tax", "cost": 1, "credits": []}], {"Usage": "7", "Credit": "-2", "Tax": "1"}),
    "focus": (
        [
            *(focus_row("Usage", "8"), focus_row("Credit", "-1"), focus_row("Adjustment", "-2")),
            *(focus_row("Purchase", "3"), focus_row("Tax", "0.7")),
        ],
        {"Usage": "8", "Credit": "-1", "Adjustment": "-2", "Purchase": "3", "Tax": "0.7"},
    ),
}


def by_category(frame: pl.DataFrame, column: str = "BilledCost") -> dict[str, Decimal]:
    return dict(frame.group_by("ChargeCategory").agg(pl.col(column).sum()).rows())


@pytest.mark.parametrize("provider", BILLS)
def test_a_charge_keeps_its_category(books: Books, provider: str) -> None:
    records, expected = BILLS[provider]
    books.read("bill.jsonl", *records)
    found = rows_of(books)
    for column in ("BilledCost", "ContractedCost", "EffectiveCost", "ListCost"):
        assert by_category(found, column) == {name: Decimal(cost) for name, cost in expected.items()}


@pytest.mark.parametrize("provider", BILLS)
def test_columns_of_a_charge_beside_usage_are_as_focus_asks(books: Books, provider: str) -> None:
    books.read("bill.jsonl", *BILLS[provider][0])
    found = rows_of(books)
    beside = found.filter(pl.col("ChargeCategory") != "Usage")
    assert beside.height > 0
    for name in ("ConsumedQuantity", "ConsumedUnit", "PricingQuantity", "PricingUnit", "ListUnitPrice"):
        assert beside[name].null_count() == beside.height
    assert "Usage-Based" not in beside["ChargeFrequency"].to_list()
    no_sku = beside.filter(pl.col("ChargeCategory") != "Purchase")
    for name in ("SkuId", "SkuMeter", "SkuPriceId", "PricingCategory"):
        assert no_sku[name].null_count() == no_sku.height


def test_what_leaves_as_focus_comes_back_as_the_same_charges(books: Books, tmp_path: Path) -> None:
    books.read("bill.jsonl", *BILLS["aws"][0])
    sent = rows_of(books)
    path = tmp_path / "export.jsonl"
    path.write_text(
        "".join(json.dumps(row, default=str) + "\n" for row in sent.iter_rows(named=True)), encoding="utf-8"
    )
    again = open_books(tmp_path / "again")
    again.read_file(path)
    assert by_category(rows_of(again)) == by_category(sent)
    again.warehouse.close()


def test_searches_of_a_bill_have_their_number(books: Books) -> None:
    bucket = Bill({}, extra=[(KEY[0], "web search tool calls", "0.12")]).costs_page()
    bucket["data"][0]["results"][0]["quantity"] = 12
    books.read("costs.jsonl", bucket)
    (row,) = rows_of(books).rows(named=True)
    assert (
        (row["ConsumedQuantity"], row["ConsumedUnit"])
        == (12, "Searches")
        == (row["PricingQuantity"], row["PricingUnit"])
    )
    assert (row["ChargeCategory"], row["BilledCost"]) == ("Usage", Decimal("0.12"))


def test_fees_of_requests_have_a_quantity_where_they_are_for_one_unit(books: Books) -> None:
    def call(number: int, **tools: int) -> dict[str, Any]:
        return {
            "id": f"msg_01{number:022d}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "created_at": "2026-03-02T10:00:00Z",
            "content": [],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 100, "output_tokens": 10, "server_tool_use": tools},
        }

    books.read("calls.jsonl", call(1, web_search_requests=3), call(2, web_search_requests=2))
    found = rows_of(books)
    (fees,) = found.filter(pl.col("x_TokenClass") == "fees").rows(named=True)
    assert (fees["ConsumedQuantity"], fees["ConsumedUnit"]) == (5, "Searches")
    assert fees["ContractedCost"] == Decimal("0.05")  # $10 a thousand searches
