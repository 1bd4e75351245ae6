"""Price rows for readers: `halve prices show MODEL` and the Prices page. Every dated row and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from app.core.errors import NotFoundError
from app.core.money import usd_text
from app.pricing.context import parse, selectors
from app.pricing.rates import FEES, FOREVER_US, MINUTES_A_DAY, NO_LIMIT
from app.pricing.rows import DAY_NAMES, clock

if TYPE_CHECKING:
    from decimal import Decimal

    from app.pricing.book import PriceBook
    from app.pricing.rates import RateRow

_PARENTS: Final = {
    "cache_write_30m": ("cache_write_5m",),
    "cache_write_12h": ("input",),
    "input_audio": ("input",),
    "cache_read_audio": ("cache_read",),
    "input_image": ("input",),
    "output_audio": ("output",),
    "output_image": ("output",),
}
"""Classes that few models price otherwise than the class they belong to."""
SHOWN = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning")


@dataclass(frozen=True, slots=True)
class PriceLine:
    """One row for the reader: USD per million tokens as exact text, None where unknown; times as ISO text."""

    price_row: str
    provider: str
    model: str
    context: str
    valid_from: str | None
    valid_to: str | None
    prompt_above: int | None
    prompt_upto: int | None
    hours: str
    usd_per_mtok: dict[str, str | None]
    web_search_usd: str | None
    fees_usd: dict[str, str]
    source: str
    status: str


def search(book: PriceBook, text: str, *, most: int) -> list[tuple[str, str]]:
    """Priced models (provider, name) whose `provider/name` holds every word of `text`, the closest first, then sorted.

    A name as logs write it (`azure/gpt-4o`, an ARN) finds its model even where no name holds it.
    """
    wanted = text.strip().lower()
    words = wanted.replace("/", " / ").split()
    found = [key for key in book.models() if all(word in f"{key[0]}/{key[1]}".lower() for word in words)]
    found.sort(key=lambda key: (wanted not in (key[1].lower(), f"{key[0]}/{key[1]}".lower()), len(key[1]), key))
    match = book.matcher.find(None, wanted) if wanted else None
    if match is not None and (meant := (match.price_provider, match.price_model)) not in found[:most]:
        found.insert(0, meant)
    return found[:most]


def lines_of(book: PriceBook, provider: str, model: str) -> list[PriceLine]:
    """Every row of a model under the name that prices it; empty where there is none."""
    return [_line(row) for row in book.rows_of(provider, model)]


def current(book: PriceBook, provider: str | None, model: str, at_us: int) -> list[PriceLine]:
    """The standard rows of a model (own terms included) that hold at a moment, by hour and prompt length."""
    rows = [row for row in book.rows_of(provider, model) if row.valid_from_us <= at_us < row.valid_to_us]
    return [_line(row) for row in rows if not selectors(parse(row.ctx)) and not _placed(row)]


def _placed(row: RateRow) -> bool:
    return any(name in parse(row.ctx) for name in ("geo", "region", "deployment"))


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


def _line(row: RateRow) -> PriceLine:
    search = row.rates["r_web_search"]
    return PriceLine(
        price_row=row.price_row,
        provider=row.provider,
        model=row.price_model,
        context=row.ctx or "standard",
        valid_from=None if row.valid_from_us <= 0 else _iso(row.valid_from_us),
        valid_to=None if row.valid_to_us >= FOREVER_US else _iso(row.valid_to_us),
        prompt_above=None if row.tier_gt < 0 else row.tier_gt,
        prompt_upto=None if row.tier_le >= NO_LIMIT else row.tier_le,
        hours=_hours(row),
        usd_per_mtok=_rates_of(row),
        web_search_usd=None if search is None else usd_text(int(search)),
        fees_usd={name: str(usd_text(int(rate))) for name in FEES if (rate := row.rates[f"r_{name}"]) is not None},
        source=row.source,
        status=row.status,
    )


def _rates_of(row: RateRow) -> dict[str, str | None]:
    """The classes that everybody asks for, then those that the row prices otherwise than their parent class."""
    rates = {name: _per_mtok(row.rates[f"r_{name}"]) for name in SHOWN}
    for name, parents in _PARENTS.items():
        rate = row.rates[f"r_{name}"]
        if rate is not None and rate not in [row.rates[f"r_{parent}"] for parent in parents]:
            rates[name] = _per_mtok(rate)
    return rates


def _hours(row: RateRow) -> str:
    """Weekdays and hours (UTC) of a row; empty where it holds at any time."""
    words = []
    if (row.weekday_from, row.weekday_to) != (0, 6):
        words.append(f"{DAY_NAMES[row.weekday_from]} to {DAY_NAMES[row.weekday_to]}")
    if (row.minute_from, row.minute_to) != (0, MINUTES_A_DAY):
        words.append(f"{clock(row.minute_from)} to {clock(row.minute_to)}")
    return ", ".join(words)


def _per_mtok(rate: Decimal | None) -> str | None:
    if rate is None:
        return None
    text = format(rate / 1_000_000, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _iso(at_us: int) -> str:
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
