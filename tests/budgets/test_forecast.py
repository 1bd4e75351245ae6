"""Forecasts worked out by hand, and laws that hold for all."""

from __future__ import annotations

import math
from datetime import date, timedelta
from statistics import fmean, variance
from typing import TYPE_CHECKING

import pytest
from budget_office import us
from dashboard_company import NOW_US, ZONE, Company, company
from hypothesis import given
from hypothesis import strategies as st

from app.analysis import forecast
from app.analysis.budgets import month, span_at
from app.analysis.days import local_days
from app.analysis.forecast import Z_80, ahead
from app.core.money import PICO_PER_USD
from app.core.view import View, local_date, midnight_us, zone_info

if TYPE_CHECKING:
    from budget_office import Office

MONDAY = date(2026, 11, 2)
USD = PICO_PER_USD


def days(first: date, costs: list[int]) -> list[tuple[date, int]]:
    return [(first + timedelta(days=place), cost * USD) for place, cost in enumerate(costs)]


def test_working_days_and_weekends_have_means_of_their_own() -> None:
    """Two weeks of 10, 12, 14, 12, 12 and 2, 4; to come: Monday to Sunday. 5 x 12 + 2 x 3 = 66."""
    seen = days(MONDAY, [10, 12, 14, 12, 12, 2, 4] * 2)
    begins = us("2026-11-16T00:00+00:00")
    coming = local_days(begins, us("2026-11-23T00:00+00:00"), "UTC")
    found = ahead(seen, 100 * USD, 100 * USD, coming, begins)
    assert found is not None
    assert found.middle_pusd == 166 * USD
    work, rest = variance([10, 12, 14, 12, 12] * 2), variance([2, 4] * 2)
    spread = (5 * work + 25 * work / 10) + (2 * rest + 4 * rest / 4)
    assert found.high_pusd == pytest.approx((166 + Z_80 * math.sqrt(spread)) * USD)
    assert found.low_pusd == pytest.approx((166 - Z_80 * math.sqrt(spread)) * USD)
    assert (found.days, found.as_of_us) == (14, begins)


def test_a_day_that_has_begun_counts_with_its_rest_also_where_it_has_25_hours() -> None:
    seen = days(date(2026, 10, 5), [24] * 14)
    noon = us("2026-10-25T12:00+01:00")
    [today] = local_days(noon, us("2026-10-26T00:00+01:00"), "Europe/Berlin")
    found = ahead(seen, 5 * USD, 5 * USD, [today], noon)
    assert found is not None
    assert found.middle_pusd == pytest.approx((5 + 24 * 12 / 25) * USD)


def test_too_few_days_give_no_forecast() -> None:
    assert ahead(days(MONDAY, [10] * 6), 0, 0, (), 0) is None


def test_an_end_is_never_below_what_is_in_the_logs_already() -> None:
    found = ahead(days(MONDAY, [10] * 7), 10 * USD, 50 * USD, (), 0)
    assert found is not None
    assert (found.low_pusd, found.middle_pusd, found.high_pusd) == (50 * USD, 50 * USD, 50 * USD)


@given(
    costs=st.lists(st.integers(0, 10**7), min_size=7, max_size=28),
    spent=st.integers(0, 10**9),
    ahead_days=st.integers(0, 40),
)
def test_the_middle_lies_in_the_interval_and_none_of_it_below_what_was_spent(
    costs: list[int], spent: int, ahead_days: int
) -> None:
    begins = us("2026-12-01T00:00+00:00")
    coming = local_days(begins, begins + ahead_days * 86_400_000_000, "UTC")
    found = ahead(days(MONDAY, costs), spent * USD, spent * USD, coming, begins)
    assert found is not None
    assert spent * USD <= found.low_pusd <= found.middle_pusd <= found.high_pusd
    if len(set(costs)) == 1:
        assert found.middle_pusd == pytest.approx((spent + costs[0] * ahead_days) * USD, rel=1e-12)


@pytest.fixture(scope="module")
def made() -> Company:
    return company()


def test_a_forecast_of_the_store_is_that_of_its_days_added_by_hand(made: Company) -> None:
    """The oracle reads single requests; it knows nothing of roll-ups and series."""
    zone = zone_info(ZONE)
    span = span_at("month", 1, ZONE, NOW_US)
    with made.deps.warehouse.session() as session:
        found = month(session, ZONE, NOW_US).forecast
        facts = session.connection.execute("SELECT start_us, cost_pusd, source FROM requests").fetchall()
    assert found is not None
    last = {source: max(start for start, _, its in facts if its == source) for source in {row[2] for row in facts}}
    as_of = min(last.values()) + 1
    assert found.as_of_us == as_of
    today = local_date(as_of, zone)
    by_day: dict[date, int] = {}
    for start, cost, _ in facts:
        by_day[local_date(start, zone)] = by_day.get(local_date(start, zone), 0) + (cost or 0)
    seen = [(today - timedelta(days=back), by_day[today - timedelta(days=back)]) for back in range(1, 29)]
    spent = sum(cost or 0 for start, cost, _ in facts if span.period.from_us <= start < as_of)
    expected = float(spent)
    for day in local_days(as_of, span.period.to_us, ZONE):
        share = (day.to_us - max(as_of, day.from_us)) / (day.to_us - day.from_us)
        expected += share * fmean(cost for at, cost in seen if (at.weekday() >= 5) == (day.date.weekday() >= 5))
    assert found.middle_pusd == pytest.approx(expected, rel=1e-9)
    assert found.days == 28


def test_days_before_the_first_request_are_no_zeros(office: Office) -> None:
    for day in range(8, 18):
        office.spend("10", at=f"2026-11-{day:02}T12:00+00:00")
    view = View(span_at("month", 1, "UTC", office.clock()).period)
    with office.runtime.warehouse.session() as session:
        found = forecast.of_period(session, view, office.clock())
    assert found is not None
    assert found.days == 9, "the day that the logs end in is not whole"
    assert midnight_us(date(2026, 11, 17), zone_info("UTC")) < found.as_of_us < office.clock()


def test_days_of_which_nothing_has_a_price_are_left_out(office: Office) -> None:
    for day in range(1, 18):
        office.spend(None if day < 12 else "10", at=f"2026-11-{day:02}T12:00+00:00")
    view = View(span_at("month", 1, "UTC", office.clock()).period)
    with office.runtime.warehouse.session() as session:
        assert forecast.of_period(session, view, office.clock()) is None


def test_a_quiet_day_between_is_a_zero(office: Office) -> None:
    for day in (1, 2, 3, 4, 8, 9, 10, 11, 17):
        office.spend("10", at=f"2026-11-{day:02}T12:00+00:00")
    view = View(span_at("month", 1, "UTC", office.clock()).period)
    with office.runtime.warehouse.session() as session:
        found = forecast.of_period(session, view, office.clock())
    assert found is not None
    assert found.days == 16
    assert found.low_pusd < found.middle_pusd < found.high_pusd
