"""After every ingest attribution and roll-ups follow, at the cost of what changed, and stay equal to the facts."""

from __future__ import annotations

from app.analysis.refresh import refresh
from app.analysis.rules import load
from app.warehouse import rollup
from tests.analysis.facts import add_requests, open_warehouse

START = 1_793_527_200_000_000
HOUR = rollup.HOUR_US
RULES = load()


def rows(first: int, n: int) -> list[dict[str, object]]:
    return [
        {"request_key": key, "start_us": START + key * HOUR, "cost_pusd": key, "tags": f'{{"feature": "f{key % 2}"}}'}
        for key in range(first, first + n)
    ]


def test_new_requests_are_attributed_and_summed() -> None:
    warehouse = open_warehouse()
    for first in (0, 10, 20):
        with warehouse.writing() as session:
            add_requests(session, rows(first, 10))
            assert refresh(session, RULES, now_us=1, zone="UTC").requests == 10
            assert rollup.differences(session) == []
    with warehouse.writing() as session:
        assert refresh(session, RULES, now_us=1, zone="UTC").requests == 0
        assert session.connection.execute("SELECT sum(requests) FROM spend_hour").fetchall() == [(30,)]


def test_a_request_that_moved_to_another_hour_leaves_nothing_behind() -> None:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, rows(0, 10))
        refresh(session, RULES, now_us=1, zone="UTC")
        session.connection.execute("DELETE FROM requests WHERE request_key = 3")
        session.connection.execute("DELETE FROM attribution WHERE request_key = 3")
        add_requests(session, [{"request_key": 3, "start_us": START + 99 * HOUR, "cost_pusd": 3}])
        refresh(session, RULES, now_us=1, zone="UTC")
        assert rollup.differences(session) == []


def test_another_zone_changes_the_buckets() -> None:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, rows(0, 4))
        refresh(session, RULES, now_us=1, zone="UTC")
        assert rollup.bucket(session) == HOUR
        refresh(session, RULES, now_us=1, zone="Asia/Kathmandu")
        assert rollup.bucket(session) == HOUR // 4
        assert rollup.differences(session) == []


def test_what_is_named_as_new_is_attributed_without_comparing_everything() -> None:
    """A wrong attribution that stands elsewhere stays: where names account for every request, nothing else is read."""
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, rows(0, 3))
        refresh(session, RULES, now_us=1, zone="UTC")
        session.connection.execute("UPDATE attribution SET request_key = 77 WHERE request_key = 1")
        add_requests(session, rows(3, 1))
        session.connection.execute("INSERT INTO unattributed VALUES (3, ?)", [START + 3 * HOUR])
        assert refresh(session, RULES, now_us=1, zone="UTC").requests == 1
        add_requests(session, rows(4, 1))  # not named: the count says so, and everything is compared
        assert refresh(session, RULES, now_us=1, zone="UTC").requests == 2
