"""Finds what is due, claims it in the store and runs it, each lane one thing at a time.

Any number of schedulers may tick on one store: a lease makes one of them the leader, and the unique claim decides
where two believe they are. Nothing is claimed before its lane is free, so a run begins when its claim stands; what
waits stays due and is found by the next tick.
"""

from __future__ import annotations

import logging
import secrets
import threading
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from sqlalchemy.exc import SQLAlchemyError

from app.control import job_runs, schedules
from app.core.errors import HalveError, UsageError
from app.core.view import zone_info
from app.jobs.again import next_try_us, occurrences
from app.jobs.job import Run
from app.jobs.rule import Calendar, Due, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy import Engine

    from app.control.job_runs import JobRun
    from app.control.schedules import Schedule
    from app.jobs.job import Job
    from app.jobs.rule import Rule

log = logging.getLogger(__name__)

LEADER: Final = "jobs"
LEADER_LEASE_US: Final = 20_000_000
RUN_LEASE_US: Final = 120_000_000
LATE_US: Final = 300_000_000
FIRST_PAUSE_US: Final = 2_000_000
MAX_PAUSE_US: Final = 300_000_000
MAX_DOUBLINGS: Final = 16


@dataclass(frozen=True, slots=True)
class _Pending:
    """A run that could begin: since when it waits, whether it would do anything, and how to claim it."""

    job: Job
    scheduled: tuple[Due, ...]
    claim: Callable[[], JobRun | None]
    wanted: Callable[[], bool] = lambda: True


@dataclass(slots=True)
class _Running:
    """A run of this process; `lease_us` and `saved` are what the store knows."""

    claimed: JobRun
    run: Run
    lease_us: int
    saved: int = 0


