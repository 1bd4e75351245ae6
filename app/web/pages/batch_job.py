"""One batch job: how far it is, what it cost against real time, what went wrong, and its results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.core.errors import NotFoundError
from app.core.view import Filter, View
from app.core.view import period as named_period
from app.web import batch_words as words
from app.web import cells
from app.web import format as show
from app.web.facts import Fact, Figure
from app.web.page import Content, Context, Page
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from app.analysis.batch_worth import Worth
    from app.batch import JobView
    from app.control.batches import Job, Part
    from app.web.batch_words import Standing

READ_WITHIN_US: Final = 600_000_000
DONE: Final = {
    "scheduled": "The job is scheduled. Nothing is sent before its time; until then it can be cancelled without cost.",
    "sent": "The job is on its way.",
    "cancelled": "The job stops. What the provider has finished by now is charged and stays in the results.",
}


@dataclass(frozen=True, slots=True)
class Model:
    job_id: str
    lead: str
    figures: tuple[Figure, ...]
    standing: Standing
    live: bool
    reading: str
    events: str
    error: str
    warning: str
    can_cancel: bool
    cancel_note: str
    results: str
    facts: tuple[Fact, ...]
    requests_url: str


def build(context: Context) -> Content:
    """The job whose id stands in the address."""
    desk = context.deps.commands.batch
    if desk is None:
        raise NotFoundError("This Halve was started without batches.")
    view = desk.view(context.path["job"])
    job = view.job
    worth = desk.worth(context.session, (job,))[job.id]
    said = DONE.get(context.keys.get("done", ""))
    settled = job.state == "settled"
    return Content(
        job.label,
        notices=(said,) if said and not settled else (),
        model=Model(
            job_id=job.id,
            lead=_lead(context, view),
            figures=_figures(view, worth),
            standing=words.standing(view),
            live=not settled,
            reading=_reading(context, view, worth),
            events=f"/batch/jobs/{job.id}/events",
            # In the end the reasons stand in a table of their own.
            error="" if settled else job.error or "",
            warning=job.warning or "",
            can_cancel=not settled and job.cancel_us is None,
            cancel_note=_cancel_note(view),
            results=f"/batch/jobs/{job.id}/results" if settled else "",
            facts=_facts(context, view),
            requests_url=_requests_url(context, job) if worth.requests else "",
        ),
        tables=(_parts_table(context, view), _errors_table(view)),
    )


def _lead(context: Context, view: JobView) -> str:
    job = view.job
    feature = f"{job.feature} · " if job.feature else ""
    return f"{feature}{job.provider} · handed in {show.moment(job.created_us, context.zone)}"


def _reading(context: Context, view: JobView, worth: Worth) -> str:
    """The page's own address while answers that have just come back are not in the figures yet."""
    settled_us = view.job.settled_us
    fresh = settled_us is not None and context.now_us - settled_us < READ_WITHIN_US
    missing = worth.requests < view.counts.succeeded
    return f"/batch/jobs/{view.job.id}" if fresh and missing else ""


def _figures(view: JobView, worth: Worth) -> tuple[Figure, ...]:
    cost = words.estimated(view.job.estimate)
    return (
        Figure("Requests", show.count(view.counts.total), show.plural(view.job.bytes, "byte")),
        Figure("Estimated", cost.text, cost.note or "before it was sent"),
        *_money(view, worth),
    )


def _money(view: JobView, worth: Worth) -> tuple[Figure, Figure]:
    """What was charged and what that saved; a job of which nothing was ever sent is known to cost nothing."""
    if view.job.state == "settled" and all(part.submitted_us is None for part in view.parts):
        return Figure("Charged", show.money(0), "Nothing was sent"), Figure(
            "Discount received", "–", "Nothing was sent"
        )
    off = words.discount_share(worth)
    priced = f"{show.plural(worth.unpriced, 'request')} without a price" if worth.unpriced else ""
    return (
        Figure(
            "Charged",
            show.unit_money(worth.charged_pusd),
            priced or f"{show.plural(worth.requests, 'request')} came back",
        ),
        Figure(
            "Discount received",
            show.unit_money(worth.saved_pusd),
            f"{off}; in real time {show.unit_money(worth.realtime_pusd)}"
            if off
            else "Known once results are back and priced",
            better=bool(worth.saved_pusd),
        ),
    )


