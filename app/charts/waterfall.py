"""A waterfall from what was paid to what is left after the plan, one step a lever, lying down so that names fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from app.charts.chart import Chart, dollar_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.charts.theme import Palette


# Labels stand right of their bars; the axis goes on by a quarter, so that they fit on a phone too.
ROOM_FOR_LABELS = 1.3
# A name stands above its bar, where it has the whole width: on a phone a column of names would leave no room for bars.
STEP_HEIGHT = 42


@dataclass(frozen=True, slots=True)
class Step:
    """One bar from `from_usd` to `to_usd` (for drawing only); `label` is the figure as the page writes it."""

    name: str
    from_usd: float
    to_usd: float
    label: str
    kind: Literal["total", "saving", "potential"]


def waterfall(name: str, title: str, summary: str, steps: Sequence[Step]) -> Chart:
    """Bars of `steps`, from top to bottom in the order given."""
    values = [
        {
            "place": place,
            "step": step.name,
            "from_usd": step.from_usd,
            "to_usd": step.to_usd,
            "end_usd": max(step.from_usd, step.to_usd),
            "amount": step.label,
            "kind": step.kind,
        }
        for place, step in enumerate(steps)
    ]
    names = [step.name for step in steps]
    furthest = max((max(step.from_usd, step.to_usd) for step in steps), default=0.0) or 1.0

    def draw(palette: Palette) -> dict[str, Any]:
        y = {"field": "step", "type": "nominal", "sort": names, "title": None}
        return {
            "height": STEP_HEIGHT * len(names),
            "data": {"values": values},
            "encoding": {"y": {**y, "axis": None}},
            "layer": [
                {
                    "mark": {"type": "bar", "height": 16, "yOffset": 8},
                    "encoding": {
                        "x": {
                            "field": "from_usd",
                            "type": "quantitative",
                            "title": None,
                            "axis": dollar_axis(furthest),
                            "scale": {"domain": [0, furthest * ROOM_FOR_LABELS], "nice": False},
                        },
                        "x2": {"field": "to_usd"},
                        "color": {
                            "field": "kind",
                            "type": "nominal",
                            "legend": None,
                            "scale": {
                                "domain": ["total", "saving", "potential"],
                                "range": [palette.total, palette.saving, palette.potential],
                            },
                        },
                        "opacity": {"condition": {"test": "datum.kind === 'potential'", "value": 0.6}, "value": 1},
                        "tooltip": [{"field": "step", "title": "Step"}, {"field": "amount", "title": "Amount"}],
                    },
                },
                {
                    "mark": {"type": "text", "align": "left", "dy": -9, "fontSize": 12, "tooltip": None},
                    "encoding": {"x": {"datum": 0, "type": "quantitative"}, "text": {"field": "step"}},
                },
                {
                    "mark": {"type": "text", "align": "left", "dx": 6, "dy": 8, "tooltip": None},
                    "encoding": {"x": {"field": "end_usd", "type": "quantitative"}, "text": {"field": "amount"}},
                },
            ],
        }

    return Chart(name=name, title=title, summary=summary, draw=draw)
