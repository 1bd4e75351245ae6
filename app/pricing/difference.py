"""What a price table of somebody else would change in the book: added, changed, equal, held back with the reason.

A rate is compared with the rate that the book gives for the same name, context, time and prompt length, fallbacks
resolved, so a table that spells out what the book infers is no difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Final, Literal

from app.pricing import context as ctx_of
from app.pricing.rates import FEES, FOREVER_US, MINUTES_A_DAY, PRICED_CLASSES, PUSD_PER_USD_PER_MTOK, at_prompt
from app.pricing.tables.table import CHEAPEST_USD_PER_MTOK, DEAREST_USD_PER_MTOK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from app.pricing.book import PriceBook
    from app.pricing.match import Match
    from app.pricing.rates import RateRow
    from app.pricing.tables.table import PriceTable, TableRow

Kind = Literal["added", "changed", "same", "held"]
ORDERS_OF_MAGNITUDE: Final = 100
"""A rate that moved by this factor is a mistake of unit until somebody says otherwise."""
_EXACT: Final = Decimal("0.000001")
_DIGITS: Final = 3
_ROUNDING: Final = Decimal("1e-9")
"""Lists write thirds of a cent with as many digits as they like."""


@dataclass(frozen=True, slots=True)
class RateChange:
    """One class for prompts above so many tokens: pico-USD per token or unit; `old` None is unknown to the book."""

    name: str
    above: int
    old: Decimal | None
    new: Decimal


@dataclass(frozen=True, slots=True)
class Item:
    """One row of the table against the book: `changes` are the rates that differ, `reason` says why it is held back."""

    kind: Kind
    row: TableRow
    match: Match | None
    changes: tuple[RateChange, ...]
    price_row: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything a table says against a book; `removed` are models of its providers that it no longer names."""

    table: PriceTable
    items: tuple[Item, ...]
    removed: tuple[str, ...]

    def of(self, kind: Kind) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.kind == kind)


def compare(book: PriceBook, table: PriceTable, wanted: Callable[[TableRow], bool] = lambda _row: True) -> Difference:
    """Each wanted row of a table against the list prices of the book."""
    rows = [row for row in table.rows if wanted(row)]
    items = tuple(_item(book, row, table.as_of_us) for row in rows)
    return Difference(table, items, _removed(book, items) if table.whole else ())


def _item(book: PriceBook, row: TableRow, as_of_us: int) -> Item:
    match, known = book.listed(row.provider, row.model, row.ctx)
    at_us = moment_of(row, as_of_us)
    current = [one for one in known if one.valid_from_us <= at_us < one.valid_to_us]
    by_hour = any(
        (one.minute_from, one.minute_to, one.weekday_from, one.weekday_to) != (0, MINUTES_A_DAY, 0, 6)
        for one in current
    )
    changes = changed_rates(row, current)
    price_row = current[0].price_row if current else None
    if reason := _wrong_unit(row, changes):
        return Item("held", row, match, changes, price_row, reason)
    if not changes:
        return Item("same", row, match, (), price_row)
    if by_hour:
        return Item(
            "held", row, match, changes, price_row, "the book's price depends on the hour, the table's does not"
        )
    if not any(rate for steps in row.prices.values() for _, rate in steps):
        return Item(
            "held", row, match, changes, price_row, "a price of zero: say so in your own price file if it is free"
        )
    return Item("changed" if current else "added", row, match, changes, price_row)


def moment_of(row: TableRow, as_of_us: int) -> int:
    """The moment at which a row is compared: its beginning where it has ended, else the day of the table."""
    if row.to_us < FOREVER_US:
        return row.from_us if row.from_us is not None else row.to_us - 1
    return max(row.from_us or 0, as_of_us)


def changed_rates(row: TableRow, current: Sequence[RateRow]) -> tuple[RateChange, ...]:
    """The rates of a row that no current row of the book agrees with.

    Lengths are compared one token past both sides' boundaries, because lists write the same boundary as 199,999 or
    200,000.
    """
    edges = {-1, *(above for steps in row.prices.values() for above, _ in steps)}
    edges |= {one.tier_gt for one in current}
    changes: list[RateChange] = []
    for name, steps in row.prices.items():
        for above in sorted(edges):
            new = at_prompt(steps, above if above < 0 else above + 1).quantize(_EXACT)
            there = [one for one in current if one.tier_gt < max(above + 2, 0) <= one.tier_le]
            olds = [old for one in there for old in _rates(one, name)]
            if any(_equal(old, new) for old in olds) or (not olds and (not new or _repeated(changes, name, new))):
                continue
            changes.append(RateChange(name, above, olds[0] if olds else None, new))
    return tuple(changes)


