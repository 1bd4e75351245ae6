"""Everything that a page can set in motion, as callables that the composition root fills in: pages own no deeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from app.core.view import Period
    from app.jobs import Job
    from app.pricing.book import PriceBook
    from app.pricing.disagreement import Disagreement
    from app.web.batch_desk import BatchDesk
    from app.web.push_desk import PushDesk

Phase = Literal["idle", "setting up", "reading logs", "analysing", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """What the service is busy with. `done` of `total` are units of `message`; both None where nothing is counted."""

    phase: Phase = "idle"
    message: str = ""
    done: int | None = None
    total: int | None = None

    @property
    def busy(self) -> bool:
        return self.phase not in ("idle", "failed")


@dataclass(frozen=True, slots=True)
class ReportDesk:
    """What the Reports page can ask for. Weeks are named `2026-W47`; a wrong name or address raises a UsageError.

    Attributes:
        weeks: (now in microseconds UTC) weeks that can be shown, the newest first, each with its days in words.
        preview: (week) the mail of that week as a page for a frame, as the figures are now.
        text: (week) its text part.
        picture: (week, chart) a chart of it as PNG.
        file: (number in the archive) the mail as it was made, an .eml file.
        send: (week, address) queues the report for one reader; False where it waits already.
        recipients: who gets the report each week.
        missing: what must be set before mail goes out, empty where nothing is missing.
    """

    weeks: Callable[[int], tuple[tuple[str, str], ...]]
    preview: Callable[[str], str]
    text: Callable[[str], str]
    picture: Callable[[str, str], bytes]
    file: Callable[[int], bytes]
    send: Callable[[str, str], bool]
    recipients: tuple[str, ...]
    missing: str


@dataclass(frozen=True, slots=True)
class JobDesk:
    """What the Jobs page can ask for.

    Attributes:
        jobs: every job of this service, in the order of the page.
        run: (job) asks for a run as soon as its turn comes; an unknown name raises a NotFoundError.
        change: (job, rule, zone, whether it is on) sets when a job runs; what cannot be read raises a UsageError.
    """

    jobs: tuple[Job, ...]
    run: Callable[[str], None]
    change: Callable[[str, str, str, bool], None]


@dataclass(frozen=True, slots=True)
class BudgetDesk:
    """What the Budgets page can ask for. Wrong fields raise a UsageError, a name that is taken a ConflictError.

    Attributes:
        add: (fields as `app.analysis.budgets.terms_of` takes them) makes a budget; its number.
        change: (number, fields) gives a budget other terms.
        remove: (number) ends a budget.
        recipients: who gets alerts.
        missing: what must be set before mail goes out, empty where nothing is missing.
    """

    add: Callable[[Mapping[str, Any]], int]
    change: Callable[[int, Mapping[str, Any]], int]
    remove: Callable[[int], int]
    recipients: tuple[str, ...]
    missing: str


@dataclass(frozen=True, slots=True)
class PriceDesk:
    """What the Prices page reads.

    Attributes:
        at_work: the price book at work, since when (microseconds UTC), and what keeps newer files from being used.
        tables: kind and day (microseconds UTC) of every imported table.
        disagreements: (priced models as (provider, model)) where other lists price them differently.
        file: the user's own price file, empty where there is none.
    """

    at_work: Callable[[], tuple[PriceBook, int, str]]
    tables: Callable[[], list[tuple[str, int]]]
    disagreements: Callable[[frozenset[tuple[str, str]]], list[Disagreement]]
    file: str


@dataclass(frozen=True, slots=True)
class Commands:
    """Deeds by name. Each raises an error of app.core.errors whose text a page shows.

    Attributes:
        dismiss_finding: (fingerprint, reason, until in microseconds UTC or None for good).
        restore_finding: (fingerprint) puts a finding back among the open ones.
        start_finding: (fingerprint) somebody works on it.
        finish_finding: (fingerprint) it was applied.
        assign_finding: (fingerprint, owner or None) who takes care of it.
        status: what the service is busy with now.
        upload_log: (file name, stream) stores an uploaded log for reading and says in a sentence what it did.
        run_analysis: starts an analysis in the background; a second call while one runs does nothing.
        set_billing: (source, billing) what the user says about how a source is billed.
        decide_overlap: (source, other, the one that counts or None for both) where two tell of the same calls.
        reports: the weekly report; None where this service makes none.
        jobs: the service's own work by the clock; None where it has no clock.
        batch: batch jobs; None where this service moves none.
        budgets: budgets and their alerts; None where this service watches none.
        prices: the price book; None where this service prices nothing.
        push: logs and traces that applications push; None where this service takes none.
        export_focus: (period) writes its FOCUS rows to a file that the caller removes; None where there is no folder.
    """

    dismiss_finding: Callable[[str, str, int | None], None]
    restore_finding: Callable[[str], None]
    start_finding: Callable[[str], None]
    finish_finding: Callable[[str], None]
    assign_finding: Callable[[str, str | None], None]
    status: Callable[[], Progress]
    upload_log: Callable[[str, BinaryIO], str]
    run_analysis: Callable[[], None]
    set_billing: Callable[[str, str], None]
    decide_overlap: Callable[[str, str, str | None], None]
    reports: ReportDesk | None = None
    jobs: JobDesk | None = None
    batch: BatchDesk | None = None
    budgets: BudgetDesk | None = None
    push: PushDesk | None = None
    prices: PriceDesk | None = None
    export_focus: Callable[[Period], Path] | None = None
