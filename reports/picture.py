"""A chart as a PNG: the page's own Vega-Lite specification, drawn without a browser and without a network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import vl_convert

if TYPE_CHECKING:
    from app.charts.chart import Chart

WIDTH: Final = 552
SCALE: Final = 2.0


def png(chart: Chart) -> bytes:
    """The chart in light colours on white, WIDTH points wide and twice as many pixels."""
    spec = chart.spec("light") | {"width": WIDTH - 8, "background": "#ffffff", "padding": 4}
    drawn: bytes = vl_convert.vegalite_to_png(json.dumps(spec), scale=SCALE, allowed_base_urls=[])
    return drawn
