"""Savings: one joint plan that counts no dollar twice, its steps, and the findings behind it by status."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.analysis import spend
from app.charts.waterfall import Step, waterfall
from app.levers import LEVERS
from app.web import cells, plans
from app.web import format as show
from app.web.facts import Figure
from app.web.page import Content, Context, Empty, Link, Page, unknown_value
from app.web.plans import GRADES, STATUSES, Scale
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from app.charts.chart import Chart
    from app.plan.result import Finding, PlanResult

PATH = "/savings"
TITLES: Final = {lever.name: lever.title for lever in LEVERS}
STATES: Final = {"ok": "enough data", "not enough data": "not enough data"}


@dataclass(frozen=True, slots=True)
class Tab:
    label: str
    count: str
    amount: str
    href: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Model:
    figures: tuple[Figure, ...]
    tabs: tuple[Tab, ...]
    about: str
    notes: tuple[str, ...]
    unit: str
    what_if: str
    can_run: bool


def build(context: Context) -> Content:
    """The newest plan and its findings of one status."""
    plan = plans.current(context)
    if plan is None:
        return Content("Savings", empty=_no_plan(context))
    scale = Scale(plan)
    asked = context.keys.get("status", "open")
    status = asked if asked in STATUSES else "open"
    shown = [item for item in plan.findings if item.status == status]
    potential = tuple(item for item in shown if item.grade == "D" and status != "dismissed")
    ranked = tuple(item for item in shown if item not in potential)
    return Content(
        "Savings",
        unusable=() if asked == status else (unknown_value("status", asked, STATUSES),),
        model=Model(
            figures=_figures(plan, scale),
            tabs=_tabs(context, plan, scale, status),
            about=_about(context, plan),
            notes=(*plan.notes, scale.factor, f"Priced with price book {plan.price_book}."),
            unit=scale.unit,
            what_if=context.url(f"{PATH}/what-if") if any(item.in_joint for item in plan.findings) else "",
            can_run=not context.deps.commands.status().busy,
        ),
        tables=(
            _findings_table(context, scale, ranked, status),
            _steps_table(plan, scale),
            *((_potential_table(context, scale, potential),) if potential else ()),
            *((_levers_table(plan),) if plan.levers_data else ()),
        ),
        charts=_chart(plan, scale),
    )


def _no_plan(context: Context) -> Empty:
    if context.deps.commands.status().busy:
        return Empty("No analysis yet", "The service is at work; the plan appears here when it is done.")
    if spend.request_extent(context.session) is None:
        return Empty(
            "Nothing to analyse yet",
            "Halve looks for savings in requests that have a time, and holds none yet. Upload a log on Sources, "
            "or run `halve ingest PATH` with the path of your logs.",
            (Link("Open Sources", "/sources"),),
        )
    return Empty(
        "No analysis yet",
        "Halve looks for savings in the logs that it holds: it prices every lever on them and puts them into one plan. "
        "That takes from seconds to a few minutes; the plan appears here when it is done.",
        (Link("See what is here", "/sources"),),
        Link("Analyse now", "/analyse"),
    )


def _figures(plan: PlanResult, scale: Scale) -> tuple[Figure, ...]:
    before = Decimal(plan.before_usd)
    saved = Decimal(plan.joint.p50)
    return (
        Figure(
            f"Joint saving {scale.unit}",
            scale.headline(plan.joint.p50),
            f"P10–P90: {scale.interval(plan.joint)}",
            better=saved > 0,
        ),
        Figure(
            f"{'Paid' if plan.basis == 'paid' else 'List-price value'} {scale.unit}",
            scale.headline(plan.known_before_usd),
            f"{scale.window}: {show.plural(plan.requests, 'request')} analysed",
        ),
        Figure("Share saved", show.share(saved, before), "Never more than was paid: no dollar is counted twice"),
        Figure(
            f"Potential {scale.unit}",
            scale.headline(plan.potential_usd),
            "Grade D: no evidence from your own traffic yet, so it is not in the total",
        ),
    )


def _tabs(context: Context, plan: PlanResult, scale: Scale, chosen: str) -> tuple[Tab, ...]:
    found = []
    for status, label in STATUSES.items():
        items = [item for item in plan.findings if item.status == status]
        counted = [item for item in items if item.grade != "D"]
        keys = {} if status == "open" else {"status": status}
        amount = scale.text(plans.total([plans.worth(item) for item in counted])) if counted else ""
        count = _tab_count(status, len(counted), len(items) - len(counted))
        found.append(Tab(label, count, amount, context.url(PATH, keys=keys), status == chosen))
    return tuple(found)


def _tab_count(status: str, counted: int, potential: int) -> str:
    """How many findings stand behind a tab; those outside the total are named apart."""
    if status == "dismissed" or not potential:
        return show.count(counted + potential)
    return f"{show.count(counted)} in the plan, {show.count(potential)} potential"


def _about(context: Context, plan: PlanResult) -> str:
    left_out = ""
    if plan.unpriced_requests:
        left_out += f" {show.plural(plan.unpriced_requests, 'request')} without a price could not take part."
    if plan.left_out_requests:
        left_out += f" {show.plural(plan.left_out_requests, 'request')} stand outside the plan."
    return f"Analysed {plans.window_text(plan)} ({plan.zone}), {show.ago(plan.computed_us, context.now_us)}.{left_out}"


FINDING_COLUMNS: Final = (
    Column("fingerprint", "Fingerprint", twin_only=True),
    Column("headline", "What to do, and with which lever", width="wide"),
    Column("lever", "Lever", twin_only=True),
    Column("scope", "Where", width="mid"),
)
GRADE_NOTE: Final = (
    "Grades: " + "; ".join(f"{grade} {text.partition(' · ')[2]}" for grade, text in GRADES.items()) + "."
)
KIND_COLUMNS: Final = (
    Column("grade", "Grade", help="A fact, B simulation, C sampled evidence, D prior"),
    Column("effort", "Effort", width="tight", minor=True),
    Column("risk", "Risk", width="tight", minor=True),
    Column("reversible", "Reversible", minor=True),
)


def _findings_table(context: Context, scale: Scale, items: tuple[Finding, ...], status: str) -> Table:
    dismissed = status == "dismissed"
    return Table(
        "findings",
        f"{STATUSES[status]} findings",
        (
            *FINDING_COLUMNS,
            Column("saving_usd", "Saves alone" if dismissed else "Share of the plan", "number", scale.unit),
            Column("p10_usd", "Alone: P10", "number", twin_only=True),
            Column("p50_usd", "Done alone", "number", f"P50 and below it P10–P90, {scale.unit}", width="label"),
            Column("p90_usd", "Alone: P90", "number", twin_only=True),
            Column("requests", "Requests", "number"),
            *KIND_COLUMNS,
        ),
        tuple(
            (
                *_what(context, item),
                scale.cell(plans.worth(item)),
                scale.cell(item.standalone.p10),
                replace(scale.cell(item.standalone.p50), note=scale.interval(item.standalone)),
                scale.cell(item.standalone.p90),
                cells.count(item.requests),
                *_kind(item),
            )
            for item in items
        ),
        frame_note=GRADE_NOTE,
        stacked=True,
        empty=_none(scale.plan, status),
    )


def _none(plan: PlanResult, status: str) -> str:
    if status == "open" and plan.known_before_usd is None:
        return "No request of this window has a price, so nothing can be said of savings: see Prices for what lacks."
    if status == "open":
        return "Nothing to save was found that is worth its effort: that is a result, not a gap."
    return f"No finding is {STATUSES[status].lower()}."


def _potential_table(context: Context, scale: Scale, items: tuple[Finding, ...]) -> Table:
    return Table(
        "potential",
        "Potential, outside the total",
        (
            *FINDING_COLUMNS,
            Column("p50_usd", "Could save alone", "number", scale.unit),
            Column("requests", "Requests", "number"),
            *KIND_COLUMNS,
        ),
        tuple(
            (*_what(context, item), scale.cell(item.standalone_usd), cells.count(item.requests), *_kind(item))
            for item in items
        ),
        frame_note="These need evidence from your own traffic before they count.",
        stacked=True,
    )


def _what(context: Context, item: Finding) -> tuple[Cell, ...]:
    return (
        cells.text(item.fingerprint),
        cells.text(item.headline, href=context.url(f"{PATH}/{item.fingerprint}"), note=item.title),
        Cell(item.lever, item.title),
        Cell(item.scope, plans.where(item)),
    )


def _kind(item: Finding) -> tuple[Cell, ...]:
    return (
        Cell(item.grade, item.grade),
        cells.text(item.effort),
        cells.text(item.risk),
        Cell(item.reversible, "yes" if item.reversible else "no"),
    )


def _steps(plan: PlanResult) -> list[tuple[str, str, str, str]]:
    """(name, amount, from, to) in USD text of the window, from what was paid to what is left, in causal order."""
    left = Decimal(plan.before_usd)
    steps = [("Paid" if plan.basis == "paid" else "List-price value", plan.before_usd, "0", plan.before_usd)]
    for lever in sorted(plan.levers, key=lambda item: item.stage):
        amount = Decimal(lever.allocated_usd)
        if amount:
            steps.append((lever.title, lever.allocated_usd, format(left, "f"), format(left - amount, "f")))
            left -= amount
    steps.append(("Left after the plan", format(left, "f"), "0", format(left, "f")))
    if Decimal(plan.potential_usd):
        after = max(left - Decimal(plan.potential_usd), Decimal(0))
        steps.append(("Potential beside it", plan.potential_usd, format(left, "f"), format(after, "f")))
    return steps


def _steps_table(plan: PlanResult, scale: Scale) -> Table:
    return Table(
        "steps",
        f"The plan step by step, {scale.unit}",
        (
            Column("step", "Step"),
            Column("amount_usd", "Amount", "number"),
            Column("left_usd", "Left", "number"),
        ),
        tuple((cells.text(name), scale.cell(amount), scale.cell(after)) for name, amount, _, after in _steps(plan)),
    )


def _chart(plan: PlanResult, scale: Scale) -> tuple[Chart, ...]:
    steps = _steps(plan)
    if not Decimal(plan.before_usd):
        return ()

    def drawn(amount: str) -> float:
        return float(scale.usd(amount) or 0)

    last = len(steps) - 1 - (1 if Decimal(plan.potential_usd) else 0)
    bars = [
        Step(
            name=name,
            from_usd=drawn(start),
            to_usd=drawn(end),
            label=scale.text(amount) if place in (0, last) else f"{show.MINUS}{scale.text(amount)}",
            kind="total" if place in (0, last) else "potential" if place > last else "saving",
        )
        for place, (name, amount, start, end) in enumerate(steps)
    ]
    summary = (
        f"Of {scale.text(plan.before_usd)} {scale.unit} the plan saves {scale.text(plan.joint.p50)}; each step is a "
        "lever's share after overlaps are shared out."
    )
    return (waterfall("plan", f"From paid to planned, {scale.unit}", summary, bars),)


def _levers_table(plan: PlanResult) -> Table:
    rows = []
    for lever, said in sorted(plan.levers_data.items()):
        facts = " · ".join(f"{key.replace('_', ' ')}: {_said(value)}" for key, value in said.items() if _counted(value))
        why = " ".join(str(said[key]) for key in ("why", "do") if said.get(key))
        state = str(said.get("state", "ok"))
        rows.append(
            (
                Cell(lever, TITLES.get(lever, lever)),
                Cell(state, STATES.get(state, state), tone="" if state == "ok" else "worse"),
                Cell(why, why),
                Cell(facts, facts, tone="muted"),
            )
        )
    return Table(
        "levers",
        "What each lever could and could not say",
        (
            Column("lever", "Lever"),
            Column("state", "Data", width="tight"),
            Column("why", "What is missing, and what to do", width="wide"),
            Column("facts", "What it looked at", width="mid"),
        ),
        tuple(rows),
        stacked=True,
    )


def _counted(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _said(value: object) -> str:
    return show.count(value) if isinstance(value, int) else f"{value:,.3g}"


PAGE = Page(
    name="savings",
    path=PATH,
    twin=PATH,
    nav="Savings",
    build=build,
    keys=frozenset({"status"}),
    uses_view=False,
    kept=True,
    section="savings",
)
