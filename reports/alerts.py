"""The message of a budget that passed a threshold: made of the figures of that moment, which the alert carries.

So a mail that is tried again an hour later still says what was true when the threshold was passed.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Final

from app.analysis.forecast import METHOD
from app.control.budgets import FORECAST, REPORT
from app.core import view as views
from app.core.money import pico, usd_text
from app.core.view import Filter, View, zone_info
from app.web import cells
from app.web import format as show
from app.web.page import Link
from app.web.table import Column, Table
from reports.document import Document, Figure, Section, clipped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.analysis.budgets import Standing
    from app.control.budgets import Alert, Terms

NAME_MAX: Final = 80
KIND: Final = "budget alert"
SCOPE_WORDS: Final = {
    "feature": "feature",
    "team": "team",
    "provider": "provider",
    "model": "model",
    "api_key": "API key",
}
BASES: Final = {
    "paid": "Dollars are what was paid at contract prices.",
    "mixed": "Dollars are part paid, part list-price value of sources that are not billed by the request.",
    "list-price value": "Dollars are list-price value, not a bill: no source is known to be billed by the request.",
}


def facts_of(terms: Terms, standing: Standing, now_us: int) -> dict[str, Any]:
    """What a message says, as JSON values: money as decimal USD text, days as ISO, moments in microseconds UTC."""
    heading = standing.forecast
    return {
        "budget": terms.name,
        "amount_usd": usd_text(terms.amount_pusd),
        "first": standing.span.key,
        "last": standing.span.last.isoformat(),
        "zone": terms.zone,
        "dimension": terms.dimension,
        "value": terms.value,
        "spent_usd": usd_text(standing.spent_pusd),
        "requests": standing.figures.requests,
        "requests_unpriced": standing.figures.requests_unpriced,
        "priced_share": standing.figures.priced_share,
        "basis": standing.basis,
        "top_by": standing.top_by,
        "top": [[name, usd_text(pusd)] for name, pusd in standing.top],
        "over": now_us >= standing.span.period.to_us,
        "forecast": None
        if heading is None
        else {
            "low_usd": usd_text(heading.low_pusd),
            "middle_usd": usd_text(heading.middle_pusd),
            "high_usd": usd_text(heading.high_pusd),
            "as_of_us": heading.as_of_us,
            "days": heading.days,
        },
    }


def scope_words(dimension: str | None, value: str | None) -> str:
    """What a budget covers: `feature chat`, `everything`."""
    return "everything" if dimension is None else f"{SCOPE_WORDS[dimension]} {clipped(value or '', NAME_MAX)}"


def document(alert: Alert, zone: str) -> Document:
    """The message of an alert; `zone` is the dashboard's, whose pages it links to."""
    facts = alert.facts
    view = _view(facts)
    days = show.day_span(date.fromisoformat(facts["first"]), date.fromisoformat(facts["last"]))
    same_days = facts["zone"] == zone
    return Document(
        report=REPORT,
        period=alert.period,
        days=days,
        subject=f"Budget {clipped(facts['budget'], NAME_MAX)} {_news(alert)}, {days}{_subject_note(facts)}",
        title=f"{clipped(facts['budget'], NAME_MAX)} {_news(alert)}",
        lead=tuple(_lead(alert, days)),
        warnings=tuple(_warnings(facts)),
        figures=_figures(facts),
        sections=_sections(facts),
        files=(),
        notes=(
            BASES[facts["basis"]],
            f"The period runs {days}, in {facts['zone']}.",
            *(() if facts["forecast"] is None else (METHOD,)),
            "Each threshold of a period is told once.",
        ),
        link=Link("Open these figures on the Spend page", f"/?{views.query(view)}")
        if same_days
        else Link("Open Budgets", "/budgets"),
        kind=KIND,
    )


def _view(facts: Mapping[str, Any]) -> View:
    covered = () if facts["dimension"] is None else (Filter("is", facts["dimension"], (facts["value"],)),)
    return View(views.period(f"{facts['first']}..{facts['last']}", facts["zone"], 0), filters=covered)


