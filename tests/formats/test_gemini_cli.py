from __future__ import annotations

import pytest

from app.core.usage import Rejected, tokens_in, tokens_out
from ingest.formats import format_named
from ingest.formats.format import Origin

FORM = format_named("gemini_cli")


def message(**more):
    return {
        "id": "m-1",
        "timestamp": "2026-03-02T10:00:00.000Z",
        "type": "gemini",
        "content": "Done",
        "model": "gemini-3-flash-preview",
        "tokens": {"input": 900, "output": 22, "cached": 800, "thoughts": 90, "tool": 4, "total": 1016},
        **more,
    }


def parsed(record, file="/home/ann/.gemini/tmp/shop/chats/session-2026-03-02.jsonl"):
    return list(FORM.parse(record, Origin("s", file, 1)))


def test_a_message_has_disjoint_classes(one):
    event = one(message())
    assert (event.tok_input, event.tok_cache_read) == (104, 800)
    assert (event.tok_output, event.tok_reasoning) == (22, 90)
    assert tokens_in(event) + tokens_out(event) == event.tok_total_reported == 1016
    assert (event.provider, event.source_record, event.warnings) == ("google", "m-1", None)


def test_the_file_names_session_and_project_where_lines_do_not():
    (event,) = parsed(message())
    assert (event.session_id, event.tags) == ("session-2026-03-02", {"project": "shop"})
    (elsewhere,) = parsed(message(), "log.jsonl")
    assert elsewhere.tags is None


def test_a_session_document_gives_each_of_its_answers():
    session = {"sessionId": "s-1", "projectHash": "h", "startTime": "2026-03-02T10:00:00Z"}
    messages = [{"id": "u-1", "type": "user", "content": "x"}, message(), message(id="m-2")]
    events = parsed({**session, "messages": messages})
    assert [(event.source_record, event.session_id) for event in events] == [("m-1", "s-1"), ("m-2", "s-1")]
    (empty,) = parsed({**session, "messages": messages[:1]})
    assert isinstance(empty, Rejected)
    assert empty.benign


@pytest.mark.parametrize(
    ("record", "benign"),
    [
        ({"type": "user", "content": "x"}, True),
        ({"sessionId": "s", "projectHash": "h", "startTime": "t"}, True),
        ({"$set": {"lastUpdated": "t"}}, True),
        ({"type": "gemini", "content": "x"}, True),
        ({"type": "gemini", "tokens": "many"}, False),
        ({"silly": 1}, False),
    ],
)
def test_lines_without_a_call_are_told_from_damaged_ones(record, benign):
    (item,) = parsed(record)
    assert isinstance(item, Rejected)
    assert item.benign is benign


def test_the_file_of_prompts_beside_the_sessions_holds_no_call(read):
    prompt = {"sessionId": "s", "messageId": 0, "type": "user", "message": "x", "timestamp": "2026-03-02T10:00:00Z"}
    (item,) = read(prompt)
    assert item.benign


def told(name="gemini_cli.api_response", **attributes):
    return {
        "hrTime": [1772445600, 0],
        "attributes": {
            "event.name": name,
            "event.timestamp": "2026-03-02T10:00:02.000Z",
            "session.id": "s-1",
            "prompt_id": "p-1",
            "model": "gemini-3-flash-preview",
            "duration_ms": 1500,
            **attributes,
        },
    }


def test_telemetry_of_an_answer_reads_as_its_message(one):
    counters = {
        "input_token_count": 900,
        "output_token_count": 22,
        "cached_content_token_count": 800,
        "thoughts_token_count": 90,
        "tool_token_count": 4,
        "total_token_count": 1016,
        "status_code": 200,
    }
    event, plain = one(told(**counters)), one(message())
    for name in ("tok_input", "tok_cache_read", "tok_output", "tok_reasoning", "tok_total_reported", "model"):
        assert getattr(event, name) == getattr(plain, name), name
    assert event.end_us - event.start_us == 1_500_000
    assert (event.session_id, event.http_status, event.status) == ("s-1", 200, "ok")


def test_an_api_error_is_a_failed_call_of_unknown_tokens(one):
    event = one(told("gemini_cli.api_error", error="quota", status_code=429))
    assert (event.status, event.error, event.not_billed, tokens_in(event)) == ("error", "quota", True, None)
    (item,) = parsed(told("gemini_cli.tool_call"))
    assert item.benign


@pytest.mark.data
def test_the_sample_has_the_classes_that_its_maker_gave_it(sample, one):
    event = one(*sample("gemini_cli"))
    assert (event.tok_input, event.tok_cache_read, event.tok_output, event.tok_reasoning) == (848, 8192, 220, 900)