def _repeated(changes: Sequence[RateChange], name: str, new: Decimal) -> bool:
    """Whether the change before says the same of this class: a longer prompt adds nothing."""
    return bool(changes) and (changes[-1].name, changes[-1].new) == (name, new)


def _equal(old: Decimal, new: Decimal) -> bool:
    """Whether two lists mean the same rate: equal, or written with fewer digits (0.1375 as 0.138), three at least."""
    digits = len(new.normalize().as_tuple().digits)
    if abs(old - new) <= max(old, new) * _ROUNDING:
        return True
    if digits < _DIGITS or not old:
        return False
    unit = Decimal(1).scaleb(new.adjusted() - digits + 1)
    return any(old.quantize(unit, rounding=way) == new for way in (ROUND_HALF_UP, ROUND_HALF_EVEN))


def _rates(row: RateRow, name: str) -> list[Decimal]:
    """The book's rate of a class; a write of the shortest lifetime has several columns."""
    columns = ("r_cache_write_5m", "r_cache_write_30m") if name == "cache_write" else (f"r_{name}",)
    return [rate for column in columns if (rate := row.rates[column]) is not None]


def _wrong_unit(row: TableRow, changes: Iterable[RateChange]) -> str:
    for name, steps in row.prices.items():
        for _, rate in steps if name in PRICED_CLASSES else ():
            usd = rate / PUSD_PER_USD_PER_MTOK
            if usd > DEAREST_USD_PER_MTOK:
                return (
                    f"{name} would cost {plain(usd)} USD per million tokens: a price per million in a field per token?"
                )
            if 0 < usd < CHEAPEST_USD_PER_MTOK:
                return (
                    f"{name} would cost {plain(usd)} USD per million tokens: a price per token in a field per million?"
                )
    for change in changes:
        if change.old and change.new and not _near(change.new / change.old):
            times = change.new / change.old
            shown = f"{plain(round(times, 1))} times" if times > 1 else f"1/{plain(round(1 / times, 1))} of"
            return f"{change.name} would be {shown} the known rate: wrong by a unit?"
    return ""


def _near(ratio: Decimal) -> bool:
    return Decimal(1) / ORDERS_OF_MAGNITUDE < ratio < ORDERS_OF_MAGNITUDE


def plain(number: Decimal) -> str:
    """A number without an exponent and without trailing zeros."""
    text = format(number.normalize(), "f")
    return text if len(text) <= 24 else format(number, ".6g")


def usd(name: str, rate: Decimal | None) -> str | None:
    """A rate as its price list writes it: USD per million tokens, or USD each for a fee."""
    if rate is None:
        return None
    return plain(rate / (10**12 if name in FEES else PUSD_PER_USD_PER_MTOK))


def _removed(book: PriceBook, items: Iterable[Item]) -> tuple[str, ...]:
    named = {(item.match.price_provider, item.match.price_model) for item in items if item.match is not None}
    covered = {provider for provider, _ in named}
    return tuple(
        f"{model.provider}/{model.model}"
        for model in book.sources.price_list.models
        if model.provider in covered and (model.provider, model.model) not in named
    )


def target(item: Item) -> dict[str, str]:
    """Provider, model and context under which the book keeps a table's row: the narrowest that says the same.

    A name that only stands for a priced model (a dated build) becomes a model of its own, so that its rate does not
    move the others; a reseller's rate is kept beside the maker's, under `via`.
    """
    row, match = item.row, item.match
    if match is None or row.model.lower() != match.price_model.lower():
        provider = row.provider if match is None else match.provider
        return {"provider": provider, "model": row.model.lower(), "ctx": row.ctx}
    ctx = ctx_of.parse(row.ctx)
    if not match.own:
        ctx["via"] = match.provider
    return {"provider": match.price_provider, "model": match.price_model.lower(), "ctx": ctx_of.text(ctx)}
