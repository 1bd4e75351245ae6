"""Reported failures of schedules: a report skipped while the service was down, days skipped or doubled by clocks."""

from __future__ import annotations

import os
import re
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from simulated import MINUTE_US, iso, us

from app.control import job_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulated import World

    from app.jobs import Run

pytestmark = pytest.mark.data

CASES = Path(os.environ.get("HALVE_DATA", "/nonexistent")).parent / "cases" / "cases.jsonl"


@pytest.fixture
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    import json

    with CASES.open(encoding="utf-8") as file:
        return next(found for line in file if (found := json.loads(line))["id"] == request.param)


@pytest.mark.parametrize("case", ["LLMC-110"], indirect=True)
def test_a_report_due_while_the_service_was_down_is_sent_late_once(
    case: dict[str, Any], world: Callable[..., World]
) -> None:
    given, expected = case["minimal_input"], case["expected"]
    stated = re.fullmatch(r"weekly, Monday (\S+) (\S+)", given["schedule"])
    assert stated is not None
    rule, zone = f"weekly mon {stated[1]}", stated[2]
    down, up = (moment[:16] + "Z" for moment in given["service_down"])
    here = world(iso(us(down) - 30 * MINUTE_US), zone)
    sent: list[tuple[str, str]] = []

    def send(run: Run) -> None:
        sent.extend((due.period, iso(here.clock())) for due in run.scheduled)

    job = here.job("report", rule, send)
    here.pass_time(down, here.scheduler(job), step_us=5 * MINUTE_US)
    here.clock.at_us = us(up)
    here.pass_time(iso(us(up) + 24 * 60 * MINUTE_US), here.scheduler(job), step_us=5 * MINUTE_US)
    logged = job_runs.newest(here.control)
    assert len(logged) == len(sent) == expected["run_count"]
    for (day, moment), run, wanted in zip(sent, logged, expected["runs"], strict=True):
        assert day == wanted["for_period"][1]  # the week before the day of the run
        assert moment >= wanted["sent_at_after"]
        assert ("late" if run.late else "") == wanted["marked"]


@pytest.mark.parametrize("half", [slice(0, 3), slice(3, 6)], ids=["forward", "back"])
@pytest.mark.parametrize("case", ["LLMC-112"], indirect=True)
def test_a_daily_job_runs_once_a_local_day_across_both_clock_changes(
    case: dict[str, Any], half: slice, world: Callable[..., World]
) -> None:
    given, expected = case["minimal_input"], case["expected"]
    rules, days = given["schedules"], given["dates"][half]
    examples = expected["examples_utc"]
    first, last = date.fromisoformat(days[0]), date.fromisoformat(days[-1])
    here = world(f"{first - timedelta(days=1)}T12:00Z", given["timezone"])
    clock = here.scheduler(*(here.job(rule, rule) for rule in rules))
    here.pass_time(f"{last + timedelta(days=1)}T06:59Z", clock, step_us=5 * MINUTE_US)
    began = {(rule, day): at for rule in rules for day, at in zip(here.periods(rule), here.began(rule), strict=True)}
    for rule in rules:
        assert [here.periods(rule).count(day) for day in days] == [expected["runs_per_local_day"]] * 3
        assert here.began(rule) == sorted(set(here.began(rule)))
    if "2026-03-08" in days:
        assert [began["daily 00:00", day] for day in days] == examples["daily 00:00"]
        skipped = began["daily 02:30", "2026-03-08"]
        assert f"at {skipped}" in examples["daily 02:30 on 2026-03-08"] or skipped == "2026-03-08T10:30:00Z"
    else:
        assert f"once, at {began['daily 01:30', '2026-11-01']} (first)" in examples["daily 01:30 on 2026-11-01"]
