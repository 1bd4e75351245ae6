"""One finding: what it saves and how that was worked out, the requests behind it, what to change, and its status."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from app.control import findings as decisions
from app.core.errors import NotFoundError
from app.core.view import Filter, View
from app.core.view import period as named_period
from app.web import batch_offer, cells, plans
from app.web import format as show
from app.web.facts import Fact, Figure
from app.web.page import Content, Context, Page
from app.web.plans import GRADES, STATUSES, Scale
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from app.plan.result import Evidence, Finding, PlanResult
    from app.web.batch_offer import BatchOffer

EVENTS: Final = {
    "found": "found by an analysis",
    "open": "opened again",
    "in_progress": "started",
    "done": "marked as done",
    "dismissed": "dismissed",
    "owner": "given to",
}


@dataclass(frozen=True, slots=True)
class Event:
    when: str
    text: str


@dataclass(frozen=True, slots=True)
class Model:
    back: str
    lead: str
    figures: tuple[Figure, ...]
    alike: str
    kind: tuple[Fact, ...]
    steps: tuple[str, ...]
    example: str
    verify: str
    arithmetic: tuple[str, ...]
    assumptions: tuple[str, ...]
    rules: tuple[str, ...]
    query: str
    where_url: str
    status: str
    status_label: str
    reason: str
    owner: str
    fingerprint: str
    events: tuple[Event, ...]
    batch: BatchOffer | None


def build(context: Context) -> Content:
    """The finding whose fingerprint stands in the address."""
    fingerprint = context.path["fingerprint"]
    plan = plans.current(context)
    found = None if plan is None else next((item for item in plan.findings if item.fingerprint == fingerprint), None)
    if plan is None or found is None:
        raise NotFoundError(
            "The newest plan holds no such finding. It may have been solved, or its traffic has ended: "
            "the Savings page lists what stands now."
        )
    scale = Scale(plan)
    return Content(
        found.headline,
        model=Model(
            back=context.url("/savings"),
            lead=f"{found.title} · {plans.where(found)}",
            figures=_figures(found, scale),
            alike=_alike(found),
            kind=_kind(found, plan),
            steps=found.steps,
            example=found.example,
            verify=found.verify,
            arithmetic=found.arithmetic,
            assumptions=found.assumptions,
            rules=found.rules,
            query=found.query,
            where_url=_where_url(context, found, plan),
            status=found.status,
            status_label=STATUSES[found.status],
            reason=found.reason or "",
            owner=found.owner or "",
            fingerprint=fingerprint,
            events=_events(context, fingerprint),
            batch=batch_offer.offer(context, found),
        ),
        tables=(_evidence_table(context, found),),
    )


def _figures(item: Finding, scale: Scale) -> tuple[Figure, ...]:
    if item.in_joint:
        share = Figure(
            f"Share of the plan {scale.unit}", scale.text(item.allocated_usd), "After overlaps are shared out"
        )
    else:
        outside = "dismissed" if item.status == "dismissed" else "grade D"
        share = Figure("Share of the plan", "none", f"Not in the total: {outside}")
    return (
        share,
        Figure(
            f"Done alone {scale.unit}", scale.text(item.standalone_usd), f"P10–P90: {scale.interval(item.standalone)}"
        ),
        Figure(f"Done last {scale.unit}", scale.text(item.last_in_usd), "When everything else of the plan is done"),
        Figure(
            f"These requests cost {scale.unit}",
            scale.text(item.before_usd),
            f"{show.plural(item.requests, 'request')} in the days analysed",
        ),
    )


def _alike(item: Finding) -> str:
    """Why the three figures of a finding are one and the same, where they are."""
    if not item.in_joint or not item.allocated_usd == item.standalone_usd == item.last_in_usd:
        return ""
    return (
        "Share, alone and last are equal here, because no other lever of the plan acts on the same requests: there is "
        "no overlap to share out."
    )


def _kind(item: Finding, plan: PlanResult) -> tuple[Fact, ...]:
    return (
        Fact("Confidence", GRADES[item.grade]),
        Fact("Effort", item.effort),
        Fact("Risk", item.risk),
        Fact("Reversible", "yes" if item.reversible else "no"),
        Fact("Basis", plan.basis),
        Fact("Price book", plan.price_book, href="/prices"),
        Fact("Rates used", item.model_id, href=_rates(item.provider, item.model_id)),
        *(
            (Fact("Rates of the other", str(other), href=_rates(str(item.params.get("to_provider", "")), str(other))),)
            if (other := item.params.get("to_model_id"))
            else ()
        ),
        *((Fact("Owner", item.owner),) if item.owner else ()),
    )


def _rates(provider: str, model: str) -> str:
    """Where every rate of a model stands with its source: what the arithmetic multiplies with."""
    return f"/prices?{urlencode({'q': f'{provider}/{model}'})}"


def _where_url(context: Context, item: Finding, plan: PlanResult) -> str:
    """The requests that the finding is about: its scope in the days of the plan."""
    days = plans.iso_span(plan)
    filters = (Filter("is", "feature", (item.feature,)), Filter("is", "model", (item.model_id,)))
    view = View(period=named_period(days, context.view.period.zone, context.now_us), filters=filters)
    return context.url("/requests", view)


def _events(context: Context, fingerprint: str) -> tuple[Event, ...]:
    return tuple(
        Event(
            show.moment(event.at_us, context.zone),
            EVENTS.get(event.event, event.event) + (f": {event.detail}" if event.detail else ""),
        )
        for event in decisions.events(context.deps.control, fingerprint)
    )


def _evidence_table(context: Context, item: Finding) -> Table:
    shown = len(item.evidence)
    said = any(row.note for row in item.evidence)
    return Table(
        "evidence",
        "Requests behind it",
        (
            Column("key", "Request", width="tight"),
            Column("start", "Start", width="tight"),
            Column("before_usd", "Cost", "number"),
            Column("after_usd", "With this change", "number"),
            Column("saved_usd", "Saves", "number"),
            Column("note", "Why", twin_only=not said),
        ),
        tuple(
            (
                _key(show.key_text(row.request_key)),
                cells.moment(row.start_us, context.zone),
                cells.unit_usd(row.before_usd),
                cells.unit_usd(row.after_usd),
                cells.unit_usd(_saved(row)),
                cells.text(row.note),
            )
            for row in item.evidence
        ),
        frame_note=f"{show.plural(shown, 'example')} of {show.plural(item.requests, 'request')}.",
        empty="This finding names no single requests.",
        stacked=True,
    )


def _key(key: str) -> Cell:
    return Cell(key, key[:8], href=f"/requests/{key}")


def _saved(row: Evidence) -> str:
    return format(Decimal(row.before_usd) - Decimal(row.after_usd), "f")


PAGE = Page(
    name="finding",
    path="/savings/{fingerprint}",
    twin="/savings/{fingerprint}",
    nav="",
    build=build,
    uses_view=False,
    section="savings",
)
