"""When a run that failed is made again: after pauses that grow, a bounded number of times, never past the next due one.

Only runs of a calendar, which would otherwise wait for a day or a week: an interval comes again by itself, and whoever
asked for a run sees that it failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.core.errors import UsageError
from app.core.view import zone_info
from app.jobs.rule import Calendar, Due, parse

if TYPE_CHECKING:
    from app.control.job_runs import JobRun
    from app.control.schedules import Schedule

MINUTE_US: Final = 60_000_000
PAUSES_US: Final = (2 * MINUTE_US, 10 * MINUTE_US, 30 * MINUTE_US, 120 * MINUTE_US)
"""After the first failure, the second and so on; a run has at most one attempt more than there are pauses."""


def next_try_us(failed: JobRun, schedule: Schedule) -> int | None:
    """When the newest run of a job is made again, None where it is not: microseconds UTC."""
    if failed.state != "failed" or failed.cause != "clock" or failed.ended_us is None or not schedule.enabled:
        return None
    if failed.attempt > len(PAUSES_US) or failed.scheduled_us <= schedule.anchor_us:
        return None  # every pause is used up, or the schedule was set anew since
    try:
        rule, zone = parse(schedule.rule), zone_info(schedule.zone)
    except UsageError:
        return None
    if not isinstance(rule, Calendar):
        return None
    at_us = failed.ended_us + PAUSES_US[failed.attempt - 1]
    return at_us if at_us < rule.following(failed.scheduled_us, zone).at_us else None


def occurrences(run: JobRun, schedule: Schedule) -> tuple[Due, ...]:
    """Every occurrence that another attempt of a run answers for, oldest first."""
    newest = Due(run.period, run.scheduled_us)
    rule = parse(schedule.rule)
    if not isinstance(rule, Calendar) or not run.missed:
        return (newest,)
    return (*rule.between(run.first_us - 1, run.scheduled_us - 1, zone_info(schedule.zone)), newest)