def _cancel_note(view: JobView) -> str:
    if all(part.submitted_us is None for part in view.parts):
        return "Nothing has been sent yet, so cancelling costs nothing."
    return "What the provider has finished by then is charged and stays in the results."


def _facts(context: Context, view: JobView) -> tuple[Fact, ...]:
    job, zone = view.job, context.zone
    given = (
        ("Id", job.id),
        ("Sent from", show.moment(job.start_us, zone)),
        ("Needed by", None if job.needed_by_us is None else show.moment(job.needed_by_us, zone)),
        ("Ended", None if job.settled_us is None else show.moment(job.settled_us, zone)),
        ("Prompts, estimated", words.range_text(job.estimate) if job.estimate else None),
        ("Address", job.base_url or "the provider's own"),
        ("Each request is sent", f"at most {show.plural(job.max_attempts, 'time')}"),
        ("Told when done", job.webhook_url),
        ("Tags", _tags(job)),
    )
    return tuple(Fact(label, value) for label, value in given if value)


def _tags(job: Job) -> str:
    return ", ".join(f"{name}: {value}" for name, value in job.tags.items() if name != "feature")


def _requests_url(context: Context, job: Job) -> str:
    filters = [Filter("is", "is_batch", ("true",))]
    if job.feature:
        filters.append(Filter("is", "feature", (job.feature,)))
    period = named_period("all", context.view.period.zone, context.now_us)
    return context.url("/requests", View(period=period, filters=tuple(filters)))


def _parts_table(context: Context, view: JobView) -> Table:
    return Table(
        "parts",
        "Batches at the provider",
        (
            Column("number", "Part", "number"),
            Column("model", "Model", width="tight"),
            Column("endpoint", "Endpoint", width="mid"),
            Column("attempt", "Attempt", "number", twin_only=all(part.attempt == 1 for part in view.parts)),
            Column("requests", "Requests", "number"),
            Column("state", "State", width="tight"),
            Column("worked_off", "Worked off", "number", "As the provider counts"),
            Column("submitted", "Accepted", width="tight"),
            Column("ended", "Ended", width="tight"),
            Column("batch_id", "Provider's id", width="mid"),
            Column("error", "What went wrong", width="wide", twin_only=not any(part.error for part in view.parts)),
        ),
        tuple(_part_row(context, part) for part in view.parts),
        stacked=True,
    )


def _part_row(context: Context, part: Part) -> tuple[Cell, ...]:
    ended = part.state == "settled"
    text = words.OUTCOMES.get(part.outcome or "", words.STATES["settled"]) if ended else words.STATES[part.state]
    return (
        Cell(part.number + 1, show.count(part.number + 1)),
        cells.text(part.model),
        cells.text(part.endpoint),
        cells.count(part.attempt),
        cells.count(part.items),
        Cell(part.outcome if ended else part.state, text),
        cells.count(part.done) if part.done is not None else Cell(None, "–", tone="muted"),
        _moment(context, part.submitted_us),
        _moment(context, part.ended_us),
        Cell(part.batch_id, part.batch_id or "–", tone="" if part.batch_id else "muted"),
        Cell(part.error, part.error or "–", tone="" if part.error else "muted"),
    )


def _moment(context: Context, at_us: int | None) -> Cell:
    return Cell(None, "–", tone="muted") if at_us is None else cells.moment(at_us, context.zone)


def _errors_table(view: JobView) -> Table:
    return Table(
        "errors",
        "Why requests were not answered",
        (
            Column("reason", "Reason", width="mid"),
            Column("requests", "Requests", "number"),
            Column("example", "For example", width="wide"),
        ),
        tuple(
            (cells.text(code), cells.count(count), Cell(message, message or "–", tone="" if message else "muted"))
            for code, count, message in view.top_errors
        ),
        empty="Every request that has ended was answered." if view.counts.succeeded else "No request has ended yet.",
    )


PAGE = Page(
    name="batch_job",
    path="/batch/jobs/{job}",
    twin="/batch/jobs/{job}",
    nav="",
    build=build,
    keys=frozenset({"done"}),
    uses_view=False,
    section="batch",
)
