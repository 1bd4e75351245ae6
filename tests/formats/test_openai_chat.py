from __future__ import annotations

import json

import pytest

from app.core.usage import tokens_in, tokens_out


def response(**usage):
    return {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion",
        "created": 1772445600,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}],
        "usage": usage or {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    }


def chunk(delta=None, usage=None, finish=None, choices=True):
    return {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion.chunk",
        "created": 1772445600,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}] if choices else [],
        "usage": usage,
    }


REQUEST = {
    "model": "gpt-4o",
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "u"}}],
        },
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "b": 1, "a": 2}}],
    "max_completion_tokens": 50,
    "temperature": 0.5,
    "seed": 7,
    "tool_choice": "auto",
    "logit_bias": {"b": 1, "a": 2},
}


def test_cached_written_and_reasoning_tokens_are_not_counted_twice(one):
    event = one(
        response(
            prompt_tokens=3120,
            completion_tokens=412,
            total_tokens=3532,
            prompt_tokens_details={"cached_tokens": 2560, "cache_write_tokens": 384},
            completion_tokens_details={"reasoning_tokens": 320},
        )
    )
    assert (event.tok_input, event.tok_cache_read, event.tok_cache_write_30m) == (176, 2560, 384)
    assert (event.tok_output, event.tok_reasoning) == (92, 320)
    assert tokens_in(event) + tokens_out(event) == event.tok_total_reported == 3532
    assert event.warnings is None


def test_details_that_a_server_leaves_out_stay_unknown_not_zero(one):
    event = one(response())
    assert (event.tok_input, event.tok_output) == (10, 2)
    assert event.tok_cache_read is None
    assert event.tok_reasoning is None


def test_usage_that_is_missing_leaves_every_class_unknown(one):
    event = one({**response(), "usage": None})
    assert tokens_in(event) is None
    assert tokens_out(event) is None
    assert event.status == "ok"


def test_audio_tokens_leave_the_text_classes(one):
    event = one(
        response(
            prompt_tokens=50,
            completion_tokens=120,
            total_tokens=170,
            prompt_tokens_details={"cached_tokens": 0, "audio_tokens": 30},
            completion_tokens_details={"audio_tokens": 100},
        )
    )
    assert (event.tok_input, event.tok_input_audio) == (20, 30)
    assert (event.tok_output, event.tok_output_audio) == (20, 100)


def test_audio_tokens_that_were_cached_are_cached_audio(one):
    event = one(
        response(
            prompt_tokens=100,
            completion_tokens=1,
            total_tokens=101,
            prompt_tokens_details={"cached_tokens": 80, "audio_tokens": 60},
        )
    )
    assert (event.tok_cache_read_audio, event.tok_cache_read, event.tok_input_audio) == (40, 40, 20)
    assert tokens_in(event) == 100
    assert event.warnings is None


def test_more_cached_than_prompt_tokens_are_clamped_and_flagged(one):
    event = one(response(prompt_tokens=500, completion_tokens=50, prompt_tokens_details={"cached_tokens": 800}))
    assert (event.tok_input, event.tok_cache_read) == (0, 500)
    assert event.warnings == ["inconsistent_usage"]


def test_reasoning_beside_the_completion_is_told_by_the_total(one):
    event = one(
        response(
            prompt_tokens=100,
            completion_tokens=20,
            total_tokens=420,
            completion_tokens_details={"reasoning_tokens": 300},
        )
    )
    assert (event.tok_output, event.tok_reasoning) == (20, 300)
    assert event.warnings is None


def test_a_total_that_does_not_add_up_is_kept_and_flagged(one):
    event = one(response(prompt_tokens=100, completion_tokens=20, total_tokens=999))
    assert (event.tok_input, event.tok_output, event.tok_total_reported) == (100, 20, 999)
    assert event.warnings == ["sum_mismatch"]


@pytest.mark.parametrize("bad", ["many", float("nan"), -5, 1.5, True, [], 2**60])
def test_a_bad_count_costs_that_field_alone(one, bad):
    event = one(response(prompt_tokens=bad, completion_tokens=7))
    assert event.tok_input is None
    assert event.tok_output == 7
    assert "bad_number:input" in event.warnings


@pytest.mark.parametrize("good", ["1000", 1000.0, "1e3"])
def test_counts_written_as_text_or_float_are_read(one, good):
    assert one(response(prompt_tokens=good, completion_tokens=1)).tok_input == 1000


