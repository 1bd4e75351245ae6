"""Runs that die, stall, wait or fail: each is told apart, made once more, and stops nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from simulated import MINUTE_US, FixedClock, Killed, World, us

from app.control import job_runs, migrate, open_control, schedules
from app.core.errors import InputError
from app.jobs import Clockwork, Job
from app.jobs.clockwork import RUN_LEASE_US

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Engine

    from app.jobs import Run


def test_a_killed_run_is_marked_interrupted_and_made_once_more(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")

    def die(run: Run) -> None:
        run.say("begun")
        raise Killed

    job = here.job("nightly", "daily 02:30", die)
    clock = here.scheduler(job)
    here.clock.at_us = us("2026-03-01T02:30Z")
    for _ in range(2):
        with pytest.raises(Killed):
            clock.tick()
        clock = here.scheduler(job)
        here.clock.at_us += RUN_LEASE_US - 1
        clock.tick()
        assert [run.state for run in job_runs.newest(here.control)].count("running") == 1
        here.clock.at_us += 1
    here.pass_time("2026-03-01T23:00Z", clock)
    runs = [(run.attempt, run.state) for run in job_runs.newest(here.control)]
    assert runs == [(2, "interrupted"), (1, "interrupted")]
    assert here.periods("nightly") == ["2026-03-01", "2026-03-01"]


KILLED_MID_RUN = """
import sys, time
from pathlib import Path
from app.control import open_control, schedules
from app.jobs import Clockwork, Job

folder, now_us = Path(sys.argv[1]), int(sys.argv[2])

def work(run):
    run.say("first half done")
    (folder / "begun").touch()
    time.sleep(600)