@dataclass
class Clockwork:
    """One scheduler. Call `tick` every second from one thread, and `stop` at the end.

    Attributes:
        now: the present in microseconds UTC.
        start: runs a callable beside the clock in a thread of its own; a simulation calls it at once.
        lanes: the lock of each lane, also for work that is no job but takes turns with them.
    """

    control: Engine
    jobs: Mapping[str, Job]
    now: Callable[[], int]
    start: Callable[[Callable[[], None]], object]
    lanes: dict[str, threading.Lock] = field(default_factory=dict)
    holder: str = field(default_factory=lambda: secrets.token_hex(8))
    _leads_until_us: int = 0
    _running: dict[int, _Running] = field(default_factory=dict)
    _looked_us: dict[str, int] = field(default_factory=dict)
    _failures: dict[str, int] = field(default_factory=dict)
    _not_before_us: dict[str, int] = field(default_factory=dict)
    _unreadable: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for job in self.jobs.values():
            self.lanes.setdefault(job.lane, threading.Lock())

    def tick(self) -> None:
        """Begin everything that is due and whose lane is free, the longest-waiting first."""
        now_us = self.now()
        self.show_life()
        if not self._leads(now_us):
            return
        for item in sorted(self._pending(now_us), key=lambda pending: pending.scheduled[0].at_us):
            lane = self.lanes[item.job.lane]
            if not lane.acquire(blocking=False):
                continue
            claimed = None
            try:
                claimed = item.claim() if item.wanted() else None
            finally:
                if claimed is None:
                    lane.release()
            if claimed is not None:
                self._begin(item, claimed, lane)

    def noted(self, job: str, work: Callable[[Run], None]) -> None:
        """Do work of a job at once, with a row in the log like a run that was asked for; its errors go on.

        Call with the job's lane held, where no run of it can begin.
        """
        wish = (Due(f"asked {self.now()}", self.now()),)
        claimed = self._claim(job, wish, "asked", self.now())
        run = Run(job, wish, "asked", 1, late=False)
        if claimed is None:
            work(run)
            return
        self._running[claimed.id] = _Running(claimed, run, claimed.lease_us)
        error: str | None = "An unexpected error. The service's log has the details."
        try:
            work(run)
            error = None
        except HalveError as known:
            error = str(known)
            raise
        finally:
            self._finish(claimed, run, error)
            self._running.pop(claimed.id, None)

    def stop(self) -> None:
        """Give the lead to whoever comes next; runs that still work keep their claims."""
        self._leads_until_us = 0
        schedules.release_lease(self.control, LEADER, self.holder)

    def _leads(self, now_us: int) -> bool:
        if self._leads_until_us - now_us > LEADER_LEASE_US // 2:
            return True
        until_us = now_us + LEADER_LEASE_US
        held = schedules.hold_lease(self.control, LEADER, self.holder, now_us=now_us, until_us=until_us)
        self._leads_until_us = until_us if held else 0
        return held

    def show_life(self) -> None:
        """Renew the claims of the runs of this process, and store what they said meanwhile."""
        now_us = self.now()
        for number, running in list(self._running.items()):
            said = len(running.run.lines)
            if said == running.saved and running.lease_us - now_us > RUN_LEASE_US // 2:
                continue
            running.lease_us, running.saved = now_us + RUN_LEASE_US, said
            lines = "\n".join(running.run.lines)
            job_runs.renew(self.control, number, self.holder, lease_us=running.lease_us, lines=lines)

    def _pending(self, now_us: int) -> Iterator[_Pending]:
        standing = {item.job: item for item in schedules.all_schedules(self.control) if item.job in self.jobs}
        failed = job_runs.not_made_good(self.control)
        for dead in job_runs.abandoned(self.control, now_us):
            if dead.id not in self._running:
                yield from self._again(dead, standing.get(dead.job), now_us)
        for schedule in standing.values():
            if schedule.asked_us is not None:
                yield self._asked(schedule, schedule.asked_us, now_us)
            if schedule.enabled:
                coming = list(self._due(schedule, now_us))
                yield from coming
                if not coming and schedule.job in failed:
                    yield from self._failed(failed[schedule.job], schedule, now_us)

    def _again(self, dead: JobRun, schedule: Schedule | None, now_us: int) -> Iterator[_Pending]:
        """A run whose process died is repeated once; an interval comes again by itself."""
        rule = None if schedule is None else self._rule(schedule)
        repeated = dead.cause == "asked" or (schedule is not None and schedule.enabled and isinstance(rule, Calendar))
        if schedule is None or rule is None or not repeated or self._died_before(dead):
            job_runs.interrupt(self.control, dead, now_us)
            return
        claim = partial(
            job_runs.take_over,
            self.control,
            dead,
            holder=self.holder,
            now_us=now_us,
            lease_us=now_us + RUN_LEASE_US,
        )
        yield _Pending(self.jobs[dead.job], occurrences(dead, schedule), claim)

    def _died_before(self, dead: JobRun) -> bool:
        """Whether a process died over this period already: a run that kills its process must not go on doing so."""
        return job_runs.interruptions(self.control, dead.job, dead.period) > 0

    def _failed(self, failed: JobRun, schedule: Schedule, now_us: int) -> Iterator[_Pending]:
        """A run that failed is made again after a pause, before its next occurrence is due."""
        at_us = next_try_us(failed, schedule)
        if at_us is None or now_us < at_us:
            return
        claim = partial(
            job_runs.try_again,
            self.control,
            failed,
            holder=self.holder,
            now_us=now_us,
            lease_us=now_us + RUN_LEASE_US,
            late=now_us - failed.scheduled_us > LATE_US,
        )
        yield _Pending(self.jobs[failed.job], occurrences(failed, schedule), claim)

    def _asked(self, schedule: Schedule, asked_us: int, now_us: int) -> _Pending:
        wish = (Due(f"asked {asked_us}", asked_us),)
        return _Pending(self.jobs[schedule.job], wish, partial(self._claim, schedule.job, wish, "asked", now_us))

    def _due(self, schedule: Schedule, now_us: int) -> Iterator[_Pending]:
        rule = self._rule(schedule)
        if rule is None:
            return
        job = self.jobs[schedule.job]
        if isinstance(rule, Calendar):
            found = rule.between(schedule.covered_us, now_us, zone_info(schedule.zone))
            if left := self._without_done(job.name, found):
                yield _Pending(job, left, partial(self._claim, job.name, left, "clock", now_us))
            return
        newest = rule.last(now_us, schedule.anchor_us)
        seen_us = max(schedule.covered_us, self._looked_us.get(job.name, 0))
        if newest.at_us > seen_us and now_us >= self._not_before_us.get(job.name, 0):
            claim = partial(self._claim, job.name, (newest,), "clock", now_us)
            yield _Pending(job, (newest,), claim, partial(self._has_work, job, newest))

    def _without_done(self, job: str, found: tuple[Due, ...]) -> tuple[Due, ...]:
        """What is due, without days that have their run: a schedule moved to a later time would name them again."""
        if not found:
            return ()
        done = job_runs.periods_done(self.control, job, [item.period for item in found])
        left = tuple(item for item in found if item.period not in done)
        if not left:
            schedules.cover(self.control, job, found[-1].at_us)
        return left

    def _claim(self, job: str, scheduled: tuple[Due, ...], cause: job_runs.Cause, now_us: int) -> JobRun | None:
        newest = scheduled[-1]
        missed = len(scheduled) - 1
        claimed = job_runs.claim(
            self.control,
            job=job,
            period=newest.period,
            cause=cause,
            scheduled_us=newest.at_us,
            first_us=scheduled[0].at_us,
            missed=missed,
            late=cause == "clock" and (missed > 0 or now_us - newest.at_us > LATE_US),
            holder=self.holder,
            now_us=now_us,
            lease_us=now_us + RUN_LEASE_US,
        )
        if claimed is None and cause == "clock":
            # Its day has a run already: one that another scheduler made, or one from before the schedule was changed.
            schedules.cover(self.control, job, newest.at_us)
        return claimed

    def _has_work(self, job: Job, now: Due) -> bool:
        self._looked_us[job.name] = now.at_us
        if job.has_work is None:
            return True
        try:
            return job.has_work()
        except Exception:
            # Whatever keeps the look from answering would stop every other job too; the run itself says what it is.
            log.exception("looking for work of %s failed", job.name)
            return True

    def _rule(self, schedule: Schedule) -> Rule | None:
        """The rule of a schedule; one that cannot be read is named in the log once and never due."""
        try:
            zone_info(schedule.zone)
            return parse(schedule.rule)
        except UsageError as error:
            if (named := f"{schedule.job}: {error}") not in self._unreadable:
                self._unreadable.add(named)
                log.error("%s", named)  # noqa: TRY400 - the message is the whole story for the reader
            return None

    def _begin(self, item: _Pending, claimed: JobRun, lane: threading.Lock) -> None:
        run = Run(claimed.job, item.scheduled, claimed.cause, claimed.attempt, claimed.late)
        self._running[claimed.id] = _Running(claimed, run, claimed.lease_us)
        try:
            self.start(lambda: self._work(item.job, claimed, run, lane))
        except RuntimeError:
            # No thread to run it: the claim runs out and the run is made again.
            log.exception("%s could not be started", claimed.job)
            self._running.pop(claimed.id, None)
            lane.release()

    def _work(self, job: Job, claimed: JobRun, run: Run, lane: threading.Lock) -> None:
        try:
            error = _outcome(job, run)
            self._note(job.name, failed=error is not None)
            self._finish(claimed, run, error)
        finally:
            self._running.pop(claimed.id, None)
            lane.release()

    def _note(self, job: str, *, failed: bool) -> None:
        """An interval job that keeps failing is tried less and less often."""
        count = min(self._failures.get(job, 0) + 1, MAX_DOUBLINGS) if failed else 0
        self._failures[job] = count
        self._not_before_us[job] = self.now() + min(MAX_PAUSE_US, FIRST_PAUSE_US << count) if count else 0

    def _finish(self, claimed: JobRun, run: Run, error: str | None) -> None:
        lines = "\n".join(run.lines)
        state: Literal["ok", "failed"] = "ok" if error is None else "failed"
        try:
            ours = job_runs.finish(
                self.control, claimed.id, self.holder, state=state, error=error, lines=lines, now_us=self.now()
            )
        except SQLAlchemyError:
            # The run then counts as interrupted when its claim is over, and is made once more.
            log.exception("the end of %s could not be stored", claimed.job)
            return
        if not ours:
            log.warning("%s was taken for dead while it ran; another attempt took its place", claimed.job)


def _outcome(job: Job, run: Run) -> str | None:
    """Run a job; the error for the run log, or None."""
    try:
        job.run(run)
    except HalveError as error:
        log.error("%s: %s", job.name, error)  # noqa: TRY400 - the message is the whole story for the reader
        return str(error)
    except Exception as error:
        # One job may fail in a way nobody foresaw; the clock and the other jobs go on.
        log.exception("%s failed", job.name)
        return f"An unexpected error ({type(error).__name__}). The service's log has the details."
    return None
