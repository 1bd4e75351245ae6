"""Marks chosen by the exact programme are those that a simulation of every possible choice finds cheapest."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.replay.marks import Mark, best_marks
from app.replay.rules import load_rules

RULE = load_rules().at("anthropic", "claude-sonnet-4-5", int(datetime(2026, 11, 1, tzinfo=UTC).timestamp() * 1e6))
assert RULE is not None
LONGER_FIRST = {"1h": 0, "5m": 1}
Call = tuple[int, tuple[int, ...]]  # second, branch taken at each boundary


def cost(calls: list[Call], tokens: list[int], marks: tuple[Mark, ...]) -> float:
    """Input cost of all calls in plain-input tokens, one after the other: an entry is renewed when it is used."""
    live: dict[tuple[Mark, tuple[int, ...]], int] = {}
    total = 0.0
    for second, path in calls:
        read = done = 0
        keys = [(mark, path[: mark.index + 1]) for mark in marks]
        for mark, prefix in keys:
            used = live.get((mark, prefix))
            if used is not None and second - used <= RULE.lifetime(mark.lifetime).seconds:
                read = tokens[mark.index]
        total += RULE.read * read
        for mark, prefix in keys:
            upto = tokens[mark.index]
            if upto > read:
                total += RULE.lifetime(mark.lifetime).write * (upto - max(read, done))
            done = upto
            live[(mark, prefix)] = second
        total += tokens[-1] - max(done, read)
    return total


def hit_shares(calls: list[Call], tokens: list[int], lifetime: str) -> list[float]:
    shares = []
    for place in range(len(tokens)):
        last: dict[tuple[int, ...], int] = {}
        hits = 0
        for second, path in calls:
            used = last.get(path[: place + 1])
            hits += used is not None and second - used <= RULE.lifetime(lifetime).seconds
            last[path[: place + 1]] = second
        shares.append(hits / len(calls))
    return shares


def every_choice(boundaries: int, most: int):
    for number in range(most + 1):
        for places in combinations(range(boundaries), number):
            for lifetimes in product(LONGER_FIRST, repeat=number):
                order = [LONGER_FIRST[name] for name in lifetimes]
                if order == sorted(order):
                    yield tuple(Mark(place, name) for place, name in zip(places, lifetimes, strict=True))


streams = st.integers(2, 5).flatmap(
    lambda boundaries: st.tuples(
        st.lists(st.integers(1, 3000), min_size=boundaries, max_size=boundaries),
        st.lists(
            st.tuples(st.integers(0, 12_000), st.tuples(*[st.integers(0, 1)] * boundaries)), min_size=1, max_size=14
        ),
    )
)


@settings(max_examples=120, deadline=None)
@given(streams, st.integers(1, 3))
def test_no_other_marks_cost_less_and_the_gain_is_what_the_simulation_saves(stream, most: int) -> None:
    sizes, calls = stream
    tokens = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    calls = sorted(calls)
    shares = {name: hit_shares(calls, tokens, name) for name in LONGER_FIRST}
    choice = best_marks(tokens, shares, RULE, most)
    plain = tokens[-1] * len(calls)
    chosen = cost(calls, tokens, choice.marks)
    assert plain - chosen == pytest.approx(choice.gain * len(calls))
    cheapest = min(cost(calls, tokens, marks) for marks in every_choice(len(tokens), most))
    assert chosen == pytest.approx(cheapest)


def test_one_mark_at_the_end_of_a_unique_prompt_is_never_chosen() -> None:
    choice = best_marks([2000, 5000], {"5m": [0.0, 0.0]}, RULE, 4)
    assert (choice.marks, choice.gain) == ((), 0.0)


def test_no_more_marks_than_the_provider_allows() -> None:
    tokens = [1000.0 * n for n in range(1, 9)]
    falling = [1.0 - 0.1 * n for n in range(8)]
    assert len(best_marks(tokens, {"5m": falling}, RULE, 99).marks) == RULE.max_marks
