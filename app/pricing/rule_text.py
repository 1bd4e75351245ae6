"""A `set` rule as one line of a price file, the way people write them: read back, it is the same rule."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from app.pricing.rates import DAY_US, FEES, FOREVER_US, PUSD_PER_USD_PER_MTOK

if TYPE_CHECKING:
    from decimal import Decimal

    from app.pricing.rates import Prices

_PLAIN_MARKS = ":/ *?[]{}#,&!|>'\"%@`"


def line(
    provider: str,
    model: str,
    prices: Prices,
    *,
    ctx: str = "",
    from_us: int | None = None,
    to_us: int = FOREVER_US,
    status: str = "",
    source: str = "",
) -> str:
    """`  - {provider: x, model: y, input: 3, ...}`; prices in USD per million tokens, fees in USD each."""
    words = {"provider": provider, "model": model}
    if ctx:
        words["ctx"] = ctx
    if from_us:
        words["from"] = moment(from_us)
    if to_us < FOREVER_US:
        words["to"] = moment(to_us)
    parts = [f"{key}: {_scalar(value)}" for key, value in words.items()]
    parts += [f"{name}: {usd(name, steps[0][1])}" for name, steps in prices.items()]
    if tiers := _tiers(prices):
        parts.append(f"tiers: [{tiers}]")
    parts += [f"{key}: {_scalar(value)}" for key, value in (("status", status), ("source", source)) if value]
    return f"  - {{{', '.join(parts)}}}"


def _tiers(prices: Prices) -> str:
    edges = sorted({above for steps in prices.values() for above, _ in steps if above >= 0})
    texts = []
    for edge in edges:
        at = {name: rate for name, steps in prices.items() for above, rate in steps if above == edge}
        texts.append(f"{{above: {edge}, {', '.join(f'{name}: {usd(name, rate)}' for name, rate in at.items())}}}")
    return ", ".join(texts)


def moment(at_us: int) -> str:
    """A day or a time as a price file writes it."""
    form = "%Y-%m-%d" if at_us % DAY_US == 0 else "%Y-%m-%dT%H:%M:%SZ"
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).strftime(form)


def usd(name: str, rate: Decimal) -> str:
    """A rate as its price list writes it: USD per million tokens, or USD each for a fee."""
    return plain(rate / (10**12 if name in FEES else PUSD_PER_USD_PER_MTOK))


def plain(number: Decimal) -> str:
    """A number without an exponent and without trailing zeros; at most twelve digits after those that count."""
    if number == 0:
        return "0"
    rounded = round(number, max(0, 12 - number.adjusted()))
    text = format(rounded, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scalar(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if any(mark in text for mark in _PLAIN_MARKS) else text
