from __future__ import annotations

import json

import pytest

from app.core.usage import Rejected, tokens_in

RESPONSE = {
    "id": "chatcmpl-0123456789abcdef",
    "object": "chat.completion",
    "created": 1772445600,
    "model": "gpt-4o",
    "choices": [{"index": 0, "message": {"content": "Yes."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
}
REQUEST = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Well?"}]}


@pytest.mark.parametrize(
    ("request_name", "response_name"),
    [("request", "response"), ("request_body", "response_body"), ("requestBody", "responseBody"), ("req", "resp")],
)
@pytest.mark.parametrize("as_text", [False, True])
def test_bodies_are_found_under_usual_names_as_objects_and_as_text(one, request_name, response_name, as_text):
    wrap = json.dumps if as_text else dict
    event = one({request_name: wrap(REQUEST), response_name: wrap(RESPONSE)})
    assert event.tok_input == 10
    assert event.prompt[0].text == "Well?"


def test_http_shapes_with_a_body_inside_are_opened(one):
    record = {
        "request": {"method": "POST", "url": "https://api.openai.com/v1/chat/completions", "body": REQUEST},
        "response": {"status_code": 200, "headers": {}, "body": json.dumps(RESPONSE)},
    }
    event = one(record)
    assert (event.tok_input, event.http_status) == (10, 200)


def test_request_and_usage_side_by_side_need_no_response(one):
    event = one(
        {"id": "req-1", "created": 1772445600, "model": "gpt-4o", "request": REQUEST, "usage": RESPONSE["usage"]}
    )
    assert (event.tok_input, event.tok_output, event.source_record) == (10, 2, "req-1")
    assert event.start_us == 1772445600_000000


def test_the_envelopes_own_fields_reach_the_event(one):
    event = one(
        {
            "timestamp": "2026-03-02T11:00:00+01:00",
            "first_token_time": 1772445600250,
            "latency_ms": 812,
            "request": REQUEST,
            "response": RESPONSE,
            "id": "call-1",
            "session_id": "s",
            "trace_id": "t",
            "user": "u",
            "api_key": "sk-x",
            "account": "org",
            "feature": "search",
            "team": "core",
            "environment": "prod",
            "metadata": {"release": 3, "nested": {"a": 1}},
            "attempt": 2,
            "retry_of": "call-0",
            "host": "example.openai.azure.com",
        }
    )
    assert event.start_us == 1772445600_000000
    assert event.first_token_us == 1772445600_250000
    assert event.end_us == 1772445600_812000
    assert (event.source_record, event.session_id, event.trace_id) == ("call-1", "s", "t")
    assert (event.user, event.api_key, event.account, event.provider) == ("u", "sk-x", "org", "azure")
    assert event.tags == {
        "release": "3",
        "nested": '{"a":1}',
        "feature": "search",
        "team": "core",
        "environment": "prod",
    }
    assert (event.attempt, event.retry_of) == (2, "call-0")


def test_a_list_of_tags_is_read_as_names_and_values(one):
    event = one({"request": REQUEST, "response": RESPONSE, "tags": ["feature:search", "beta"]})
    assert event.tags == {"feature": "search", "beta": "true"}


@pytest.mark.parametrize(
    ("status", "outcome", "known_free"), [(429, "error", True), (500, "error", False), (408, "timeout", False)]
)
def test_a_refusal_is_not_billed_but_a_failure_after_dispatch_is_unknown(one, status, outcome, known_free):
    event = one({"request": REQUEST, "response": {"error": {"code": "x", "message": "no"}}, "status": status})
    assert (event.status, event.not_billed, event.http_status) == (outcome, known_free, status)
    assert tokens_in(event) is None
    assert event.error == "x: no"


def test_a_call_without_any_answer_is_no_success(one):
    event = one({"request": REQUEST, "response": None, "error": "connection reset"})
    assert (event.status, event.error) == ("error", "connection reset")
    assert one({"request": REQUEST, "error": "read timeout"}).status == "timeout"


def test_usage_kept_without_the_body_is_read_by_the_called_path(one):
    event = one(
        {
            "path": "/v1/embeddings",
            "status": 200,
            "request_model": "text-embedding-3-small",
            "usage": [{"usage": {"prompt_tokens": 8, "total_tokens": 8}}],
            "request_body": None,
            "response_body": None,
        },
        form="openai_embeddings",
    )
    assert (event.operation, event.model, event.tok_input) == ("embedding", "text-embedding-3-small", 8)


@pytest.mark.parametrize(
    "record", [None, 42, "text", {"silly": 1}, {"response": "<html>"}, {"object": "thread.message"}]
)
def test_what_is_no_exchange_is_rejected_with_a_reason(read, record):
    (item,) = read(record, form="openai_chat")
    assert isinstance(item, Rejected)
    assert item.reason


def test_a_mixed_file_is_read_record_by_record(read):
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": []}
    message["usage"] = {"input_tokens": 1, "output_tokens": 2}
    events = read(
        RESPONSE, {"response": message}, {"object": "response", "model": "gpt-5", "usage": {"input_tokens": 5}}
    )
    assert [event.provider for event in events] == ["openai", "anthropic", "openai"]
    assert [event.tok_input for event in events] == [10, 1, 5]


@pytest.mark.parametrize(
    "value",
    [1772445600, 1772445600.0, 1772445600000, "1772445600000000000", "2026-03-02 10:00:00", "2026-03-02T10:00:00Z"],
)
def test_times_in_any_unit_are_the_same_instant(one, value):
    assert one({"request": REQUEST, "response": RESPONSE, "timestamp": value}).start_us == 1772445600_000000


@pytest.mark.parametrize("value", [0, "2126-03-02T10:00:00Z", "soon", -1, float("inf")])
def test_an_implausible_time_stays_unknown_and_is_named(one, value):
    event = one({"response": {**RESPONSE, "created": value}})
    assert event.start_us is None
    assert "bad_time:created" in event.warnings


def test_a_stream_of_nothing_but_an_error_is_a_failed_call(one):
    text = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'
    event = one({"request": {"model": "claude-x", "system": "s", "messages": []}, "response": text, "status": 529})
    assert (event.status, event.error, event.model) == ("error", "overloaded_error: busy", "claude-x")
    assert tokens_in(event) is None
    assert event.not_billed is False


def test_long_metadata_is_content_and_no_tag(one):
    event = one({"request": REQUEST, "response": RESPONSE, "metadata": {"note": "x" * 5000, "release": "r1"}})
    assert event.tags == {"release": "r1"}


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"object": "thread.message", "content": []}, "Assistants"),
        ({"object": "batch", "status": "completed"}, "batch"),
    ],
)
def test_bodies_of_other_endpoints_are_rejected_by_name(read, body, name):
    (item,) = read({"response": body}, form="openai_chat")
    assert name in item.reason


