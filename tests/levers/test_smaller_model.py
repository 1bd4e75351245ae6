"""Gates before guesses: which requests another model may answer at all, and what is proposed without evidence."""

from __future__ import annotations

import polars as pl

from app.levers import smaller_model
from app.plan.options import SCHEMA
from tests.levers.logged import messages, record, streamed
from tests.plan.planted import DAY, START, Stream

DEPLOY = {"type": "function", "function": {"name": "deploy", "description": "d", "parameters": {"type": "object"}}}


def small(**abilities) -> pl.DataFrame:
    """One option for gpt-4o: a model of 128,000 tokens at a tenth of the price."""
    row = {
        "provider": "openai", "model_id": "gpt-4o", "family": "gpt-4o", "size": 3,
        "to_provider": "openai", "to_model_id": "small", "to_family": "gpt-4o", "to_size": 2,
        "to_tokenizer": "o200k", "token_ratio": 1.0, "context_window": 128_000, "max_output": 16_000,
        "tools": True, "vision": True, "json_schema": True,
        **{f"{side}r_{name}": 1.0 if side else 10.0 for side in ("", "to_")
           for name in ("input", "cache_read", "cache_write", "output", "reasoning")},
    } | abilities  # fmt: skip
    return pl.DataFrame([row], schema=SCHEMA)


def found(book, stream: Stream):
    with streamed(stream.store(), book) as session:
        return smaller_model.LEVER.detect(session)


def called(stream: Stream, count: int = 10, **fields) -> None:
    for place in range(count):
        stream.add(
            START + place * DAY // 2,
            **{"model": "gpt-5", "tok_input": 2000, "tok_output": 500, "exact_key": len(stream.rows)} | fields,
        )


def test_llmc_143_long_context_and_tools_keep_a_request_where_it_is(read, book):
    warehouse = read(
        [
            record(1, at=0, prompt=150_000, answer=900, messages=messages("yes, do it"), tools=[DEPLOY]),
            record(2, at=100, messages=messages("Translate 'cat' to French")),
        ]
    )
    with streamed(warehouse, book) as session:
        session.register("model_options", small(tools=False))
        [candidate] = smaller_model.LEVER.detect(session)
        smaller_model.LEVER.touch(session, [candidate])
        touched = session.connection.sql(
            "SELECT s.prompt_tokens FROM touch_smaller_model t JOIN stream s ON s.request_key = t.request_key"
        ).fetchall()
    assert touched == [(3000,)]
    assert candidate.params["not_routable"] == ["context 150900 > 128000", "tools not supported"]


def test_llmc_142_the_figure_is_of_the_own_traffic_and_never_of_a_published_share(book):
    stream = Stream(book)
    called(stream, 9)
    called(stream, 1, tok_input=300_000)
    with streamed(stream.store(), book) as session:
        [candidate] = smaller_model.LEVER.detect(session)
        said = smaller_model.LEVER.data(session)
    assert (candidate.n_requests, candidate.params["passing_requests"]) == (9, 9)
    assert candidate.grade == "D"
    assert "published shares of other data sets do not transfer" in said["do"]


def test_a_capability_that_is_not_known_is_a_closed_gate(read, book):
    warehouse = read([record(1, at=0, messages=messages("q"), tools=[DEPLOY])])
    with streamed(warehouse, book) as session:
        session.register("model_options", small(tools=None))
        assert smaller_model.LEVER.detect(session) == []
        session.register("model_options", small(context_window=None))
        assert smaller_model.LEVER.detect(session) == []
        session.register("model_options", small())
        assert len(smaller_model.LEVER.detect(session)) == 1


def test_the_nearest_smaller_sibling_is_proposed_and_cheaper_ones_are_listed(book):
    stream = Stream(book)
    called(stream, response_format="json_schema")
    [candidate] = found(book, stream)
    assert (candidate.params["to_provider"], candidate.params["to_model_id"]) == ("openai", "gpt-5-mini")
    listed = candidate.params["options"]
    assert all(option["cheaper"] >= 0.3 for option in listed)
    assert {option["provider"] for option in listed} > {"openai"}


def test_the_smallest_class_has_no_step_below_it(book):
    stream = Stream(book)
    called(stream, model="gpt-5-nano")
    assert found(book, stream) == []


def test_a_scope_below_half_a_percent_of_spend_is_left_alone(book):
    stream = Stream(book)
    called(stream, 300, tok_input=90_000, feature="big")
    called(stream, 1, tok_input=10, tok_output=1, feature="tiny")
    assert [candidate.scope.feature for candidate in found(book, stream)] == ["big"]


def test_tokens_are_converted_between_vocabularies(book):
    stream = Stream(book)
    called(stream, provider="anthropic", model="claude-opus-4-5")
    [candidate] = found(book, stream)
    assert candidate.params["to_provider"] == "anthropic"
    other = [option for option in candidate.params["options"] if option["provider"] == "openai"]
    assert all(option["token_ratio"] < 1 for option in other)
    assert other
