"""Which exports of one report say the same days, and which of them is the newest, whatever periods they are cut in.

One export gives days, another a month in one line. A period whose every day newer exports say does not count; a
longer one of which they say some days cannot be cut, so it does not count either and is named where bills are compared.
One export gives a bill by account, another the payer's bill as a whole: those say the same days too.
Bills of two payers that are both named are two, whatever else is equal.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

import polars as pl

from app.core.billed import FLAT_SCOPE, WHOLE_SCOPE
from app.warehouse.bill_items import ItemsOfDay, exports_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from app.warehouse.store import Session

KEY: Final = ("source", "report", "scope", "day", "last_day", "export", "page")
"""What names a period of an export; days are ISO text, last_day the day itself where it is one."""
_SCHEMA: Final = {**dict.fromkeys(KEY, pl.String), "page": pl.Int64}
_DAY: Final = timedelta(days=1)
_DAY_OR_WEEK: Final = (1, 7)
_Export = tuple[tuple[str, int], str | None]
"""An export, and whose bill it is where that is said."""
_ITEMS: Final = (FLAT_SCOPE, -1)
"""To pages of days, all items that stand for themselves are one export: together they say a day."""


@dataclass(frozen=True, slots=True)
class _Period:
    """What one export says of the days from `first` up to and including `through`.

    `payer`: whose bill it is; None where that is not said, or several are. `is_whole`: it gives the usage of several
    days and its export gives none of single days of them, so that it says all that there is of them (and is no monthly
    fee in an export of days).
    """

    key: tuple[str, str, str, str, str, str, int]
    first: date
    through: date
    written_ns: int
    has_usage: bool
    has_more: bool
    payer: str | None = None
    is_whole: bool = False

    @property
    def report(self) -> tuple[str, str, str]:
        return self.key[:3]

    @property
    def export(self) -> tuple[str, int]:
        return self.key[5:]

    @property
    def age(self) -> tuple[int, tuple[str, int]]:
        return self.written_ns, self.export

    @property
    def is_item(self) -> bool:
        return self.report[2].startswith(FLAT_SCOPE)

    def may_be_of(self, payer: str | None) -> bool:
        """Whether it may be this payer's bill: it is, or one of both is not said."""
        return self.payer is None or payer is None or self.payer == payer

    def days(self) -> Iterator[date]:
        return _days(self.first, self.through)

    def items(self) -> ItemsOfDay:
        return ItemsOfDay(self.export, self.first, self.through, self.written_ns, self.has_more)


def replaced(session: Session, days: pl.DataFrame) -> pl.DataFrame:
    """Periods (the columns KEY) that another export says anew, of the reports and days (source, report, scope, day).

    What an export says of a day is whole. Of a period of several days it takes the place of the same period.
    """
    groups: dict[tuple[object, ...], list[_Period]] = defaultdict(list)
    for period in _read(session, days):
        groups[period.report, period.first, period.through if period.is_whole else None].append(period)
    found = []
    for group in groups.values():
        standing: list[_Period] = []
        for period in sorted(group, key=lambda period: period.age, reverse=True):
            if any(newer.export != period.export and period.may_be_of(newer.payer) for newer in standing):
                found.append(period.key)
            else:
                standing.append(period)
    return pl.DataFrame(found, schema=_SCHEMA, orient="row")


def older(session: Session) -> pl.DataFrame:
    """Periods (the columns KEY) that stand but do not count: newer exports of the same report say their days.

    `is_gone`: the period is of an item, and the newest whole export of items of its days does not have it any more. The
    newest comes first, and only what counts takes the place of others: that makes the order of reading no matter.
    """
    periods = _read(session, pl.DataFrame(schema=dict.fromkeys(KEY[:4], pl.String)))
    said = _Said(periods)
    found = []
    for period in sorted(periods, key=lambda period: period.age, reverse=True):
        again = [said.by_another(period, day) for day in period.days()]
        if all(again) or (period.is_whole and any(again)):
            found.append((*period.key, said.is_gone(period)))
        else:
            said.add(period)
    return pl.DataFrame(found, schema={**_SCHEMA, "is_gone": pl.Boolean}, orient="row")


