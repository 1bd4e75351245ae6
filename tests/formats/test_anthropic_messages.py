from __future__ import annotations

import json

from app.core.usage import tokens_in

MESSAGE = {
    "id": "msg_01AbCdEfGhIjKlMn",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5-20250929",
    "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Done."}],
    "stop_reason": "end_turn",
}


def message(**usage):
    return {**MESSAGE, "usage": usage}


def test_the_three_input_counters_stand_beside_each_other(one):
    event = one(
        message(input_tokens=5, cache_creation_input_tokens=10000, cache_read_input_tokens=0, output_tokens=400)
    )
    assert (event.tok_input, event.tok_cache_write_5m, event.tok_cache_read, event.tok_output) == (5, 10000, 0, 400)
    assert tokens_in(event) == 10005
    assert event.tok_reasoning is None


def test_the_split_by_lifetime_is_a_breakdown_not_an_addition(one):
    event = one(
        message(
            input_tokens=87,
            cache_creation_input_tokens=2304,
            cache_read_input_tokens=15872,
            cache_creation={"ephemeral_5m_input_tokens": 256, "ephemeral_1h_input_tokens": 2048},
            output_tokens=640,
            output_tokens_details={"thinking_tokens": 512},
        )
    )
    assert (event.tok_cache_write_5m, event.tok_cache_write_1h) == (256, 2048)
    assert tokens_in(event) == 87 + 2304 + 15872
    assert (event.tok_output, event.tok_reasoning) == (128, 512)


def test_what_a_split_leaves_out_has_the_default_lifetime(one):
    split = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 300}
    event = one(message(input_tokens=1, cache_creation_input_tokens=1000, cache_creation=split, output_tokens=1))
    assert (event.tok_cache_write_5m, event.tok_cache_write_1h) == (700, 300)
    assert event.warnings is None


def test_a_split_larger_than_its_total_is_flagged(one):
    event = one(
        message(
            input_tokens=1,
            cache_creation_input_tokens=10,
            cache_creation={"ephemeral_5m_input_tokens": 8, "ephemeral_1h_input_tokens": 8},
            output_tokens=1,
        )
    )
    assert event.warnings == ["inconsistent_usage"]


def test_iterations_are_summed_and_billed_at_their_own_models(one):
    event = one(
        message(
            input_tokens=1000,
            output_tokens=700,
            iterations=[
                {"type": "fallback_attempt", "model": "claude-fable-5", "input_tokens": 1000, "output_tokens": 300},
                {"type": "message", "input_tokens": 1000, "output_tokens": 400},
            ],
        )
    )
    assert (event.tok_input, event.tok_output) == (2000, 700)
    assert [(part.model, part.tok_output) for part in event.parts] == [
        ("claude-fable-5", 300),
        ("claude-sonnet-4-5-20250929", 400),
    ]


def test_what_served_the_call_is_kept_for_the_price(one):
    event = one(
        message(
            input_tokens=1,
            output_tokens=1,
            service_tier="batch",
            speed="fast",
            inference_geo="us",
            server_tool_use={"web_search_requests": 3, "web_fetch_requests": 0},
        )
    )
    assert event.is_batch is True
    assert event.price_context == {"inference_geo": "us", "speed": "fast"}
    assert event.units == {"web_search": 3.0}


def test_cache_marks_are_kept_beside_the_prompt_and_do_not_change_it(one):
    def pair(marked):
        mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}} if marked else {}
        return {
            "request": {
                "model": "claude-sonnet-4-5",
                "tools": [{"name": "f", "input_schema": {}, **mark}],
                "system": [{"type": "text", "text": "Rules", **mark}],
                "messages": [
                    {"role": "user", "content": "Hi"},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "9", **mark}]},
                ],
                "max_tokens": 10,
                "thinking": {"type": "enabled", "budget_tokens": 5},
            },
            "response": message(input_tokens=1, output_tokens=1),
        }

    marked, plain = one(pair(marked=True)), one(pair(marked=False))
    assert marked.prompt == plain.prompt
    assert [(part.role, part.kind) for part in plain.prompt] == [
        ("tools", "tool"),
        ("system", "text"),
        ("user", "text"),
        ("user", "tool_result"),
    ]
    assert json.loads(marked.params)["cache_marks"] == [[0, "1h"], [1, "1h"], [3, "1h"]]
    assert json.loads(plain.params) == {"thinking": {"budget_tokens": 5, "type": "enabled"}}


STREAM = [
    {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None,
        "usage": {"input_tokens": 512, "cache_read_input_tokens": 4096, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {"output_tokens": 100}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 233}},
    {"type": "message_stop"},
]  # fmt: skip


def test_deltas_of_a_stream_are_cumulative(one):
    event = one(*STREAM)
    assert (event.tok_input, event.tok_cache_read, event.tok_output) == (512, 4096, 233)
    assert (event.output, event.finish_reason, event.status, event.stream) == ("Hello", "end_turn", "ok", True)


def test_an_abandoned_stream_has_its_exact_input_and_unknown_output(one):
    event = one(*STREAM[:4])
    assert (event.tok_input, event.tok_cache_read, event.tok_output) == (512, 4096, None)
    assert event.status == "aborted"


def test_two_streams_one_after_the_other_are_two_calls(read):
    other = json.loads(json.dumps(STREAM).replace("msg_01AbCdEfGhIjKlMn", "msg_02AbCdEfGhIjKlMn"))
    events = read(*STREAM[:-1], *other)
    assert [event.provider_response_id for event in events] == ["msg_01AbCdEfGhIjKlMn", "msg_02AbCdEfGhIjKlMn"]
    assert [event.tok_output for event in events] == [233, 233]


def test_event_stream_text_with_events_and_crlf_is_read(one):
    text = "".join(f"event: {event['type']}\r\ndata: {json.dumps(event)}\r\n\r\n" for event in STREAM)
    assert one({"response_body": text}).output == "Hello"
