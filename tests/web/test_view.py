"""The URL grammar of a page: what is written is read back, and days are those of the named zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import view as views
from app.core.errors import UsageError
from app.core.view import DIMENSIONS, PERIODS, Filter, View, parse, previous, query
from app.core.view import period as named_period

NOW_US = 1_795_000_000_000_000  # 2026-11-18 11:06:40 UTC
HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US

_values = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
_filters = st.builds(
    Filter,
    op=st.sampled_from(["is", "not"]),
    dimension=st.sampled_from(DIMENSIONS),
    values=st.lists(_values, min_size=1, max_size=4, unique=True).map(tuple),
)
_names = st.one_of(
    st.sampled_from(PERIODS),
    st.integers(1, 999).map(lambda days: f"{days}d"),
    st.tuples(st.integers(2001, 2100), st.integers(1, 12)).map(lambda month: f"{month[0]}-{month[1]:02}"),
    st.tuples(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 400)).map(
        lambda span: f"{span[0]}..{span[0] + timedelta(days=span[1])}"
    ),
)
_views = st.builds(
    View,
    period=st.builds(named_period, _names, zone=st.sampled_from(["UTC", "Europe/Berlin"]), now_us=st.just(NOW_US)),
    compare=st.sampled_from(["off", "prev"]),
    by=st.sampled_from(DIMENSIONS),
    filters=st.lists(_filters, max_size=4, unique=True).map(tuple),
)


@given(_views)
def test_a_view_written_into_a_url_is_read_back_unchanged(view: View) -> None:
    pairs = parse_qsl(query(view), keep_blank_values=True)
    again, notices = parse(pairs, zone=view.period.zone, now_us=NOW_US)
    assert again == view
    assert notices == ()


def test_defaults_are_left_out_of_the_url() -> None:
    view, _ = parse([], zone="UTC", now_us=NOW_US)
    assert query(view) == ""


def test_filters_stay_readable_in_the_url() -> None:
    view, _ = parse([("f", "is,model,gpt-5,gpt-5-mini")], zone="UTC", now_us=NOW_US)
    assert query(view) == "f=is,model,gpt-5,gpt-5-mini"


@pytest.mark.parametrize(
    "pair",
    [
        ("sort", "x; drop table requests"),
        ("period", "yesterday"),
        ("period", "2026-13"),
        ("period", "2026-10-31..2026-10-01"),
        ("period", "9999-12-31..9999-12-31"),
        ("by", "cost_pusd; --"),
        ("compare", "year"),
        ("f", "is,nothing,x"),
        ("f", "like,model,%"),
        ("f", "is,model"),
    ],
    ids="=".join,
)
def test_what_a_page_does_not_know_is_left_out_with_a_notice(pair: tuple[str, str]) -> None:
    view, notices = parse([pair], zone="UTC", now_us=NOW_US)
    default, _ = parse([], zone="UTC", now_us=NOW_US)
    assert view == default
    assert len(notices) == 1
    assert pair[1][:20] in notices[0]


def test_keys_of_the_page_itself_are_passed_over() -> None:
    _, notices = parse([("sort", "cost")], zone="UTC", now_us=NOW_US, page_keys={"sort"})
    assert notices == ()


def test_month_to_date_holds_no_day_of_the_month_before() -> None:
    # 2026-10-31 23:30 UTC is already November in Berlin.
    now_us = int(datetime(2026, 10, 31, 23, 30, tzinfo=UTC).timestamp()) * 1_000_000
    period = named_period("mtd", "Europe/Berlin", now_us)
    assert period.from_us == int(datetime(2026, 10, 31, 23, 0, tzinfo=UTC).timestamp()) * 1_000_000
    assert period.to_us - period.from_us == DAY_US


def test_today_west_of_utc_keeps_its_evening() -> None:
    now_us = int(datetime(2026, 11, 19, 3, 0, tzinfo=UTC).timestamp()) * 1_000_000  # 19:00 on the 18th in Los Angeles
    period = named_period("today", "America/Los_Angeles", now_us)
    assert period.from_us == int(datetime(2026, 11, 18, 8, 0, tzinfo=UTC).timestamp()) * 1_000_000
    assert period.from_us <= now_us < period.to_us


def test_a_day_on_which_clocks_change_has_23_or_25_hours() -> None:
    spring = named_period("2026-03-29..2026-03-29", "Europe/Berlin", NOW_US)
    autumn = named_period("2026-10-25..2026-10-25", "Europe/Berlin", NOW_US)
    assert spring.to_us - spring.from_us == 23 * HOUR_US
    assert autumn.to_us - autumn.from_us == 25 * HOUR_US


def test_neighbouring_months_share_their_border() -> None:
    october, november = (named_period(name, "Europe/Berlin", NOW_US) for name in ("2026-10", "2026-11"))
    assert october.to_us == november.from_us


def test_an_unfinished_period_is_compared_up_to_the_same_time_of_day() -> None:
    week = named_period("7d", "UTC", NOW_US)
    before = previous(week, NOW_US)
    assert before.from_us == week.from_us - 7 * DAY_US
    assert before.to_us == NOW_US - 7 * DAY_US


def test_a_finished_period_is_compared_with_all_of_the_one_before() -> None:
    span = named_period("2026-10-08..2026-10-14", "UTC", NOW_US)
    before = previous(span, NOW_US)
    assert (before.from_us, before.to_us) == (span.from_us - 7 * DAY_US, span.from_us)


def test_an_unknown_zone_is_named() -> None:
    with pytest.raises(UsageError, match="HALVE_ZONE"):
        views.period("today", "Mars/Olympus", NOW_US)
