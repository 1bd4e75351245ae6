"""The one place where a dollar is subtracted: what cells cost before and after a coalition of levers.

after = share x (other + (cost - other) x book(after) / book(before)): the book prices both sides with the same rates,
so a negotiated discount or a rounding inside `cost` carries over, and an unchanged cell costs exactly what was paid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from app.core.usage import INPUT_CLASSES, TOKEN_CLASSES

if TYPE_CHECKING:
    from app.plan.rates import Lookup

KEY: Final = (
    "provider",
    "model_id",
    "rate_us",
    "is_batch",
    "service_tier",
    "region",
    "price_context",
    "account",
    "rate_prompt",
)
_CUTS: Final = (32_000, 100_000, 128_000, 200_000, 272_000)
_REPRESENTATIVES: Final = (16_000, 64_000, 114_000, 164_000, 236_000, 300_000)
_RATES: Final = tuple(f"rate_{name}" for name in TOKEN_CLASSES)


def book_value(cells: pl.DataFrame, lookup: Lookup) -> pl.DataFrame:
    """Adds `book_pusd`, the list value of the cells' tokens (null where a class has no rate), `rate_row` and the rates.

    Rates are taken at the first request of the day and model, and at a prompt length typical of the cell's size class.
    """
    keyed = cells.with_columns(
        rate_us=pl.col("at_us").min().over("day", "provider", "model_id"),
        rate_prompt=_size(),
    )
    distinct = keyed.select(KEY).unique(maintain_order=True)
    found = [
        lookup.rates(
            row["provider"],
            row["model_id"],
            at_us=row["rate_us"],
            is_batch=row["is_batch"],
            service_tier=row["service_tier"],
            region=row["region"],
            price_context=row["price_context"],
            account=row["account"],
            prompt_tokens=row["rate_prompt"],
        )
        for row in distinct.iter_rows(named=True)
    ]
    rates = distinct.with_columns(
        rate_row=pl.Series([None if item is None else item[0] for item in found], dtype=pl.String),
        **{
            column: pl.Series([None if item is None else item[1][place] for item in found], dtype=pl.Float64)
            for place, column in enumerate(_RATES)
        },
    )
    priced = keyed.join(rates, on=list(KEY), how="left", nulls_equal=True, maintain_order="left")
    parts = [
        pl.when(pl.col(name) > 0).then(pl.col(name) * pl.col(f"rate_{name}")).otherwise(0.0) for name in TOKEN_CLASSES
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return priced.with_columns(book_pusd=pl.when(pl.col("rate_row").is_not_null()).then(total))


def _size() -> pl.Expr:
    prompt = pl.sum_horizontal(INPUT_CLASSES) / pl.col("requests")
    place = pl.sum_horizontal([(prompt > cut).cast(pl.Int64) for cut in _CUTS])
    return place.replace_strict(dict(enumerate(_REPRESENTATIVES)), return_dtype=pl.Int64)


def after_pusd(before: pl.DataFrame, after: pl.DataFrame, lookup: Lookup) -> pl.Series:
    """What each cell would cost after: Float64 pico-USD, never negative, in the order of `before`.

    `before` carries `book_pusd`. A cell that cannot be priced on both sides keeps its cost: nothing is claimed for it.
    """
    priced = book_value(after, lookup)
    frame = pl.DataFrame(
        {
            "cost": before["cost_pusd"].cast(pl.Float64),
            "other": before["other_pusd"],
            "was": before["book_pusd"],
            "is": priced["book_pusd"],
            "share": priced["share"],
        }
    )
    ratio = pl.when((pl.col("was") > 0) & pl.col("is").is_not_null()).then(pl.col("is") / pl.col("was")).otherwise(1.0)
    value = pl.col("share") * (pl.col("other") + (pl.col("cost") - pl.col("other")) * ratio)
    return frame.select(pl.max_horizontal(value, pl.lit(0.0)).alias("after"))["after"]
