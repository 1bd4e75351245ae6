"""`halve prices show MODEL`: every dated row of a model, where it comes from, and what waits to be confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING

from app.core.errors import NotFoundError
from app.core.money import usd_text
from app.pricing.rates import FOREVER_US, NO_LIMIT

if TYPE_CHECKING:
    from decimal import Decimal

    from app.pricing.book import PriceBook
    from app.pricing.rates import RateRow

SHOWN = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning")


@dataclass(frozen=True, slots=True)
class PriceLine:
    """One row for the reader: USD per million tokens as exact text, None where unknown; times as ISO text."""

    price_row: str
    context: str
    valid_from: str | None
    valid_to: str | None
    prompt_above: int | None
    prompt_upto: int | None
    usd_per_mtok: dict[str, str | None]
    web_search_usd: str | None
    source: str
    status: str


def show(book: PriceBook, model: str, provider: str | None = None) -> list[PriceLine]:
    """The rows of a model by any name that logs use (`gpt-4o-2024-08-06`, `anthropic/claude-opus-5`, an ARN).

    Raises:
        NotFoundError: no price for that name; says which names are close.
    """
    rows = book.rows_of(provider, model)
    if not rows:
        near = get_close_matches(model.lower().rpartition("/")[2], book.model_names(), n=4, cutoff=0.6)
        hint = f" Close names: {', '.join(near)}." if near else ""
        raise NotFoundError(
            f"No price for {model!r}. Requests with that name are counted as unpriced.{hint} "
            "Name the provider as well (provider/model), or give its rates with --prices FILE."
        )
    return [_line(row) for row in rows]


def table(lines: list[PriceLine]) -> str:
    """The lines as plain text, USD per million tokens."""
    heading = ["price row", *(name.replace("_", " ") for name in SHOWN), "status", "source"]
    cells = [
        [line.price_row, *(line.usd_per_mtok[name] or "-" for name in SHOWN), line.status, line.source]
        for line in lines
    ]
    widths = [max(len(row[column]) for row in [heading, *cells]) for column in range(len(heading))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in [heading, *cells]
    )


def _line(row: RateRow) -> PriceLine:
    search = row.rates["r_web_search"]
    return PriceLine(
        price_row=row.price_row,
        context=row.ctx or "standard",
        valid_from=None if row.valid_from_us <= 0 else _iso(row.valid_from_us),
        valid_to=None if row.valid_to_us >= FOREVER_US else _iso(row.valid_to_us),
        prompt_above=None if row.tier_gt < 0 else row.tier_gt,
        prompt_upto=None if row.tier_le >= NO_LIMIT else row.tier_le,
        usd_per_mtok={name: _per_mtok(row.rates[f"r_{name}"]) for name in SHOWN},
        web_search_usd=None if search is None else usd_text(int(search)),
        source=row.source,
        status=row.status,
    )


def _per_mtok(rate: Decimal | None) -> str | None:
    if rate is None:
        return None
    text = format(rate / 1_000_000, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _iso(at_us: int) -> str:
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
