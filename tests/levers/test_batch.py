"""Which work is a job that nobody waits for: rhythms are found, people are left alone."""

from __future__ import annotations

import random

import pytest

from app.analysis.periodicity import day_shape, is_daily_job
from app.levers import batch
from tests.levers.logged import streamed
from tests.plan.planted import DAY, HOUR, MINUTE, START, Stream

SECOND = 1_000_000


def found(book, stream: Stream):
    with streamed(stream.store(), book) as session:
        return batch.LEVER.detect(session)


def call(into: Stream, at: int, **fields) -> None:
    into.add(START + at, **{"model": "gpt-4.1", "tok_input": 500, "tok_output": 50, "stream": False} | fields)


def hourly(stream: Stream, rng: random.Random, days: int = 10) -> None:
    for hour in range(days * 24):
        if rng.random() > 0.05:
            begin = hour * HOUR + int(rng.gauss(0, 1) * 2 * MINUTE) + 10 * MINUTE
            for place in range(4):
                call(stream, begin + place * 2 * SECOND)


def human(stream: Stream, rng: random.Random, count: int, days: int = 10, **fields) -> None:
    for _ in range(count):
        call(stream, rng.randrange(days) * DAY + int(min(max(rng.gauss(13, 3), 0), 23.9) * HOUR), **fields)


def test_a_nightly_job_is_proposed_with_the_time_it_starts(book):
    stream = Stream(book)
    for day in range(10):
        for place in range(40):
            call(stream, day * DAY + 3 * HOUR + place * 5 * SECOND)
    [candidate] = found(book, stream)
    assert candidate.grade == "B"
    assert candidate.params["share_10m"] == 1.0
    assert any("from 03:00 local time" in sentence for sentence in candidate.assumptions)


@pytest.mark.parametrize("seed", range(5))
def test_an_hourly_job_with_jitter_and_misses_is_found(book, seed):
    stream = Stream(book)
    hourly(stream, random.Random(seed))
    [candidate] = found(book, stream)
    assert candidate.params["period_s"] <= 3600


@pytest.mark.parametrize("seed", range(5))
def test_people_in_their_day_are_no_job(book, seed):
    stream = Stream(book)
    human(stream, random.Random(seed), 1500)
    assert found(book, stream) == []


def test_a_job_that_streams_to_somebody_is_left_alone(book):
    stream = Stream(book)
    for day in range(10):
        for place in range(40):
            call(stream, day * DAY + 3 * HOUR + place * 5 * SECOND, stream=True)
    assert found(book, stream) == []


@pytest.mark.parametrize("operation", ["audio", "cache", "rerank"])
def test_a_job_of_calls_that_no_batch_endpoint_takes_is_left_alone(book, operation):
    stream = Stream(book)
    for day in range(10):
        for place in range(40):
            call(stream, day * DAY + 3 * HOUR + place * 5 * SECOND, operation=operation)
    assert found(book, stream) == []


def test_turns_of_a_conversation_are_left_alone(book):
    stream = Stream(book)
    for day in range(10):
        for place in range(40):
            call(stream, day * DAY + 3 * HOUR + place * 5 * SECOND, session_id=f"{day}-{place % 4}",
                 tok_input=500 + 100 * place)  # fmt: skip
    assert found(book, stream) == []


def test_a_chain_in_one_long_session_is_left_alone(book):
    stream = Stream(book)
    for day in range(10):
        for place in range(60):
            call(stream, day * DAY + 3 * HOUR + place * 5 * SECOND, session_id=f"run-{day}",
                 tok_input=500 + 100 * place)  # fmt: skip
    assert found(book, stream) == []


def test_work_that_is_in_a_batch_already_is_left_alone(book):
    stream = Stream(book)
    for day in range(10):
        for place in range(40):
            call(stream, day * DAY + 3 * HOUR + place * 5 * SECOND, is_batch=True)
    with streamed(stream.store(), book) as session:
        assert batch.LEVER.detect(session) == []
        assert batch.LEVER.data(session)["scopes"] == 0


def test_two_days_cannot_tell_a_daily_job_and_say_so(book):
    stream = Stream(book)
    for day in range(2):
        for place in range(40):
            call(stream, day * DAY + 3 * HOUR + place * 5 * SECOND)
    with streamed(stream.store(), book) as session:
        assert batch.LEVER.detect(session) == []
        assert batch.LEVER.data(session)["state"] == "not enough data"


def test_a_long_night_job_shows_by_its_three_hours():
    shape = day_shape(dict.fromkeys(range(137, 144), 10) | dict.fromkeys(range(9), 10))
    assert shape.share_10m < 0.5
    assert shape.share_3h == 1.0
    assert is_daily_job(shape, 5)
    assert shape.begins_minute >= 22 * 60
