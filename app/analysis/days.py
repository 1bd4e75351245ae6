"""Local days: where they begin and end in a named zone, and how fine a roll-up must be to cut them.

An offset belongs to an instant, so a day has 23, 24 or 25 hours; ranges are half-open.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from app.core.view import local_date, midnight_us, zone_info

HOUR_US = 3_600_000_000
QUARTER_US = HOUR_US // 4
EVERYTHING = "all"
"""Period.name of the whole log: it begins at 0, where requests without a time stand."""

_FIRST_YEAR, _AFTER_LAST_YEAR = 2000, 2038


@dataclass(frozen=True, slots=True)
class Day:
    """One local day: its date and its range in microseconds UTC."""

    date: date
    from_us: int
    to_us: int

    @property
    def hours(self) -> float:
        """The real length: 23 or 25 on days of a clock change."""
        return (self.to_us - self.from_us) / HOUR_US


def local_days(from_us: int, to_us: int, zone: str) -> tuple[Day, ...]:
    """The local days that a range touches, whole: the first may begin before it and the last end after it."""
    if to_us <= from_us:
        return ()
    where = zone_info(zone)
    days = []
    day, last = local_date(from_us, where), local_date(to_us - 1, where)
    while day <= last:
        following = day + timedelta(days=1)
        days.append(Day(day, midnight_us(day, where), midnight_us(following, where)))
        day = following
    return tuple(days)


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour of real time and how its start is written locally, offset included: 02:00 twice where clocks go back."""

    label: str
    from_us: int
    to_us: int


def local_hours(from_us: int, to_us: int, zone: str) -> tuple[Hour, ...]:
    """The hours of a range of local days, counted from its start; an hour that clocks skip is not there."""
    where = zone_info(zone)
    hours = []
    for start in range(from_us, to_us, HOUR_US):
        moment = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=start)).astimezone(where)
        hours.append(Hour(moment.isoformat(timespec="minutes"), start, min(start + HOUR_US, to_us)))
    return tuple(hours)


def bucket_for(zone: str) -> int:
    """The widest roll-up bucket (hour or quarter hour, microseconds) that cuts every day of this zone since 2000."""
    where = zone_info(zone)
    for year in range(_FIRST_YEAR, _AFTER_LAST_YEAR):
        for month in range(1, 13):
            offset = datetime(year, month, 1, tzinfo=where).utcoffset()
            if offset is not None and offset % timedelta(hours=1):
                return QUARTER_US
    return HOUR_US
