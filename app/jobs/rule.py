"""When a job is due: `every 15 min`, `daily 02:30`, `weekly mon 08:00`, `monthly 31 08:00`, in a named zone.

A calendar rule chooses the local day first and resolves the wall time after, and the day is the key of the run. So a
day has one run whatever its clocks do: a time that is skipped is taken by the length of the skip later, a time that
comes twice is the first one. Intervals are counted from an anchor in physical time, never from the last run.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final, Literal

from app.core.errors import UsageError
from app.core.view import local_date

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

SECOND_US: Final = 1_000_000
UNITS_S: Final = {"s": 1, "min": 60, "h": 3600}
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MAX_EVERY_S: Final = 7 * 86_400
EXAMPLES: Final = "every 15 min, daily 02:30, weekly mon 08:00, monthly 31 08:00"
# The longest pause between two occurrences: a month, and the day that a zone may leave out.
_SEARCH_US: Final = 64 * 86_400 * SECOND_US

_EVERY = re.compile(r"every (\d{1,6}) (s|min|h)")
_CALENDAR = re.compile(r"(daily|weekly|monthly)(?: ([a-z]{3}|\d{1,2}))? ([01]\d|2[0-3]):([0-5]\d)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Due:
    """One occurrence. `period` is its key: the local day of a calendar rule, the instant of an interval."""

    period: str
    at_us: int


@dataclass(frozen=True, slots=True)
class Every:
    """At anchor + k x `seconds`; what was missed is not asked for again, the newest stands for all."""

    seconds: int

    def __str__(self) -> str:
        unit = next(name for name in ("h", "min", "s") if self.seconds % UNITS_S[name] == 0)
        return f"every {self.seconds // UNITS_S[unit]} {unit}"

    def last(self, until_us: int, anchor_us: int) -> Due:
        """The newest occurrence up to an instant."""
        return self._at(anchor_us + (until_us - anchor_us) // self._length_us * self._length_us)

    def following(self, after_us: int, anchor_us: int) -> Due:
        """The first occurrence after an instant."""
        return self._at(anchor_us + ((after_us - anchor_us) // self._length_us + 1) * self._length_us)

    @property
    def _length_us(self) -> int:
        return self.seconds * SECOND_US

    @staticmethod
    def _at(at_us: int) -> Due:
        return Due((_EPOCH + timedelta(microseconds=at_us)).isoformat().replace("+00:00", "Z"), at_us)


@dataclass(frozen=True, slots=True)
class Calendar:
    """At a wall time of chosen local days. `day` is the weekday (0 is Monday) or the day of the month.

    A month that is shorter than `day` has its occurrence on its last day.
    """

    kind: Literal["daily", "weekly", "monthly"]
    at: time
    day: int = 0

    def __str__(self) -> str:
        day = {"daily": "", "weekly": f" {WEEKDAYS[self.day % 7]}", "monthly": f" {self.day}"}[self.kind]
        return f"{self.kind}{day} {self.at:%H:%M}"

    def between(self, after_us: int, until_us: int, zone: ZoneInfo) -> tuple[Due, ...]:
        """Every occurrence in (after_us, until_us], oldest first."""
        last = local_date(until_us, zone) + timedelta(days=1)
        found = []
        for day in self._days(local_date(after_us, zone) - timedelta(days=1)):
            if day > last:
                break
            at_us = self._instant_us(day, zone)
            if at_us is not None and after_us < at_us <= until_us:
                found.append(Due(day.isoformat(), at_us))
        return tuple(found)

    def following(self, after_us: int, zone: ZoneInfo) -> Due:
        """The first occurrence after an instant."""
        return self.between(after_us, after_us + _SEARCH_US, zone)[0]

    def _days(self, start: date) -> Iterator[date]:
        """Chosen days from `start` on, rising, without end."""
        if self.kind == "monthly":
            year, month = start.year, start.month
            while True:
                chosen = self._in_month(year, month)
                if chosen >= start:
                    yield chosen
                year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        step = 7 if self.kind == "weekly" else 1
        day = start + timedelta(days=(self.day - start.weekday()) % step)
        while True:
            yield day
            day += timedelta(days=step)

    def _in_month(self, year: int, month: int) -> date:
        return date(year, month, min(self.day, monthrange(year, month)[1]))

    def _instant_us(self, day: date, zone: ZoneInfo) -> int | None:
        """The wall time of a day; None where the zone left that whole day out (Samoa, 30 December 2011)."""
        if local_date(_wall_us(day, time(12), zone), zone) != day:
            return None
        return _wall_us(day, self.at, zone)


Rule = Every | Calendar


def due(rule: Rule, after_us: int, until_us: int, *, anchor_us: int, zone: ZoneInfo) -> tuple[Due, ...]:
    """What is due in (after_us, until_us], oldest first: every day of a calendar, the newest instant of an interval."""
    if isinstance(rule, Calendar):
        return rule.between(after_us, until_us, zone)
    newest = rule.last(until_us, anchor_us)
    return (newest,) if newest.at_us > after_us else ()


def following(rule: Rule, after_us: int, *, anchor_us: int, zone: ZoneInfo) -> Due:
    """The first occurrence after an instant."""
    return rule.following(after_us, zone) if isinstance(rule, Calendar) else rule.following(after_us, anchor_us)


def _wall_us(day: date, at: time, zone: ZoneInfo) -> int:
    # fold=0: the first of two equal wall times, and the offset from before the change where the time is skipped.
    return round(datetime.combine(day, at, tzinfo=zone).timestamp()) * SECOND_US


def parse(text: str) -> Rule:
    """A rule from its text.

    Raises:
        UsageError: the text names no rule.
    """
    given = " ".join(text.lower().split())
    if (every := _EVERY.fullmatch(given)) is not None:
        seconds = int(every[1]) * UNITS_S[every[2]]
        if 0 < seconds <= MAX_EVERY_S:
            return Every(seconds)
    elif (match := _CALENDAR.fullmatch(given)) is not None:
        kind, day, at = match[1], match[2], time(int(match[3]), int(match[4]))
        if kind == "daily" and day is None:
            return Calendar("daily", at)
        if kind == "weekly" and day in WEEKDAYS:
            return Calendar("weekly", at, WEEKDAYS.index(day))
        if kind == "monthly" and day is not None and day.isdigit() and 1 <= int(day) <= 31:
            return Calendar("monthly", at, int(day))
    raise UsageError(f"{text[:60]!r} is no schedule. Write it as one of: {EXAMPLES} (intervals of at most a week).")
