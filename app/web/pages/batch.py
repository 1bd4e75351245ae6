"""Batch: every job with where it stands and what it cost, a file to hand in, and the address for existing clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.control import batches
from app.web import batch_words as words
from app.web import cells
from app.web import format as show
from app.web.page import Content, Context, Empty, Link, Page
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.analysis.batch_worth import Worth
    from app.control.batches import Job
    from app.web.batch_desk import BatchDesk

ROWS: Final = 25
DONE: Final = {
    "discarded": "The file was discarded; nothing was sent.",
}


@dataclass(frozen=True, slots=True)
class Model:
    limit: str
    feature: str
    base_url: str
    needs_key: bool
    upstream: str
    missing: tuple[str, ...]


def build(context: Context) -> Content:
    """The Batch page."""
    desk = context.deps.commands.batch
    if desk is None:
        return Content(
            "Batch",
            empty=Empty(
                "No batches here", "This Halve was started without batches.", (Link("Open Savings", "/savings"),)
            ),
            tables=(_table(context, (), {}),),
        )
    jobs = batches.jobs(context.deps.control, limit=ROWS)
    worth = desk.worth(context.session, jobs)
    said = DONE.get(context.keys.get("done", ""))
    return Content(
        "Batch",
        notices=(said,) if said else (),
        model=_model(context, desk),
        tables=(_table(context, jobs, worth),),
    )


def _model(context: Context, desk: BatchDesk) -> Model:
    return Model(
        limit=f"{desk.max_bytes // 1_000_000} MB",
        feature=context.keys.get("feature", ""),
        base_url=f"{context.deps.address}/v1",
        needs_key=not context.deps.no_access_control,
        upstream=desk.upstreams[0].title,
        missing=tuple(filter(None, (desk.missing(one) for one in desk.upstreams[:1]))),
    )


def _table(context: Context, jobs: Sequence[Job], worth: Mapping[str, Worth]) -> Table:
    desk = context.deps.commands.batch
    rows = []
    for job in jobs:
        assert desk is not None
        view = desk.view(job.id)
        money = worth[job.id]
        counts = view.counts
        rows.append(
            (
                cells.text(job.id),
                cells.text(
                    job.label, href=f"/batch/jobs/{job.id}", note=" · ".join(filter(None, (job.feature, job.provider)))
                ),
                Cell(view.status if job.state != "settled" else job.outcome, words.state_text(job, view.status)),
                cells.text(job.feature),
                cells.text(job.provider),
                cells.count(counts.total),
                cells.count(words.standing(view).at_provider),
                cells.count(counts.succeeded),
                _bad(counts.failed + counts.expired + counts.cancelled),
                words.estimated(job.estimate),
                cells.unit_money(money.charged_pusd),
                _discount(money),
                _times(context, job),
                Cell(show.iso_moment(job.needed_by_us), show.moment(job.needed_by_us, context.zone)),
            )
        )
    return Table(
        "jobs",
        "Jobs",
        (
            Column("id", "Id", twin_only=True),
            Column("label", "Job", width="label"),
            Column("state", "State", width="tight"),
            Column("feature", "Feature", twin_only=True),
            Column("provider", "Provider", twin_only=True),
            Column("requests", "Requests", "number"),
            Column("at_provider", "At provider", "number", "Sent and not back yet"),
            Column("succeeded", "Succeeded", "number"),
            Column("failed", "Unanswered", "number", "Failed, expired or cancelled"),
            Column(
                "estimated_usd",
                "Estimated",
                "number",
                "Before it was sent: prompts by bytes, answers at their caps",
                "label",
            ),
            Column("charged_usd", "Charged", "number", "Priced from the tokens that came back"),
            Column(
                "discount_usd", "Discount", "number", "The same tokens in real time, minus what was charged", "label"
            ),
            Column("start", "Sent from", width="label"),
            Column("needed_by", "Needed by", twin_only=True),
        ),
        tuple(rows),
        frame_note=f"The newest {ROWS}." if len(rows) == ROWS else "",
        empty="No job yet. Hand in a file, or point a client at the address below.",
        stacked=True,
    )


def _bad(number: int) -> Cell:
    return Cell(number, show.count(number), tone="worse" if number else "muted")


def _discount(money: Worth) -> Cell:
    cell = cells.unit_money(money.saved_pusd)
    return Cell(cell.value, cell.text, note=words.discount_share(money), tone="better" if money.saved_pusd else "muted")


def _times(context: Context, job: Job) -> Cell:
    """When it is sent and, where somebody said so, until when its results are needed."""
    needed = job.needed_by_us
    note = "" if needed is None else f"needed by {show.moment(needed, context.zone)}"
    late = needed is not None and job.state != "settled" and context.now_us > needed
    start = show.moment(job.start_us, context.zone)
    return Cell(show.iso_moment(job.start_us), start, note=note, tone="worse" if late else "")


PAGE = Page(
    name="batch",
    path="/batch",
    twin="/batch",
    nav="Batch",
    build=build,
    keys=frozenset({"done", "feature"}),
    uses_view=False,
    section="batch",
)
