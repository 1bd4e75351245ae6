"""New requests are added to roll-ups without reading the old ones again; after any steps sums equal the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from app.analysis.refresh import refresh
from app.analysis.rules import load
from app.warehouse import rollup
from tests.analysis.facts import add_requests, open_warehouse

if TYPE_CHECKING:
    from app.warehouse.store import Session

START = 1_793_527_200_000_000
RULES = load()
REQUEST = st.fixed_dictionaries(
    {
        "start_us": st.none() | st.integers(0, 5).map(lambda quarter: START + quarter * 900_000_000),
        "cost_pusd": st.none() | st.integers(0, 10**12),
        "tok_input": st.none() | st.integers(0, 1000),
        "tok_output": st.none() | st.integers(0, 1000),
        "end_us": st.integers(0, 10).map(lambda seconds: START + seconds * 1_000_000_000),
        "model_id": st.sampled_from(["m", "n"]),
        "tags": st.sampled_from(['{"feature": "a"}', '{"feature": "b"}', None]),
    }
)
# what happens between two refreshes: requests come, come again fuller (under a key that was used), or go; named as new,
# as the merge does it, or not
STEPS = st.lists(
    st.lists(st.tuples(st.integers(0, 12), st.none() | REQUEST, st.booleans()), max_size=6), min_size=2, max_size=4
)


def replace(session: Session, key: int, request: dict[str, Any] | None, *, named: bool) -> None:
    session.connection.execute(f"DELETE FROM requests WHERE request_key = {key}")
    session.connection.execute(f"DELETE FROM attribution WHERE request_key = {key}")
    if request is None:
        return
    add_requests(session, [{"request_key": key, **request}])
    if named:
        session.connection.execute("INSERT INTO unattributed VALUES (?, ?)", [key, request["start_us"]])


def contents(session: Session, table: str) -> list[tuple[Any, ...]]:
    return sorted(session.connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_sums_after_any_steps_are_those_of_a_whole_fill(
    steps: list[list[tuple[int, dict[str, Any] | None, bool]]],
) -> None:
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        for step in steps:
            for key, request, named in step:
                replace(session, key, request, named=named)
            refresh(session, RULES, now_us=1, zone="UTC")
            assert rollup.differences(session) == []
            attributed = session.connection.execute("SELECT request_key FROM attribution ORDER BY 1").fetchall()
            assert attributed == session.connection.execute("SELECT request_key FROM requests ORDER BY 1").fetchall()
            assert session.connection.execute("SELECT count(*) FROM unattributed").fetchone() == (0,)
        added = [contents(session, table) for table in ("spend_hour", "latency_hour")]
        rollup.rebuild(session)
        assert [contents(session, table) for table in ("spend_hour", "latency_hour")] == added


def test_what_was_summed_before_is_not_read_again() -> None:
    """A wrong sum that stands stays as it is: only what is new was added. The standing check is there to find it."""
    warehouse = open_warehouse()
    with warehouse.writing() as session:
        add_requests(session, [{"request_key": 1, "start_us": START, "cost_pusd": 5, "tok_input": 7}])
        refresh(session, RULES, now_us=1, zone="UTC")
        session.connection.execute("UPDATE spend_hour SET tok_input = 1000")
        add_requests(session, [{"request_key": 2, "start_us": START + 1, "cost_pusd": 5, "tok_input": 1}])
        refresh(session, RULES, now_us=1, zone="UTC")
        assert session.connection.execute("SELECT requests, tok_input FROM spend_hour").fetchall() == [(2, 1001)]
        assert {item.measure for item in rollup.differences(session)} == {"tokens", "parts"}
