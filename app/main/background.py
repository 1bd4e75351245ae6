"""The service's own work: the inbox every two seconds, sources as often as they say, the analysis every night.

One thread does all of it, one thing after another, so that nothing competes for the warehouse; pages read beside it.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from app.control import sources as control_sources
from app.core.errors import ForbiddenError, HalveError, UsageError
from app.main.refresh import PLAN_DAYS, analyse_window, attribute_and_sum, now_us
from app.web.commands import Progress
from ingest.connectors import litellm
from ingest.connectors.outbound import guard
from ingest.inbox import take_inbox
from ingest.pipeline import ingest_paths, write_shards
from ingest.shard import waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from app.control.sources import Source
    from app.main.runtime import Runtime
    from app.settings import Settings

log = logging.getLogger(__name__)

INBOX_EVERY_S = 2
SOURCES_EVERY_S = 20
PLAN_HOUR = 3
FIRST_PULL_DAYS = 35
DAY_US = 86_400_000_000


@dataclass
class Background:
    """Starts and stops the service's work, and says what it is busy with."""

    runtime: Runtime
    settings: Settings
    scheduler: BackgroundScheduler = field(default_factory=lambda: BackgroundScheduler(timezone="UTC"))
    progress: Progress = field(default_factory=Progress)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Begin; the inbox is looked at at once."""
        self._add(self.take_inbox, IntervalTrigger(seconds=INBOX_EVERY_S), "inbox", waits=False)
        self._add(self.run_due_sources, IntervalTrigger(seconds=SOURCES_EVERY_S), "sources", waits=False)
        self._add(self.analyse, CronTrigger(hour=PLAN_HOUR, timezone=self.settings.zone), "analysis", waits=True)
        self.scheduler.start()

    def stop(self) -> None:
        """End after the step that runs now."""
        if self.scheduler.running:
            self.scheduler.shutdown(wait=True)

    def _add(self, work: Callable[[], None], trigger: object, name: str, *, waits: bool) -> None:
        self.scheduler.add_job(
            self._guarded,
            trigger,
            args=[work, name, waits],
            id=name,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
        )

    def soon(self, work: Callable[[], None], name: str) -> None:
        """Run `work` once, now, beside the schedule; a second call before it began changes nothing."""
        self.scheduler.add_job(
            self._guarded, args=[work, name, True], id=f"{name} now", replace_existing=True, misfire_grace_time=None
        )

    def _guarded(self, work: Callable[[], None], name: str, waits: bool) -> None:
        """Run one piece of work in its turn. What comes again in seconds is left out where another piece runs."""
        if not self._turn.acquire(blocking=waits):
            return
        try:
            work()
        except HalveError as error:
            self.progress = Progress("failed", f"{name}: {error}")
            log.error("%s: %s", name, error)  # noqa: TRY400 - the message is the whole story for the reader
        except Exception:
            # One piece of work may fail in a way nobody foresaw; the service and the other pieces go on, and both
            # the page and the log say so.
            self.progress = Progress("failed", f"{name}: an unexpected error; the service's log has the details")
            log.exception("%s failed", name)
        else:
            if self.progress.busy:
                self.progress = Progress()
        finally:
            self._turn.release()

    def take_inbox(self) -> None:
        """Merge what waits in the inbox and bring attribution and roll-ups up to date."""
        if not waiting(self.runtime.data_dir):
            return
        self.progress = Progress("reading logs", "taking new logs in")
        summary = take_inbox(self.runtime.warehouse, self.runtime.pricer, self.runtime.data_dir)
        if summary.stored or summary.updated:
            attribute_and_sum(self.runtime, self.settings.zone)
            self._first_plan()

    def _first_plan(self) -> None:
        """A reader with a first log should not wait for the night."""
        from app.plan import store

        if store.latest(self.runtime.warehouse, self.runtime.control, now_us=now_us()) is None:
            self.analyse()

    def analyse(self) -> None:
        """Attribute, fill the roll-ups and make the plan of the last 30 days."""
        self.progress = Progress("analysing", "pricing every lever on the last 30 days")
        attribute_and_sum(self.runtime, self.settings.zone)
        analyse_window(self.runtime, self.settings.zone, days=PLAN_DAYS)

    def run_due_sources(self) -> None:
        """Pull or look at each source whose time has come."""
        for source in control_sources.all_sources(self.runtime.control):
            where = control_sources.cursor(self.runtime.control, source.name)
            every_us = int(source.options.get("every_us", 900_000_000))
            if source.enabled and (where.last_run_us is None or now_us() - where.last_run_us >= every_us):
                self._run_source(source, where.cursor)

    def _run_source(self, source: Source, held: Mapping[str, Any] | None) -> None:
        control = self.runtime.control
        control_sources.set_run_state(control, source.name, "running", now_us())
        self.progress = Progress("reading logs", f"source {source.name}")
        try:
            if source.kind == "litellm":
                self._pull_litellm(source, held)
            else:
                self._read_folder(source)
        except HalveError as error:
            control_sources.set_run_state(control, source.name, "failed", now_us(), str(error))
            log.warning("source %s: %s", source.name, error)
        else:
            control_sources.set_run_state(control, source.name, "ok", now_us())

    def _pull_litellm(self, source: Source, held: Mapping[str, Any] | None) -> None:
        options = litellm.Options(
            base_url=str(source.options["url"]),
            token=str(source.options["token"]),
            since_us=now_us() - FIRST_PULL_DAYS * DAY_US,
        )
        cursor = None if held is None else litellm.Cursor(int(held["through_us"]))
        allowed = guard(frozenset(self.settings.allow_hosts.split()))
        spool = self.runtime.data_dir / "pulled" / f"{source.name}.jsonl"
        spool.parent.mkdir(exist_ok=True)
        for lines, reached in litellm.pull(options, cursor, now_us(), guard=allowed):
            if lines:
                spool.write_bytes(b"\n".join(lines) + b"\n")
                write_shards([spool], self.runtime.data_dir, source=source.name, format_name=litellm.FORMAT)
            # The shard is on disk under its final name: from here on the rows cannot be lost.
            control_sources.advance(self.runtime.control, source.name, {"through_us": reached.through_us}, now_us())
        spool.unlink(missing_ok=True)
        self.take_inbox()

    def _read_folder(self, source: Source) -> None:
        folder = Path(str(source.options["path"])).resolve()
        roots = [Path(root).resolve() for root in self.settings.ingest_roots.split(":") if root]
        if not any(folder.is_relative_to(root) for root in roots):
            raise ForbiddenError(
                f"{folder} lies under none of HALVE_INGEST_ROOTS ({self.settings.ingest_roots or 'empty'})."
            )
        if not folder.is_dir():
            raise UsageError(f"{folder} is no folder.")
        self.read([folder], source=source.name)

    def read(self, paths: list[Path], *, source: str | None = None) -> None:
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
