"""The service's own work: the clock of jobs, and work that pages ask for, in turns.

One lane holds everything that works on the warehouse, one thing after another, so that nothing competes for it; pages
read beside it. `app.main.jobs` says which jobs there are.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from app.control import schedules
from app.control import sources as control_sources
from app.core.errors import HalveError, NotFoundError
from app.jobs import Clockwork
from app.main import uploads
from app.main.jobs import WAREHOUSE, jobs
from app.main.pacing import Paced
from app.main.pulling import pull_source
from app.main.push import Pushes
from app.main.refresh import PLAN_DAYS, analyse_window, attribute_and_sum, compare_sources, now_us
from app.web.commands import Progress
from ingest.inbox import take_inbox
from ingest.pipeline import ingest_paths
from ingest.shard import waiting
from ingest.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from app.control.sources import RunState, Source
    from app.main.runtime import Runtime
    from app.plan.result import PlanResult
    from app.settings import Settings
    from ingest.connectors.files import Found

log = logging.getLogger(__name__)

TICK_S = 1
STOPPING_S = 30


@dataclass
class Background:
    """Starts and stops the service's work, and says what it is busy with. `made` marks what it sends as made data."""

    runtime: Runtime
    settings: Settings
    made: bool = False
    scheduler: BackgroundScheduler = field(default_factory=lambda: BackgroundScheduler(timezone="UTC"))
    progress: Progress = field(default_factory=Progress)
    clockwork: Clockwork = field(init=False)
    pushes: Pushes = field(init=False)
    _sums: Paced = field(default_factory=Paced)
    _came: bool = False
    _workers: ThreadPoolExecutor = field(init=False)
    _begun: set[Future[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.pushes = Pushes(self.runtime.data_dir, self.settings.text)
        named = {job.name: job for job in jobs(self)}
        self.clockwork = Clockwork(self.runtime.control, named, now_us, self._begin)
        self._workers = ThreadPoolExecutor(len(self.clockwork.lanes) + 1, thread_name_prefix="job")

    def start(self) -> None:
        """Begin. What came while the service was down is taken in before anything that is late is made from it."""
        for name in uploads.sweep(self.runtime.data_dir):
            log.warning("%s was left by a run that was stopped and is removed; upload it again if it is missing", name)
        given = [(job.name, job.rule) for job in self.clockwork.jobs.values()]
        schedules.ensure(self.runtime.control, given, zone=self.settings.zone, now_us=now_us())
        turn = self.clockwork.lanes[WAREHOUSE]
        turn.acquire()
        self.pushes.start()
        self._begin(lambda: self._alone(self.take_inbox, "inbox", turn.release))
        # APScheduler only rings: which moment is whose is worked out from the schedules, by local day.
        self.scheduler.add_job(
            self.clockwork.tick,
            IntervalTrigger(seconds=TICK_S, timezone="UTC"),
            id="clock",
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
        )
        self.scheduler.start()

    def stop(self) -> None:
        """End after the steps that run now."""
        self.pushes.journal.close()
        if self.scheduler.running:
            self.scheduler.shutdown(wait=True)
        while wait(set(self._begun), timeout=STOPPING_S).not_done:
            self.clockwork.show_life()
        self._workers.shutdown()
        self.clockwork.stop()

    def ask(self, job: str) -> None:
        """Have a job run as soon as its turn comes.

        Raises:
            NotFoundError: no such job, or the clock never began.
        """
        schedules.ask(self.runtime.control, job, now_us())
        if self.scheduler.running:
            self.scheduler.modify_job("clock", next_run_time=datetime.now(UTC))

    def soon(self, work: Callable[[], object], name: str) -> None:
        """Run `work` once when its turn comes, beside the schedule; a second call before it began changes nothing."""
        turn = self.clockwork.lanes[WAREHOUSE]

        def take_turn() -> None:
            turn.acquire()
            self._alone(work, name, turn.release)

        self.scheduler.add_job(take_turn, id=f"{name} now", replace_existing=True, misfire_grace_time=None)

    def _begin(self, work: Callable[[], None]) -> None:
        begun = self._workers.submit(work)
        self._begun.add(begun)
        begun.add_done_callback(self._begun.discard)

    def _alone(self, work: Callable[[], object], name: str, after: Callable[[], None]) -> None:
        """Run work that is no job; the log and the page say when it fails."""
        try:
            self.shown(work, name)
        except HalveError as error:
            log.error("%s: %s", name, error)  # noqa: TRY400 - the message is the whole story for the reader
        except Exception:
            # One piece of work may fail in a way nobody foresaw; the service and the other pieces go on.
            log.exception("%s failed", name)
        finally:
            after()

    def shown(self, work: Callable[[], object], name: str) -> None:
        """Do a piece of work whose progress pages show; how it failed stays there until the next one is done."""
        try:
            work()
        except HalveError as error:
            self.progress = Progress("failed", f"{name}: {error}")
            raise
        except Exception:
            self.progress = Progress("failed", f"{name}: an unexpected error; the service's log has the details")
            raise
        if self.progress.busy:
            self.progress = Progress()

    def take_inbox(self) -> Summary:
        """Merge what waits in the inbox and bring attribution and roll-ups up to date, at a pace that bounds it."""
        if not self.inbox_waits():
            return Summary()
        self.progress = Progress("reading logs", "taking new logs in")
        self.pushes.take()
        summary = take_inbox(self.runtime.warehouse, self.runtime.pricer, self.runtime.data_dir)
        if summary.read:
            self._sums.owe()
            self._came = True
        if not self._came:
            self._sums.catch_up(self._sum_up)
        elif self._sums.due():
            self._sums.run(self._sum_up)
            self._first_plan()
        self.runtime.warehouse.let_go()
        return summary

    def _sum_up(self) -> None:
        attribute_and_sum(self.runtime, self.settings.zone)

    def inbox_waits(self) -> bool:
        """Whether anything lies in the inbox, or came of it that is not summed yet: a cheap look."""
        return self.pushes.waits() or bool(waiting(self.runtime.data_dir)) or self._sums.due()

    def _first_plan(self) -> None:
        """A reader with a first log should not wait for the night."""
        from app.plan import store

        if store.latest(self.runtime.warehouse, self.runtime.control, now_us=now_us()) is None:
            self.analyse()

    def analyse(self) -> PlanResult | None:
        """Attribute, fill the roll-ups and make the plan of the last 30 days; None where no request has a time."""
        self.progress = Progress("analysing", "pricing every lever on the last 30 days")
        attribute_and_sum(self.runtime, self.settings.zone)
        compare_sources(self.runtime)
        return analyse_window(self.runtime, self.settings.zone, days=PLAN_DAYS)

    def run_due_sources(self) -> list[tuple[str, str | None]]:
        """Pull or look at each source whose time has come: their names, each with the error that ended it."""
        return [(source.name, self._run_source(source, held)) for source, held in self.due_sources()]

    def due_sources(self) -> list[tuple[Source, Any]]:
        """The sources whose time has come, each with its cursor."""
        found = []
        for source in control_sources.all_sources(self.runtime.control):
            try:
                where = control_sources.cursor(self.runtime.control, source.name)
            except NotFoundError:
                continue  # removed this very moment
            every_us = int(source.options.get("every_us", 900_000_000))
            if source.enabled and (where.last_run_us is None or now_us() - where.last_run_us >= every_us):
                found.append((source, where.cursor))
        return found

    def _run_source(self, source: Source, held: Mapping[str, Any] | None) -> str | None:
        self.progress = Progress("reading logs", f"source {source.name}")
        error: str | None = None
        try:
            self._note_run(source, "running")
            pull_source(self.runtime.control, self.settings, source, held, read=self._read_source, take=self._take_turn)
        except HalveError as known:
            error = str(known)
            log.warning("source %s: %s", source.name, error)
        except Exception:
            # One source may fail in a way nobody foresaw; the others are pulled.
            error = "An unexpected error; the log of the service has the details."
            log.exception("source %s failed", source.name)
        try:
            self._note_run(source, "ok" if error is None else "failed", error)
        except NotFoundError:
            return "It was removed while it was pulled; what came of it is stored."
        return error

    def _note_run(self, source: Source, state: RunState, error: str | None = None) -> None:
        control_sources.set_run_state(self.runtime.control, source.name, state, now_us(), error)

    def _read_source(self, paths: Sequence[Path], name: str) -> Summary:
        with self.clockwork.lanes[WAREHOUSE]:
            return self.read(paths, source=name)

    def _take_turn(self) -> None:
        """Pulls wait for servers beside the warehouse's lane, and merge in turns with its other work."""
        with self.clockwork.lanes[WAREHOUSE]:
            self.take_inbox()

    def read_upload(self, kept: Found) -> None:
        """Read an uploaded log, which is gone afterwards, also where that failed."""
        try:
            self.read([kept], source="upload")
        finally:
            uploads.drop_upload(kept)

    def read(self, paths: Sequence[Path | Found], *, source: str | None = None) -> Summary:
        """Read files into the warehouse with progress; what is in already is passed over."""

        def report(progress: object) -> None:
            done, total = getattr(progress, "done_bytes", 0), getattr(progress, "total_bytes", 0)
            self.progress = Progress("reading logs", "megabytes read", done // 1_000_000, max(1, total // 1_000_000))

        summary = ingest_paths(
            paths,
            warehouse=self.runtime.warehouse,
            pricer=self.runtime.pricer,
            data_dir=self.runtime.data_dir,
            source=source,
            text=self.settings.text,
            progress=report,
        )
        if summary.stored or summary.updated:
            attribute_and_sum(self.runtime, self.settings.zone)
            self._first_plan()
        return summary
