"""A chart is a Vega-Lite specification made from prepared rows; whoever shows it puts the same rows beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from app.charts.theme import PALETTES, Mode, Palette, Series, config

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"


def dollar_axis(highest_usd: float) -> dict[str, Any]:
    """An axis of dollars with as many decimals as its length needs."""
    if highest_usd >= 100_000:
        written = "$~s"
    elif highest_usd >= 5:
        written = "$,.0f"
    else:
        written = "$,.2f" if highest_usd >= 0.05 else "$~g"
    return {"format": written, "tickCount": 4, "domain": False, "ticks": False}


@dataclass(frozen=True, slots=True)
class Chart:
    """`summary` says in a sentence what the chart shows, for readers who do not see it.

    `legend` repeats the series for a page that writes them itself.
    """

    name: str
    title: str
    summary: str
    draw: Callable[[Palette], dict[str, Any]]
    legend: tuple[Series, ...] = ()

    def spec(self, mode: Mode) -> dict[str, Any]:
        """The whole specification in the colours of `mode`."""
        palette = PALETTES[mode]
        return {
            "$schema": SCHEMA,
            "description": f"{self.title}. {self.summary}",
            "config": config(palette),
            "autosize": {"type": "fit-x", "contains": "padding"},
            "width": "container",
            **self.draw(palette),
        }