def _news(alert: Alert) -> str:
    facts = alert.facts
    amount = show.money(facts["amount_usd"])
    if alert.threshold == FORECAST:
        return f"is heading for {show.money(facts['forecast']['middle_usd'])} of {amount}"
    return f"passed {alert.threshold}%: {show.money(facts['spent_usd'])} of {amount} spent"


def _subject_note(facts: Mapping[str, Any]) -> str:
    unpriced = facts["requests_unpriced"]
    return f" - {show.plural(unpriced, 'request')} without a whole price" if unpriced else ""


def _lead(alert: Alert, days: str) -> list[str]:
    facts = alert.facts
    zone = zone_info(facts["zone"])
    spent, amount = pico(facts["spent_usd"]), pico(facts["amount_usd"])
    said = [
        f"{show.money(spent)} was spent {days} up to {show.moment(alert.at_us, zone)} ({facts['zone']}): "
        f"{show.share(spent, amount)} of the budget of {show.money(amount)}. It covers "
        f"{scope_words(facts['dimension'], facts['value'])}."
    ]
    passed = [f"{item}%" for item in alert.also if item != FORECAST]
    if passed:
        said.append(f"It passed {_listed(passed)} too since the last look; this is the one message for all of them.")
    if facts["forecast"] is not None:
        said.append(forecast_sentence(facts["forecast"], amount, facts["zone"]))
    return said


def forecast_sentence(heading: Mapping[str, Any], amount_pusd: int | None, zone: str) -> str:
    """Where a period is heading in words, with its interval; `amount_pusd` is the budget, None where there is none."""
    low, middle, high = (pico(heading[f"{name}_usd"]) for name in ("low", "middle", "high"))
    against = ""
    if amount_pusd is not None:
        side = "above" if low > amount_pusd else "within" if high <= amount_pusd else "around"
        against = f", {side} the budget" if side != "around" else ": the budget may hold or not"
    return (
        f"At the end of the period it comes to about {show.money(middle)} (80% interval {show.money(low)} to "
        f"{show.money(high)}){against}. It rests on logs up to {show.moment(heading['as_of_us'], zone_info(zone))}."
    )


def _listed(items: list[str]) -> str:
    return " and ".join((", ".join(items[:-1]), items[-1])) if len(items) > 1 else items[0]


def _warnings(facts: Mapping[str, Any]) -> list[str]:
    said = []
    if facts["over"]:
        said.append("The period is over: logs that came late passed the threshold.")
    if facts["requests_unpriced"]:
        said.append(
            f"{show.plural(facts['requests_unpriced'], 'request')} of {show.count(facts['requests'])} without a whole "
            f"price: what they cost is unknown and not in the sum ({show.percent(facts['priced_share'])} of tokens "
            "have a price)."
        )
    return said


def _figures(facts: Mapping[str, Any]) -> tuple[Figure, ...]:
    spent, amount = pico(facts["spent_usd"]), pico(facts["amount_usd"])
    left = Figure("Left", show.money(amount - spent)) if spent <= amount else Figure("Over", show.money(spent - amount))
    heading = facts["forecast"]
    return (
        Figure("Spent", show.money(spent)),
        Figure("Budget", show.money(amount)),
        left,
        *(() if heading is None else (Figure("Forecast", show.money(heading["middle_usd"])),)),
    )


def _sections(facts: Mapping[str, Any]) -> tuple[Section, ...]:
    if not facts["top"]:
        return ()
    spent = pico(facts["spent_usd"])
    label = "Model" if facts["top_by"] == "model" else "Feature"
    rows = [(name, pico(usd)) for name, usd in facts["top"]]
    rest = spent - sum(pusd for _, pusd in rows)
    if rest > 0:
        rows.append(("all others", rest))
    table = Table(
        "top",
        f"Spend by {label.lower()}",
        (Column("name", label), Column("cost_usd", "Cost", "number"), Column("share", "Share", "number")),
        tuple(
            (cells.text(clipped(name, NAME_MAX)), cells.money(pusd), cells.ratio(pusd, spent)) for name, pusd in rows
        ),
        total=(cells.text("Total"), cells.money(spent), cells.ratio(spent, spent)),
    )
    return (Section("What cost most", table=table, link=Link("Open Budgets", "/budgets")),)
