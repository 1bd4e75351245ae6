"""The weekly report by the clock, through the real outbox and a mail server: each run once, each mail once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from dashboard_company import NOW_US, company
from report_office import mailbox, runtime_of, settings_of
from simulated import Killed, World, iso, us

from app.control import job_runs, outbox
from app.jobs.clockwork import RUN_LEASE_US
from app.main import reporting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from app.jobs import Run

MONDAYS = [
    "2026-09-14",
    "2026-09-21",
    "2026-09-28",
    "2026-10-05",
    "2026-10-12",
    "2026-10-19",
    "2026-10-26",
    "2026-11-02",
    "2026-11-09",
    "2026-11-16",
]


def test_ten_weeks_of_reports_with_downtime_a_kill_and_two_schedulers(
    world: Callable[..., World], tmp_path: Path
) -> None:
    """Clocks go back on 25 October; the service is down on Monday 12 October and dies in a run on 2 November."""
    here = world("2026-09-09T12:00Z", "Europe/Berlin")
    runtime = replace(runtime_of(company(planned=False), tmp_path), control=here.control)
    with mailbox() as box:
        given = {"smtp_url": box.url, "mail_from": "halve@acme.example", "mail_to": "ana@acme.example"}
        settings = settings_of(tmp_path, **given)

        def send(run: Run) -> None:
            due = [item.at_us for item in run.scheduled]
            reporting.send_due(runtime, settings, due=due, now=here.clock)
            if run.scheduled[-1].period == "2026-11-02" and run.attempt == 1:
                raise Killed

        job = here.job("report", "weekly mon 08:00", send)
        one, two = here.scheduler(job), here.scheduler(job)
        here.pass_time("2026-10-12T05:00Z", one, two)
        here.clock.at_us = us("2026-10-12T15:00Z")
        here.pass_time("2026-11-01T12:00Z", two, one)
        with pytest.raises(Killed):
            here.pass_time("2026-11-03T12:00Z", one)
        here.clock.at_us += RUN_LEASE_US
        here.pass_time(iso(NOW_US), two, here.scheduler(job))

        assert Counter(here.periods("report")) == Counter([*MONDAYS, "2026-11-02"])
        runs = [(run.period, run.attempt, run.state, run.late) for run in reversed(job_runs.newest(here.control))]
        assert [run for run in runs if run[1:] != (1, "ok", False)] == [
            ("2026-10-12", 1, "ok", True),
            ("2026-11-02", 1, "interrupted", False),
            ("2026-11-02", 2, "ok", True),
        ]
        letters = list(reversed(outbox.newest(here.control)))
        assert [letter.period for letter in letters] == [f"2026-W{number}" for number in range(37, 47)]
        assert {letter.state for letter in letters} == {"sent"}
        assert Counter(mail["Message-ID"] for mail in box.received) == Counter(item.message_id for item in letters)
        assert [letter.period for letter in letters if letter.is_late] == ["2026-W41"]
