"""Attempts that were paid and thrown away: chained by exact hash, corrected for chance."""

from __future__ import annotations

import random

from app.core.money import pico
from app.levers import waste
from app.plan.analyse import analyse
from tests.levers.logged import streamed
from tests.plan.planted import DAY, HOUR, START, Stream

SECOND = 1_000_000


def attempt(stream: Stream, at: int, key: int, **fields) -> int:
    return stream.add(
        START + at, end_us=START + at + 4 * SECOND, exact_key=key,
        **{"model": "gpt-4.1", "tok_input": 20_000, "tok_output": 500, "api_key_hash": 3, "feature": "sync"} | fields,
    )  # fmt: skip


def storm(stream: Stream) -> int:
    """Calls of ten days of which every fifth times out once or twice; returns what was thrown away."""
    rng = random.Random(5)
    lost = 0
    for number in range(300):
        at = rng.randrange(10) * DAY + 9 * HOUR + rng.randrange(8 * 3600) * SECOND
        for _ in range(rng.randrange(1, 3) if number % 5 == 0 else 0):
            key = attempt(stream, at, number, status="timeout")
            lost += stream.rows[key - 1]["cost_pusd"]
            at += 5 * SECOND
        attempt(stream, at, number)
    return lost


def test_timeouts_that_are_asked_again_cost_exactly_what_was_billed_for_them(book):
    stream = Stream(book)
    lost = storm(stream)
    result = analyse(stream.store(), book, None, from_us=START, to_us=START + 10 * DAY, zone="UTC")
    [finding] = [item for item in result.findings if item.lever == "waste"]
    assert pico(finding.standalone_usd) == lost
    assert finding.grade == "A"


def test_a_failure_that_nobody_billed_costs_nothing(book):
    stream = Stream(book)
    for number in range(20):
        attempt(stream, number * HOUR, number, status="error", tok_input=0, tok_output=0)
        attempt(stream, number * HOUR + 6 * SECOND, number)
    with streamed(stream.store(), book) as session:
        assert waste.LEVER.detect(session) == []


def test_a_failure_without_a_second_attempt_is_not_waste(book):
    stream = Stream(book)
    for number in range(20):
        attempt(stream, number * HOUR, number, status="timeout")
    with streamed(stream.store(), book) as session:
        assert waste.LEVER.detect(session) == []


def test_another_key_that_sends_the_same_is_no_second_attempt(book):
    stream = Stream(book)
    for number in range(20):
        attempt(stream, number * HOUR, number, status="timeout", api_key_hash=1)
        attempt(stream, number * HOUR + 6 * SECOND, number, api_key_hash=2)
    with streamed(stream.store(), book) as session:
        assert waste.LEVER.detect(session) == []


def test_chains_that_chance_makes_are_taken_off(book):
    stream = Stream(book)
    # One health check a minute with the same words: any failure is followed by "another attempt", an hour later too.
    for minute in range(600):
        attempt(stream, minute * 60 * SECOND, 1, status="timeout" if minute % 10 == 0 else "ok")
    with streamed(stream.store(), book) as session:
        [candidate] = waste.LEVER.detect(session)
    assert candidate.grade == "B"
    assert candidate.params["placebo_share"] > 0.8