@pytest.mark.parametrize("path", [{}, {"endpoint": "/api/messages"}, {"url": "https://shop.example/responses"}])
def test_a_programs_own_line_around_the_providers_usage_is_its_own_envelope(one, path):
    """Its time, its labels and its outcome stand beside the usage; a caller's own path says nothing of the API."""
    event = one(
        {
            "timestamp": "2026-03-02T10:00:00Z",
            "level": "info",
            "model": "gpt-4o",
            "messages": [{"role": "user", "content": "Well?"}],
            "temperature": 0.5,
            "usage": RESPONSE["usage"],
            "latency_ms": 812,
            "user": "u",
            "feature": "search",
            "status": "error",
            **path,
        }
    )
    assert (event.tok_input, event.tok_output, event.status) == (10, 2, "error")
    assert (event.start_us, event.end_us) == (1772445600_000000, 1772445600_812000)
    assert (event.user, event.tags, event.temperature) == ("u", {"feature": "search"}, 0.5)
    assert [part.text for part in event.prompt] == ["Well?"]


def test_a_providers_body_without_an_envelope_is_no_envelope_itself(one):
    body = {**RESPONSE, "user": "not ours", "status": "queued", "timestamp": 1}
    event = one(body)
    assert (event.user, event.status, event.start_us) == (None, "ok", 1772445600_000000)
