"""Where a period is heading, from the days just before: a mean for working days, one for weekends, and their spread.

Expected = spent up to `as_of` + sum over day kinds of n x mean, n being the days of that kind to come (a day that has
begun counts with its rest). The 80 % interval takes days as independent draws and the mean as uncertain: variance
n s^2 + n^2 s^2 / m for m days seen (prediction of a sum; sample variance s^2), 1.2816 standard deviations to each side.
It knows no trend, no holiday and no launch; it covers only what has a price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from statistics import fmean, variance
from typing import TYPE_CHECKING, Final

from app.analysis import coverage, spend
from app.analysis.days import local_days
from app.core import view as views
from app.core.view import Period, local_date, midnight_us, zone_info

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from app.analysis.days import Day
    from app.core.view import View
    from app.warehouse.store import Session

HISTORY_DAYS: Final = 28
MIN_DAYS: Final = 7
MIN_OF_KIND: Final = 2
Z_80: Final = 1.2815515655446004
METHOD: Final = (
    "Forecast: what was spent, and for each day to come the mean of working days or weekend days of the 28 days "
    "before. The 80% interval comes from how far those days lie apart; it knows no trend and no holiday."
)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Pico-USD at the end of a period: the middle and an interval that holds 80 of 100 such ends.

    `as_of_us` is how far the logs it rests on reach, `days` how many days it has seen.
    """

    low_pusd: int
    middle_pusd: int
    high_pusd: int
    as_of_us: int
    days: int


def of_period(session: Session, view: View, now_us: int) -> Forecast | None:
    """Where the period of a view is heading; None where fewer than MIN_DAYS days before it are known."""
    period = view.period
    reached = coverage.reach_of(session, now_us)
    if reached is None:
        return None
    as_of_us = max(period.from_us, min(now_us, reached.complete_us + 1))
    seen = _days_before(session, view, as_of_us)
    spent = spend.totals(session, view, period=Period("spent", period.from_us, as_of_us, period.zone))
    sofar = spend.totals(session, view)
    if as_of_us > period.from_us and spent.requests and spent.cost_pusd is None:
        return None
    coming = local_days(as_of_us, period.to_us, period.zone)
    return ahead(seen, spent.cost_pusd or 0, sofar.cost_pusd or 0, coming, as_of_us)


def ahead(
    seen: Sequence[tuple[date, int]], spent_pusd: int, sofar_pusd: int, coming: Sequence[Day], as_of_us: int
) -> Forecast | None:
    """The forecast from days seen (date, pico-USD), what was spent up to `as_of_us`, and the days that follow.

    Never below `sofar_pusd`, which is in the logs already. None where the days seen are too few.
    """
    if len(seen) < MIN_DAYS:
        return None
    mean_sum = spread = 0.0
    for weekend in (False, True):
        n = sum(_rest(day, as_of_us) for day in coming if _is_weekend(day.date) == weekend)
        if n == 0:
            continue
        kind = [float(pusd) for day, pusd in seen if _is_weekend(day) == weekend]
        if len(kind) < MIN_OF_KIND:
            kind = [float(pusd) for _, pusd in seen]
        deviation = variance(kind)
        mean_sum += n * fmean(kind)
        spread += n * deviation + n * n * deviation / len(kind)
    reach = Z_80 * math.sqrt(spread)
    low, middle, high = (max(sofar_pusd, spent_pusd + round(mean_sum + side * reach)) for side in (-1, 0, 1))
    return Forecast(low, middle, high, as_of_us, len(seen))


def _rest(day: Day, as_of_us: int) -> float:
    """The part of a day that is still to come, 1 for a whole one."""
    return (day.to_us - max(day.from_us, as_of_us)) / (day.to_us - day.from_us)


def _is_weekend(day: date) -> bool:
    return day.weekday() >= 5


def _days_before(session: Session, view: View, as_of_us: int) -> list[tuple[date, int]]:
    """The whole local days before an instant with their cost, from the first that has requests; unknown ones left out.

    Days without requests behind it are true zeros.
    """
    zone = zone_info(view.period.zone)
    last = local_date(as_of_us, zone)
    first = last - timedelta(days=HISTORY_DAYS)
    before = Period("before", midnight_us(first, zone), midnight_us(last, zone), view.period.zone)
    earlier = views.replace_period(view, before)
    asked = spend.daily(session, earlier, by="provider", top=0, measure="requests").totals
    series = spend.daily(session, earlier, by="provider", top=0)
    begins = next((place for place, requests in enumerate(asked) if requests), len(asked))
    days = zip(series.days[begins:], series.totals[begins:], strict=True)
    return [(day.date, pusd) for day, pusd in days if pusd is not None]
