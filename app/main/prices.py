"""Commands on the price book: taking over a table of somebody else, and the check of the lists against each other."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from app.core.errors import UsageError
from app.main.refresh import now_us
from app.main.runtime import load_book, price_folder
from app.pricing import imported, tables
from app.pricing.difference import compare
from app.pricing.disagreement import Check, disagreements
from app.pricing.rates import DAY_US
from app.pricing.rules import Entry
from app.web.commands import PriceDesk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from app.main.price_books import Books
    from app.pricing.book import PriceBook
    from app.pricing.disagreement import Disagreement
    from app.pricing.tables.table import PriceTable, TableRow
    from app.settings import Settings

REMEMBERED = 100
"""Answers on disagreement that a service keeps; they change with the day and with imports only."""
PASSES = 3
"""A rate taken over can move another one that leaned on it, which is then stated too; the second round is the last."""


def import_table(
    file: Path,
    settings: Settings,
    *,
    providers: Sequence[str] = (),
    model: str | None = None,
    as_of: str | None = None,
    really: bool = False,
) -> imported.Import:
    """Compare a table with the book; take its rates over where that was asked for.

    Raises:
        InputError: no table that Halve knows. UsageError: no such day. UnavailableError: the folder cannot be written.
    """
    table = tables.read(file, _day(as_of))
    book = load_book(settings)
    wanted = _wanted(book, providers, model)
    difference = compare(book, table, wanted)
    if not really:
        return imported.Import(difference, None, book.version)
    folder = price_folder(settings)
    taken = imported.apply(folder, difference, now_us=now_us())
    for _ in range(PASSES - 1):
        book = load_book(settings)
        rest = compare(book, table, wanted)
        if not rest.of("added") and not rest.of("changed"):
            break
        imported.apply(folder, rest, now_us=now_us())
    return imported.Import(difference, taken, book.version)


def price_desk(books: Books, settings: Settings) -> PriceDesk:
    """What the Prices page reads of a running service."""
    folder = price_folder(settings)
    kept: dict[object, list[PriceTable]] = {}
    told: dict[object, list[Disagreement]] = {}

    def state() -> object:
        return tuple((path.name, path.stat().st_mtime_ns) for path in sorted((folder / imported.TABLES).glob("*.json")))

    def tables_now() -> list[PriceTable]:
        key = state()
        if key not in kept:
            kept.clear()
            kept[key] = imported.tables_in(folder)
        return kept[key]

    def differ(models: frozenset[tuple[str, str]]) -> list[Disagreement]:
        book = books.now()
        key = (models, book.version, state(), now_us() // DAY_US)
        if key not in told:
            if len(told) >= REMEMBERED:
                told.clear()
            told[key] = disagreements(book, tables_now(), now_us=now_us(), only=models)
        return told[key]

    def at_work() -> tuple[PriceBook, int, str]:
        found = books.at_work()
        return found.book, found.since_us, found.problem

    return PriceDesk(at_work, lambda: [(table.kind, table.as_of_us) for table in tables_now()], differ, settings.prices)


def check(settings: Settings, *, against: Sequence[Path] = (), providers: Sequence[str] = ()) -> Check:
    """Where the lists disagree; tables in `against` are compared and not kept.

    Raises:
        InputError: one of them is no table that Halve knows.
    """
    now = now_us()
    book = load_book(settings)
    others = [*imported.tables_in(price_folder(settings)), *(tables.read(path, _day(None)) for path in against)]
    names = {book.matcher.provider(name) for name in providers}
    found = disagreements(book, others, now_us=now)
    return Check(
        [one for one in found if not names or one.provider in names],
        [(book.list_source, now), *((_title(table), table.as_of_us) for table in others)],
        book.version,
    )


def _title(table: PriceTable) -> str:
    return f"{table.kind} ({table.name})"


def _wanted(book: PriceBook, providers: Sequence[str], model: str | None) -> Callable[[TableRow], bool]:
    names = {book.matcher.provider(name) for name in providers}
    glob = None if model is None else model.lower()
    return lambda row: (
        (not names or book.matcher.provider(row.provider) in names)
        and (glob is None or fnmatchcase(row.model.lower(), glob))
    )


def _day(text: str | None) -> int:
    today = now_us() // DAY_US * DAY_US
    if text is None:
        return today
    try:
        day = Entry({"day": text}, "--as-of").time_us("day", today)
    except ValueError as error:
        raise UsageError(f"--as-of {text!r} is no day such as 2026-01-31.") from error
    if day > today + DAY_US:
        raise UsageError(f"--as-of {text} lies ahead: rates that are not in force yet are not taken over.")
    return day