control = open_control(folder)
jobs = {"report": Job("report", "Report", "Sends.", "weekly mon 08:00", work)}
Clockwork(control, jobs, lambda: now_us, start=lambda work: work()).tick()
"""


def test_kill_9_between_the_claim_and_the_end_repeats_the_run_once_with_all_its_periods(tmp_path: Path) -> None:
    control = open_control(tmp_path)
    migrate(control)
    clock = FixedClock(us("2026-03-01T00:00Z"))
    here = World(control, clock, "Europe/Berlin")
    job = here.job("report", "weekly mon 08:00")
    survivor = here.scheduler(job)
    clock.at_us = us("2026-03-09T07:00Z")  # the first Monday was missed, the second is due
    child = subprocess.Popen([sys.executable, "-c", KILLED_MID_RUN, str(tmp_path), str(clock.at_us)])
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists():
            assert child.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline, "the run did not begin"
            time.sleep(0.02)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    survivor.tick()
    assert here.runs == [], "the claim of the dead run still stands"
    clock.at_us += RUN_LEASE_US
    survivor.tick()
    survivor.tick()
    assert here.periods("report") == ["2026-03-02", "2026-03-09"]
    second, first = job_runs.newest(control)
    assert (first.state, first.attempt, second.state, second.attempt) == ("interrupted", 1, "ok", 2)
    assert second.late
    control.dispose()


def test_a_run_that_shows_life_is_never_taken_for_dead(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    other = here.scheduler(here.job("nightly", "daily 02:30"))

    def last_hours(run: Run) -> None:
        for minute in range(180):
            run.say(f"minute {minute}")
            here.clock.at_us += MINUTE_US
            clock.show_life()
            other.tick()

    clock = here.scheduler(here.job("nightly", "daily 02:30", last_hours))
    here.clock.at_us = us("2026-03-01T02:30Z")
    clock.tick()
    assert len(here.runs) == 1
    (logged,) = job_runs.newest(here.control)
    assert logged.state == "ok"
    assert logged.lines.splitlines()[:2] == ["minute 0", "minute 1"]


def test_an_end_that_comes_after_the_claim_was_lost_changes_nothing(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    other = here.scheduler(here.job("nightly", "daily 02:30"))

    def stalled(run: Run) -> None:
        here.clock.at_us += RUN_LEASE_US
        other.tick()
        run.say("woke up again")

    clock = here.scheduler(here.job("nightly", "daily 02:30", stalled))
    here.clock.at_us = us("2026-03-01T02:30Z")
    clock.tick()
    second, first = job_runs.newest(here.control)
    assert (first.state, first.holder) == ("interrupted", clock.holder)
    assert (second.state, second.holder) == ("ok", other.holder)


def test_what_waits_for_its_lane_stays_due_and_marked_late_when_it_waited_long(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    clock = here.scheduler(here.job("nightly", "daily 02:30"), here.job("mail", "daily 02:30", lane="mail"))
    with clock.lanes["warehouse"]:
        here.pass_time("2026-03-01T03:00Z", clock)
    assert here.began("nightly") == []
    assert here.began("mail") == ["2026-03-01T02:30:00Z"]
    here.pass_time("2026-03-01T03:15Z", clock)
    assert here.began("nightly") == ["2026-03-01T03:15:00Z"]
    assert [run.late for name, run, _ in here.runs if name == "nightly"] == [True]


def test_the_longest_waiting_goes_first_so_that_a_frequent_job_starves_nobody(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    order: list[str] = []
    jobs = [here.job("often", "every 2 s"), here.job("nightly", "daily 02:30")]
    clock = here.scheduler(*jobs)
    waiting: list[Callable[[], None]] = []
    clock.start = waiting.append
    here.clock.at_us = us("2026-03-01T02:30:01Z")
    for _ in range(3):
        clock.tick()
        order += [run.job for run in job_runs.newest(here.control) if run.state == "running"]
        waiting.pop()()
        here.clock.at_us += 2_000_000
    assert order == ["nightly", "often", "often"]


def test_a_failure_is_logged_and_stops_neither_the_clock_nor_other_jobs(
    world: Callable[..., World], caplog: pytest.LogCaptureFixture
) -> None:
    here = world("2026-03-01T00:00Z")

    def refuse(run: Run) -> None:
        run.say("read 3 of 5 files")
        raise InputError("File 4 is no log. Remove it and run the job again.")

    def break_down(run: Run) -> None:
        raise ZeroDivisionError

    clock = here.scheduler(
        here.job("a", "daily 02:30", refuse), here.job("b", "daily 02:30", break_down), here.job("c", "daily 02:30")
    )
    here.pass_time("2026-03-02T03:00Z", clock)
    last = job_runs.last_of_each(here.control)
    assert (last["a"].state, last["a"].error) == ("failed", "File 4 is no log. Remove it and run the job again.")
    assert last["a"].lines == "read 3 of 5 files"
    assert last["b"].error == "An unexpected error (ZeroDivisionError). The service's log has the details."
    assert last["c"].state == "ok"
    assert [len(job_runs.newest(here.control, job=name)) for name in "abc"] == [7, 7, 2], "five attempts, then two"
    assert "ZeroDivisionError" in caplog.text


def test_an_interval_job_that_keeps_failing_is_tried_less_and_less_often(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    broken = True

    def work(run: Run) -> None:
        if broken:
            raise InputError("The disk is full.")

    clock = here.scheduler(here.job("inbox", "every 2 s", work))
    here.pass_time("2026-03-01T00:30Z", clock, step_us=1_000_000)
    tries = len(here.runs)
    assert 8 <= tries <= 16
    broken = False
    here.pass_time("2026-03-01T00:36Z", clock, step_us=1_000_000)
    assert len(here.runs) > tries + 20


def test_an_interval_without_work_leaves_no_trace(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")
    waiting = [False]
    clock = here.scheduler(here.job("inbox", "every 2 s", has_work=lambda: waiting[0]))
    here.pass_time("2026-03-01T00:01Z", clock, step_us=1_000_000)
    assert job_runs.newest(here.control) == []
    waiting[0] = True
    here.pass_time("2026-03-01T00:01:02Z", clock, step_us=1_000_000)
    assert [run.state for run in job_runs.newest(here.control)] == ["ok"]


def test_a_look_for_work_that_fails_lets_the_run_say_why(world: Callable[..., World]) -> None:
    here = world("2026-03-01T00:00Z")

    def no_folder() -> bool:
        raise FileNotFoundError

    def fail(run: Run) -> None:
        raise InputError("The inbox is gone.")

    clock = here.scheduler(here.job("inbox", "every 2 s", fail, has_work=no_folder), here.job("nightly", "daily 02:30"))
    here.pass_time("2026-03-01T02:30Z", clock)
    last = job_runs.last_of_each(here.control)
    assert last["inbox"].error == "The inbox is gone."
    assert last["nightly"].state == "ok"


def test_jobs_run_in_threads_beside_each_other_by_lane(control: Engine) -> None:
    clock = FixedClock(us("2026-03-01T00:00Z"))
    both, threads = threading.Barrier(2, timeout=20), []

    def meet(run: Run) -> None:
        both.wait()
        run.say("met")

    def start(work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work)
        threads.append(thread)
        thread.start()

    jobs = {name: Job(name, name, "Meets the other one.", "every 1 min", meet, lane=name) for name in ("left", "right")}
    schedules.ensure(control, [(job.name, job.rule) for job in jobs.values()], zone="UTC", now_us=clock())
    scheduler = Clockwork(control, jobs, clock, start)
    clock.at_us += MINUTE_US
    scheduler.tick()
    for thread in threads:
        thread.join(20)
    assert [(run.state, run.lines) for run in job_runs.newest(control)] == [("ok", "met")] * 2
    assert not any(lane.locked() for lane in scheduler.lanes.values())
