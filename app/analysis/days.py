"""Local days: where they begin and end in a named zone, and how fine a roll-up must be to cut them.

An offset belongs to an instant, so a day has 23, 24 or 25 hours; ranges are half-open.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

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


def bucket_for(zone: str) -> int:
    """The widest roll-up bucket (hour or quarter hour, microseconds) that cuts every day of this zone since 2000."""
    where = zone_info(zone)
    for year in range(_FIRST_YEAR, _AFTER_LAST_YEAR):
        for month in range(1, 13):
            offset = datetime(year, month, 1, tzinfo=where).utcoffset()
            if offset is not None and offset % timedelta(hours=1):
                return QUARTER_US
    return HOUR_US
