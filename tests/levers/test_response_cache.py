"""Exact repeats: what counts as one, which are safe to serve, and for how long an answer may live."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from app.analysis.repeats import served
from app.levers import response_cache
from tests.levers.logged import messages, record, streamed
from tests.plan.planted import HOUR, MINUTE, START, Stream

SECOND = 1_000_000


def found(book, stream: Stream):
    with streamed(stream.store(), book) as session:
        return response_cache.LEVER.detect(session)


def asked(stream: Stream, *starts_us: int, **fields):
    for start in starts_us:
        stream.add(
            START + start,
            **{"model": "gpt-4.1", "tok_input": 100, "tok_output": 10, "temperature": 0.0, "exact_key": 1,
               "api_key_hash": 1, "user_hash": 1} | fields,
        )  # fmt: skip


def test_llmc_139_the_same_question_under_another_system_prompt_is_no_repeat(read, book):
    warehouse = read(
        [
            record(1, at=0, temperature=0, messages=messages("Shorten this text", "You write legal notices.")),
            record(2, at=60, temperature=0, messages=messages("Shorten this text", "You write rhymes.")),
        ]
    )
    with streamed(warehouse, book) as session:
        assert response_cache.LEVER.detect(session) == []


def test_llmc_140_parameters_belong_to_the_key_and_a_missing_temperature_is_not_zero(read, book):
    warehouse = read(
        [
            record(1, at=0, max_tokens=16, temperature=0, messages=messages("q")),
            record(2, at=10, max_tokens=4000, temperature=0, messages=messages("q")),
            record(3, at=20, messages=messages("q")),
            record(4, at=30, messages=messages("q")),
            record(5, at=40, max_tokens=16, temperature=0, messages=messages("q")),
        ]
    )
    with streamed(warehouse, book) as session:
        [candidate] = response_cache.LEVER.detect(session)
        response_cache.LEVER.touch(session, [candidate])
        touched = session.connection.sql("SELECT request_key FROM touch_response_cache").fetchall()
    assert candidate.params["hits"] == 1
    assert candidate.params["sampled_hits"] == 1
    assert candidate.grade == "A"
    assert touched == [(candidate.evidence[0],)]


def test_sampled_repeats_alone_are_a_prior_and_no_saving(book):
    stream = Stream(book)
    asked(stream, 0, HOUR, temperature=0.7)
    [candidate] = found(book, stream)
    assert candidate.grade == "D"


def test_sampled_repeats_whose_answers_agree_are_graded_by_that_evidence(book):
    stream = Stream(book)
    asked(stream, *(place * MINUTE for place in range(40)), temperature=0.7, out_hash=9)
    assert found(book, stream)[0].grade == "B"
    stream = Stream(book)
    for place in range(40):
        asked(stream, place * MINUTE, temperature=0.7, out_hash=place)
    assert found(book, stream)[0].grade == "D"


def test_a_seed_counts_as_asking_for_the_same_answer(book):
    stream = Stream(book)
    asked(stream, 0, HOUR, temperature=0.7, seed=11)
    assert found(book, stream)[0].grade == "A"


def test_several_answers_sampled_at_once_are_not_repeats(book):
    stream = Stream(book)
    asked(stream, 0, SECOND, SECOND + 1)
    assert found(book, stream) == []


def test_asking_again_in_the_same_session_wants_another_answer(book):
    stream = Stream(book)
    asked(stream, 0, 3 * MINUTE, session_id="s")
    assert found(book, stream) == []
    stream = Stream(book)
    asked(stream, 0, 30 * MINUTE, session_id="s")
    assert len(found(book, stream)) == 1


def test_a_retry_after_a_failure_is_no_repeat(book):
    stream = Stream(book)
    asked(stream, 0, status="timeout")
    asked(stream, HOUR)
    assert found(book, stream) == []


def test_nobody_reads_across_api_keys(book):
    stream = Stream(book)
    asked(stream, 0, api_key_hash=1)
    asked(stream, HOUR, api_key_hash=2)
    assert found(book, stream) == []


def test_hits_between_users_of_one_key_are_named_and_lower_the_grade(book):
    stream = Stream(book)
    asked(stream, 0, user_hash=1)
    asked(stream, HOUR, user_hash=2)
    asked(stream, 2 * HOUR, user_hash=2)
    [candidate] = found(book, stream)
    assert (candidate.params["hits_same_user"], candidate.params["hits_cross_user"]) == (1, 1)
    assert candidate.grade == "B"


def test_the_freshness_curve_grows_with_the_lifetime(book):
    stream = Stream(book)
    asked(stream, 0, 4 * MINUTE, 50 * MINUTE, 5 * HOUR, 23 * HOUR, 60 * HOUR)
    [candidate] = found(book, stream)
    assert [point["hits"] for point in candidate.params["freshness_curve"]] == [1, 2, 3, 4, 5]
    assert candidate.n_requests == 4


def test_a_log_without_prompts_says_what_is_missing(book):
    stream = Stream(book)
    asked(stream, 0, HOUR, exact_key=None)
    with streamed(stream.store(), book) as session:
        assert response_cache.LEVER.detect(session) == []
        said = response_cache.LEVER.data(session)
    assert said["state"] == "not enough data"
    assert "Log whole requests" in said["do"]


def _one_by_one(rows: list[tuple[int, int, int, bool, bool]], ttl: int) -> list[bool]:
    """The same cache as a loop over requests."""
    kept: dict[int, int] = {}
    hits = []
    for key, start, end, stores, asks in rows:
        stored = kept.get(key)
        expired = stored is None or start > stored + ttl
        hits.append(not expired and start >= stored and asks)
        if expired and stores:
            kept[key] = max(end, start)
    return hits


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 60), st.integers(0, 8), st.booleans(), st.booleans()),
        max_size=40,
    ),
    st.integers(1, 20),
)
def test_the_vectorised_fold_is_the_cache_request_by_request(made, ttl):
    rows = sorted((key, start, start + length, stores, asks) for key, start, length, stores, asks in made)
    frame = pl.DataFrame(
        rows,
        schema={"key": pl.Int64, "start_us": pl.Int64, "end_us": pl.Int64, "stores": pl.Boolean, "asks": pl.Boolean},
        orient="row",
    )
    assert served(frame, ttl).tolist() == _one_by_one(rows, ttl)
