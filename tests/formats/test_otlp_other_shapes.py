"""Log records, Claude Code's events and spans of other exporters are the same calls."""

from __future__ import annotations

from made_spans import (
    CURRENT,
    PARENT,
    SPAN,
    TRACE,
    classes,
    listed,
    logs,
)

from app.core.usage import Rejected


def test_a_genai_log_record_is_the_call_of_its_span(one):
    record = {
        "timeUnixNano": "1790000002000000000",
        "eventName": "gen_ai.client.inference.operation.details",
        "traceId": TRACE,
        "spanId": SPAN,
        "attributes": listed({"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", **CURRENT}),
    }
    event = one(logs(record, scope="genai"))
    assert event.source_record == f"{TRACE}/{SPAN}"
    assert classes(event) == (300, 600, 100, 20, 30)


def claude(name="api_request", **attributes):
    given = {"event.name": name, "event.sequence": 3, "session.id": "s", "model": "claude-sonnet-5", **attributes}
    return {
        "timeUnixNano": "1790000002000000000",
        "body": {"stringValue": f"claude_code.{name}"},
        "attributes": listed(given),
    }


def test_claude_code_events_of_calls_are_read_and_begin_before_they_are_written(one):
    counters = {"input_tokens": 5, "output_tokens": 40, "cache_read_tokens": 900, "cache_creation_tokens": 10}
    event = one(logs(claude(**counters, cost_usd=0.01, duration_ms=1500)))
    assert classes(event) == (5, 900, 10, 40, None)
    assert (event.source_record, event.cost_reported_usd) == ("s:3", "0.01")
    assert (event.start_us, event.end_us) == (1_790_000_000_500_000, 1_790_000_002_000_000)


def test_claude_code_errors_are_failed_calls_and_its_other_events_are_none(read):
    failed, prompt = read(logs(claude("api_error", status_code=429, error="slow down"), claude("user_prompt")))
    assert (failed.status, failed.http_status, failed.not_billed) == ("error", 429, True)
    assert isinstance(prompt, Rejected)
    assert prompt.benign


def test_single_spans_of_phoenix_and_of_console_exporters_are_read(one, read):
    phoenix = {
        "name": "ChatCompletion",
        "context": {"trace_id": TRACE, "span_id": SPAN},
        "span_kind": "LLM",
        "parent_id": PARENT,
        "start_time": "2026-09-21T10:13:20.5+00:00",
        "end_time": "2026-09-21T10:13:22+00:00",
        "status_code": "ERROR",
        "status_message": "too long",
        "attributes": {"llm.model_name": "gpt-5", "llm.token_count.prompt": 7, "llm.token_count.completion": 2},
    }
    event = one(phoenix)
    assert (event.source_record, event.parent_id) == (f"{TRACE}/{SPAN}", PARENT)
    assert (event.tok_input, event.tok_output, event.status, event.error) == (7, 2, "error", "too long")
    console = {
        "name": "chat",
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}", "trace_state": "[]"},
        "parent_id": None,
        "start_time": "2026-09-21T10:13:20.5Z",
        "end_time": "2026-09-21T10:13:22Z",
        "status": {"status_code": "UNSET"},
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", **CURRENT},
        "resource": {"attributes": {"service.name": "shop"}},
    }
    event = one(console)
    assert (event.source_record, event.tags, event.status) == (f"{TRACE}/{SPAN}", {"service": "shop"}, "ok")
    assert len(read({"data": [phoenix, console], "next_cursor": None})) == 2
