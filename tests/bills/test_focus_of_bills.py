"""FOCUS rows of days that only a bill knows, and what the FinOps Foundation's validator asks of columns together."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import pytest
from made_bills import Bill, Books, charged, month

from app.analysis import focus, spend
from app.analysis.charges import Wanted, charges, spans
from app.core.money import usd
from app.core.view import View
from app.warehouse import ledger


def rows_of(books: Books, zone: str = "UTC", *, hourly: bool = False) -> pl.DataFrame:
    wanted = Wanted(0, ledger.END_OF_TIME, zone)
    with books.warehouse.session() as session:
        return pl.concat(
            focus.rows(charges(session, span, wanted, hourly=hourly), span, zone, hourly=hourly, version=0)
            for span in spans(session, wanted, bills=True)
        )


def spent(books: Books) -> Decimal:
    with books.warehouse.session() as session:
        return usd(spend.totals(session, View(spend.whole_period(session, "UTC"))).cost_pusd or 0)


def test_usage_whose_cost_another_row_says_is_no_unknown_cost(books: Books) -> None:
    """Usage and costs are two reports of one day: the tokens of the one cost what the other says."""
    bill = Bill(charged(month(days=2)))
    books.read("usage.jsonl", bill.usage_page())
    books.read("costs.jsonl", bill.costs_page())
    found = rows_of(books)
    assert found["ContractedCost"].null_count() == 0
    assert found["ContractedCost"].sum() == bill.total() == spent(books)
    counted = found.filter(pl.col("ConsumedQuantity").is_not_null())
    assert set(counted["x_CostState"]) == {"other_row"}
    assert set(counted["BilledCost"]) == {Decimal(0)}
    assert int(counted["ConsumedQuantity"].sum()) == sum(bill.tokens.values())
    inputs = counted.filter(pl.col("x_TokenClass") == "input")
    assert inputs["x_Requests"].sum() == 6 * len({(day, model) for day, model, _ in bill.tokens})  # as the bill counts
    assert found.filter(pl.col("ConsumedQuantity").is_null())["x_Requests"].null_count() > 0  # costs count none


def test_usage_without_any_cost_stays_unknown(books: Books) -> None:
    page = Bill(charged(month(days=1))).usage_page()
    for result in page["data"][0]["results"]:
        result["model"] = "house-model-1"
    books.read("usage.jsonl", page)
    found = rows_of(books)
    assert found["ContractedCost"].null_count() == found.height > 0
    assert focus.allowed(found).is_empty()


@pytest.mark.parametrize("hourly", [False, True])
def test_columns_agree_as_the_validator_asks(books: Books, hourly: bool) -> None:
    """SkuPriceDetails only beside a SkuPriceId, one SKU a price, every billing account named, both currencies alike."""
    calls = month(days=3)
    books.read("calls.jsonl", *(call.logged() for call in calls[:12]))
    books.read("costs.jsonl", Bill(charged(calls[12:])).costs_page())
    found = rows_of(books, "Asia/Tokyo", hourly=hourly)
    assert found["ContractedCost"].sum() == spent(books) == Bill(charged(calls)).total()
    priced = found.filter(pl.col("SkuPriceId").is_not_null())
    assert 0 < priced.height < found.height
    assert found.filter(pl.col("SkuPriceId").is_null())["SkuPriceDetails"].null_count() == found.height - priced.height
    assert priced.group_by("SkuPriceId").agg(pl.col("SkuId").n_unique())["SkuId"].max() == 1
    assert found["BillingAccountName"].null_count() == 0
    assert found["PricingCurrencyEffectiveCost"].equals(found["EffectiveCost"])
    assert found["PricingCurrencyListUnitPrice"].equals(found["ListUnitPrice"])
