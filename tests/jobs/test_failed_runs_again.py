"""A run that failed is made again inside its period: after growing pauses, a bounded number of times, once each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulated import MINUTE_US, Killed, us

from app.control import job_runs, schedules
from app.core.errors import UnavailableError
from app.jobs import next_try_us
from app.jobs.again import PAUSES_US
from app.jobs.clockwork import RUN_LEASE_US

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulated import World

    from app.jobs import Run


def failing(times: int) -> Callable[[Run], None]:
    """Fails so many times, then works."""
    left = [times]

    def run(_run: Run) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise UnavailableError("The disk is full.")

    return run


def attempts(here: World) -> list[tuple[str, int, str, str]]:
    return [(run.period, run.attempt, run.state, run.cause) for run in reversed(job_runs.newest(here.control))]


def test_a_failed_run_is_made_again_after_a_pause_and_not_after_it_worked(world: Callable[..., World]) -> None:
    here = world("2026-03-02T00:00Z")
    clock = here.scheduler(here.job("report", "weekly mon 08:00", failing(2)))
    here.pass_time("2026-03-03T00:00Z", clock, step_us=MINUTE_US)
    assert attempts(here) == [
        ("2026-03-02", 1, "failed", "clock"),
        ("2026-03-02", 2, "failed", "clock"),
        ("2026-03-02", 3, "ok", "clock"),
    ]
    assert here.began("report") == ["2026-03-02T08:00:00Z", "2026-03-02T08:02:00Z", "2026-03-02T08:12:00Z"]


def test_attempts_are_bounded_and_the_next_period_begins_afresh(world: Callable[..., World]) -> None:
    here = world("2026-03-02T00:00Z")
    clock = here.scheduler(here.job("analysis", "daily 03:00", failing(100)))
    here.pass_time("2026-03-03T03:00Z", clock, step_us=MINUTE_US)
    first = [item for item in attempts(here) if item[0] == "2026-03-02"]
    assert [item[1] for item in first] == list(range(1, len(PAUSES_US) + 2))
    assert attempts(here)[-1] == ("2026-03-03", 1, "failed", "clock")


def test_a_retry_never_reaches_into_the_next_period(world: Callable[..., World]) -> None:
    """It runs for long: after the first pause its next occurrence is due and stands for it."""
    here = world("2026-03-02T00:00Z")

    def slow(run: Run) -> None:
        here.clock.at_us = us("2026-03-03T02:59Z") if run.scheduled[-1].period == "2026-03-02" else here.clock.at_us
        raise UnavailableError("too slow")

    clock = here.scheduler(here.job("analysis", "daily 03:00", slow))
    here.clock.at_us = us("2026-03-02T03:00Z")
    clock.tick()
    here.clock.at_us = us("2026-03-03T03:01Z")
    clock.tick()
    assert attempts(here) == [("2026-03-02", 1, "failed", "clock"), ("2026-03-03", 1, "failed", "clock")]


def test_two_schedulers_make_each_attempt_once(world: Callable[..., World]) -> None:
    here = world("2026-03-02T00:00Z")
    job = here.job("report", "weekly mon 08:00", failing(3))
    one, two = here.scheduler(job), here.scheduler(job)
    here.pass_time("2026-03-03T00:00Z", one, two, step_us=MINUTE_US)
    assert [item[1:3] for item in attempts(here)] == [(1, "failed"), (2, "failed"), (3, "failed"), (4, "ok")]
    claims = [
        job_runs.try_again(here.control, failed, holder="x", now_us=1, lease_us=2, late=False)
        for failed in job_runs.newest(here.control)
        if failed.attempt == 1
    ]
    assert claims == [None], "its second attempt has been made"


def test_a_retry_answers_for_everything_that_the_first_run_did(world: Callable[..., World]) -> None:
    here = world("2026-03-02T00:00Z")
    clock = here.scheduler(here.job("report", "weekly mon 08:00", failing(1)))
    here.clock.at_us = us("2026-03-16T08:00Z")
    clock.tick()
    here.pass_time("2026-03-16T09:00Z", clock, step_us=MINUTE_US)
    assert here.periods("report") == ["2026-03-02", "2026-03-09", "2026-03-16"] * 2


def test_what_somebody_asked_for_meanwhile_and_what_worked_ends_the_retries(world: Callable[..., World]) -> None:
    here = world("2026-03-02T00:00Z")
    clock = here.scheduler(here.job("analysis", "daily 03:00", failing(2)))
    here.pass_time("2026-03-02T03:01Z", clock, step_us=MINUTE_US)
    schedules.ask(here.control, "analysis", here.clock())
    clock.tick()
    assert [item[2:] for item in attempts(here)] == [("failed", "clock"), ("failed", "asked")]
    schedules.ask(here.control, "analysis", here.clock() + 1)
    clock.tick()
    here.pass_time("2026-03-02T23:00Z", clock, step_us=10 * MINUTE_US)
    assert [item[2:] for item in attempts(here)] == [("failed", "clock"), ("failed", "asked"), ("ok", "asked")]


def test_a_run_that_somebody_asked_for_or_of_an_interval_is_not_made_again(world: Callable[..., World]) -> None:
    here = world("2026-03-02T00:00Z")
    clock = here.scheduler(here.job("analysis", "daily 03:00", failing(9)), here.job("pull", "every 7 h", failing(9)))
    schedules.ask(here.control, "analysis", here.clock())
    here.pass_time("2026-03-02T02:59Z", clock, step_us=MINUTE_US)
    assert attempts(here) == [(f"asked {us('2026-03-02T00:00Z')}", 1, "failed", "asked")]
    here.pass_time("2026-03-02T07:59Z", clock, step_us=MINUTE_US)
    assert len([run for run in job_runs.newest(here.control) if run.job == "pull"]) == 1


@pytest.mark.parametrize(("enabled", "rule"), [(False, "daily 03:00"), (True, "daily 04:00")])
def test_a_job_switched_off_or_set_anew_is_not_made_again(
    world: Callable[..., World], enabled: bool, rule: str
) -> None:
    here = world("2026-03-02T00:00Z")
    clock = here.scheduler(here.job("analysis", "daily 03:00", failing(9)))
    here.pass_time("2026-03-02T03:00Z", clock, step_us=MINUTE_US)
    schedules.change(here.control, "analysis", rule=rule, zone="UTC", enabled=enabled, now_us=here.clock())
    here.pass_time("2026-03-02T03:59Z", clock, step_us=MINUTE_US)
    assert here.began("analysis") == ["2026-03-02T03:00:00Z"]


def test_a_retry_that_kills_its_process_twice_is_left(world: Callable[..., World]) -> None:
    here = world("2026-03-02T00:00Z")
    made = [0]

    def fails_then_kills(_run: Run) -> None:
        made[0] += 1
        if made[0] == 1:
            raise UnavailableError("not yet")
        raise Killed

    job = here.job("analysis", "daily 03:00", fails_then_kills)
    clock = here.scheduler(job)
    here.pass_time("2026-03-02T03:01Z", clock, step_us=MINUTE_US)
    for _ in range(2):
        here.clock.at_us += max(RUN_LEASE_US, PAUSES_US[0])
        with pytest.raises(Killed):
            clock.tick()
        clock = here.scheduler(job)
    here.pass_time("2026-03-02T23:00Z", clock, step_us=10 * MINUTE_US)
    assert [item[1:3] for item in attempts(here)] == [(1, "failed"), (2, "interrupted"), (3, "interrupted")]


def test_the_next_try_is_known_beforehand(world: Callable[..., World]) -> None:
    here = world("2026-03-02T00:00Z")
    clock = here.scheduler(here.job("analysis", "daily 03:00", failing(9)))
    here.pass_time("2026-03-02T03:00Z", clock, step_us=MINUTE_US)
    [schedule] = schedules.all_schedules(here.control)
    [failed] = job_runs.not_made_good(here.control).values()
    assert next_try_us(failed, schedule) == us("2026-03-02T03:02Z")
