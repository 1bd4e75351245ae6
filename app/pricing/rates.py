"""The vocabulary of prices: rate classes, units, their columns, and one compiled row of the wide dated table.

A rate is a Decimal of pico-USD per token (or per unit): $1 per million tokens is 1,000,000. None is unknown, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from app.core.usage import TOKEN_CLASSES

TOKEN_RATES: Final = tuple(f"r_{name.removeprefix('tok_')}" for name in TOKEN_CLASSES)
UNITS: Final = (
    "web_search",
    "storage_search",
    "code_execution",
    "rerank",
    "second",
    "page",
    "character",
    "image",
    "cache_storage",
    "call",
)
"""Names in the `units` of a request that can carry a fee; `call` is the fee of a provider call itself, and one of
`cache_storage` is a million tokens of an explicit cache kept for an hour."""
UNIT_RATES: Final = (*(f"r_{name}" for name in UNITS if name != "call"), "r_request")
RATE_COLUMNS: Final = TOKEN_RATES + UNIT_RATES

FOREVER_US: Final = 9_000_000_000_000_000_000
NO_LIMIT: Final = 9_000_000_000_000_000_000
DAY_US: Final = 86_400_000_000
MINUTES_A_DAY: Final = 1440

PUSD_PER_USD_PER_MTOK: Final = 1_000_000
QUANTUM: Final = Decimal("0.000001")

PRICED_CLASSES: Final = (
    "input",
    "cache_read",
    "cache_write",
    "cache_write_5m",
    "cache_write_30m",
    "cache_write_1h",
    "cache_write_12h",
    "input_audio",
    "cache_read_audio",
    "input_image",
    "output",
    "reasoning",
    "output_audio",
    "output_image",
)
"""Classes a price list may name, in USD per million tokens. `cache_write` is the write of the shortest lifetime."""
FEES: Final = (*(name for name in UNITS if name != "call"), "request")
"""Fees a price list may name, in USD each."""

Steps = tuple[tuple[int, Decimal], ...]
"""Rates by prompt length: (`tokens above which it holds`, rate), ascending; the first holds from -1 upwards."""
Prices = dict[str, Steps]
"""Rates of one moment by class or fee."""


def per_mtok(usd: Decimal) -> Decimal:
    """Pico-USD per token of a price in USD per million tokens."""
    return usd * PUSD_PER_USD_PER_MTOK


def per_unit(usd: Decimal) -> Decimal:
    """Pico-USD per unit of a price in USD each."""
    return usd * 10**12


def at_prompt(steps: Steps, prompt_above: int) -> Decimal:
    """The rate for prompts just longer than `prompt_above` tokens."""
    rate = steps[0][1]
    for above, value in steps:
        if above <= prompt_above:
            rate = value
    return rate


@dataclass(frozen=True, slots=True)
class RateRow:
    """One row of the compiled table: what a token of each class costs in one context, time and prompt length.

    Half-open in time (`valid_from_us`, `valid_to_us`) and in minutes of the UTC day; weekdays are inclusive, 0 is
    Monday; a prompt (all input classes, cached ones too) of n tokens matches where `tier_gt < n <= tier_le`.
    """

    rate_key: int
    price_row: str
    provider: str
    price_model: str
    ctx: str
    valid_from_us: int
    valid_to_us: int
    minute_from: int
    minute_to: int
    weekday_from: int
    weekday_to: int
    tier_gt: int
    tier_le: int
    rates: dict[str, Decimal | None]
    source: str
    status: str

    def holds(self, at_us: int, prompt_tokens: int) -> bool:
        """Whether this row prices a request that started at `at_us` with so many prompt tokens."""
        minute = at_us // 60_000_000 % MINUTES_A_DAY
        weekday = (at_us // DAY_US + 3) % 7
        return (
            self.valid_from_us <= at_us < self.valid_to_us
            and self.minute_from <= minute < self.minute_to
            and self.weekday_from <= weekday <= self.weekday_to
            and self.tier_gt < prompt_tokens <= self.tier_le
        )
