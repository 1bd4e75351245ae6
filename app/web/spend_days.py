"""Spend a day: the stacked bars, the table beside them, and one colour a name on both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.charts.daily import DayPoint, stacked_days
from app.charts.theme import Series as Drawn
from app.core.money import usd
from app.core.view import UNASSIGNED, period, replace_period
from app.web import cells
from app.web import format as show
from app.web.frame import DIMENSION_LABELS
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from app.analysis.spend import Series
    from app.charts.chart import Chart
    from app.web.page import Context

TOP_SERIES: Final = 6
OTHER: Final = "other"


def drawn(series: Series) -> list[Drawn]:
    """Names and colours of the lines: places in the palette by size, greys for what is left over or not assigned."""
    found: list[Drawn] = []
    places = 0
    for group in series.groups:
        if group.name is None:
            found.append(Drawn(f"{OTHER} ({series.other_n})", "other"))
        elif group.name == UNASSIGNED:
            found.append(Drawn(group.name, "unassigned"))
        else:
            found.append(Drawn(group.name, places))
            places += 1
    return found


def day_table(context: Context, series: Series) -> Table:
    """The figures of the chart, one row a local day."""
    names = [item.name for item in drawn(series)]
    several_years = bool(series.days) and series.days[0].date.year != series.days[-1].date.year
    rows = []
    for place, day in enumerate(series.days):
        unfinished = day.from_us <= context.now_us < day.to_us
        iso = day.date.isoformat()
        alone = period(f"{iso}..{iso}", context.view.period.zone, context.now_us)
        shown = Cell(
            iso,
            show.day(day.date, year=several_years),
            href=context.url("/", replace_period(context.view, alone)) if len(series.days) > 1 else "",
            note="unfinished" if unfinished else "",
        )
        amounts = [cells.money(group.values[place]) for group in series.groups]
        rows.append((shown, cells.money(series.totals[place]), *amounts))
    return Table(
        "daily",
        f"Spend a day by {DIMENSION_LABELS[series.dimension].lower()}",
        (
            Column("day", "Day", width="tight"),
            Column("total_usd", "Total", "number"),
            *(Column(f"cost_usd: {name}", name, "number") for name in names),
        ),
        tuple(rows),
    )


def daily_chart(series: Series, zone: ZoneInfo, now_us: int) -> tuple[Chart, ...]:
    """Stacked bars a local day; none where nothing in the series has a price."""
    lines = drawn(series)
    points = [
        DayPoint(
            day=day.date,
            series=item.name,
            amount_usd=float(usd(value)),
            label=show.money(value),
            unfinished=day.from_us <= now_us < day.to_us,
        )
        for item, group in zip(lines, series.groups, strict=True)
        for day, value in zip(series.days, group.values, strict=True)
        if value
    ]
    if not points:
        return ()
    days = [day.date for day in series.days]
    known = [(total, day.date) for total, day in zip(series.totals, series.days, strict=True) if total is not None]
    highest, when = max(known)
    label = DIMENSION_LABELS[series.dimension].lower()
    summary = f"The highest day is {show.day(when, year=True)} with {show.money(highest)}; days are cut in {zone.key}."
    return (stacked_days("daily", f"Spend a day by {label}", summary, lines, days, points),)