def test_the_served_tier_wins_over_the_one_asked_for(one):
    asked = {**REQUEST, "service_tier": "priority"}
    event = one({"request": asked, "response": {**response(), "service_tier": "default"}})
    assert event.service_tier == "default"


def test_a_pair_gives_the_prompt_in_the_providers_order(one):
    event = one({"request": REQUEST, "response": response()})
    assert [(part.role, part.kind) for part in event.prompt] == [
        ("tools", "tool"),
        ("system", "text"),
        ("user", "text"),
        ("user", "image"),
        ("assistant", "tool_use"),
        ("tool", "tool_result"),
    ]
    assert event.prompt[0].text == '{"type":"function","function":{"name":"f","b":1,"a":2}}'
    assert event.prompt[1].text == "Be brief."
    assert event.output == "Yes."


def test_parameters_that_shape_the_answer_are_kept_in_one_canonical_text(one):
    event = one({"request": REQUEST, "response": response()})
    assert (event.max_tokens, event.temperature, event.seed) == (50, 0.5, 7)
    assert event.params == '{"logit_bias":{"a":2,"b":1},"tool_choice":"auto"}'


def test_a_response_alone_has_no_prompt(one):
    assert one(response()).prompt is None


def test_chunks_on_lines_of_their_own_are_one_call(one):
    usage = {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}
    event = one(
        chunk({"role": "assistant", "content": "Hel"}),
        chunk({"content": "lo"}, finish="stop"),
        chunk(usage=usage, choices=False),
    )
    assert (event.tok_input, event.tok_output, event.output) == (8, 2, "Hello")
    assert event.stream is True
    assert event.status == "ok"


def test_interleaved_streams_are_told_apart_by_their_id(read):
    usage = {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}
    other = {"id": "chatcmpl-ffffffffffffffff"}
    events = read(
        chunk({"content": "a"}),
        {**chunk({"content": "x"}), **other},
        chunk({"content": "b"}, finish="stop"),
        {**chunk({"content": "y"}, finish="stop"), **other},
        chunk(usage=usage, choices=False),
        {**chunk(usage=usage, choices=False), **other},
    )
    assert sorted(event.output for event in events) == ["ab", "xy"]


@pytest.mark.parametrize("form", ["list", "text", "stream"])
def test_a_stream_reads_the_same_as_list_and_as_event_text(one, form):
    chunks = [
        chunk({"content": "Hi"}),
        chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}, finish="tool_calls"),
        chunk(usage={"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}, choices=False),
    ]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in chunks) + "data: [DONE]\n\n"
    record = {"list": chunks, "text": {"response": text}, "stream": {"request": REQUEST, "response": chunks}}[form]
    event = one(record, form="openai_chat")
    assert event.output == '["Hi",[{"id":"c","name":"f","arguments":"{}"}]]'
    assert (event.tok_input, event.finish_reason, event.stream) == (8, "tool_calls", True)


def test_a_stream_without_an_end_is_aborted_and_its_usage_unknown(one):
    event = one(chunk({"content": "Hel"}))
    assert event.status == "aborted"
    assert tokens_in(event) is None


def test_a_finished_stream_without_usage_is_unknown_not_free(one):
    event = one(chunk({"content": "Hel"}), chunk({"content": "lo"}, finish="stop"))
    assert event.status == "ok"
    assert tokens_in(event) is None
    assert tokens_out(event) is None


def test_running_usage_counts_once_by_its_last_value(one):
    event = one(
        chunk({"content": "a"}, usage={"prompt_tokens": 8, "completion_tokens": 1, "total_tokens": 9}),
        chunk({"content": "b"}, usage={"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}, finish="stop"),
    )
    assert (event.tok_input, event.tok_output) == (8, 2)


def test_openrouter_cost_with_an_own_key_holds_the_providers_bill(one):
    usage = {"prompt_tokens": 3000, "completion_tokens": 250, "total_tokens": 3250, "cost": 0.0005, "is_byok": True}
    usage["cost_details"] = {"upstream_inference_cost": 0.01}
    event = one({**response(**usage), "id": "gen-1", "model": "openai/gpt-4o"})
    assert event.cost_reported_usd == "0.0105"
    assert event.provider == "openrouter"


def test_openrouter_copy_of_the_upstream_cost_is_not_added(one):
    usage = {"prompt_tokens": 3000, "completion_tokens": 250, "total_tokens": 3250, "cost": 0.01, "is_byok": False}
    usage["cost_details"] = {"upstream_inference_cost": 0.01}
    assert one(response(**usage)).cost_reported_usd == "0.01"
