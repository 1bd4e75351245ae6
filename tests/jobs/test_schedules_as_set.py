"""What people set: a run now, a changed schedule, a new default; and what the log of runs keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulated import World, days, us

from app.control import job_runs, schedules
from app.core.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.jobs import Run


def test_run_now_runs_once_beside_the_schedule(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    clock = here.scheduler(here.job("nightly", "daily 02:30"))
    schedules.ask(here.control, "nightly", us("2026-03-01T00:10Z"))
    schedules.ask(here.control, "nightly", us("2026-03-01T00:11Z"))
    here.pass_time("2026-03-01T12:00Z", clock)
    assert here.began("nightly") == ["2026-03-01T00:30:00Z", "2026-03-01T02:30:00Z"]
    assert [run.cause for _, run, _ in here.runs] == ["asked", "clock"]
    with pytest.raises(NotFoundError, match="Jobs"):
        schedules.ask(here.control, "nothing", 1)


def test_run_now_works_for_a_job_that_is_switched_off(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    clock = here.scheduler(here.job("nightly", "daily 02:30"))
    schedules.change(here.control, "nightly", rule="daily 02:30", zone="UTC", enabled=False, now_us=here.clock.at_us)
    here.pass_time("2026-03-03T12:00Z", clock)
    assert here.runs == []
    schedules.ask(here.control, "nightly", here.clock.at_us)
    here.pass_time("2026-03-03T12:15Z", clock)
    assert here.began("nightly") == ["2026-03-03T12:15:00Z"]


def test_a_changed_schedule_begins_now_and_a_day_keeps_its_one_run(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    clock = here.scheduler(here.job("nightly", "daily 02:30"))
    here.pass_time("2026-03-02T12:00Z", clock)

    def change(rule: str, *, enabled: bool = True) -> None:
        schedules.change(here.control, "nightly", rule=rule, zone="UTC", enabled=enabled, now_us=here.clock.at_us)

    change("daily 14:00")
    here.pass_time("2026-03-02T18:00Z", clock)
    assert here.periods("nightly") == ["2026-03-01", "2026-03-02"]
    change("daily 14:00", enabled=False)
    here.pass_time("2026-03-06T18:00Z", clock)
    change("daily 14:00")
    here.pass_time("2026-03-07T18:00Z", clock)
    assert here.periods("nightly")[2:] == ["2026-03-07"]


def test_a_schedule_that_nobody_set_follows_a_new_default_and_one_that_was_set_stays(
    world: Callable[..., World],
) -> None:
    here = world("2026-03-01T00:00Z")
    here.scheduler(here.job("a", "daily 02:30"), here.job("b", "daily 02:30"))
    schedules.change(here.control, "b", rule="daily 05:00", zone="Asia/Tokyo", enabled=True, now_us=1)
    here.zone = "Europe/Berlin"
    here.scheduler(here.job("a", "daily 03:30"), here.job("b", "daily 03:30"))
    standing = {item.job: (item.rule, item.zone) for item in schedules.all_schedules(here.control)}
    assert standing == {"a": ("daily 03:30", "Europe/Berlin"), "b": ("daily 05:00", "Asia/Tokyo")}


def test_a_new_default_still_catches_up_what_was_due_while_nothing_ran(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    here.pass_time("2026-03-02T03:00Z", here.scheduler(here.job("nightly", "daily 02:30")))
    here.clock.at_us = us("2026-03-04T12:00Z")
    here.pass_time("2026-03-05T12:00Z", here.scheduler(here.job("nightly", "daily 03:30")))
    assert here.periods("nightly") == days("2026-03-01", 5)


def test_a_schedule_that_cannot_be_read_stops_no_other(
    world: Callable[..., World], caplog: pytest.LogCaptureFixture
) -> None:
    here = world("2026-03-01T00:00Z")
    clock = here.scheduler(here.job("a", "daily 02:30"), here.job("b", "daily 02:30"), here.job("c", "daily 02:30"))
    schedules.change(here.control, "a", rule="at dawn", zone="UTC", enabled=True, now_us=1)
    schedules.change(here.control, "b", rule="daily 02:30", zone="Mars/Base", enabled=True, now_us=1)
    here.pass_time("2026-03-01T12:00Z", clock)
    assert [name for name, _, _ in here.runs] == ["c"]
    assert caplog.text.count("'at dawn' is no schedule") == 1


def test_a_job_that_talks_too_much_is_cut_off_and_says_so(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")

    def talk(run: Run) -> None:
        for number in range(5000):
            run.say(f"{number} " + "x" * 10_000)

    clock = here.scheduler(here.job("nightly", "daily 02:30", talk))
    here.pass_time("2026-03-01T03:00Z", clock)
    lines = job_runs.newest(here.control)[0].lines.splitlines()
    assert len(lines) == 201
    assert max(map(len, lines)) == 500
    assert lines[-1] == "More lines were left out."


def test_old_runs_are_forgotten_but_never_the_newest_of_a_job(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    clock = here.scheduler(here.job("often", "every 1 h"), here.job("seldom", "monthly 1 00:30"))
    here.pass_time("2026-03-03T00:00Z", clock)
    assert job_runs.prune(here.control, before_us=here.clock.at_us, keep=1000) == 47
    assert {run.job for run in job_runs.newest(here.control)} == {"often", "seldom"}
    here.pass_time("2026-03-04T00:00Z", clock)
    assert job_runs.prune(here.control, before_us=0, keep=5) == 20
    assert len(job_runs.newest(here.control, job="often")) == 5
