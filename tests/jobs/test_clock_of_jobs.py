"""The clock over simulated time: each run once, whatever the clocks, the service or a second scheduler do."""

from __future__ import annotations

import threading
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from simulated import MINUTE_US, World, days, iso, us

from app.control import job_runs, schedules
from app.jobs.clockwork import LEADER_LEASE_US

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Engine

    from app.jobs import Run

HOUR_US = 60 * MINUTE_US


@pytest.mark.parametrize(
    ("zone", "begins", "first_day", "first_monday"),
    [
        # In Morocco clocks go back before Ramadan (15 February 2026) and forward after it (22 March).
        ("Africa/Casablanca", "2026-01-29T12:00Z", "2026-01-30", "2026-02-02"),
        ("Europe/Berlin", "2026-02-26T12:00Z", "2026-02-27", "2026-03-02"),
        ("Europe/Berlin", "2026-09-17T12:00Z", "2026-09-18", "2026-09-21"),
    ],
    ids=["both clock changes", "clocks forward", "clocks back"],
)
def test_ten_weeks_with_clock_changes_downtime_and_two_schedulers(
    world: Callable[..., World], zone: str, begins: str, first_day: str, first_monday: str
) -> None:
    """The service is down over a Monday morning in the fifth week, and the leader changes."""
    here = world(begins, zone)
    mails: list[str] = []

    def send(run: Run) -> None:
        mails.extend(due.period for due in run.scheduled)

    jobs = (here.job("nightly", "daily 02:30"), here.job("report", "weekly mon 08:00", send, lane="mail"))
    one, two = here.scheduler(*jobs), here.scheduler(*jobs)
    back = us(f"{first_monday}T12:00Z") + 4 * 7 * 24 * HOUR_US
    here.pass_time(iso(back - 20 * HOUR_US), one, two)
    here.clock.at_us = back
    here.pass_time(iso(back + 48 * HOUR_US), two, one)
    one.stop()
    here.pass_time(iso(us(begins) + 70 * 24 * HOUR_US), two)

    assert here.periods("nightly") == days(first_day, 70)
    assert here.periods("report") == mails == days(first_monday, 10, step=7)
    fifth = (date.fromisoformat(first_monday) + timedelta(days=28)).isoformat()
    late = [(name, run.scheduled[-1].period) for name, run, _ in here.runs if run.late]
    assert late == [("nightly", fifth), ("report", fifth)]
    logged = job_runs.newest(here.control, limit=1000)
    assert len(logged) == len(here.runs) == 70 + 10
    assert {run.state for run in logged} == {"ok"}


def test_many_missed_runs_are_caught_up_by_one_that_names_each(world: Callable[..., World]) -> None:
    here = world("2026-03-01T12:00Z", "Europe/Berlin")
    clock = here.scheduler(here.job("report", "weekly mon 08:00"))
    here.clock.at_us = us("2026-03-25T10:00Z")
    clock.tick()
    clock.tick()
    ((_, run, _),) = here.runs
    assert [due.period for due in run.scheduled] == ["2026-03-02", "2026-03-09", "2026-03-16", "2026-03-23"]
    assert run.late
    (logged,) = job_runs.newest(here.control)
    assert (logged.period, logged.missed, iso(logged.first_us)) == ("2026-03-23", 3, "2026-03-02T07:00:00Z")


def test_what_was_due_before_a_job_was_known_is_not_missed(world: Callable[..., World]) -> None:
    here = world("2026-03-02T12:00Z")
    clock = here.scheduler(here.job("report", "weekly mon 08:00"))
    here.pass_time("2026-03-03T12:00Z", clock)
    assert here.runs == []


def test_two_schedulers_that_both_believe_to_lead_claim_a_run_once(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    job = here.job("nightly", "daily 02:30")
    one, two = here.scheduler(job), here.scheduler(job)
    here.clock.at_us = us("2026-03-01T02:30Z")
    for scheduler in (one, two):
        scheduler._leads_until_us = here.clock.at_us + LEADER_LEASE_US
        scheduler.tick()
    assert here.began("nightly") == ["2026-03-01T02:30:00Z"]


def test_claims_of_many_threads_on_one_store_give_the_run_to_one(control: Engine) -> None:
    schedules.ensure(control, [("nightly", "daily 02:30")], zone="UTC", now_us=0)
    begin, won = threading.Barrier(6), []

    def claim(holder: str) -> None:
        begin.wait()
        run = job_runs.claim(
            control,
            job="nightly",
            period="2026-03-01",
            cause="clock",
            scheduled_us=5,
            first_us=5,
            missed=0,
            late=False,
            holder=holder,
            now_us=5,
            lease_us=9,
        )
        won.append(run)

    threads = [threading.Thread(target=claim, args=(f"h{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([run for run in won if run is not None]) == 1
    assert len(won) == 6
    assert len(job_runs.newest(control)) == 1


def test_the_lead_passes_on_when_its_lease_is_over_and_at_once_when_it_is_given_back(
    world: Callable[..., World],
) -> None:
    here = world("2026-03-01T00:00Z")
    job = here.job("often", "every 10 s")
    one, two = here.scheduler(job), here.scheduler(job)
    one.tick()
    here.clock.at_us += LEADER_LEASE_US - 1
    two.tick()
    assert here.runs == []
    here.clock.at_us += 1
    two.tick()
    assert len(here.runs) == 1
    two.stop()
    here.clock.at_us += 10_000_000
    one.tick()
    assert len(here.runs) == 2
