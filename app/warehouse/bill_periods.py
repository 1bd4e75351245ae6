"""Which exports of one report say the same days, and which of them is the newest, whatever periods they are cut in.

One export gives days, another a month in one line. A period whose every day newer exports say does not count; a
longer one of which they say some days cannot be cut, so it does not count either and is named where bills are compared.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

import polars as pl

from app.core.billed import FLAT_SCOPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.warehouse.store import Session

KEY: Final = ("source", "report", "scope", "day", "last_day", "export", "page")
"""What names a period of an export; days are ISO text, last_day the day itself where it is one."""
_SCHEMA: Final = {**dict.fromkeys(KEY, pl.String), "page": pl.Int64}
_DAY: Final = timedelta(days=1)
_DAY_OR_WEEK: Final = (1, 7)
_FLAT: Final = (FLAT_SCOPE, 0)
"""All items that stand for themselves are one export: together they say a day."""


@dataclass(frozen=True, slots=True)
class _Period:
    """What one export says of the days from `first` up to and including `through`.

    `is_whole`: it gives the usage of several days and its export gives none of single days of them, so that it says
    all that there is of them (and is no monthly fee in an export of days).
    """

    key: tuple[str, str, str, str, str, str, int]
    first: date
    through: date
    written_ns: int
    has_usage: bool
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

    def days(self) -> Iterator[date]:
        day = self.first
        while day <= self.through:
            yield day
            day += _DAY


def replaced(session: Session, days: pl.DataFrame) -> pl.DataFrame:
    """Periods (the columns KEY) that another export says anew, of the reports and days (source, report, scope, day).

    What an export says of a day is whole. Of a period of several days it takes the place of the same period.
    """
    groups: dict[tuple[object, ...], list[_Period]] = defaultdict(list)
    for period in _read(session, days):
        groups[period.report, period.first, period.through if period.is_whole else None].append(period)
    found = []
    for group in groups.values():
        newest = max(group, key=lambda period: period.age).export
        found += [period.key for period in group if period.export != newest]
    return pl.DataFrame(found, schema=_SCHEMA, orient="row")


def older(session: Session) -> pl.DataFrame:
    """Periods (the columns KEY) that stand but do not count: newer exports of the same report say their days.

    The newest comes first, and only what counts takes the place of others: that makes the order of reading no matter.
    """
    none = pl.DataFrame(schema=dict.fromkeys(KEY[:4], pl.String))
    said: dict[tuple[str, str, str], dict[date, set[tuple[str, int]]]] = defaultdict(lambda: defaultdict(set))
    found = []
    for period in sorted(_read(session, none), key=lambda period: period.age, reverse=True):
        is_flat = period.report[2].startswith(FLAT_SCOPE)
        by_day = said[(*period.report[:2], "") if is_flat else period.report]
        export = _FLAT if is_flat else period.export
        again = [bool(by_day[day] - {export}) for day in period.days()]
        if all(again) or (period.is_whole and any(again)):
            found.append(period.key)
        elif period.has_usage and (period.is_whole or period.first == period.through):
            for day in period.days():
                by_day[day].add(export)
    return pl.DataFrame(found, schema=_SCHEMA, orient="row")


def _read(session: Session, days: pl.DataFrame) -> list[_Period]:
    session.register("days_of_bills", days)
    rows = session.rows("billed.periods", {"days": "days_of_bills"}, flat=f"{FLAT_SCOPE}%")
    session.unregister("days_of_bills")
    found = []
    for *names, page, written_ns, has_usage in rows:
        source, report, scope, day, last_day, export = (str(name) for name in names)
        first = date.fromisoformat(day)
        through = _through(first, date.fromisoformat(last_day))
        key = (source, report, scope, day, last_day, export, int(page))
        found.append(_Period(key, first, through, int(written_ns), bool(has_usage)))
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
        yield _Period(period.key, period.first, period.through, period.written_ns, period.has_usage, is_whole)
