"""Work of a job that is done outside the clock stands in the run log like any other run."""

from __future__ import annotations

import pytest

from app.control import database, job_runs, schedules
from app.core.errors import InputError
from app.jobs import Clockwork, Job

NOW_US = 1_800_000_000_000_000


@pytest.fixture
def clockwork() -> Clockwork:
    control = database.open_control(None)
    database.migrate(control)
    job = Job("analysis", "Analyse", "Prices levers.", "daily 03:00", lambda run: run.say("by the clock"))
    schedules.ensure(control, [(job.name, job.rule)], zone="UTC", now_us=NOW_US)
    return Clockwork(control, {job.name: job}, lambda: NOW_US, start=lambda work: work())


def test_work_done_at_once_is_in_the_log_with_what_it_said(clockwork: Clockwork) -> None:
    clockwork.noted("analysis", lambda run: run.say("by hand"))
    [run] = job_runs.newest(clockwork.control)
    assert (run.job, run.state, run.lines, run.ended_us) == ("analysis", "ok", "by hand", NOW_US)
    clockwork.tick()
    assert len(job_runs.newest(clockwork.control)) == 1


def test_work_that_fails_goes_on_failing_and_the_log_says_why(clockwork: Clockwork) -> None:
    def fail(_run: object) -> None:
        raise InputError("No log is there.")

    with pytest.raises(InputError):
        clockwork.noted("analysis", fail)
    [run] = job_runs.newest(clockwork.control)
    assert (run.state, run.error) == ("failed", "No log is there.")
