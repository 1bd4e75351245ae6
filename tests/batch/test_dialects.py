"""Lines of other people's making: whatever they hold, reading and judging them gives an answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.batch.dialect import OBJECT, RAW_OBJECT, LineError
from app.batch.dialects import anthropic, openai

DIALECTS = [openai.DIALECT, anthropic.DIALECT]
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.text(max_size=8))
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=8,
)
RESULTS = st.fixed_dictionaries(
    {"custom_id": st.text(max_size=5)},
    optional={
        "response": JSON | st.fixed_dictionaries({"status_code": SCALARS, "body": JSON}),
        "error": JSON | st.fixed_dictionaries({"code": SCALARS, "message": SCALARS}),
        "result": JSON | st.fixed_dictionaries({"type": JSON, "error": JSON, "message": JSON}),
    },
)
REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        "custom_id": SCALARS,
        "method": SCALARS | st.just("POST"),
        "url": SCALARS | st.sampled_from(sorted(openai.PROMPTS)),
        "body": JSON | st.dictionaries(st.sampled_from(["model", "messages", "input", "stream", "max_tokens"]), JSON),
        "params": JSON | st.dictionaries(st.sampled_from(["model", "messages", "system", "max_tokens"]), JSON),
    },
)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(line=RESULTS)
def test_every_result_line_is_judged(dialect, line):
    assert dialect.verdict(OBJECT.decode(json.dumps(line))).state in {"succeeded", "failed", "expired", "cancelled"}


@pytest.mark.parametrize("dialect", DIALECTS)
@given(line=REQUESTS)
def test_every_request_line_is_taken_or_refused_with_a_reason(dialect, line):
    said, request = "", None
    try:
        request = dialect.read(RAW_OBJECT.decode(json.dumps(line)))
    except LineError as error:
        said = str(error)
    if request is None:
        assert said
    else:
        assert request.custom_id
        assert request.model
        assert request.prompt


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("state", ["failed", "expired", "cancelled"])
def test_a_line_made_for_an_item_without_a_result_reads_as_what_it_says(dialect, state):
    line = dialect.absent("row-1", state, "some_code", "some words")
    assert line["custom_id"] == "row-1"
    assert dialect.verdict(line).state == state


@given(st.sampled_from([400, 401, 403, 404, 413, 422]))
def test_4xx_answers_are_never_sent_again(status):
    line = {"custom_id": "x", "response": {"status_code": status, "body": {"error": {"code": "c"}}}, "error": None}
    assert not openai.DIALECT.verdict(line).again


@given(st.sampled_from([408, 409, 429, 500, 502, 503, 529]))
def test_answers_that_may_end_better_are(status):
    line = {"custom_id": "x", "response": {"status_code": status, "body": {}}, "error": None}
    assert openai.DIALECT.verdict(line).again


def test_a_request_keeps_every_byte_of_its_body_under_another_id():
    body = '{"model":"m", "messages":[{"role":"user","content":"é \\u2028 1.0e5"}],"seed":12345678901234567890123}'
    line = f'{{"custom_id":"a/b","method":"POST","url":"/v1/chat/completions","body":{body}}}'.encode()
    assert body.encode() in openai.DIALECT.sent(RAW_OBJECT.decode(line), "safe-1")
    assert b'"custom_id":"safe-1"' in openai.DIALECT.sent(RAW_OBJECT.decode(line), "safe-1")
