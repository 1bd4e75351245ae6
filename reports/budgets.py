"""Budgets as the weekly report and the terminal show them: spent, amount, forecast, and what is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.analysis.budgets import WEEKDAYS
from app.analysis.forecast import METHOD
from app.control.budgets import threshold_text
from app.core.money import usd_text
from app.core.view import zone_info
from app.web import cells
from app.web import format as show
from app.web.page import Link
from app.web.render import visible
from app.web.table import Cell, Column, Table
from reports.alerts import facts_of, forecast_sentence, scope_words
from reports.columns import aligned
from reports.document import Section, clipped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.analysis.budgets import BudgetLine, Standing
    from app.control.budgets import Terms

NAME_MAX: Final = 60


def section(month: Standing | None, lines: Sequence[BudgetLine], zone: str, now_us: int) -> Section | None:
    """Forecast of the calendar month and every budget; None where there is neither."""
    sentences = []
    if month is not None and month.forecast is not None and month.spent_pusd is not None:
        days = show.day_span(month.span.first, month.span.last)
        heading = {
            "low_usd": usd_text(month.forecast.low_pusd),
            "middle_usd": usd_text(month.forecast.middle_pusd),
            "high_usd": usd_text(month.forecast.high_pusd),
            "as_of_us": month.forecast.as_of_us,
        }
        sentences += [f"{days} so far: {show.money(month.spent_pusd)}.", forecast_sentence(heading, None, zone), METHOD]
    if not lines:
        return Section("Forecast", tuple(sentences), link=Link("Set a budget", "/budgets")) if sentences else None
    unknown = sum(1 for line in lines if line.standing.figures.requests_unpriced)
    if unknown:
        sentences.append(
            f"{show.plural(unknown, 'budget')} with requests that have no whole price: what they lack is not in it."
        )
    return Section(
        "Forecast and budgets" if month is not None and month.forecast is not None else "Budgets",
        sentences=(*sentences, f"Budgets as of {show.moment(now_us, zone_info(zone))}."),
        table=Table("budgets", "Budgets", COLUMNS, tuple(_row(line) for line in lines)),
        wide_only=frozenset({"share"}),
        link=Link("Open Budgets", "/budgets"),
    )


COLUMNS: Final = (
    Column("name", "Budget"),
    Column("spent_usd", "Spent", "number"),
    Column("amount_usd", "Budget", "number"),
    Column("share", "Used", "number"),
    Column("forecast_usd", "Forecast", "number"),
)


def _row(line: BudgetLine) -> tuple[Cell, ...]:
    terms, standing = line.budget.terms, line.standing
    spent, heading = standing.spent_pusd, standing.forecast
    above = heading is not None and heading.middle_pusd > terms.amount_pusd
    days = show.day_span(standing.span.first, standing.span.last)
    return (
        Cell(terms.name, clipped(terms.name, NAME_MAX), href="/budgets", note=days),
        Cell(
            usd_text(spent), show.money(spent), tone="worse" if spent is not None and spent > terms.amount_pusd else ""
        ),
        cells.money(terms.amount_pusd),
        cells.ratio(spent, terms.amount_pusd),
        Cell(None, show.UNKNOWN, tone="muted")
        if heading is None
        else Cell(usd_text(heading.middle_pusd), show.money(heading.middle_pusd), tone="worse" if above else ""),
    )


def document(line: BudgetLine, now_us: int) -> dict[str, Any]:
    """A budget for machines: its terms and the figures of the current period."""
    terms = line.budget.terms
    return {
        "name": terms.name,
        "every": terms.every,
        "begins": begins(terms),
        "thresholds": [threshold_text(item) for item in terms.thresholds],
        "told_of_forecast": terms.forecast,
        **{
            key: value for key, value in facts_of(terms, line.standing, now_us).items() if key not in ("budget", "over")
        },
    }


def begins(terms: Terms) -> str:
    """The day on which a period begins: `day 31`, `mon`, empty for days."""
    return {"day": "", "week": WEEKDAYS[terms.anchor % 7], "month": f"day {terms.anchor}"}[terms.every]


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The budgets for a terminal, one line each, and below what is unknown."""
    if not rows:
        return "No budgets yet. `halve budgets add NAME --amount 500 --every month` makes one."
    grid = [("budget", "covers", "period", "spent", "amount", "used", "forecast (80%)")]
    grid += [
        (
            clipped(_clean(row["name"]), 32),
            clipped(_clean(scope_words(row["dimension"], row["value"])), 32),
            f"{row['first']}..{row['last']}",
            show.money(row["spent_usd"]),
            show.money(row["amount_usd"]),
            show.share(None if row["spent_usd"] is None else float(row["spent_usd"]), float(row["amount_usd"])),
            _heading(row["forecast"]),
        )
        for row in rows
    ]
    lines = list(aligned(grid, right={3, 4, 5}))
    lines += [
        f"{_clean(row['name'])}: {show.plural(row['requests_unpriced'], 'request')} of {show.count(row['requests'])} "
        "without a whole price; what they cost is unknown and not in the sum."
        for row in rows
        if row["requests_unpriced"]
    ]
    return "\n".join(lines)


def _heading(forecast: Mapping[str, Any] | None) -> str:
    if forecast is None:
        return "too few days known"
    low, middle, high = (show.money(forecast[f"{name}_usd"]) for name in ("low", "middle", "high"))
    return f"{middle} ({low} to {high})"


def _clean(text: str) -> str:
    """One line of visible characters: names come from readers and logs."""
    return " ".join(visible(text).split())
