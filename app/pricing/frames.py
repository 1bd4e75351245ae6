"""Price rows and resolved names as Polars frames: the shapes that the warehouse takes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.pricing.rates import RATE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.pricing.rates import RateRow

PAIR_COLUMNS: Final = ("provider", "model", "service_tier", "is_batch", "region", "price_context", "account")
"""What a request must say to be priced; `price_context` is the JSON object of the fact table."""

RATES_SCHEMA: Final[dict[str, Any]] = {
    "rate_key": pl.Int64,
    "price_row": pl.String,
    "provider": pl.String,
    "price_model": pl.String,
    "ctx": pl.String,
    "valid_from_us": pl.Int64,
    "valid_to_us": pl.Int64,
    "minute_from": pl.Int32,
    "minute_to": pl.Int32,
    "weekday_from": pl.Int32,
    "weekday_to": pl.Int32,
    "tier_gt": pl.Int64,
    "tier_le": pl.Int64,
    **dict.fromkeys(RATE_COLUMNS, pl.Decimal(24, 6)),
    "source": pl.String,
    "status": pl.String,
}

ALIAS_SCHEMA: Final[dict[str, Any]] = {
    **dict.fromkeys(("provider", "model", "service_tier"), pl.String),
    "is_batch": pl.Boolean,
    **dict.fromkeys(("region", "price_context", "account"), pl.String),
    "provider_id": pl.String,
    "model_id": pl.String,
    "price_provider": pl.String,
    "price_model": pl.String,
    "ctx": pl.String,
    "rate_key": pl.Int64,
    "list_key": pl.Int64,
    "own": pl.Boolean,
    "rule": pl.String,
    "any_us": pl.Int64,
    "any_prompt": pl.Int64,
}


def rates_frame(rows: Iterable[RateRow]) -> pl.DataFrame:
    """Rate rows as a frame with the columns of `RATES_SCHEMA`."""
    return pl.DataFrame(
        [
            (
                row.rate_key,
                row.price_row,
                row.provider,
                row.price_model,
                row.ctx,
                row.valid_from_us,
                row.valid_to_us,
                row.minute_from,
                row.minute_to,
                row.weekday_from,
                row.weekday_to,
                row.tier_gt,
                row.tier_le,
                *(row.rates[name] for name in RATE_COLUMNS),
                row.source,
                row.status,
            )
            for row in rows
        ],
        schema=RATES_SCHEMA,
        orient="row",
    )
