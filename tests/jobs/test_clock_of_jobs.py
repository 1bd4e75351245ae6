"""The clock over simulated time: each run once, whatever the clocks, the service or a second scheduler do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from simulated import MINUTE_US, FixedClock, Killed, World, iso, us

from app.control import job_runs, migrate, open_control, schedules
from app.core.errors import InputError, NotFoundError
from app.jobs import Clockwork, Job
from app.jobs.clockwork import LEADER_LEASE_US, RUN_LEASE_US

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Engine

    from app.jobs import Run

HOUR_US = 60 * MINUTE_US


def days(first: str, count: int, step: int = 1) -> list[str]:
    return [(date.fromisoformat(first) + timedelta(days=step * place)).isoformat() for place in range(count)]


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
