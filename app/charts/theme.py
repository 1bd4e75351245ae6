"""The colours and the quiet frame of every chart, in light and dark.

Series colours were searched for, not chosen by taste: contrast of at least 3:1 on the surface and the largest worst
distance between any two of them for readers with and without a colour vision deficiency. Grey is kept for "other".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

Mode = Literal["light", "dark"]


@dataclass(frozen=True, slots=True)
class Palette:
    series: tuple[str, ...]
    other: str
    unassigned: str
    ink: str
    muted: str
    line: str
    saving: str
    potential: str
    total: str


PALETTES: Final[dict[Mode, Palette]] = {
    "light": Palette(
        series=("#516897", "#8f5d04", "#e07559", "#bb75e3", "#560499", "#712332"),
        other="#6f7480",
        unassigned="#8b919c",
        ink="#1c1e22",
        muted="#5a5f69",
        line="#e4e4df",
        saving="#1d7a53",
        potential="#8b919c",
        total="#516897",
    ),
    "dark": Palette(
        series=("#76afee", "#fcb452", "#cd7671", "#9ce9d9", "#626cdc", "#a8873f"),
        other="#8b919c",
        unassigned="#6f7480",
        ink="#e8e9ec",
        muted="#a3a8b2",
        line="#2d3037",
        saving="#63c79a",
        potential="#8b919c",
        total="#76afee",
    ),
}

FONT: Final = '-apple-system, BlinkMacSystemFont, "Segoe UI", Inter, Roboto, "Liberation Sans", Arial, sans-serif'


@dataclass(frozen=True, slots=True)
class Series:
    """One series of a chart and its colour: a place in the palette, or the grey of `other` or `unassigned`."""

    name: str
    colour: int | Literal["other", "unassigned"]


def colour(palette: Palette, series: Series) -> str:
    """The colour of a series, the same on every chart and in every table of a page."""
    if series.colour == "other":
        return palette.other
    if series.colour == "unassigned":
        return palette.unassigned
    return palette.series[series.colour % len(palette.series)]


def config(palette: Palette) -> dict[str, Any]:
    """Vega-Lite's `config`: no frame, hairline grid, small text."""
    text = {"labelColor": palette.muted, "titleColor": palette.muted, "labelFontSize": 11, "titleFontSize": 11}
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            **text,
            "titleFontWeight": "normal",
            "domainColor": palette.line,
            "gridColor": palette.line,
            "tickColor": palette.line,
            "labelPadding": 6,
        },
        "legend": {
            "labelColor": palette.ink,
            "labelFontSize": 12,
            "symbolType": "square",
            "symbolSize": 80,
            "labelLimit": 180,
            "orient": "top",
            "columns": 4,
            "columnPadding": 16,
        },
        "text": {"color": palette.ink, "fontSize": 12},
    }
