"""Every view of one period adds up to one total; days are local days; unknown money is no zero."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.analysis import coverage as cover
from app.analysis import spend
from app.analysis.attribution import attribute
from app.analysis.days import QUARTER_US, bucket_for, local_days
from app.analysis.movers import movers
from app.analysis.rules import load
from app.core.errors import UsageError
from app.core.money import pico, usd_text
from app.core.view import DIMENSIONS, Filter, Period, View, latest_us, period
from app.warehouse import rollup, upkeep
from tests.analysis.facts import add_requests, add_source, open_warehouse

if TYPE_CHECKING:
    from app.warehouse.store import Warehouse

RULES = load()


def us(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp()) * 1_000_000


def filled(rows: list[dict[str, Any]], *, zone: str = "UTC", sources: dict[str, str] | None = None) -> Warehouse:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, rows)
        for name, billing in (sources or {}).items():
            add_source(session, name, billing)
        attribute(session, RULES, now_us=1)
        rollup.rebuild(session, bucket_us=bucket_for(zone))
    return warehouse


def whole(from_text: str, to_text: str, zone: str, **rest: Any) -> View:
    return View(Period("days", us(from_text), us(to_text), zone), **rest)


def by_day(warehouse: Warehouse, view: View, by: str = "model") -> dict[str, int | None]:
    with warehouse.session() as session:
        series = spend.daily(session, view, by=by)
    return {day.date.isoformat(): value for day, value in zip(series.days, series.totals, strict=True) if value}


def test_case_llmc_076_days_are_cut_in_the_named_zone() -> None:
    rows = [
        {"start_us": us("2026-01-15T07:59:59Z"), "cost_pusd": 100},
        {"start_us": us("2026-01-15T08:00:00Z"), "cost_pusd": 200},
        {"start_us": us("2026-01-16T04:08:00Z"), "cost_pusd": 400},
    ]
    warehouse = filled(rows)
    local = whole("2026-01-14T08:00:00Z", "2026-01-17T08:00:00Z", "America/Los_Angeles")
    assert by_day(warehouse, local) == {"2026-01-14": 100, "2026-01-15": 600}
    universal = whole("2026-01-14T00:00:00Z", "2026-01-17T00:00:00Z", "UTC")
    assert by_day(warehouse, universal) == {"2026-01-15": 300, "2026-01-16": 400}


def test_case_llmc_077_the_offset_belongs_to_the_instant() -> None:
    moments = {
        "2026-03-28T23:30:00Z": 1,
        "2026-03-29T22:30:00Z": 2,
        "2026-10-24T22:30:00Z": 4,
        "2026-10-25T22:30:00Z": 8,
        "2026-10-25T00:30:00Z": 16,
        "2026-10-25T01:30:00Z": 32,
    }
    warehouse = filled([{"start_us": us(at), "cost_pusd": value} for at, value in moments.items()])
    zone = "Europe/Berlin"
    march = whole("2026-03-27T23:00:00Z", "2026-03-30T22:00:00Z", zone)
    assert by_day(warehouse, march) == {"2026-03-29": 1, "2026-03-30": 2}
    october = whole("2026-10-23T22:00:00Z", "2026-10-26T23:00:00Z", zone)
    assert by_day(warehouse, october) == {"2026-10-25": 60}
    days = {day.date: day.hours for day in local_days(us("2026-03-29T12:00:00Z"), us("2026-10-26T00:00:00Z"), zone)}
    assert days[date(2026, 3, 29)] == 23
    assert days[date(2026, 10, 25)] == 25


def test_case_llmc_097_month_to_date_begins_with_the_local_month() -> None:
    rows = [
        {"start_us": us("2026-03-31T22:59:59Z"), "cost_pusd": pico("5.00")},
        {"start_us": us("2026-03-31T23:00:00Z"), "cost_pusd": pico("1.00")},
        {"start_us": us("2026-04-02T08:00:00Z"), "cost_pusd": pico("2.00")},
    ]
    warehouse = filled(rows)
    view = View(period("mtd", "Europe/London", us("2026-04-02T09:00:00Z")))
    with warehouse.session() as session:
        assert usd_text(spend.totals(session, view).cost_pusd) == "3"
        assert [day.date.isoformat() for day in spend.daily(session, view).days] == ["2026-04-01", "2026-04-02"]


def test_case_llmc_098_today_west_of_utc_has_its_evening() -> None:
    rows = [
        {"start_us": us("2026-09-15T14:00:00Z"), "cost_pusd": pico("1.00")},
        {"start_us": us("2026-09-16T01:00:00Z"), "cost_pusd": pico("2.00")},
    ]
    warehouse = filled(rows)
    view = View(period("today", "America/New_York", us("2026-09-16T02:00:00Z")))
    with warehouse.session() as session:
        assert usd_text(spend.totals(session, view).cost_pusd) == "3"
        assert [day.date.isoformat() for day in spend.daily(session, view).days] == ["2026-09-15"]


def test_case_llmc_100_all_views_say_the_same_total() -> None:
    start = us("2026-11-20T10:00:00Z")
    tag = '{"feature": "%s"}'
    rows = [
        {"model_id": "a", "provider": "p1", "tags": tag % "x", "api_key_alias": "k1", "cost_pusd": pico("1.25")},
        {"model_id": "b", "provider": "p1", "api_key_alias": "…k2ab", "api_key_hash": 2, "cost_pusd": pico("2.50")},
        {"model_id": "c", "provider": "p2", "tags": tag % "y", "cost_pusd": pico("0.25")},
    ]
    warehouse = filled([row | {"start_us": start} for row in rows])
    sums = {}
    with warehouse.session() as session:
        for days in (7, 30):
            view = View(period(f"{days}d", "UTC", us("2026-11-24T10:00:00Z")))
            assert usd_text(spend.totals(session, view).cost_pusd) == "4"
            for by in ("model", "provider", "feature", "api_key"):
                ranking = spend.ranking(session, view, by=by)
                sums[by] = {row.name: usd_text(row.figures.cost_pusd) for row in ranking.rows}
                assert sum(row.figures.cost_pusd or 0 for row in ranking.rows) == pico("4")
            assert by_day(warehouse, view) == {"2026-11-20": pico("4")}
    assert sums["feature"]["unassigned"] == "2.5"
    assert sums["api_key"]["unassigned"] == "0.25"


def test_a_zone_of_half_hours_gets_finer_buckets_and_right_days() -> None:
    assert bucket_for("Asia/Kolkata") == QUARTER_US
    rows = [
        {"start_us": us("2026-11-19T18:29:59Z"), "cost_pusd": 1},
        {"start_us": us("2026-11-19T18:30:00Z"), "cost_pusd": 2},
    ]
    view = whole("2026-11-18T18:30:00Z", "2026-11-20T18:30:00Z", "Asia/Kolkata")
    expected = {"2026-11-19": 1, "2026-11-20": 2}
    assert by_day(filled(rows, zone="Asia/Kolkata"), view) == expected
    # roll-ups of whole hours cannot cut this zone: the facts answer instead
    assert by_day(filled(rows, zone="UTC"), view) == expected


def test_a_range_that_ends_inside_a_bucket_counts_no_request_behind_its_end() -> None:
    rows = [{"start_us": us(f"2026-11-19T10:{minute:02d}:00Z"), "cost_pusd": 1} for minute in range(60)]
    warehouse = filled([*rows, {"start_us": us("2026-11-19T08:00:00Z"), "cost_pusd": 100}])
    view = whole("2026-11-19T00:00:00Z", "2026-11-19T10:20:00Z", "UTC")
    with warehouse.session() as session:
        assert spend.totals(session, view).cost_pusd == 120
        only = View(view.period, filters=(Filter("is", "feature", ("unassigned",)),))
        assert spend.totals(session, only).cost_pusd == 120


def test_unpriced_requests_are_counted_and_never_zero_dollars() -> None:
    at = us("2026-11-19T10:00:00Z")
    rows = [
        {"start_us": at, "model_id": "own", "cost_state": "unpriced", "tok_input": 300, "tok_output": 100},
        {"start_us": at, "model_id": "gpt", "cost_pusd": 50, "input_pusd": 50, "tok_input": 600, "source": "gate"},
        {"start_us": at, "model_id": "gpt", "cost_state": "not_billed", "source": "gate"},
    ]
    warehouse = filled(rows, sources={"gate": "api"})
    view = whole("2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z", "UTC", by="model")
    with warehouse.session() as session:
        ranked = {row.name: row.figures for row in spend.ranking(session, view).rows}
        assert ranked["own"].cost_pusd is None
        assert ranked["own"].tokens["tok_cache_read"] is None
        assert ranked["gpt"].parts["output_pusd"] is None
        total = spend.totals(session, view)
        assert (total.requests, total.requests_priced, total.requests_unpriced) == (3, 2, 1)
        assert (total.cost_pusd, total.paid_pusd) == (50, 50)
        covered = cover.coverage(session, view)
        assert covered.priced_share == 0.6
        assert [(row.model, row.requests, row.tokens) for row in covered.unpriced] == [("own", 1, 400)]
        series = spend.daily(session, view)
        assert {group.name: group.values for group in series.groups} == {"gpt": (50,), "own": (None,)}
        assert cover.basis(session, view) == "mixed"


def test_requests_without_a_time_stand_in_the_whole_but_in_no_day() -> None:
    rows = [{"cost_pusd": 5}, {"start_us": us("2026-11-19T10:00:00Z"), "cost_pusd": 7}]
    warehouse = filled(rows)
    with warehouse.session() as session:
        everything = View(spend.whole_period(session, "UTC"))
        assert spend.totals(session, everything).cost_pusd == 12
        assert sum(row.figures.cost_pusd or 0 for row in spend.ranking(session, everything, by="user").rows) == 12
        series = spend.daily(session, everything)
        assert (series.totals, series.undated) == ((7,), 5)
        day = whole("2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z", "UTC")
        assert spend.totals(session, day).cost_pusd == 7
        assert cover.coverage(session, day).undated == 1


def test_days_before_the_store_begins_are_unknown_and_quiet_days_in_it_are_zero() -> None:
    rows = [
        {"start_us": us("2026-11-19T10:00:00Z"), "model_id": "a", "cost_pusd": 7},
        {"start_us": us("2026-11-21T10:00:00Z"), "model_id": "b", "cost_pusd": 5},
    ]
    view = whole("2026-11-17T00:00:00Z", "2026-11-22T00:00:00Z", "UTC")
    with filled(rows).session() as session:
        for measure, first, last in (("cost", 7, 5), ("requests", 1, 1)):
            series = spend.daily(session, view, by="model", measure=measure)  # type: ignore[arg-type]
            assert series.totals == (None, None, first, 0, last)
            assert {group.name: group.values for group in series.groups} == {
                "a": (None, None, first, 0, 0),
                "b": (None, None, 0, 0, last),
            }


def test_a_store_without_any_time_knows_of_no_day() -> None:
    with filled([{"cost_pusd": 5}]).session() as session:
        day = whole("2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z", "UTC")
        assert spend.daily(session, day).totals == (None,)
        assert (spend.undated(session, day).requests, spend.undated(session, day).cost_pusd) == (1, 5)


def test_untagged_share_counts_money_without_tag_or_rule() -> None:
    at = us("2026-11-19T10:00:00Z")
    rows = [{"start_us": at, "cost_pusd": 30, "tags": '{"feature": "a"}'}, {"start_us": at, "cost_pusd": 10}]
    with filled(rows).session() as session:
        covered = cover.coverage(session, whole("2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z", "UTC"))
    assert covered.untagged_share == 0.25


def test_complete_to_is_the_oldest_of_the_live_sources() -> None:
    rows = [
        {"source": "a", "start_us": us("2026-11-19T10:00:00Z")},
        {"source": "b", "start_us": us("2026-11-18T10:00:00Z")},
        {"source": "given up", "start_us": us("2026-06-01T10:00:00Z")},
    ]
    with filled(rows, sources={"quiet": "api", "a": "api"}).session() as session:
        fresh, reach = cover.freshness(session), cover.reach_of(session, us("2026-11-20T00:00:00Z"))
    assert [(item.source, item.requests, item.billing) for item in fresh] == [
        ("a", 1, "api"), ("b", 1, "unknown"), ("given up", 1, "unknown"), ("quiet", 0, "api"),
    ]  # fmt: skip
    assert reach is not None
    assert reach.complete_us == us("2026-11-18T10:00:00Z")


def test_one_call_of_the_far_future_moves_no_window_and_no_freshness() -> None:
    now_us = us("2026-11-20T00:00:00Z")
    right = [
        {"source": "a", "start_us": us("2026-11-19T10:00:00Z")},
        {"source": "b", "start_us": us("2026-11-18T10:00:00Z")},
    ]
    wrong = [{"source": name, "start_us": us("2036-11-28T10:00:00Z")} for name in ("a", "only wrong")]
    with filled([*right, *wrong]).session() as session:
        reach = cover.reach_of(session, now_us)
        assert spend.request_extent(session, now_us) == (right[1]["start_us"], right[0]["start_us"])
        checks = {name: (holds, said) for name, holds, said in upkeep.checks(session, latest_us(now_us))}
    assert reach is not None
    assert (reach.complete_us, reach.newest_us, reach.silent) == (right[1]["start_us"], right[0]["start_us"], ())
    holds, said = checks["times"]
    assert not holds
    assert said.startswith("2 in the future, up to 2036-11-28 10:00Z")


def test_where_every_call_is_of_the_future_the_clock_is_doubted() -> None:
    rows = [{"source": "a", "start_us": us("2026-11-19T10:00:00Z")}]
    with filled(rows).session() as session:
        reach = cover.reach_of(session, us("2024-01-01T00:00:00Z"))
        assert spend.request_extent(session, us("2024-01-01T00:00:00Z")) == (rows[0]["start_us"],) * 2
    assert reach is not None
    assert reach.newest_us == rows[0]["start_us"]


def test_values_are_bound_and_dimensions_are_a_fixed_list() -> None:
    rows = [{"start_us": us("2026-11-19T10:00:00Z"), "cost_pusd": 1, "model_id": "m' OR 1=1 --"}]
    view = whole("2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z", "UTC")
    with filled(rows).session() as session:
        hostile = View(view.period, filters=(Filter("is", "model", ("x' OR 1=1 --",)),))
        assert spend.totals(session, hostile).requests == 0
        named = View(view.period, filters=(Filter("is", "model", ("m' OR 1=1 --",)),))
        assert spend.totals(session, named).requests == 1
        with pytest.raises(UsageError, match="no dimension"):
            spend.ranking(session, view, by="model_id FROM requests --")


names = st.sampled_from(["a", "b", "c"])
made = st.fixed_dictionaries(
    {
        "start_us": st.one_of(st.none(), st.integers(us("2026-10-24T00:00:00Z"), us("2026-10-27T00:00:00Z") - 1)),
        "source": names,
        "provider": st.one_of(st.none(), names),
        "account": st.one_of(st.none(), names),
        "model_id": names,
        "user_hash": st.one_of(st.none(), st.integers(1, 3)),
        "api_key_alias": st.one_of(st.none(), names),
        "service_tier": st.one_of(st.none(), names),
        "status": st.sampled_from(["ok", "error"]),
        "is_batch": st.booleans(),
        "cost_state": st.sampled_from(["priced", "partly"]),
        "tok_input": st.one_of(st.none(), st.integers(0, 10**7)),
        "cost_pusd": st.one_of(st.none(), st.integers(0, 10**15)),
        "tags": st.one_of(st.none(), names.map(lambda name: f'{{"feature": "{name}", "team": "{name}"}}')),
    }
)
filters_ = st.lists(
    st.builds(
        Filter,
        st.sampled_from(["is", "not"]),
        st.sampled_from(DIMENSIONS),
        st.lists(st.sampled_from(["a", "b", "unassigned", "true", "ok", "1"]), min_size=1, max_size=2).map(tuple),
    ),
    max_size=2,
).map(tuple)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(made, max_size=12),
    filters_,
    st.integers(0, 4),
    st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kolkata"]),
    st.booleans(),
)
def test_all_views_add_up_to_the_same_total(
    rows: list[dict[str, Any]], filters: tuple[Filter, ...], top: int, zone: str, everything: bool
) -> None:
    warehouse = filled(rows)
    with warehouse.session() as session:
        assert rollup.differences(session) == []
        days = period("3d", zone, us("2026-10-26T12:00:00Z"))
        view = View(spend.whole_period(session, zone) if everything else days, filters=filters)
        total = spend.totals(session, view)
        wanted = (total.requests, total.cost_pusd, total.tokens.get("tok_input"), total.paid_pusd or 0)
        for by in DIMENSIONS:
            ranking = spend.ranking(session, view, by=by, top=top)
            parts = [row.figures for row in ranking.rows] + ([ranking.other] if ranking.other else [])
            assert len(ranking.rows) <= top
            costs = [item.cost_pusd for item in parts if item.cost_pusd is not None]
            tokens = [item.tokens["tok_input"] for item in parts if item.tokens["tok_input"] is not None]
            assert (
                sum(item.requests for item in parts),
                sum(costs) if costs else None,
                sum(tokens) if tokens else None,
                sum(item.paid_pusd or 0 for item in parts),
            ) == wanted
            series = spend.daily(session, view, by=by, top=top)
            in_days = [value for group in series.groups for value in group.values if value is not None]
            undated = series.undated or 0
            assert sum(in_days) + undated == (total.cost_pusd or 0)
            assert sum(value or 0 for value in series.totals) + undated == (total.cost_pusd or 0)


@settings(max_examples=12, deadline=None)
@given(st.lists(made, max_size=20), st.sampled_from(["feature", "model", "user"]))
def test_parts_of_a_change_add_up_to_it_exactly(rows: list[dict[str, Any]], by: str) -> None:
    warehouse = filled(rows)
    before = Period("before", us("2026-10-24T00:00:00Z"), us("2026-10-25T00:00:00Z"), "UTC")
    now = View(Period("now", us("2026-10-25T00:00:00Z"), us("2026-10-26T00:00:00Z"), "UTC"))
    with warehouse.session() as session:
        moved = movers(session, now, before, by=by)
        then = spend.totals(session, now, period=before).cost_pusd or 0
        after = spend.totals(session, now).cost_pusd or 0
    assert (moved.total.before_pusd, moved.total.now_pusd) == (then, after)
    for move in (*moved.rows, moved.total):
        assert move.volume + move.mix + move.rate + move.new + move.gone == move.change
    assert sum(move.change for move in moved.rows) == after - then


def test_twice_the_traffic_is_volume_and_a_dearer_call_is_rate() -> None:
    monday, tuesday = us("2026-11-16T10:00:00Z"), us("2026-11-17T10:00:00Z")
    one = [{"start_us": monday, "cost_pusd": 1000, "model_id": "m"}]
    volume = filled(one + [{"start_us": tuesday, "cost_pusd": 1000, "model_id": "m"}] * 2)
    rate = filled([*one, {"start_us": tuesday, "cost_pusd": 3000, "model_id": "m"}])
    now = whole("2026-11-17T00:00:00Z", "2026-11-18T00:00:00Z", "UTC")
    before = Period("before", us("2026-11-16T00:00:00Z"), us("2026-11-17T00:00:00Z"), "UTC")
    with volume.session() as session:
        total = movers(session, now, before).total
        assert (total.volume, total.mix, total.rate) == (1000, 0, 0)
    with rate.session() as session:
        total = movers(session, now, before).total
        assert (total.volume, total.mix, total.rate) == (0, 0, 2000)
