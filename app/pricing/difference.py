"""What a price table of somebody else would change in the book: added, changed, equal, held back with the reason.

A rate is compared with the rate that the book gives for the same name, context, time and prompt length, fallbacks
resolved, so a table that spells out what the book infers is no difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Final, Literal

from app.pricing import context as ctx_of
from app.pricing.rates import FOREVER_US, MINUTES_A_DAY, PRICED_CLASSES, PUSD_PER_USD_PER_MTOK, at_prompt
from app.pricing.rule_text import plain
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
    """One row of the table against the book: `changes` are the rates that differ, `reason` says why it is held back.

    `target` is where the book would keep it: provider, model, context.
    """

    kind: Kind
    row: TableRow
    match: Match | None
    target: tuple[str, str, str]
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
    items = _at_odds(tuple(_item(book, row, table.as_of_us) for row in rows))
    return Difference(table, items, _removed(book, items) if table.whole else ())


def _item(book: PriceBook, row: TableRow, as_of_us: int) -> Item:
    match, known = book.listed(row.provider, row.model, row.ctx)
    at_us = moment_of(row, as_of_us)
    current = [one for one in known if one.valid_from_us <= at_us < one.valid_to_us]
    changes = changed_rates(row, current)
    free = not any(rate for steps in row.prices.values() for _, rate in steps)
    if free and (changes or not current):
        reason = "a price of zero: say so in your own price file if it is free"
    else:
        reason = _wrong_unit(row, changes) or (changes and _reason(book, row, match, current)) or ""
    kind: Kind = "held" if reason else "same" if not changes else "changed" if current else "added"
    price_row = current[0].price_row if current else None
    return Item(kind, row, match, _target(book, row, match), changes, price_row, reason)


def _reason(book: PriceBook, row: TableRow, match: Match | None, current: Sequence[RateRow]) -> str:
    """Why a rate that differs is no rate to take over; empty where it is one."""
    whole_week = (0, MINUTES_A_DAY, 0, 6)
    if any((one.minute_from, one.minute_to, one.weekday_from, one.weekday_to) != whole_week for one in current):
        return "the book's price depends on the hour, the table's does not"
    if match is not None and row.model.lower() != match.price_model.lower():
        return f"the book prices this name as {match.price_provider}/{match.price_model}"
    if match is None and not book.matcher.provider(row.provider):
        return "no provider is named"
    return ""


def _target(book: PriceBook, row: TableRow, match: Match | None) -> tuple[str, str, str]:
    """Provider, model and context of a row in our words; a reseller's rate goes beside the maker's, under `via`."""
    if match is None:
        return book.matcher.provider(row.provider) or row.provider, row.model.lower(), row.ctx
    ctx = ctx_of.parse(row.ctx)
    if not match.own:
        ctx["via"] = match.provider
    return match.price_provider, match.price_model.lower(), ctx_of.text(ctx)


def _at_odds(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items; where a table gives one model two prices at a time, all but one are held back: what the book agrees
    with, else the first.
    """
    first = {_key(item): item.row for item in items if item.kind == "same"}
    kept: list[Item] = []
    for item in items:
        if item.kind in ("added", "changed"):
            other = first.setdefault(_key(item), item.row)
            if other is not item.row:
                reason = f"the table prices this model as {other.where} too"
                kept.append(replace(item, kind="held", reason=reason))
                continue
        kept.append(item)
    return tuple(kept)


def _key(item: Item) -> tuple[str, ...]:
    return (*item.target, str(item.row.from_us), str(item.row.to_us))


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


def _removed(book: PriceBook, items: Iterable[Item]) -> tuple[str, ...]:
    named = {(item.match.price_provider, item.match.price_model) for item in items if item.match is not None}
    covered = {provider for provider, _ in named}
    return tuple(
        f"{model.provider}/{model.model}"
        for model in book.sources.price_list.models
        if model.provider in covered and (model.provider, model.model) not in named
    )
