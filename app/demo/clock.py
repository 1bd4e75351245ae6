"""When people and machines of the demo company call: days of the week and hours of the day in its own zone."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from random import Random

ZONE = ZoneInfo("Europe/Berlin")
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

# share of a day's traffic by local hour, 0 to 23
OFFICE = (0, 0, 0, 0, 0, 0, 1, 4, 9, 12, 12, 10, 7, 9, 11, 11, 9, 6, 3, 1, 1, 0, 0, 0)
CUSTOMERS = (2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 10, 10, 11, 11, 10, 9, 8, 8, 7, 6, 4, 3)

# weight of a day, Monday to Sunday
WORKDAYS = (1.0, 1.05, 1.1, 1.0, 0.85, 0.04, 0.02)
ALL_WEEK = (1.1, 1.1, 1.05, 1.0, 1.0, 0.7, 0.6)
EVERY_DAY = (1.0,) * 7


@dataclass(frozen=True, slots=True)
class Span:
    """The days of the log, whole days in the company's zone, half-open."""

    first: date
    days: int

    @property
    def start_us(self) -> int:
        return local_us(self.first, time(0))

    @property
    def end_us(self) -> int:
        return local_us(self.first + timedelta(days=self.days), time(0))

    def dates(self) -> list[date]:
        return [self.first + timedelta(days=n) for n in range(self.days)]


def local_us(day: date, at: time) -> int:
    """A wall-clock time of the company as microseconds UTC."""
    moment = datetime.combine(day, at, tzinfo=ZONE)
    return int(moment.timestamp()) * SECOND


def arrivals(rng: Random, span: Span, n: int, hours: tuple[int, ...], weekdays: tuple[float, ...]) -> list[int]:
    """`n` sorted moments in microseconds UTC that follow the hours of the day and the days of the week."""
    starts = list(range(span.start_us, span.end_us, HOUR))
    weights: list[float] = []
    total = 0.0
    for start in starts:
        local = datetime.fromtimestamp(start // SECOND, ZONE)
        total += hours[local.hour] * weekdays[local.weekday()]
        weights.append(total)
    draw = rng.random
    moments = [starts[bisect_left(weights, draw() * total)] + int(draw() * HOUR) for _ in range(n)]
    moments.sort()
    return moments


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - without a zone it is formatted without one


def iso(us: int) -> str:
    """Microseconds UTC as the ISO text that logs carry, to the millisecond."""
    return f"{(_EPOCH + timedelta(microseconds=us)).isoformat(timespec='milliseconds')}Z"
