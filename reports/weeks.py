"""ISO weeks in a named zone: Monday to Sunday, half-open, 167 to 169 hours long where clocks change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from app.core import view as views
from app.core.errors import UsageError

if TYPE_CHECKING:
    from app.core.view import Period

MAX_CAUGHT_UP: Final = 8

_NAME = re.compile(r"(20\d\d)-W(\d\d)")


@dataclass(frozen=True, slots=True)
class Week:
    """`2026-W47` and its days; `period` is the same as on pages, so that a link shows the same figures."""

    name: str
    first: date
    period: Period

    @property
    def last(self) -> date:
        return self.first + timedelta(days=6)


def week_of(day: date, zone: str) -> Week:
    """The week that holds a local day."""
    year, number, _ = day.isocalendar()
    first = date.fromisocalendar(year, number, 1)
    name = f"{first.isoformat()}..{(first + timedelta(days=6)).isoformat()}"
    return Week(f"{year}-W{number:02}", first, views.period(name, zone, 0))


def named(text: str, zone: str) -> Week:
    """The week written `2026-W47`.

    Raises:
        UsageError: the text names no week.
    """
    match = _NAME.fullmatch(text)
    problem = UsageError(f"{text[:40]!r} is no week. Write the year and its ISO week, such as 2026-W47.")
    if match is None:
        raise problem
    try:
        return week_of(date.fromisocalendar(int(match[1]), int(match[2]), 1), zone)
    except ValueError:
        raise problem from None


def last_complete(zone: str, now_us: int) -> Week:
    """The newest week that is over at `now_us`."""
    today = views.local_date(now_us, views.zone_info(zone))
    return week_of(today - timedelta(days=7), zone)


def uncovered(zone: str, now_us: int, covered: str | None) -> tuple[Week, ...]:
    """The weeks that are over and not covered by a report yet, oldest first; at most MAX_CAUGHT_UP after a long pause.

    `covered` is the newest covered week; where there is none, only the newest week counts.
    """
    newest = last_complete(zone, now_us)
    if covered is None:
        return (newest,)
    return tuple(week for week in reversed(before(newest, MAX_CAUGHT_UP)) if week.name > covered)


def before(newest: Week, count: int) -> tuple[Week, ...]:
    """`count` weeks up to `newest`, the newest first."""
    zone = newest.period.zone
    return tuple(week_of(newest.first - timedelta(days=7 * back), zone) for back in range(count))


def moment(at_us: int) -> datetime:
    """An instant as an aware datetime in UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)
