"""Rules: one run a local day whatever the clocks do, and a next moment that always advances."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import iso, us

from app.core.errors import UsageError
from app.core.view import local_date
from app.jobs import due, following, parse

ZONES = (
    "America/Los_Angeles",
    "America/Sao_Paulo",
    "Africa/Cairo",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Pacific/Apia",
    "UTC",
)
TIMES = st.times().map(lambda at: at.strftime("%H:%M"))
RULES = st.one_of(
    TIMES.map(lambda at: f"daily {at}"),
    st.tuples(st.sampled_from(["mon", "wed", "sun"]), TIMES).map(lambda pair: f"weekly {pair[0]} {pair[1]}"),
    st.tuples(st.integers(1, 31), TIMES).map(lambda pair: f"monthly {pair[0]} {pair[1]}"),
    st.integers(1, 900).map(lambda minutes: f"every {minutes} min"),
)
DAY_US = 86_400_000_000


def moments(rule: str, zone: str, first: str, until: str) -> list[str]:
    found = due(parse(rule), us(first), us(until), anchor_us=0, zone=ZoneInfo(zone))
    return [f"{item.period} {iso(item.at_us)}" for item in found]


@pytest.mark.parametrize(
    "text", ["every 2 s", "every 15 min", "every 6 h", "daily 02:30", "weekly mon 08:00", "monthly 31 08:00"]
)
def test_a_rule_prints_as_it_was_written(text: str) -> None:
    assert str(parse(f"  {text.upper()} ")) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "daily",
        "daily 24:00",
        "daily 2:30",
        "weekly 08:00",
        "weekly xyz 08:00",
        "monthly 0 08:00",
        "monthly 32 08:00",
        "every 0 s",
        "every 200 h",
        "every 5 days",
        "0 8 * * 1",
        "daily mon 08:00",
        "every -1 s",
    ],
)
def test_what_is_no_rule_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match="every 15 min, daily 02:30"):
        parse(text)


def test_a_time_that_is_skipped_is_taken_after_the_skip() -> None:
    assert moments("daily 02:30", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-30T12:00Z") == [
        "2026-03-29 2026-03-29T01:30:00Z",  # 03:30 of the new time
        "2026-03-30 2026-03-30T00:30:00Z",
    ]


def test_a_time_that_comes_twice_is_the_first_one() -> None:
    assert moments("daily 02:30", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-26T12:00Z") == [
        "2026-10-25 2026-10-25T00:30:00Z",
        "2026-10-26 2026-10-26T01:30:00Z",
    ]


def test_a_day_that_a_zone_left_out_has_no_run() -> None:
    found = moments("daily 02:30", "Pacific/Apia", "2011-12-29T00:00Z", "2012-01-01T00:00Z")
    assert [line.split()[0] for line in found] == ["2011-12-29", "2011-12-31", "2012-01-01"]


def test_the_31st_of_a_short_month_is_its_last_day() -> None:
    found = moments("monthly 31 08:00", "UTC", "2027-12-31T12:00Z", "2028-05-01T00:00Z")
    assert [line.split()[0] for line in found] == ["2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30"]


def test_an_interval_is_counted_from_its_anchor_and_asked_once_after_a_pause() -> None:
    rule, anchor = parse("every 15 min"), us("2026-03-29T00:07Z")
    zone = ZoneInfo("Europe/Berlin")
    (newest,) = due(rule, us("2026-03-29T00:10Z"), us("2026-03-29T09:30Z"), anchor_us=anchor, zone=zone)
    assert iso(newest.at_us) == "2026-03-29T09:22:00Z"
    assert due(rule, newest.at_us, us("2026-03-29T09:36Z"), anchor_us=anchor, zone=zone) == ()
    assert iso(following(rule, newest.at_us, anchor_us=anchor, zone=zone).at_us) == "2026-03-29T09:37:00Z"


@settings(deadline=None)
@given(text=RULES, zone=st.sampled_from(ZONES), start=st.integers(us("2005-01-01T00:00Z"), us("2030-01-01T00:00Z")))
def test_the_next_moment_always_advances_and_is_never_passed_over(text: str, zone: str, start: int) -> None:
    rule, place = parse(text), ZoneInfo(zone)
    at, keys = start, []
    for _ in range(20):
        found = following(rule, at, anchor_us=start, zone=place)
        assert found.at_us > at
        assert due(rule, at, found.at_us - 1, anchor_us=start, zone=place) == ()
        assert due(rule, at, found.at_us, anchor_us=start, zone=place) == (found,)
        at = found.at_us
        keys.append(found.period)
    assert len(set(keys)) == len(keys)


@settings(deadline=None)
@given(at=TIMES, zone=st.sampled_from(ZONES), start=st.integers(us("2005-01-01T00:00Z"), us("2030-01-01T00:00Z")))
def test_every_local_day_has_one_run_across_a_year_of_clock_changes(at: str, zone: str, start: int) -> None:
    place = ZoneInfo(zone)
    found = due(parse(f"daily {at}"), start, start + 370 * DAY_US, anchor_us=0, zone=place)
    named = [date.fromisoformat(item.period) for item in found]
    lived = {local_date(start + step * DAY_US // 4, place) for step in range(370 * 4)}
    inner = sorted(lived)[2:-2]
    assert [day for day in inner if named.count(day) != 1] == []
    assert all(later.at_us > earlier.at_us for earlier, later in pairwise(found))
    off = [abs(local_date(item.at_us, place) - day) for item, day in zip(found, named, strict=True)]
    assert max(off) <= timedelta(days=0), "a run left its day"
