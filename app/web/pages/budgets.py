"""Budgets: what was spent of each, where it is heading, which alerts went out, and the forms that change them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from app.analysis.budgets import SCOPES, WEEKDAYS, lines
from app.analysis.forecast import METHOD
from app.control import budgets as kept
from app.control import outbox
from app.control.budgets import FORECAST, threshold_text
from app.core import view as views
from app.core.money import usd_text
from app.web import cells
from app.web import format as show
from app.web.page import Content, Context, Empty, Link, Page
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.analysis.budgets import BudgetLine, Standing
    from app.control.budgets import Alert, Terms
    from app.control.outbox import Letter
    from app.web.cells import Tone

PATH: Final = "/budgets"
NEWEST: Final = 100
DONE: Final = {
    "added": "The budget is set. What it has passed already is told within a minute.",
    "changed": "Saved. Where it measures something else now, its thresholds can be told anew.",
    "removed": "The budget is removed; what it told stays below.",
}
SCOPE_LABELS: Final = {
    "feature": "Feature",
    "team": "Team",
    "provider": "Provider",
    "model": "Model",
    "api_key": "API key",
}
PERIODS: Final = (("day", "Every day"), ("week", "Every week"), ("month", "Every month"))
STATES: Final = {
    "queued": "Waiting",
    "sending": "Being sent",
    "sent": "Sent",
    "archived": "In the archive",
    "failed": "Given up",
}


@dataclass(frozen=True, slots=True)
class Fields:
    """What the form of a budget holds."""

    name: str
    amount: str
    every: str
    anchor: str
    zone: str
    scope: str
    value: str
    thresholds: str
    forecast: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """A threshold: its text, and whether it is passed."""

    text: str
    passed: bool


@dataclass(frozen=True, slots=True)
class Card:
    """One budget. `filled` is 0 to 100 for the bar, None where nothing is known; `tone` is of the text beside it."""

    id: int
    name: str
    covers: str
    days: str
    spent: str
    used: str
    left: str
    filled: int | None
    tone: str
    marks: tuple[Mark, ...]
    heading: str
    unknown: str
    link: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class Model:
    cards: tuple[Card, ...]
    fresh: Fields
    scopes: tuple[tuple[str, str], ...]
    periods: tuple[tuple[str, str], ...]
    missing: str
    recipients: str


def build(context: Context) -> Content:
    """The Budgets page."""
    desk = context.deps.commands.budgets
    if desk is None:
        nothing = Empty("No budgets here", "This Halve watches no budgets.", (Link("Open Spend", "/"),))
        return Content("Budgets", empty=nothing)
    found = lines(context.session, kept.standing(context.deps.control), context.now_us)
    said = DONE.get(context.keys.get("done", ""))
    return Content(
        "Budgets",
        notices=(said,) if said else (),
        model=Model(
            cards=tuple(_card(context, line) for line in found),
            fresh=Fields("", "", "month", "", context.deps.zone, "", "", "50 80 100", forecast=True),
            scopes=(("", "Everything"), *((name, SCOPE_LABELS[name]) for name in SCOPES)),
            periods=PERIODS,
            missing=desk.missing,
            recipients=", ".join(desk.recipients),
        ),
        tables=(_budgets_table(found), _alerts_table(context)),
    )


def _card(context: Context, line: BudgetLine) -> Card:
    terms, standing = line.budget.terms, line.standing
    spent, amount = standing.spent_pusd, terms.amount_pusd
    return Card(
        id=line.budget.id,
        name=terms.name,
        covers=_covers(terms),
        days=f"{show.day_span(standing.span.first, standing.span.last)}, {terms.zone}",
        spent=f"{show.money(spent)} of {show.money(amount)}",
        used="unknown" if spent is None else f"{show.share(spent, amount)} used",
        left=_left(standing, amount),
        filled=None if spent is None else min(100, spent * 100 // amount),
        tone=_tone(spent, amount),
        marks=tuple(
            Mark(f"{threshold_text(item)}%", spent is not None and spent * 100 >= item * amount)
            for item in terms.thresholds
        ),
        heading=_heading(terms, standing),
        unknown=_unknown(standing),
        link=_link(context, terms, standing),
        fields=_fields(terms),
    )


def _covers(terms: Terms) -> str:
    return "Everything" if terms.dimension is None else f"{SCOPE_LABELS[terms.dimension]} {terms.value}"


def _left(standing: Standing, amount: int) -> str:
    spent = standing.spent_pusd
    if spent is None:
        return "nothing of it has a price" if standing.figures.requests else "no log reaches into this period yet"
    return f"{show.money(amount - spent)} left" if spent <= amount else f"{show.money(spent - amount)} over"


def _tone(spent: int | None, amount: int) -> Tone:
    return "worse" if spent is not None and spent >= amount else ""


def _heading(terms: Terms, standing: Standing) -> str:
    heading = standing.forecast
    if heading is None:
        return "No forecast: fewer than seven days before are known."
    low, middle, high = (show.money(item) for item in (heading.low_pusd, heading.middle_pusd, heading.high_pusd))
    side = "above the budget" if heading.middle_pusd > terms.amount_pusd else "within the budget"
    return f"Heading for {middle}, {side} (80% interval {low} to {high})."


def _unknown(standing: Standing) -> str:
    figures = standing.figures
    if not figures.requests_unpriced:
        return ""
    return (
        f"{show.plural(figures.requests_unpriced, 'request')} of {show.count(figures.requests)} without a whole price: "
        "what they cost is not in the sum."
    )


def _link(context: Context, terms: Terms, standing: Standing) -> str:
    """The Spend page with the same figures, where it cuts days in the same zone."""
    if terms.zone != context.deps.zone:
        return ""
    view = context.view if terms.dimension is None else context.with_filter(terms.dimension, terms.value or "")
    return context.url("/", views.replace_period(view, standing.span.period))


def _fields(terms: Terms) -> Fields:
    anchor = {"day": "", "week": WEEKDAYS[terms.anchor % 7], "month": str(terms.anchor)}[terms.every]
    return Fields(
        name=terms.name,
        amount=usd_text(terms.amount_pusd) or "",
        every=terms.every,
        anchor=anchor,
        zone=terms.zone,
        scope=terms.dimension or "",
        value=terms.value or "",
        thresholds=" ".join(threshold_text(item) for item in terms.thresholds),
        forecast=terms.forecast,
    )


def _budgets_table(found: Sequence[BudgetLine]) -> Table:
    return Table(
        "budgets",
        "Budgets in figures",
        (
            Column("name", "Budget", width="mid"),
            Column("covers", "Covers", width="mid"),
            Column("first_day", "From", width="tight"),
            Column("last_day", "To", width="tight"),
            Column("zone", "Zone", twin_only=True),
            Column("spent_usd", "Spent", "number"),
            Column("amount_usd", "Budget", "number"),
            Column("used", "Used", "number"),
            Column("forecast_low_usd", "Forecast, low", "number", "10 of 100 such ends are lower"),
            Column("forecast_usd", "Forecast", "number"),
            Column("forecast_high_usd", "Forecast, high", "number", "10 of 100 such ends are higher"),
            Column("requests", "Requests", "number", twin_only=True),
            Column("requests_unpriced", "Unpriced", "number", "Requests without a whole price: not in what was spent"),
        ),
        tuple(_budget_row(line) for line in found),
        frame_note=METHOD,
        empty="No budget yet: set the first one above.",
        stacked=True,
    )


def _budget_row(line: BudgetLine) -> tuple[Cell, ...]:
    terms, standing = line.budget.terms, line.standing
    heading = standing.forecast
    tone = _tone(standing.spent_pusd, terms.amount_pusd)
    return (
        cells.text(terms.name),
        cells.text(_covers(terms)),
        Cell(standing.span.key, show.day(standing.span.first)),
        Cell(standing.span.last.isoformat(), show.day(standing.span.last)),
        cells.text(terms.zone),
        Cell(usd_text(standing.spent_pusd), show.money(standing.spent_pusd), tone="worse" if tone else ""),
        cells.money(terms.amount_pusd),
        cells.ratio(standing.spent_pusd, terms.amount_pusd),
        cells.money(None if heading is None else heading.low_pusd),
        cells.money(None if heading is None else heading.middle_pusd),
        cells.money(None if heading is None else heading.high_pusd),
        cells.count(standing.figures.requests),
        cells.count(standing.figures.requests_unpriced),
    )


def _alerts_table(context: Context) -> Table:
    control = context.deps.control
    found = kept.alerts(control, NEWEST)
    mails: dict[str, list[Letter]] = {}
    for letter in outbox.of_report(control, kept.REPORT, [alert.occasion for alert in found]):
        mails.setdefault(letter.occasion, []).append(letter)
    return Table(
        "alerts",
        "Alerts",
        (
            Column("at", "When", width="tight"),
            Column("budget", "Budget", width="mid"),
            Column("period", "Period from", width="tight"),
            Column("threshold", "Passed", width="tight"),
            Column("spent_usd", "Spent then", "number"),
            Column("amount_usd", "Budget then", "number"),
            Column("to", "To", width="mid"),
            Column("mail", "Mail", width="mid"),
        ),
        tuple(_alert_row(context, alert, mails.get(alert.occasion, [])) for alert in found),
        frame_note=f"The newest {NEWEST}." if len(found) == NEWEST else "",
        empty="No threshold was passed yet. Each one is told once in a period.",
        stacked=True,
    )


def _alert_row(context: Context, alert: Alert, mails: Sequence[Letter]) -> tuple[Cell, ...]:
    facts: Mapping[str, str] = alert.facts
    also = ", ".join(_passed(item) for item in alert.also)
    error = next((letter.error for letter in mails if letter.error), None)
    states = dict.fromkeys(STATES[letter.state] for letter in mails)
    worst = any(letter.state == "failed" for letter in mails)
    return (
        cells.moment(alert.at_us, context.zone),
        cells.text(facts["budget"]),
        Cell(alert.period, show.day(date.fromisoformat(alert.period), year=True)),
        Cell(alert.threshold, _passed(alert.threshold), note=f"and {also}" if also else ""),
        cells.usd(facts["spent_usd"]),
        cells.usd(facts["amount_usd"]),
        cells.text(", ".join(letter.recipient for letter in mails if letter.recipient) or "the archive only"),
        Cell(
            ", ".join(letter.state for letter in mails),
            ", ".join(states),
            href=f"/reports/mail/{mails[0].id}.eml" if mails and mails[0].subject is not None else "",
            note=error or "",
            tone="worse" if worst else "",
        ),
    )


def _passed(threshold: str) -> str:
    return "forecast" if threshold == FORECAST else f"{threshold}%"


PAGE = Page(
    name="budgets",
    path=PATH,
    twin=PATH,
    nav="Budgets",
    build=build,
    keys=frozenset({"done"}),
    uses_view=False,
    section="budgets",
)
