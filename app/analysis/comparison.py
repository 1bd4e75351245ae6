"""The period before, where the store reaches back that far: pages and reports compare with the same stretch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.analysis.days import EVERYTHING
from app.analysis.spend import extent
from app.core.view import previous

if TYPE_CHECKING:
    from app.core.view import Period
    from app.warehouse.store import Session

DAY_US = 24 * 3_600_000_000


def comparable(session: Session, period: Period, now_us: int) -> Period | None:
    """The equally long stretch before `period`, or None where the store begins more than a day after its start.

    An unfinished period, and one whose newest logs are missing, is compared like for like: both end at the same
    weekday and time of day.
    """
    found = extent(session)
    if found is None or period.name == EVERYTHING:
        return None
    before = previous(period, min(now_us, found[1] + 1))
    if before.to_us <= before.from_us or found[0] > before.from_us + DAY_US:
        return None
    return before
