"""Daily stacked bars: what was spent on each local day, by series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.charts.chart import Chart, dollar_axis
from app.charts.theme import Palette, Series, colour

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

MAX_LABELS = 9
LONG_DAYS = 200


@dataclass(frozen=True, slots=True)
class DayPoint:
    """What one series spent on one local day; `amount_usd` is for drawing only. `unfinished` days are drawn paler."""

    day: date
    series: str
    amount_usd: float
    label: str
    unfinished: bool = False


def stacked_days(
    name: str, title: str, summary: str, series: Sequence[Series], days: Sequence[date], points: Sequence[DayPoint]
) -> Chart:
    """Bars of `points`, stacked in the order of `series` (the largest first, at the bottom).

    Every one of `days` has its place on the axis, so that a day without spend is a gap and not a shorter axis.
    """
    order = {item.name: place for place, item in enumerate(series)}
    values = [
        {
            "day": point.day.isoformat(),
            "series": point.series,
            "usd": point.amount_usd,
            "cost": point.label,
            "place": order[point.series],
            "unfinished": point.unfinished,
        }
        for point in points
    ]
    all_days = [day.isoformat() for day in days]
    sums = [sum(point.amount_usd for point in points if point.day == day) for day in days]
    highest = max(sums, default=0.0)
    written = "%b %Y" if len(all_days) > LONG_DAYS else "%-d %b"
    step = _label_step(len(all_days))

    def draw(palette: Palette) -> dict[str, Any]:
        return {
            "height": 240,
            "data": {"values": values},
            "mark": {"type": "bar"},
            "encoding": {
                "x": {
                    "field": "day",
                    "type": "ordinal",
                    "title": None,
                    "scale": {"domain": all_days, "paddingInner": 0.14, "paddingOuter": 0.07},
                    "axis": {
                        "values": all_days[::-step][::-1],
                        "labelExpr": f"utcFormat(toDate(datum.value), '{written}')",
                        "labelAngle": 0,
                        "labelOverlap": True,
                        "ticks": False,
                    },
                },
                "y": {
                    "field": "usd",
                    "type": "quantitative",
                    "title": None,
                    "axis": dollar_axis(highest),
                },
                "color": {
                    "field": "series",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": list(order), "range": [colour(palette, item) for item in series]},
                },
                "order": {"field": "place"},
                "opacity": {"condition": {"test": "datum.unfinished", "value": 0.45}, "value": 1},
                "tooltip": [
                    {"field": "day", "title": "Day"},
                    {"field": "series", "title": "Series"},
                    {"field": "cost", "title": "Cost"},
                ],
            },
        }

    return Chart(name=name, title=title, summary=summary, draw=draw, legend=tuple(series))


def _label_step(days: int) -> int:
    """Days between two labels: every day, whole weeks, or about a month."""
    if days <= MAX_LABELS:
        return 1
    return next((step for step in (2, 7, 14, 28) if days / step <= MAX_LABELS), 28 * -(-days // (28 * MAX_LABELS)))
