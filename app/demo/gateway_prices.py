"""What the demo company's gateway believes its models cost: the `spend` column of its log."""

from __future__ import annotations

import csv
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def _rates() -> dict[str, tuple[Decimal, Decimal, Decimal]]:
    text = files("app.demo").joinpath("gateway_prices.csv").read_text(encoding="utf-8")
    return {
        row["model"]: (
            Decimal(row["input_usd_per_mtok"]),
            Decimal(row["cache_read_usd_per_mtok"]),
            Decimal(row["output_usd_per_mtok"]),
        )
        for row in csv.DictReader(text.splitlines())
    }


def spend(model: str, usage: Mapping[str, Any]) -> float:
    """Dollars of a call, as the gateway writes them: it writes 0.0 for a model that it does not know."""
    rates = _rates().get(model)
    if rates is None:
        return 0.0
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    cost = (usage["prompt_tokens"] - cached) * rates[0] + cached * rates[1] + usage["completion_tokens"] * rates[2]
    return float(cost / 1_000_000)
