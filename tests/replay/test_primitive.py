"""The cache primitive equals a sequential simulator, event by event."""

from __future__ import annotations

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
