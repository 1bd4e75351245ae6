"""Re-pricing: the same book changes nothing, another one is undone to the last figure, and every sum agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from app.analysis import spend
from app.core.view import View
from app.warehouse import ledger, reprice, rollup
from tests.analysis.facts import open_warehouse
from tests.ledger.books import DAY_US, START_US, A, B, add, back_to, book, by, change, figures, made_requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.warehouse.reprice import Difference
    from app.warehouse.store import Session, Warehouse

PARTS = [
    {"request_key": 1, "part": 0, "model_id": "made-1", "tok_input": 1000, "tok_output": 10},
    {"request_key": 1, "part": 1, "model_id": "made-4", "tok_input": 2000, "tok_output": 20},
]


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    opened = open_warehouse()
    yield opened
    opened.close()


def filled(rows: list[dict[str, Any]], parts: list[dict[str, Any]] | None = None) -> Warehouse:
    """A store priced by book A, roll-ups and all."""
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add(session, rows, parts or [])
        rollup.rebuild(session)
    change(warehouse, by(A))
    return warehouse


def known_cost(session: Session) -> int:
    (row,) = session.connection.execute("SELECT coalesce(sum(cost_pusd), 0) FROM requests").fetchall()
    return int(row[0])


def rolled_cost(session: Session) -> int:
    (row,) = session.connection.execute("SELECT coalesce(sum(cost_pusd), 0) FROM spend_hour").fetchall()
    return int(row[0])


def adds_up(found: Difference) -> None:
    before = sum(item.before_pusd or 0 for item in found.changes)
    after = sum(item.after_pusd or 0 for item in found.changes)
    assert found.after_pusd - found.before_pusd == after - before
    assert sum(item.requests for item in found.changes) == found.changed


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=made_requests)
def test_another_book_and_back_restores_every_figure_and_all_sums_agree_on_the_way(rows: list[dict[str, Any]]) -> None:
    warehouse = filled(rows, PARTS)
    try:
        with warehouse.session() as session:
            first, cost = figures(session), known_cost(session)
        again = change(warehouse, by(A))
        assert (again.changed, again.before_pusd, again.after_pusd) == (0, cost, cost)
        there = change(warehouse, by(B))
        adds_up(there)
        with warehouse.session() as session:
            assert known_cost(session) == rolled_cost(session) == there.after_pusd
            assert there.before_pusd == cost
            total = spend.totals(session, View(spend.whole_period(session, "UTC")))
            assert (total.cost_pusd or 0) == there.after_pusd
        back = change(warehouse, by(A))
        adds_up(back)
        with warehouse.session() as session:
            assert figures(session) == first
            assert known_cost(session) == rolled_cost(session) == cost == back.after_pusd
    finally:
        warehouse.close()


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=made_requests)
def test_any_version_can_be_brought_back_figure_by_figure(rows: list[dict[str, Any]]) -> None:
    warehouse = filled(rows, PARTS)
    try:
        seen = {}
        with warehouse.session() as session:
            seen[1] = figures(session)
        for version, text in ((2, B), (3, A.replace('"1"', '"5"'))):
            change(warehouse, by(text))
            with warehouse.session() as session:
                seen[version] = figures(session)
        for version in (1, 3, 2):
            adds_up(back_to(warehouse, version))
            with warehouse.session() as session:
                assert figures(session) == seen[version]
    finally:
        warehouse.close()


def test_a_dry_run_says_what_apply_does_and_changes_nothing() -> None:
    rows = [
        {"model": f"made-{1 + n % 5}", "tok_input": 100 + n, "tok_output": 7, "start_us": START_US + n * DAY_US // 3}
        for n in range(12)
    ]
    warehouse = filled(rows, PARTS)
    with warehouse.session() as session:
        first = figures(session)
    with warehouse.trying() as session:
        spans = reprice.slices(session, 0, ledger.END_OF_TIME, most=3)
        tried = reprice.added(reprice.compare(session, by(B), span, "UTC") for span in spans)
    with warehouse.session() as session:
        assert figures(session) == first
        assert ledger.newest(session) == 1
        (kept,) = session.connection.execute(
            "SELECT count(*) FROM price_books WHERE book = $book", {"book": book(B).version}
        ).fetchall()
        assert kept == (0,)
    assert change(warehouse, by(B)) == tried
    assert {item.reason for item in tried.changes} == {"corrected", "completed", "priced", "unpriced", "other_row"}
    warehouse.close()


def test_only_the_days_that_were_asked_for_change() -> None:
    rows = [{"model": "made-1", "tok_input": 1000, "start_us": START_US + day * DAY_US} for day in range(4)]
    warehouse = filled([*rows, {"model": "made-1", "tok_input": 1000}])
    found = change(warehouse, by(B), from_us=START_US + DAY_US, to_us=START_US + 3 * DAY_US)
    assert (found.requests, found.changed) == (2, 2)
    assert [item.day for item in found.changes] == ["2026-11-02", "2026-11-03"]
    with warehouse.session() as session:
        costs = session.connection.execute("SELECT cost_pusd // 1000000 FROM requests ORDER BY request_key").fetchall()
    assert [cost for (cost,) in costs] == [1000, 1500, 1500, 1000, 1000]
    warehouse.close()


def test_days_are_cut_in_the_zone_that_was_asked_for() -> None:
    warehouse = filled([{"model": "made-1", "tok_input": 1000, "start_us": START_US + 23 * DAY_US // 24}])
    with warehouse.trying() as session:
        (span,) = reprice.slices(session, 0, ledger.END_OF_TIME)
        days = [
            reprice.compare(session, by(B), span, zone).changes[0].day
            for zone in ("UTC", "Europe/Berlin", "Asia/Tokyo")
        ]
    assert days == ["2026-11-01", "2026-11-02", "2026-11-02"]
    warehouse.close()


def test_a_call_that_a_fuller_log_replaced_keeps_its_figures_when_an_older_version_comes_back() -> None:
    rows = [{"model": "made-1", "tok_input": 1000, "start_us": START_US + n} for n in range(2)]
    warehouse = filled(rows)
    change(warehouse, by(B))
    with warehouse.writing() as session:
        session.connection.execute("UPDATE requests SET tok_input = 9000, fullness = 2 WHERE request_key = 2")
    change(warehouse, by(B))
    found = back_to(warehouse, 1)
    assert (found.changed, found.passed_over) == (1, 1)
    with warehouse.session() as session:
        costs = session.connection.execute("SELECT cost_pusd FROM requests ORDER BY request_key").fetchall()
    assert costs == [(1000 * 1_000_000,), (9000 * 1_500_000,)]
    warehouse.close()


def test_two_runs_of_one_version_whose_slices_differ_leave_no_request_between_them() -> None:
    """Requests that came in after the first run cut its slices move the borders of the second one's."""
    warehouse = filled([{"model": "made-1", "tok_input": 1000, "start_us": START_US + n * DAY_US} for n in range(9)])
    order = ledger.Order("reprice", 0, ledger.END_OF_TIME, "UTC", "test", "")
    with warehouse.writing() as session:
        version = ledger.one(session, ledger.begin(session, order, 1))
        runs = [reprice.slices(session, 0, ledger.END_OF_TIME, most=most) for most in (2, 3)]
    for number in range(5):
        for run in runs:
            for span in run[number : number + 1]:
                with warehouse.writing() as session:
                    ledger.advance(session, version, by(B), span, 2)
    with warehouse.writing() as session:
        ledger.end(session, version.version, "whole", 3)
        costs = session.connection.execute("SELECT DISTINCT cost_pusd FROM requests").fetchall()
        assert costs == [(1000 * 1_500_000,)]
        assert ledger.one(session, version.version).did.changed == 9
        assert rollup.differences(session) == []
    back_to(warehouse, 1)
    with warehouse.session() as session:
        assert known_cost(session) == rolled_cost(session) == 9 * 1000 * 1_000_000
    warehouse.close()


def test_a_version_that_was_given_up_is_not_told_as_whole_by_a_run_that_comes_late() -> None:
    warehouse = filled([{"model": "made-1", "tok_input": 1000, "start_us": START_US}])
    order = ledger.Order("reprice", 0, ledger.END_OF_TIME, "UTC", "test", "")
    with warehouse.writing() as session:
        number = ledger.begin(session, order, 1)
        ledger.end(session, number, "left", 2)
        ledger.end(session, number, "whole", 3)
        found = ledger.one(session, number)
    assert (found.ending, found.ended_us) == ("left", 2)
    warehouse.close()
