"""What a job will cost before it runs, at batch and at real-time prices, with the error of the estimate stated.

Prompt tokens are estimated from bytes, answers from the caps that requests carry. A model without a price, or an
answer without a cap, stays unknown: it is named and never counted as 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Any, Final, Protocol

from app.core.money import usd_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.batch.provider import Provider
    from app.pricing.book import Rate

BYTES_A_TOKEN_RANGE: Final = (Decimal("5.5"), Decimal(4), Decimal("2.5"))
"""Bytes of a prompt a token: long words of plain English, the middle, dense code, JSON or other scripts."""
ERROR_NOTE: Final = (
    "Prompt tokens are estimated from bytes: the true number lies between 0.7 and 1.6 times it. "
    "Answers are counted at their caps, which most of them do not reach; cached prompts cost less."
)


class Prices(Protocol):
    """The part of the price book that an estimate asks."""

    def rate(
        self, provider: str | None, model_id: str, *, at_us: int, ctx: str = ..., prompt_tokens: int = ...
    ) -> Rate | None: ...


@dataclass(slots=True)
class Volume:
    """How much of one model a job asks for. `capped` counts the items whose answers have a cap."""

    model: str
    endpoint: str
    items: int = 0
    prompt_bytes: int = 0
    output_cap: int = 0
    capped: int = 0

    def add(self, prompt_bytes: int, max_output: int | None) -> None:
        """Count one request."""
        self.items += 1
        self.prompt_bytes += prompt_bytes
        if max_output is not None:
            self.output_cap += max_output
            self.capped += 1


@dataclass(frozen=True, slots=True)
class Line:
    """The estimate of one model; money in pico-USD, None where unknown. `low` and `high` bound the prompt's cost."""

    model: str
    items: int
    tokens_in: int
    tokens_out_cap: int | None
    batch_input_pusd: int | None
    batch_low_pusd: int | None
    batch_high_pusd: int | None
    batch_output_cap_pusd: int | None
    realtime_input_pusd: int | None
    realtime_output_cap_pusd: int | None
    price_row: str | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a job will cost. `unpriced` names the models without a batch price."""

    lines: tuple[Line, ...]
    unpriced: tuple[str, ...] = field(default=())

    def document(self) -> dict[str, Any]:
        """The estimate as it is kept and shown: money as decimal USD text, None where any of it is unknown."""
        return {
            "tokens_in": sum(line.tokens_in for line in self.lines),
            "tokens_out_cap": _total(line.tokens_out_cap for line in self.lines),
            "batch_input_usd": usd_text(_total(line.batch_input_pusd for line in self.lines)),
            "batch_input_low_usd": usd_text(_total(line.batch_low_pusd for line in self.lines)),
            "batch_input_high_usd": usd_text(_total(line.batch_high_pusd for line in self.lines)),
            "batch_output_cap_usd": usd_text(_total(line.batch_output_cap_pusd for line in self.lines)),
            "realtime_input_usd": usd_text(_total(line.realtime_input_pusd for line in self.lines)),
            "realtime_output_cap_usd": usd_text(_total(line.realtime_output_cap_pusd for line in self.lines)),
            "unpriced": list(self.unpriced),
            "note": ERROR_NOTE,
            "models": [
                {
                    "model": line.model,
                    "items": line.items,
                    "tokens_in": line.tokens_in,
                    "tokens_out_cap": line.tokens_out_cap,
                    "batch_input_usd": usd_text(line.batch_input_pusd),
                    "batch_output_cap_usd": usd_text(line.batch_output_cap_pusd),
                    "realtime_input_usd": usd_text(line.realtime_input_pusd),
                    "realtime_output_cap_usd": usd_text(line.realtime_output_cap_pusd),
                    "price_row": line.price_row,
                }
                for line in self.lines
            ],
        }


def estimate(
    provider: Provider, base_url: str | None, volumes: Sequence[Volume], prices: Prices | None, at_us: int
) -> Estimate:
    """What these volumes cost with a provider at a time. Another address is priced by its models' names alone."""
    seller = None if base_url is not None or provider.default_host is None else provider.name
    lines = [_line(seller, volume, prices, at_us) for volume in sorted(volumes, key=lambda one: one.model)]
    return Estimate(tuple(lines), tuple(sorted({line.model for line in lines if line.batch_input_pusd is None})))


def _line(seller: str | None, volume: Volume, prices: Prices | None, at_us: int) -> Line:
    low, middle, high = (int(volume.prompt_bytes / per_token) for per_token in BYTES_A_TOKEN_RANGE)
    each = middle // max(1, volume.items)
    batch = realtime = None
    if prices is not None:
        batch = prices.rate(seller, volume.model, at_us=at_us, ctx="batch", prompt_tokens=each)
        realtime = prices.rate(seller, volume.model, at_us=at_us, prompt_tokens=each)
    cap = volume.output_cap if volume.capped == volume.items else None
    return Line(
        model=volume.model,
        items=volume.items,
        tokens_in=middle,
        tokens_out_cap=cap,
        batch_input_pusd=_cost(batch, "r_input", middle),
        batch_low_pusd=_cost(batch, "r_input", low),
        batch_high_pusd=_cost(batch, "r_input", high),
        batch_output_cap_pusd=_cost(batch, "r_output", cap),
        realtime_input_pusd=_cost(realtime, "r_input", middle),
        realtime_output_cap_pusd=_cost(realtime, "r_output", cap),
        price_row=None if batch is None else batch.price_row,
    )


def _cost(rate: Rate | None, column: str, tokens: int | None) -> int | None:
    if tokens == 0:
        return 0
    each = None if rate is None else rate.rates[column]
    if each is None or tokens is None:
        return None
    return int((each * tokens).to_integral_value(rounding=ROUND_HALF_EVEN))


def _total(values: Any) -> int | None:
    """The sum; None as soon as one is unknown."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total
