"""Which sources have not delivered a week to its end: said before the figures, and in the subject of the mail."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from app.analysis import coverage as covered
from app.analysis import spend
from app.core.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.core.view import Period
    from app.warehouse.store import Session

HOUR_US: Final = 3_600_000_000
WEEK_US: Final = 7 * 24 * HOUR_US
EXPECTED_REQUESTS: Final = 10
"""So many requests in the same stretch of the week before, and none now, is no chance: e^-10 where they are random."""


@dataclass(frozen=True, slots=True)
class Late:
    """A source whose newest request lies before the end of the period although more were to be expected."""

    source: str
    last_us: int


def late_sources(session: Session, period: Period, now_us: int) -> tuple[Late, ...]:
    """Sources that fell silent before the end of `period` (or before now), the earliest first.

    Quiet nights and week-ends are no lateness: a stretch counts only where the same one a week earlier held at least
    EXPECTED_REQUESTS of that source. Sources that were silent in the whole week before too are gone, not late.
    """
    end_us = min(period.to_us, now_us)
    found = [
        Late(item.source, item.last_us)
        for item in covered.freshness(session)
        if item.last_us is not None and item.last_us < end_us - HOUR_US
        if _expected(session, period, item.source, item.last_us, end_us)
    ]
    return tuple(sorted(found, key=lambda item: item.last_us))


def _expected(session: Session, period: Period, source: str, last_us: int, end_us: int) -> bool:
    if end_us - last_us >= 2 * WEEK_US:
        return False
    silent = replace(period, name="silent", from_us=last_us + 1 - WEEK_US, to_us=end_us - WEEK_US)
    ranked = spend.ranking(session, View(silent), by="source").rows
    return sum(row.figures.requests for row in ranked if row.name == source) >= EXPECTED_REQUESTS


def newest_request_us(session: Session, now_us: int) -> int:
    """The newest request of any source that is held, not after now; now where no request has a time."""
    reach = covered.reach_of(session, now_us)
    return now_us if reach is None else min(now_us, reach.newest_us)


def complete_to(session: Session, late: Iterable[Late], period: Period, now_us: int) -> int:
    """Up to when every live source has delivered, as the pages say it (`coverage.Reach`), and no later than the end of
    the period; a source that is named as late ends it also where it has been silent for so long that it is not live.
    """
    reach = covered.reach_of(session, now_us)
    delivered_us = now_us if reach is None else min(now_us, reach.complete_us)
    return min(period.to_us, delivered_us, *(item.last_us for item in late))
