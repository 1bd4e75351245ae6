"""Calls that look alike and come in bursts, and what stays true of a decision while sources go on."""

from __future__ import annotations

import random
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twice_told import BEGIN_US, SECOND_US, Call, Store, calls

from app.analysis import twins


def bursts(count: int, size: int, *, spacing_us: int = 100_000, begin_us: int = BEGIN_US) -> list[Call]:
    """Equal calls, some at a time: chunks of one size that are embedded."""
    return [
        Call(begin_us + burst * 41 * SECOND_US + number * spacing_us, "gpt-5-mini", 512, 1)
        for burst in range(count)
        for number in range(size)
    ]


def cost(told: list[Call]) -> int:
    return sum(call.cost_pusd for call in told)


@pytest.mark.parametrize("late_us", [0, 150_000, 1_900_000], ids=["same clock", "a little late", "as late as may be"])
@pytest.mark.parametrize("spacing_us", [0, 100_000], ids=["at one moment", "one after another"])
def test_equal_calls_in_bursts_are_found_and_each_counts_once(late_us: int, spacing_us: int) -> None:
    store, told = Store(), bursts(12, 10, spacing_us=spacing_us)
    store.tell("gateway", told)
    store.tell("traces", told, late_us=late_us)
    assert store.total() == (120, cost(told))
    for counted in ("traces", "gateway"):
        store.decide("gateway", "traces", counted)
        assert store.total() == (120, cost(told))


def test_of_equal_calls_in_bursts_what_only_one_source_tells_of_counts_too() -> None:
    store, told = Store(), bursts(30, 8)
    part = random.Random(4).sample(told, 150)
    store.tell("gateway", told)
    store.tell("traces", part, late_us=700_000)
    store.decide("gateway", "traces", "traces")
    assert store.total() == (240, cost(told))
    store.decide("gateway", "traces", "gateway")
    assert store.total() == (240, cost(told))


def test_what_somebody_named_stays_named_when_the_sources_part() -> None:
    """The share falls under a fifth because one goes on with calls of its own; its doubles are doubles still."""
    store, told = Store(), calls(100)
    store.tell("gateway", told)
    store.tell("traces", told)
    store.decide("gateway", "traces", "gateway")
    end_us = told[-1].start_us
    ours = calls(900, seed=5, begin_us=end_us + 60 * SECOND_US)
    theirs = calls(900, seed=6, begin_us=end_us + 77 * SECOND_US)
    store.tell("gateway", ours)
    store.tell("traces", theirs)
    [found] = store.found().values()
    assert not found.is_double
    assert store.total() == (1_900, cost(told) + cost(ours) + cost(theirs))


def test_older_logs_of_both_that_come_later_do_not_add_up_either() -> None:
    store, told = Store(), calls(400)
    for source, late_us in (("gateway", 0), ("traces", 300_000)):
        store.tell(source, told[150:], late_us=late_us)
    for source, late_us in (("gateway", 0), ("traces", 300_000)):
        store.tell(source, told[100:150], late_us=late_us)  # too few for a new comparison
    assert store.total() == (300, cost(told[100:]))


def test_a_source_is_not_held_out_for_one_that_is_held_out_itself() -> None:
    """The tracer tells of half the gateway's calls and of all of the script's, which the gateway never saw."""
    store, through, beside = Store(), calls(200), calls(60, seed=8, begin_us=BEGIN_US + 19 * SECOND_US)
    store.tell("gateway", through)
    store.tell("tracer", through[::2] + beside)
    store.tell("script", beside)
    assert store.total() == (260, cost(through) + cost(beside))
    store.decide("gateway", "tracer", "gateway")
    store.decide("script", "tracer", "script")
    assert store.total() == (260, cost(through) + cost(beside))


def test_calls_without_tokens_count_once_where_it_is_known_that_sources_tell_of_the_same() -> None:
    store, told = Store(), calls(60)
    failed = [Call(one.start_us + 9 * SECOND_US, one.model, 0, 0) for one in told[:7]]
    store.tell("gateway", told + failed)
    store.tell("traces", told + failed, late_us=400_000)
    store.decide("gateway", "traces", "traces")
    assert store.total() == (67, cost(told))


def test_many_equal_calls_all_day_long_are_found_where_clocks_agree() -> None:
    """Ten equal calls a second: any clock finds a near one, the right clock finds each call's nearest."""
    store, rng = Store(), random.Random(2)
    told = [Call(BEGIN_US + number * 100_000 + rng.randrange(60_000), "gpt-5", 300, 2) for number in range(9_000)]
    store.tell("gateway", told)
    store.tell("traces", told, late_us=3_000)
    assert store.total() == (9_000, cost(told))


@settings(max_examples=200, deadline=None)
@given(
    a=st.lists(st.integers(0, 40), max_size=12),
    b=st.lists(st.integers(0, 40), max_size=12),
    near=st.sampled_from([0, 1, 3, 7]),
)
def test_no_other_choice_of_twins_makes_more_pairs(a: list[int], b: list[int], near: int) -> None:
    rows = sorted([(at, 0, n) for n, at in enumerate(a)] + [(at, 1, 100 + n) for n, at in enumerate(b)])
    frame = pl.DataFrame(
        {
            "source_a": ["a"] * len(rows),
            "source_b": ["b"] * len(rows),
            "opens": [1, *[0] * (len(rows) - 1)][: len(rows)],
            "side": [side for _, side, _ in rows],
            "request_key": [key for _, _, key in rows],
            "start_us": [at for at, _, _ in rows],
            "at_us": [at for at, _, _ in rows],
        },
        schema_overrides={"source_a": pl.String, "source_b": pl.String, "opens": pl.Int64},
    )
    found = twins.paired(frame, near)
    assert all(abs(x - y) <= near for x, y in found.select("start_a", "start_b").iter_rows())
    assert found["key_a"].n_unique() == found["key_b"].n_unique() == found.height
    nearest, most = twins.meetings(frame, near)
    assert most.get(("a", "b"), 0) == found.height == _maximum(a, b, near)
    assert nearest.get(("a", "b"), 0) <= found.height


def _maximum(a: list[int], b: list[int], near: int) -> int:
    """The size of a largest matching, by augmenting paths."""
    of: dict[int, int] = {}

    def place(one: int, tried: set[int]) -> bool:
        for other, at in enumerate(b):
            if abs(a[one] - at) <= near and other not in tried:
                tried.add(other)
                if other not in of or place(of[other], tried):
                    of[other] = one
                    return True
        return False

    return sum(place(one, set()) for one in range(len(a)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("regional.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4.5:beta"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"),
        ("azure/gpt-4o-2024-08-06", "gpt-4o"),
    ],
)
def test_a_call_that_two_ways_name_differently_is_one_call(one: str, other: str) -> None:
    store, told = Store(), calls(60)
    for source, model, late_us in (("gateway", one, 0), ("traces", other, 500_000)):
        store.tell(source, [replace(call, model=model) for call in told], late_us=late_us)
    assert store.total() == (60, cost(told))


def test_the_next_model_of_a_family_is_another_model() -> None:
    store, told = Store(), calls(60)
    store.tell("gateway", [replace(call, model="gpt-4o-2024-08-06") for call in told])
    store.tell("traces", [replace(call, model="gpt-4o-mini-2024-07-18") for call in told])
    assert store.total() == (120, 2 * cost(told))
