"""Charts draw what they are given: every day has its place, stacks add up, steps meet, colours can be told apart."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.daily import DayPoint, stacked_days
from app.charts.theme import PALETTES, Series
from app.charts.waterfall import Step, waterfall

SURFACES = {"light": "#ffffff", "dark": "#181a1e"}
START = date(2026, 11, 1)


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_series_stands_out_from_the_surface(mode: str) -> None:
    palette = PALETTES[mode]  # type: ignore[index]
    for colour in (*palette.series, palette.other, palette.unassigned, palette.saving, palette.total):
        assert contrast(colour, SURFACES[mode]) >= 3, colour
    for colour in (palette.ink, palette.muted):
        assert contrast(colour, SURFACES[mode]) >= 4.5, colour


@given(st.lists(st.floats(0, 1e6, allow_nan=False), min_size=1, max_size=40), st.integers(1, 8))
def test_a_days_stack_is_the_days_spend(amounts: list[float], lines: int) -> None:
    days = [START + timedelta(days=place) for place in range(len(amounts))]
    names = [f"line {number}" for number in range(lines)]
    points = [
        DayPoint(day, name, amount / lines, "", unfinished=day == days[-1])
        for day, amount in zip(days, amounts, strict=True)
        for name in names
    ]
    spec = stacked_days("d", "T", "S.", [Series(name, place) for place, name in enumerate(names)], days, points).spec(
        "light"
    )
    assert spec["encoding"]["x"]["scale"]["domain"] == [day.isoformat() for day in days]
    for day, amount in zip(days, amounts, strict=True):
        drawn = sum(row["usd"] for row in spec["data"]["values"] if row["day"] == day.isoformat())
        assert drawn == pytest.approx(amount)
    assert {row["day"] for row in spec["data"]["values"] if row["unfinished"]} == {days[-1].isoformat()}


@pytest.mark.parametrize(("days", "most"), [(1, 1), (7, 7), (28, 9), (91, 9), (366, 9), (3000, 9)])
def test_day_labels_never_crowd(days: int, most: int) -> None:
    listed = [START + timedelta(days=place) for place in range(days)]
    spec = stacked_days("d", "T", "S.", [Series("a", 0)], listed, [DayPoint(START, "a", 1.0, "")]).spec("light")
    labels = spec["encoding"]["x"]["axis"]["values"]
    assert 1 <= len(labels) <= most
    assert labels[-1] == listed[-1].isoformat()


def test_other_and_unassigned_keep_their_greys() -> None:
    series = [Series("a", 0), Series("unassigned", "unassigned"), Series("other (4)", "other")]
    spec = stacked_days("d", "T", "S.", series, [START], [DayPoint(START, "a", 1.0, "")]).spec("dark")
    palette = PALETTES["dark"]
    assert spec["encoding"]["color"]["scale"]["range"] == [palette.series[0], palette.unassigned, palette.other]


def test_a_name_with_markup_or_an_expression_is_data_and_nothing_else() -> None:
    name = "<b onload=x>datum['day']</b>"
    spec = stacked_days("d", "T", "S.", [Series(name, 0)], [START], [DayPoint(START, name, 1.0, "")]).spec("light")
    rest = json.dumps({key: value for key, value in spec.items() if key != "data"})
    assert rest.count(json.dumps(name)) == 1  # in the colour scale's domain
    assert spec["data"]["values"][0]["series"] == name


def test_steps_of_a_waterfall_keep_their_order_and_room_for_labels() -> None:
    steps = [
        Step("Paid", 0, 100, "$100", "total"),
        Step("Cache", 100, 70, "-$30", "saving"),
        Step("Left", 0, 70, "$70", "total"),
    ]
    spec = waterfall("plan", "T", "S.", steps).spec("light")
    assert [row["step"] for row in spec["data"]["values"]] == ["Paid", "Cache", "Left"]
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"][1] > 100
