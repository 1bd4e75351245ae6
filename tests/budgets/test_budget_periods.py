"""When periods of budgets begin: from the anchor and the zone alone."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

import pytest
from budget_office import DAY_US, us
from hypothesis import given
from hypothesis import strategies as st

from app.analysis.budgets import LATE_DAYS, WEEKDAYS, Span, span_at, spans_at, terms_of
from app.core.errors import UsageError

ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"])
KINDS = st.one_of(
    st.tuples(st.just("day"), st.just(0)),
    st.tuples(st.just("week"), st.integers(0, 6)),
    st.tuples(st.just("month"), st.integers(1, 31)),
)


def following(kind: tuple[str, int], span: Span) -> Span:
    return span_at(*kind, span.period.zone, span.period.to_us)  # type: ignore[arg-type]


def test_a_month_that_begins_on_the_31st_begins_on_the_last_day_of_shorter_ones_and_comes_back() -> None:
    """LLMC-109: the service was down from 27 February to 2 March; no period is moved or skipped by that."""
    span = span_at("month", 31, "UTC", us("2026-01-31T00:00+00:00"))
    starts = [span]
    for _ in range(3):
        starts.append(following(("month", 31), starts[-1]))
    assert [item.key for item in starts] == ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]
    after_downtime = span_at("month", 31, "UTC", us("2026-03-02T06:00+00:00"))
    assert after_downtime == starts[1]
    assert span_at("month", 31, "UTC", us("2026-02-27T23:59+00:00")).key == "2026-01-31"


def test_days_are_cut_in_the_zone_and_have_23_or_25_hours_where_clocks_change() -> None:
    spring = span_at("day", 0, "Europe/Berlin", us("2026-03-29T12:00+00:00"))
    autumn = span_at("day", 0, "Europe/Berlin", us("2026-10-25T12:00+00:00"))
    lengths = [(item.period.to_us - item.period.from_us) // 3_600_000_000 for item in (spring, autumn)]
    assert lengths == [23, 25]


def test_a_week_begins_on_its_day() -> None:
    assert span_at("week", 2, "UTC", us("2026-11-18T00:00+00:00")).key == "2026-11-18"
    assert span_at("week", 2, "UTC", us("2026-11-17T23:59+00:00")).key == "2026-11-11"


@given(kind=KINDS, zone=ZONES, day=st.dates(date(2012, 1, 1), date(2035, 12, 31)), second=st.integers(0, 86_399))
def test_periods_tile_time(kind: tuple[str, int], zone: str, day: date, second: int) -> None:
    at_us = us(f"{day.isoformat()}T00:00+00:00") + second * 1_000_000
    span = span_at(*kind, zone, at_us)  # type: ignore[arg-type]
    assert span.period.from_us <= at_us < span.period.to_us
    after = following(kind, span)
    assert after.period.from_us == span.period.to_us
    assert after.first == span.after
    assert span_at(*kind, zone, span.period.to_us - 1) == span  # type: ignore[arg-type]
    if kind[0] == "month":
        assert span.first.day == kind[1] or (span.first + timedelta(days=1)).day == 1


@given(kind=KINDS, zone=ZONES, day=st.dates(date(2012, 1, 1), date(2035, 12, 31)))
def test_what_ended_a_moment_ago_is_looked_at_once_more(kind: tuple[str, int], zone: str, day: date) -> None:
    at_us = us(f"{day.isoformat()}T09:00+00:00")
    anchor = {"day": "", "week": WEEKDAYS[kind[1] % 7], "month": str(kind[1])}[kind[0]]
    found = spans_at(terms_of(name="x", amount="1", every=kind[0], anchor=anchor, zone=zone), at_us)
    assert all(a.period.to_us == b.period.from_us for a, b in pairwise(found))
    assert found[-1].period.from_us <= at_us < found[-1].period.to_us
    assert found[0].period.from_us <= at_us - LATE_DAYS * DAY_US


@pytest.mark.parametrize(
    "wrong",
    [
        {"amount": "0"}, {"amount": "-5"}, {"amount": "ten"}, {"amount": "NaN"}, {"amount": "Infinity"},
        {"amount": "1e20"}, {"amount": ""}, {"every": "year"}, {"anchor": "32"}, {"anchor": "0"}, {"anchor": "x"},
        {"every": "week", "anchor": "1"},        {"every": "day", "anchor": "1"}, {"zone": "Mars/Base"},
        {"scope": "planet=mars"}, {"scope": "feature="},
        {"scope": "feature"}, {"thresholds": ""}, {"thresholds": "0"}, {"thresholds": "1001"}, {"thresholds": "NaN"},
        {"thresholds": "80 x"}, {"thresholds": "1 2 3 4 5 6 7 8 9 10 11 12 13"}, {"thresholds": "33.333333333"},
        {"name": ""}, {"name": "x" * 201}, {"name": "a\x00b"},
    ],
)  # fmt: skip
def test_what_is_no_budget_is_refused_in_words(wrong: dict[str, str]) -> None:
    given_ = {"name": "x", "amount": "10", "every": "month", "zone": "UTC"} | wrong
    with pytest.raises(UsageError) as refused:
        terms_of(**given_)  # type: ignore[arg-type]
    assert len(str(refused.value)) > 30


def test_terms_are_read_as_people_write_them() -> None:
    terms = terms_of(name=" Support  chat ", amount="$1,200.50", every="month", zone="UTC", thresholds="95%, 80 82.50")
    assert (terms.name, terms.amount_pusd, terms.anchor) == ("Support chat", 1_200_500_000_000_000, 1)
    assert [str(item) for item in terms.thresholds] == ["80", "82.50", "95"]
    scoped = terms_of(name="x", amount="1", every="week", zone="UTC", scope="model=a=b, c")
    assert (scoped.dimension, scoped.value) == ("model", "a=b, c")
