"""Where price lists disagree: rates of one class, context and time that differ by more than a share between sources.

Lists: the book itself, genai-prices as installed, the user's own file, and every table that was imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.pricing import context as ctx_of
from app.pricing.difference import compare
from app.pricing.rates import FOREVER_US
from app.pricing.rule_text import usd
from app.pricing.tables import genai
from app.pricing.tables.table import PriceTable, TableRow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from app.pricing.book import PriceBook
    from app.pricing.difference import Item, RateChange

SHARE: Final = Decimal("0.01")
"""Rates that differ by less are one rate, written with fewer digits."""
OWN_FILE: Final = "your price file"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One class that two lists price differently, USD per million tokens (a fee: USD each), as exact text.

    `model` is the name as the other list has it, `price_model` the one that the book prices. `since_us` and `as_of_us`
    say from when the book's rate holds and when the other list was true; `ratio` is theirs divided by ours.
    """

    provider: str
    model: str
    price_model: str
    ctx: str
    name: str
    prompt_above: int | None
    book_usd: str
    price_row: str
    source: str
    since_us: int | None
    other: str
    other_usd: str
    as_of_us: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Check:
    """Every disagreement, the lists that were compared with their days, and the book's version."""

    found: list[Disagreement]
    lists: list[tuple[str, int]]
    version: str


def disagreements(
    book: PriceBook,
    tables: Iterable[PriceTable],
    *,
    now_us: int,
    share: Decimal = SHARE,
    only: Collection[tuple[str, str]] | None = None,
) -> list[Disagreement]:
    """Every disagreement of the lists with the book's present list prices, by provider and model, each said once.

    `only` names the priced models (provider, model) to look at; None is all of them.
    """
    lists = [
        genai.of_models(book.sources.price_list.models, book.list_source, now_us),
        own_table(book, now_us),
        *tables,
    ]
    found: dict[tuple[object, ...], Disagreement] = {}
    for table in lists:
        wanted = compare(book, table, lambda row: row.to_us == FOREVER_US and _among(book, row, only))
        for item in wanted.items:
            for one in _of(book, table, item, share):
                found.setdefault((one.provider, one.model, one.ctx, one.name, one.prompt_above, one.other), one)
    said = {_said(one, one.price_model) for one in found.values() if one.model == one.price_model}
    kept = [one for one in found.values() if one.model == one.price_model or _said(one, one.price_model) not in said]
    return sorted(kept, key=lambda one: (one.provider, one.model, one.ctx, one.name, one.prompt_above or -1))


def _said(one: Disagreement, model: str) -> tuple[object, ...]:
    """What a disagreement says of a model; a dated build that says the same as its model adds nothing."""
    return one.provider, model, one.ctx, one.name, one.prompt_above, one.other, one.other_usd


def _among(book: PriceBook, row: TableRow, only: Collection[tuple[str, str]] | None) -> bool:
    if only is None or (row.provider, row.model) in only:
        return True
    if book.lists(row.provider, row.model):
        return False  # a priced name of its own: it need not be looked up
    match = book.find(row.provider, row.model)
    return match is not None and (match.price_provider, match.price_model) in only


def own_table(book: PriceBook, now_us: int) -> PriceTable:
    """The rates of the user's own file that hold now and name one model, as a table."""
    rows = [
        TableRow(
            provider=rule.provider,
            model=rule.model,
            ctx=ctx_of.text(rule.ctx or {}),
            prices=rule.prices,
            from_us=rule.from_us or None,
            where=rule.where,
            source=rule.source,
        )
        for rule in book.sources.own.rules
        if rule.op == "set" and not rule.general and rule.account is None and rule.from_us <= now_us < rule.to_us
    ]
    return PriceTable(kind=OWN_FILE, name=OWN_FILE, as_of_us=now_us, rows=rows)


def _of(book: PriceBook, table: PriceTable, item: Item, share: Decimal) -> Iterator[Disagreement]:
    if item.match is None or item.price_row is None:
        return
    _, rows = book.listed(item.row.provider, item.row.model, item.row.ctx)
    row = next(row for row in rows if row.price_row == item.price_row)
    for change in item.changes:
        if not _differ(change, share) or change.old is None:
            continue
        yield Disagreement(
            provider=item.match.provider,
            model=item.row.model if item.match.rule == "build" else item.match.price_model,
            price_model=item.match.price_model,
            ctx=item.row.ctx,
            name=change.name,
            prompt_above=None if change.above < 0 else change.above,
            book_usd=usd(change.name, change.old),
            price_row=item.price_row,
            source=row.source,
            since_us=row.valid_from_us or None,
            other=table.kind,
            other_usd=usd(change.name, change.new),
            as_of_us=item.row.from_us or table.as_of_us,
            ratio=float(change.new / change.old) if change.old else float("inf"),
        )


def _differ(change: RateChange, share: Decimal) -> bool:
    """Whether both lists price the class and by more than the share apart; a list of zeros says nothing."""
    if not change.old or not change.new:
        return False
    return abs(change.old - change.new) > share * max(change.old, change.new)
