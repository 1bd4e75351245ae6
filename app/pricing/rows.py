"""From the prices of one span of time to rate rows: one a price step, fallbacks resolved, with a readable name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from app.core.hashing import hash64
from app.pricing.rates import (
    DAY_US,
    MINUTES_A_DAY,
    NO_LIMIT,
    QUANTUM,
    RATE_COLUMNS,
    TOKEN_RATES,
    Prices,
    RateRow,
    at_prompt,
)

if TYPE_CHECKING:
    from decimal import Decimal

DAY_NAMES: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class Moment:
    """Rates of one moment with the texts of everything that had a say in them."""

    prices: Prices
    sources: tuple[str, ...]
    status: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One moment that holds for some weekdays (inclusive, Monday 0) and minutes (half-open) of the UTC day."""

    weekday_from: int
    weekday_to: int
    minute_from: int
    minute_to: int
    moment: Moment


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of time in which the same cells repeat."""

    from_us: int
    to_us: int
    cells: tuple[Cell, ...]


def rate_key(provider: str, model: str, ctx: str) -> int:
    """The join key of all rows of one model in one context."""
    return hash64(f"{provider}\x00{model}\x00{ctx}".encode())


def tier_rows(provider: str, model: str, ctx: str, key: int, span: Span, cell: Cell) -> list[RateRow]:
    """The rows of one cell: one for each range of prompt lengths, none for ranges without any price."""
    edges = sorted({above for steps in cell.moment.prices.values() for above, _ in steps if above > -1})
    rows: list[RateRow] = []
    for above, upto in zip([-1, *edges], [*edges, NO_LIMIT], strict=True):
        rates = resolved({name: at_prompt(steps, above) for name, steps in cell.moment.prices.items()})
        if all(rate is None for rate in rates.values()):
            continue
        rows.append(
            RateRow(
                rate_key=key,
                price_row=_name(provider, model, ctx, span, cell, above),
                provider=provider,
                price_model=model,
                ctx=ctx,
                valid_from_us=span.from_us,
                valid_to_us=span.to_us,
                minute_from=cell.minute_from,
                minute_to=cell.minute_to,
                weekday_from=cell.weekday_from,
                weekday_to=cell.weekday_to,
                tier_gt=above,
                tier_le=upto,
                rates=rates,
                source="; ".join(cell.moment.sources),
                status=cell.moment.status,
            )
        )
    return rows


def resolved(prices: dict[str, Decimal]) -> dict[str, Decimal | None]:
    """One rate a column: sub-classes without a price of their own are billed as the class that contains them.

    A cache write is billed as input only where the model has no write price at all; a longer lifetime never borrows
    the price of a shorter one, except the 30-minute write, which is the only one its provider sells.
    """
    written = prices.get("cache_write", prices.get("cache_write_5m"))
    has_writes = written is not None or any(f"cache_write_{ttl}" in prices for ttl in ("30m", "1h", "12h"))
    as_input = None if has_writes else prices.get("input")
    read = prices.get("cache_read", prices.get("input"))
    audio = prices.get("input_audio", prices.get("input"))
    output = prices.get("output")
    by_class: dict[str, Decimal | None] = {
        "input": prices.get("input"),
        "cache_read": read,
        "cache_write_5m": prices.get("cache_write_5m", written if has_writes else as_input),
        "cache_write_30m": prices.get("cache_write_30m", written if has_writes else as_input),
        "cache_write_1h": prices.get("cache_write_1h", as_input),
        "cache_write_12h": prices.get("cache_write_12h", as_input),
        "input_audio": audio,
        "cache_read_audio": prices.get("cache_read_audio", prices.get("cache_read", audio)),
        "input_image": prices.get("input_image", prices.get("input")),
        "output": output,
        "reasoning": prices.get("reasoning", output),
        "output_audio": prices.get("output_audio", output),
        "output_image": prices.get("output_image", output),
    }
    rates = {column: by_class[column.removeprefix("r_")] for column in TOKEN_RATES}
    rates.update({column: prices.get(column.removeprefix("r_")) for column in RATE_COLUMNS if column not in rates})
    return {name: None if rate is None else rate.quantize(QUANTUM) for name, rate in rates.items()}


def _name(provider: str, model: str, ctx: str, span: Span, cell: Cell, above: int) -> str:
    """Readable identity: `anthropic/claude-sonnet-4-6@2026-03-13 batch >200000`."""
    words = [f"{provider}/{model}@{_stamp(span.from_us)}", ctx or "standard"]
    if (cell.weekday_from, cell.weekday_to) != (0, 6):
        words.append(f"{DAY_NAMES[cell.weekday_from]}-{DAY_NAMES[cell.weekday_to]}")
    if (cell.minute_from, cell.minute_to) != (0, MINUTES_A_DAY):
        words.append(f"{clock(cell.minute_from)}-{clock(cell.minute_to)}Z")
    if above > -1:
        words.append(f">{above}")
    return " ".join(words)


def clock(minute: int) -> str:
    """A minute of the day as `06:30`."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _stamp(at_us: int) -> str:
    if at_us <= 0:
        return "start"
    moment = datetime.fromtimestamp(at_us // 1_000_000, UTC)
    return moment.strftime("%Y-%m-%d" if at_us % DAY_US == 0 else "%Y-%m-%dT%H:%MZ")