class _Said:
    """Which exports say which days of a report: of an account, of a payer with all accounts, of items."""

    def __init__(self, periods: Sequence[_Period]) -> None:
        self._exports: dict[tuple[str, str, str], dict[date, set[_Export]]] = defaultdict(lambda: defaultdict(set))
        scopes = {period.report for period in periods if not period.is_item}
        wholes = [scope for scope in scopes if scope[2].endswith(WHOLE_SCOPE)]
        self._above = {
            scope: [one for one in wholes if one != scope and one[:2] == scope[:2] and scope[2].startswith(one[2])]
            for scope in scopes
        }
        items: dict[tuple[str, str], list[ItemsOfDay]] = defaultdict(list)
        for period in periods:
            if period.is_item:
                items[period.report[:2]].append(period.items())
        self._items = {report: exports_of(found) for report, found in items.items()}

    def by_another(self, period: _Period, day: date) -> bool:
        """Whether an export that is not its own says a day of a period: of its account, or of all in or around it."""
        if period.is_item:
            return self._pages(period, day) or self._no_longer(period, day)
        items = _part_of((*period.report[:2], ""), "items")
        places = [period.report, *self._above[period.report], _part_of(period.report, "accounts"), items]
        return any(self._others(place, day, period) for place in places)

    def is_gone(self, period: _Period) -> bool:
        return period.is_item and any(
            self._no_longer(period, day) and not self._pages(period, day) for day in period.days()
        )

    def add(self, period: _Period) -> None:
        """Note that a period counts for its days: one that says all use of them, or is of an item."""
        says_days = period.has_usage and (period.is_whole or period.first == period.through)
        name = (*period.report[:2], "")
        if period.is_item:
            if says_days:
                self._add(_part_of(name, "items"), period.days(), (_ITEMS, period.payer))
            export = self._items[name[:2]][period.export]
            if export.is_whole:
                days = _days(export.first, export.through)
                self._add(_part_of(name, "whole items"), days, ((FLAT_SCOPE, export.number), period.payer))
        elif says_days:
            above = (_part_of(whole, "accounts") for whole in self._above[period.report])
            for place in (period.report, *above, _part_of(name, "pages")):
                self._add(place, period.days(), (period.export, period.payer))

    def _others(self, place: tuple[str, str, str], day: date, period: _Period) -> bool:
        """Whether an export that is not its own, and may be of its payer, says a day there."""
        said = self._exports[place][day]
        return any(export != period.export and period.may_be_of(payer) for export, payer in said)

    def _pages(self, item: _Period, day: date) -> bool:
        """Whether an export says a day of an item whole, of which it is none."""
        return self._others(_part_of((*item.report[:2], ""), "pages"), day, item)

    def _no_longer(self, item: _Period, day: date) -> bool:
        """Whether a newer whole export of items says the day of an item that is none of it."""
        name = item.report[:2]
        own = (FLAT_SCOPE, self._items[name][item.export].number)
        said = self._exports[_part_of((*name, ""), "whole items")][day]
        return any(export != own and item.may_be_of(payer) for export, payer in said)

    def _add(self, place: tuple[str, str, str], days: Iterable[date], export: _Export) -> None:
        for day in days:
            self._exports[place][day].add(export)


def _part_of(report: tuple[str, str, str], what: str) -> tuple[str, str, str]:
    """A place for what is said of parts of what a scope is of: of a payer's accounts, of items."""
    return (*report[:2], f"{report[2]}\0{what}")


def _days(first: date, through: date) -> Iterator[date]:
    day = first
    while day <= through:
        yield day
        day += _DAY


def _read(session: Session, days: pl.DataFrame) -> list[_Period]:
    session.register("days_of_bills", days)
    rows = session.rows("billed.periods", {"days": "days_of_bills"}, flat=f"{FLAT_SCOPE}%", whole=f"%{WHOLE_SCOPE}")
    session.unregister("days_of_bills")
    found = []
    for *names, page, written_ns, has_usage, has_more, payer in rows:
        source, report, scope, day, last_day, export = (str(name) for name in names)
        first = date.fromisoformat(day)
        through = _through(first, date.fromisoformat(last_day))
        key = (source, report, scope, day, last_day, export, int(page))
        found.append(_Period(key, first, through, int(written_ns), bool(has_usage), bool(has_more), payer))
    return list(_told_whole(found))


def _through(first: date, last: date) -> date:
    """The last day that a period is mostly about: one that is cut in another time zone ends in the next UTC day."""
    shifted = (last - first).days in _DAY_OR_WEEK or (last > first and last.day == first.day)
    return last - _DAY if shifted else last


def _told_whole(periods: Iterable[_Period]) -> Iterator[_Period]:
    given = list(periods)
    single: dict[tuple[object, ...], set[date]] = defaultdict(set)
    for period in given:
        if period.has_usage and period.first == period.through:
            single[period.report, period.export].add(period.first)
    for period in given:
        alone = single[period.report, period.export].isdisjoint(period.days())
        is_whole = period.has_usage and period.first < period.through and alone
        yield replace(period, is_whole=is_whole)
