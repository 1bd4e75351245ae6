"""Sources that tell of the same calls without a shared id are found, and their calls count once."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twice_told import BEGIN_US, HOUR_US, SECOND_US, Call, Store, calls

from app.warehouse import rollup

DIMENSIONS = ("source", "feature", "model", "api_key", "status", "template")


def cost(told: list[Call]) -> int:
    return sum(call.cost_pusd for call in told)


def agree(store: Store) -> tuple[int, int]:
    """The total, the same in every view and in the roll-ups."""
    totals = {store.total(by) for by in DIMENSIONS}
    assert len(totals) == 1
    with store.warehouse.session() as session:
        assert rollup.differences(session) == []
        assert rollup.counts_agree(session)
    return totals.pop()


def test_two_sources_of_the_same_calls_do_not_add_up() -> None:
    store, told = Store(), calls(200)
    store.tell("gateway", told)
    store.tell("traces", told, late_us=1_400_000)
    assert agree(store) == (200, cost(told))
    [found] = store.found().values()
    assert (found.twins, found.calls_a, found.calls_b, found.is_double) == (200, 200, 200, True)
    assert store.held() == {"traces": 200}


def test_one_that_splits_cached_input_is_the_same_call() -> None:
    store, told = Store(), calls(60)
    store.tell("gateway", told)
    store.tell("traces", told, split=True)
    assert agree(store) == (60, cost(told))


def test_calls_more_than_two_seconds_apart_are_different_calls() -> None:
    store, told = Store(), calls(60)
    store.tell("gateway", told)
    store.tell("traces", told, late_us=2_000_001)
    assert agree(store) == (120, 2 * cost(told))
    assert not any(one.is_double for one in store.found().values())


@pytest.mark.parametrize(("shared", "double"), [(20, False), (21, True)])
def test_more_than_a_fifth_of_the_smaller_source_is_too_much(shared: int, double: bool) -> None:
    store = Store()
    ours, theirs = calls(300), calls(100 - shared, seed=9, begin_us=BEGIN_US + 11 * SECOND_US)
    store.tell("gateway", ours)
    store.tell("traces", theirs + ours[100 : 100 + shared])
    [found] = store.found().values()
    assert (found.twins, found.is_double) == (shared, double)
    if not double:
        assert agree(store) == (400, cost(ours) + cost(theirs) + cost(ours[100 : 100 + shared]))


def test_until_somebody_says_the_smaller_source_is_out_where_both_have_calls_and_counts_elsewhere() -> None:
    store, told = Store(), calls(200)
    before = calls(5, seed=5, begin_us=BEGIN_US - HOUR_US)
    own = calls(20, seed=6, begin_us=BEGIN_US + 13 * SECOND_US)
    store.tell("gateway", told)
    store.tell("traces", before + own + told[::2])
    assert store.held() == {"traces": 120}
    assert agree(store) == (205, cost(told) + cost(before))


def test_of_two_with_as_many_calls_in_the_time_of_both_the_first_by_name_counts_whichever_is_larger() -> None:
    store, told = Store(), calls(200)
    store.tell("traces", told)
    store.tell("gateway", told[:150])
    assert store.held() == {"traces": 150}
    assert agree(store) == (200, cost(told))


def test_once_one_source_is_named_only_the_twins_of_the_other_are_out() -> None:
    store, told = Store(), calls(200)
    own = calls(20, seed=6, begin_us=BEGIN_US + 13 * SECOND_US)
    store.tell("gateway", told)
    store.tell("traces", own + told[:100])
    store.decide("gateway", "traces", "gateway")
    assert store.held() == {"traces": 100}
    assert agree(store) == (220, cost(told) + cost(own))
    store.decide("gateway", "traces", "traces")
    assert store.held() == {"gateway": 100}
    assert agree(store) == (220, cost(told) + cost(own))


def test_sources_that_are_said_to_be_different_add_up() -> None:
    store, told = Store(), calls(50)
    store.tell("a", told)
    store.tell("b", told)
    store.decide("a", "b", None)
    assert store.held() == {}
    assert agree(store) == (100, 2 * cost(told))


def test_three_sources_of_one_call_count_once_whatever_was_decided() -> None:
    told = calls(60)
    for chosen in ({}, {"ab": "b"}, {"ab": "a", "bc": "b"}, {"ab": "a", "bc": "b", "ac": "c"}, {"ac": "c", "bc": "c"}):
        store = Store()
        for source in "abc":
            store.tell(source, told)
        for pair, counted in chosen.items():
            store.decide(pair[0], pair[1], counted)
        assert agree(store) == (60, cost(told)), chosen


def test_what_comes_later_is_held_out_too_as_it_comes() -> None:
    store, told = Store(), calls(400)
    store.tell("gateway", told[:100])
    store.tell("traces", told[:100], late_us=300_000)
    for first, last in pairwise(range(100, 401, 50)):
        store.tell("gateway", told[first:last])
        store.tell("traces", told[first:last], late_us=300_000)
    assert agree(store) == (400, cost(told))
    store.decide("gateway", "traces", "gateway")
    store.tell("traces", calls(3, seed=8, begin_us=told[-1].start_us + HOUR_US))
    assert agree(store)[0] == 403


def test_a_source_that_goes_on_alone_counts_again() -> None:
    store, told = Store(), calls(100)
    store.tell("gateway", told)
    store.tell("traces", told)
    alone = calls(30, seed=3, begin_us=told[-1].start_us + HOUR_US)
    store.tell("traces", alone)
    assert agree(store) == (130, cost(told) + cost(alone))


def test_calls_by_a_schedule_and_equal_prompts_of_two_machines_are_no_overlap() -> None:
    """Two machines that ask the same small thing meet often by chance, and as often by another clock."""
    store, rng = Store(), random.Random(4)
    equal = [Call(BEGIN_US + rng.randrange(6 * HOUR_US), "gpt-5-mini", 120, 1) for _ in range(12_000)]
    store.tell("machine-1", equal[:6_000])
    store.tell("machine-2", equal[6_000:])
    [found] = store.found().values()
    assert found.twins > 1_200
    assert found.share < 0.05
    assert agree(store)[0] == 12_000


def test_a_handful_of_chance_meetings_is_no_overlap() -> None:
    store, told = Store(), calls(4)
    store.tell("a", told)
    store.tell("b", told)
    assert not any(one.is_double for one in store.found().values())


def test_without_a_second_source_nothing_is_compared() -> None:
    store = Store()
    store.tell("a", calls(10))
    assert store.found() == {}
    assert agree(store)[0] == 10


@settings(max_examples=25, deadline=None)
@given(
    in_a=st.sets(st.integers(0, 59)),
    in_b=st.sets(st.integers(0, 59)),
    late_us=st.integers(-2_000_000, 2_000_000),
    counted=st.sampled_from(["a", "b"]),
)
def test_with_a_named_source_the_union_of_both_counts_once(
    in_a: set[int], in_b: set[int], late_us: int, counted: str
) -> None:
    told, store = calls(60), Store()
    for source, mine, late in (("a", in_a, 0), ("b", in_b, late_us)):
        if mine:
            store.tell(source, [told[number] for number in sorted(mine)], late_us=late)
    double = any(one.is_double for one in store.found().values())
    if double:
        store.decide("a", "b", counted)
        union = in_a | in_b
        assert agree(store) == (len(union), cost([told[number] for number in union]))
    else:
        assert store.held() == {}
        assert agree(store)[0] == len(in_a) + len(in_b)
