"""The cache primitive equals a sequential simulator, event by event."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.replay.primitive import EVENT_SCHEMA, UNLIMITED_US, hits
from app.warehouse.store import Session, Warehouse


@pytest.fixture(scope="module")
def session():
    warehouse = Warehouse(None, threads=1)
    with warehouse.session() as opened:
        yield opened
    warehouse.close()


def simulate(events: list[dict[str, int | None]]) -> list[int]:
    """One entry at a time: the next event's answer from the state that the ones before it left."""
    live: dict[int, tuple[int, int]] = {}  # key -> (last touch, readable from)
    answers = []
    for event in sorted(events, key=lambda e: (e["start_us"], e["request_key"], e["pos"])):
        key, now = event["key"], event["start_us"]
        entry = live.get(key)
        if entry is not None and now - entry[0] > event["ttl_us"]:
            entry = None
            del live[key]
        answers.append(int(entry is not None and entry[1] <= now))
        if event["ready_us"] is not None:
            live[key] = (now, event["ready_us"] if entry is None else min(entry[1], event["ready_us"]))
        elif entry is not None:
            live[key] = (now, entry[1])
    return answers


event_streams = st.lists(
    st.tuples(
        st.integers(0, 3),  # key
        st.integers(0, 60),  # time
        st.booleans(),  # writes
        st.integers(0, 4),  # delay until readable
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(event_streams, st.integers(0, 25))
def test_hits_equal_a_sequential_simulator(session: Session, stream, ttl: int) -> None:
    events = [
        {
            "key": key,
            "start_us": time,
            "request_key": number,
            "pos": 0,
            "tokens_upto": 10,
            "ready_us": time + delay if writes else None,
            "ttl_us": ttl,
        }
        for number, (key, time, writes, delay) in enumerate(stream)
    ]
    frame = pl.DataFrame(events, schema=EVENT_SCHEMA)
    answer = hits(session, frame).sort("start_us", "request_key", "pos")
    assert answer["is_hit"].to_list() == simulate(events)


def test_an_unlimited_lifetime_never_ends(session: Session) -> None:
    frame = pl.DataFrame(
        {
            "key": [1, 1],
            "start_us": [0, 10**17],
            "request_key": [1, 2],
            "pos": [0, 0],
            "tokens_upto": [5, 5],
            "ready_us": [0, None],
            "ttl_us": [UNLIMITED_US] * 2,
        },
        schema=EVENT_SCHEMA,
    )
    assert hits(session, frame).sort("start_us")["is_hit"].to_list() == [0, 1]


def test_a_probe_alone_never_makes_an_entry(session: Session) -> None:
    frame = pl.DataFrame(
        {
            "key": [1, 1, 1],
            "start_us": [0, 5, 9],
            "request_key": [1, 2, 3],
            "pos": [0] * 3,
            "tokens_upto": [5] * 3,
            "ready_us": [None, 5, None],
            "ttl_us": [10] * 3,
        },
        schema=EVENT_SCHEMA,
    )
    assert hits(session, frame).sort("start_us")["is_hit"].to_list() == [0, 0, 1]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 50)), max_size=40), st.integers(0, 20))
def test_a_fixed_lifetime_is_not_renewed_by_a_hit(session: Session, stream, ttl: int) -> None:
    session.connection.execute("CREATE OR REPLACE TEMP TABLE touches(key BIGINT, start_us BIGINT, request_key BIGINT)")
    if stream:
        session.connection.executemany(
            "INSERT INTO touches VALUES (?, ?, ?)", [(key, time, n) for n, (key, time) in enumerate(stream)]
        )
    expected: dict[int, int] = defaultdict(int)
    stored: dict[int, int] = {}
    for key, time in sorted(stream, key=lambda touch: touch[1]):
        if key in stored and time - stored[key] <= ttl:
            expected[key] += 1
        else:
            stored[key] = time
    answer = session.rows("replay.fixed_hits", {"events": "touches"}, ttl_us=ttl)
    assert {key: found for key, _, found in answer if found} == expected


def test_reads_are_the_deepest_hit_of_a_request(session: Session) -> None:
    session.connection.execute("""
        CREATE OR REPLACE TEMP TABLE found AS
        SELECT * FROM (VALUES (7, 1, 100, 1), (7, 2, 250, 1), (7, 3, 400, 0), (8, 1, 100, 0))
        AS t(request_key, pos, tokens_upto, is_hit)""")
    assert sorted(session.rows("replay.reads", {"hits": "found"})) == [(7, 3, 2, 250), (8, 1, 0, 0)]
