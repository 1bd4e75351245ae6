"""Cloudflare Workers AI: answers in the wrapper of its own API, and streams."""

from __future__ import annotations

import pytest

MODEL = "@cf/meta/llama-3.1-8b-instruct"
USAGE = {"prompt_tokens": 20, "completion_tokens": 30, "total_tokens": 50}
ASKED = {"messages": [{"role": "user", "content": "Is it?"}]}
PATH = f"/client/v4/accounts/a/ai/run/{MODEL}"


def wrapped(result, **more):
    return {"result": result, "success": True, "errors": [], "messages": [], **more}


ANSWER = wrapped({"response": "Yes", "usage": USAGE})
STREAM = [{"response": "Y", "p": "a"}, {"response": "es", "usage": USAGE}]
CHAT = wrapped({"id": "x", "choices": [{"message": {"content": "Yes"}, "finish_reason": "stop"}], "usage": USAGE})
RESPONSES = wrapped(
    {
        "object": "response",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Yes"}]}],
        "usage": {"input_tokens": 20, "output_tokens": 30, "total_tokens": 50},
    }
)


@pytest.mark.parametrize(
    ("record", "model"),
    [
        (ANSWER, None),
        ({"request": ASKED, "response": ANSWER, "path": PATH}, MODEL),
        ({"request": ASKED, "response": ANSWER, "url": f"https://api.cloudflare.com{PATH}?x=1"}, MODEL),
        ({"model": MODEL, "response": ANSWER}, MODEL),
        ({"request": {**ASKED, "model": MODEL}, "response": CHAT}, MODEL),
        ({"model": MODEL, "request": {"input": "Is it?"}, "response": RESPONSES}, MODEL),
        ({"request": ASKED, "response": ANSWER["result"], "path": PATH}, MODEL),
        ({"request": ASKED, "path": PATH, "response": STREAM}, MODEL),
    ],
)
def test_the_usage_in_the_wrapper_is_read(one, record, model):
    event = one(record)
    assert (event.provider, event.model) == ("cloudflare", model)
    assert (event.tok_input, event.tok_output, event.tok_total_reported) == (20, 30, 50)
    assert (event.output, event.status, event.warnings) == ("Yes", "ok", None)


def test_an_answer_without_usage_is_unknown(one):
    event = one({"request": ASKED, "response": wrapped({"response": "Yes"}), "path": PATH})
    assert (event.tok_input, event.tok_output, event.output) == (None, None, "Yes")
    numbers = one(
        {"request": {"text": "a"}, "response": wrapped({"shape": [1, 2], "data": [[0.1, 0.2]]}), "path": PATH}
    )
    assert (numbers.operation, numbers.tok_input) == ("embedding", None)


def test_a_refused_call_is_an_error_without_tokens(one):
    refused = {"result": None, "success": False, "errors": [{"code": 7009, "message": "no such model"}], "messages": []}
    event = one({"request": ASKED, "response": refused, "path": PATH, "status": 404})
    assert (event.status, event.tok_input, event.not_billed) == ("error", None, True)
    assert "no such model" in event.error


def test_counters_that_cannot_be_read_are_said(one):
    event = one(wrapped({"response": "Yes", "usage": {**USAGE, "prompt_tokens": -3}}))
    assert (event.tok_input, event.tok_output) == (None, 30)
    assert "bad_number:input" in event.warnings
