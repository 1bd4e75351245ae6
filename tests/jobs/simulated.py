"""Schedulers over simulated time: the real clockwork on a real store, with a clock that a test moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from app.control import schedules
from app.jobs import Clockwork, Job

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Engine

    from app.jobs import Run

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE_US = 60_000_000


def us(text: str) -> int:
    """Microseconds of an ISO instant such as 2026-03-02T07:00Z."""
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


def iso(at_us: int) -> str:
    return (EPOCH + timedelta(microseconds=at_us)).strftime("%Y-%m-%dT%H:%M:%SZ")


def days(first: str, count: int, step: int = 1) -> list[str]:
    """ISO days from `first` on, every `step` days."""
    return [(date.fromisoformat(first) + timedelta(days=step * place)).isoformat() for place in range(count)]


@dataclass
class FixedClock:
    """Stands still until it is moved."""

    at_us: int

    def __call__(self) -> int:
        return self.at_us


class Killed(BaseException):
    """Ends a run as a kill does: nothing that would follow it happens."""


@dataclass
class World:
    """One store, one clock, jobs that note their runs, and any number of schedulers."""

    control: Engine
    clock: FixedClock
    zone: str
    runs: list[tuple[str, Run, int]] = field(default_factory=list)

    def job(self, name: str, rule: str, does: Callable[[Run], None] | None = None, **given: object) -> Job:
        def run(run: Run) -> None:
            self.runs.append((name, run, self.clock()))
            if does is not None:
                does(run)

        return Job(name, name.title(), f"Does what {name} does.", rule, run, **given)  # type: ignore[arg-type]

    def scheduler(self, *jobs: Job) -> Clockwork:
        schedules.ensure(self.control, [(job.name, job.rule) for job in jobs], zone=self.zone, now_us=self.clock.at_us)
        return Clockwork(self.control, {job.name: job for job in jobs}, self.clock, start=lambda work: work())

    def pass_time(self, until: str, *schedulers: Clockwork, step_us: int = 30 * MINUTE_US) -> None:
        """Tick every scheduler, step by step, up to an instant."""
        end_us = us(until)
        while self.clock.at_us < end_us:
            self.clock.at_us = min(end_us, self.clock.at_us + step_us)
            for scheduler in schedulers:
                scheduler.tick()

    def began(self, job: str) -> list[str]:
        """When the runs of a job began."""
        return [iso(at_us) for name, _, at_us in self.runs if name == job]

    def periods(self, job: str) -> list[str]:
        """Every period that a job was told to answer for, in order."""
        return [due.period for name, run, _ in self.runs if name == job for due in run.scheduled]
