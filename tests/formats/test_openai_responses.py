from __future__ import annotations

import pytest

from app.core.usage import tokens_in, tokens_out

RESPONSE = {
    "id": "resp_0123456789abcdef",
    "object": "response",
    "created_at": 1772445600.5,
    "status": "completed",
    "model": "gpt-5-2025-08-07",
    "service_tier": "default",
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "message", "content": [{"type": "output_text", "text": "42"}]},
    ],
    "usage": {
        "input_tokens": 20480,
        "input_tokens_details": {
            "cached_tokens": 18432,
            "cache_write_tokens": 1536,
            "cache_write_tokens_details": {"ttl_30m_tokens": 1036, "ttl_12h_tokens": 500},
        },
        "output_tokens": 900,
        "output_tokens_details": {"reasoning_tokens": 768},
        "total_tokens": 21380,
    },
}
REQUEST = {
    "model": "gpt-5",
    "instructions": "Count.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "How many?"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "42"},
    ],
    "reasoning": {"effort": "low"},
    "service_tier": "priority",
}


def test_cached_and_written_tokens_are_inside_the_input(one):
    event = one(RESPONSE)
    assert (event.tok_input, event.tok_cache_read) == (512, 18432)
    assert (event.tok_cache_write_30m, event.tok_cache_write_12h) == (1036, 500)
    assert (event.tok_output, event.tok_reasoning) == (132, 768)
    assert tokens_in(event) + tokens_out(event) == 21380
    assert event.start_us == 1772445600_500000
    assert event.output == "42"


def test_a_pair_is_billed_at_the_tier_that_served(one):
    event = one({"request": REQUEST, "response": RESPONSE})
    assert event.service_tier == "default"
    assert event.reasoning_effort == "low"
    assert [(part.role, part.kind) for part in event.prompt] == [
        ("system", "text"),
        ("user", "text"),
        ("assistant", "tool_use"),
        ("tool", "tool_result"),
    ]


def test_a_response_alone_does_not_pretend_to_know_its_prompt(one):
    event = one({**RESPONSE, "instructions": "Count.", "tools": [{"type": "function", "name": "f"}]})
    assert event.prompt is None


def test_a_stream_counts_by_its_last_response(one):
    started = {**RESPONSE, "status": "in_progress", "usage": None}
    event = one(
        {"type": "response.created", "response": started},
        {"type": "response.output_text.delta", "delta": "42"},
        {"type": "response.completed", "response": RESPONSE},
    )
    assert (event.tok_input, event.status, event.stream) == (512, "ok", True)


def test_a_stream_that_never_completed_is_unknown(one):
    started = {**RESPONSE, "status": "in_progress", "usage": None, "output": []}
    event = one({"type": "response.created", "response": started}, {"type": "response.output_text.delta", "delta": "4"})
    assert event.status == "aborted"
    assert tokens_in(event) is None


@pytest.mark.parametrize(
    ("state", "details", "status", "reason"),
    [
        ("incomplete", {"reason": "max_output_tokens"}, "ok", "max_output_tokens"),
        ("failed", None, "error", "failed"),
        ("cancelled", None, "aborted", "cancelled"),
    ],
)
def test_the_state_of_a_response_is_its_outcome(one, state, details, status, reason):
    event = one({**RESPONSE, "status": state, "incomplete_details": details})
    assert (event.status, event.finish_reason) == (status, reason)


def test_searches_are_counted_as_units(one):
    event = one({**RESPONSE, "tool_usage": {"web_search": {"num_requests": 2}}})
    assert event.units == {"web_search": 2.0}


def test_searches_are_counted_by_their_items_where_the_response_has_no_count(one):
    calls = [
        {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "a"}},
        {"type": "web_search_call", "status": "completed", "action": {"type": "open_page", "url": "u"}},
        {"type": "file_search_call", "queries": ["a"]},
        {"type": "code_interpreter_call", "container_id": "c"},
    ]
    assert one({**RESPONSE, "output": calls}).units == {"web_search": 1.0, "storage_search": 1.0}


def test_calls_that_continue_other_responses_are_no_repeats_of_each_other(one):
    first = one({"request": {**REQUEST, "previous_response_id": "resp_a"}, "response": RESPONSE})
    second = one({"request": {**REQUEST, "previous_response_id": "resp_b"}, "response": RESPONSE})
    assert first.prompt == second.prompt
    assert first.params != second.params
    assert first.parent_id == "resp_a"
