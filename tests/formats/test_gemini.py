from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.usage import Rejected, tokens_in, tokens_out
from ingest.formats import format_named
from ingest.formats.format import Origin


def usage(**counters):
    return {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120, **counters}


def response(counters=None, parts=({"text": "Yes."},), **more):
    return {
        "responseId": "aB3dEfGhIjK",
        "modelVersion": "gemini-2.5-flash",
        "createTime": "2026-03-02T10:00:00.5Z",
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage() if counters is None else counters,
        **more,
    }


def details(**tokens):
    return [{"modality": name.upper(), "tokenCount": count} for name, count in tokens.items()]


REQUEST = {
    "contents": [
        {"role": "user", "parts": [{"text": "See"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "opaque"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]},
    ],
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "tools": [{"functionDeclarations": [{"name": "f"}, {"name": "g"}]}, {"googleSearch": {}}],
    "generationConfig": {
        "maxOutputTokens": 64,
        "temperature": 0.2,
        "topP": 0.9,
        "seed": 3,
        "stopSequences": ["END"],
        "responseMimeType": "application/json",
        "responseSchema": {"type": "OBJECT"},
        "thinkingConfig": {"thinkingBudget": 512},
    },
    "cachedContent": "cachedContents/abc",
}


def test_cached_tokens_are_inside_the_prompt_and_thoughts_and_tool_prompts_beside(one):
    counters = usage(cachedContentTokenCount=60, thoughtsTokenCount=30, toolUsePromptTokenCount=8, totalTokenCount=158)
    event = one(response(counters))
    assert (event.tok_input, event.tok_cache_read) == (48, 60)
    assert (event.tok_output, event.tok_reasoning) == (20, 30)
    assert tokens_in(event) + tokens_out(event) == event.tok_total_reported == 158
    assert (event.provider, event.model, event.warnings) == ("google", "gemini-2.5-flash", None)


def test_thoughts_inside_the_candidates_are_told_by_the_total(one):
    event = one(response(usage(candidatesTokenCount=50, thoughtsTokenCount=40, totalTokenCount=150)))
    assert (event.tok_output, event.tok_reasoning) == (10, 40)
    assert event.warnings is None


def test_a_total_that_fits_no_reading_is_kept_and_flagged(one):
    event = one(response(usage(thoughtsTokenCount=40, totalTokenCount=999)))
    assert (event.tok_output, event.tok_reasoning, event.warnings) == (20, 40, ["sum_mismatch"])


def test_counters_left_out_are_zero_where_the_rest_is_the_total(one):
    event = one(response({"promptTokenCount": 57, "totalTokenCount": 57}))
    assert (event.tok_input, event.tok_cache_read, event.tok_output, event.tok_reasoning) == (57, 0, 0, 0)


def test_an_answer_that_the_total_does_not_account_for_is_unknown(one):
    event = one(response({"promptTokenCount": 57}))
    assert (event.tok_input, event.tok_output) == (57, None)


def test_sound_and_pictures_leave_the_text_classes_cached_ones_too(one):
    counters = usage(
        cachedContentTokenCount=50,
        promptTokensDetails=details(text=20, audio=50, image=20, video=6, document=4),
        cacheTokensDetails=details(text=10, audio=30, image=10),
        candidatesTokensDetails=details(text=5, image=12, audio=3),
    )
    event = one(response(counters))
    assert (event.tok_input, event.tok_input_audio, event.tok_input_image) == (10, 20, 20)
    assert (event.tok_cache_read, event.tok_cache_read_audio) == (20, 30)
    assert (event.tok_output, event.tok_output_image, event.tok_output_audio) == (5, 12, 3)
    assert (tokens_in(event), tokens_out(event)) == (100, 20)


def test_more_cached_than_prompt_tokens_are_clamped_and_flagged(one):
    event = one(response(usage(cachedContentTokenCount=300)))
    assert (event.tok_input, event.tok_cache_read, event.warnings) == (0, 100, ["inconsistent_usage"])


@pytest.mark.parametrize(
    ("counters", "tier"),
    [
        ({"trafficType": "ON_DEMAND"}, "standard"),
        ({"trafficType": "ON_DEMAND_PRIORITY"}, "priority"),
        ({"trafficType": "PROVISIONED_THROUGHPUT"}, "provisioned"),
        ({"trafficType": "TRAFFIC_TYPE_UNSPECIFIED"}, "flex"),
        ({"serviceTier": "priority"}, "priority"),
    ],
)
def test_the_served_tier_comes_from_the_usage(one, counters, tier):
    record = {"request": {**REQUEST, "serviceTier": "flex"}, "response": response(usage(**counters))}
    assert one(record).service_tier == tier


@pytest.mark.parametrize(("model", "searches"), [("gemini-2.5-flash", 1.0), ("gemini-3-flash-preview", 2.0)])
def test_grounding_is_sold_by_prompt_then_by_query(one, model, searches):
    answer = response(modelVersion=model)
    answer["candidates"][0]["groundingMetadata"] = {"webSearchQueries": ["a", "b"]}
    assert one(answer).units == {"web_search": searches}


def test_a_blocked_prompt_says_so(one):
    event = one({**response({"promptTokenCount": 5, "totalTokenCount": 5}), "candidates": [], "promptFeedback": {}})
    assert event.finish_reason is None
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5}}
    assert one(blocked).finish_reason == "prompt_blocked:SAFETY"


def test_a_pair_gives_parameters_and_the_prompt_in_the_providers_order(one):
    event = one({"request": REQUEST, "response": response()})
    assert [(part.role, part.kind) for part in event.prompt] == [
        ("tools", "tool"),
        ("tools", "tool"),
        ("tools", "tool"),
        ("system", "schema"),
        ("system", "text"),
        ("user", "text"),
        ("user", "image"),
        ("assistant", "tool_use"),
        ("user", "tool_result"),
    ]
    assert "opaque" not in event.prompt[7].text
    assert (event.max_tokens, event.temperature, event.top_p, event.seed) == (64, 0.2, 0.9, 3)
    assert (event.stop, event.response_format, event.reasoning_effort) == ('["END"]', "application/json", "512")
    assert json.loads(event.params) == {
        "cachedContent": "cachedContents/abc",
        "thinkingConfig": {"thinkingBudget": 512},
    }


def test_the_called_path_names_model_and_place(one):
    path = "/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent"
    event = one({"path": path, "request": REQUEST, "response": None, "status": 503})
    assert (event.model, event.region, event.status) == ("gemini-2.5-pro", "europe-west4", "error")
    assert tokens_in(event) is None


def test_the_python_sdks_dumps_read_as_the_wire_does(one):
    def snaked(value):
        if isinstance(value, dict):
            return {
                "".join("_" + c.lower() if c.isupper() else c for c in key): snaked(one) for key, one in value.items()
            }
        return [snaked(item) for item in value] if isinstance(value, list) else value

    counters = usage(cachedContentTokenCount=60, promptTokensDetails=details(text=80, image=20))
    wire = {"request": REQUEST, "response": response(counters)}
    plain, dumped = one(wire), one({"request": snaked(REQUEST), "response": snaked(response(counters))})
    for name in (
        "tok_input",
        "tok_cache_read",
        "tok_input_image",
        "tok_output",
        "model",
        "output",
        "max_tokens",
        "stop",
    ):
        assert getattr(plain, name) == getattr(dumped, name), name


def chunks():
    return [
        response({"promptTokenCount": 100, "totalTokenCount": 100}, parts=[{"text": "think", "thought": True}]),
        response(usage(candidatesTokenCount=5, totalTokenCount=105), parts=[{"text": "Hel"}]),
        response(usage(), parts=[{"text": "lo"}]),
    ]


@pytest.mark.parametrize("form", ["list", "text"])
def test_a_stream_counts_by_its_last_chunk(one, form):
    text = "".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks())
    event = one(chunks() if form == "list" else {"response": text}, form="gemini_generate_content")
    assert (event.tok_input, event.tok_output, event.output, event.stream) == (100, 20, "Hello", True)
    assert event.status == "ok"


def test_a_stream_without_a_finish_is_aborted(one):
    cut = [{**chunk, "candidates": [{"content": {"parts": [{"text": "Hel"}]}}]} for chunk in chunks()[:2]]
    event = one(cut, form="gemini_generate_content")
    assert (event.status, event.tok_output, event.output) == ("aborted", 5, "HelHel")


def test_an_embedding_has_no_answer_tokens(one):
    event = one({"model": "x", "response": {"embedding": {"values": [0.1]}, "usageMetadata": {"promptTokenCount": 7}}})
    assert (event.operation, event.tok_input, event.tok_output) == ("embedding", 7, None)


def test_an_explicit_cache_is_read_once_and_rented_to_its_end(one):
    cache = {
        "name": "cachedContents/abc",
        "model": "models/gemini-2.5-pro",
        "createTime": "2026-03-02T10:00:00Z",
        "expireTime": "2026-03-02T12:30:00Z",
        "usageMetadata": {"totalTokenCount": 200_000},
    }
    event = one({"request": {"contents": REQUEST["contents"]}, "response": cache})
    assert (event.operation, event.model, event.source_record) == ("cache", "gemini-2.5-pro", "cachedContents/abc")
    assert (event.tok_input, event.units) == (200_000, {"cache_storage": 0.5})
    assert one({**cache, "expireTime": None}).units is None


COUNT = st.integers(0, 10**7)
SPLIT = st.fixed_dictionaries({"text": COUNT, "audio": COUNT, "image": COUNT})


@settings(max_examples=150, deadline=None)
@given(prompt=COUNT, cached=COUNT, tool=COUNT, answer=COUNT, thoughts=COUNT, inside=st.booleans(), by=SPLIT, read=SPLIT)
def test_classes_add_up_to_the_counters_whatever_they_are(prompt, cached, tool, answer, thoughts, inside, by, read):
    total = prompt + tool + answer + (0 if inside else thoughts)
    counters = {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": cached,
        "toolUsePromptTokenCount": tool,
        "candidatesTokenCount": answer,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": total,
        "promptTokensDetails": details(**by),
        "cacheTokensDetails": details(**read),
        "candidatesTokensDetails": details(**by),
    }
    parse = format_named("gemini_generate_content").parse
    (event,) = parse(response(counters), Origin("s", "f", 1))
    assert tokens_in(event) == prompt + tool
    if "sum_mismatch" not in (event.warnings or []):
        assert tokens_in(event) + tokens_out(event) == total
    fits = cached <= prompt and sum(read.values()) <= cached and sum(by.values()) <= min(prompt - cached, answer)
    assert fits or cached <= prompt or "inconsistent_usage" in event.warnings


def test_lines_of_a_batch_are_calls_at_the_batch_price(read):
    first, second = read(
        {"key": "row-1", "response": response()}, {"key": "row-2", "error": {"code": 3, "message": "no"}}
    )
    assert (first.is_batch, first.tags["custom_id"], first.tok_input) == (True, "row-1", 100)
    assert (second.status, second.not_billed, second.error) == ("error", True, "3: no")
    assert second.source_record == "row-2"


def test_rows_of_vertex_hold_the_request_and_know_themselves_by_it(read):
    row = {"request": REQUEST, "processed_time": "2026-03-02T11:00:00Z"}
    good, bad, same = read(
        {**row, "status": "", "response": response()},
        {**row, "status": "Bad Request: {}", "response": {}},
        {**row, "status": "Bad Request: {}", "response": {}},
    )
    assert (good.model, good.prompt[4].text, good.is_batch) == ("gemini-2.5-flash", "Be brief.", True)
    assert (bad.status, bad.not_billed, bad.error) == ("error", True, "Bad Request: {}")
    assert bad.source_record == same.source_record
    assert tokens_in(bad) is None


def test_claude_on_vertex_is_a_message_that_google_serves(one):
    message = {"type": "message", "id": "msg_1", "model": "claude-sonnet-4-5", "content": [], "role": "assistant"}
    record = {
        "custom_id": "a",
        "request": {"anthropic_version": "vertex-2023-10-16", "messages": [{"role": "user", "content": "x"}]},
        "response": {**message, "usage": {"input_tokens": 4, "cache_read_input_tokens": 3, "output_tokens": 2}},
        "status": "",
        "processed_time": "2026-03-02T11:00:00Z",
    }
    event = one(record)
    assert (event.provider, event.tok_input, event.tok_cache_read, event.is_batch) == ("google", 4, 3, True)


def logged(**more):
    return {
        "endpoint": "projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-flash",
        "deployed_model_id": "",
        "logging_time": "2026-03-02 10:00:01.500000 UTC",
        "request_id": "8212345678901234567",
        "request_payload": [json.dumps(REQUEST)],
        "response_payload": [json.dumps(response())],
        "model": "gemini-2.5-flash",
        "api_method": "generateContent",
        **more,
    }


@pytest.mark.parametrize("full", [True, False])
def test_a_row_of_vertex_request_log_is_its_bodies_where_they_were_served(one, full):
    bodies = {"full_request": json.dumps(REQUEST), "full_response": response()} if full else {}
    event = one(logged(**bodies))
    assert (event.provider, event.model, event.region) == ("google", "gemini-2.5-flash", "europe-west4")
    assert (event.tok_input, event.tok_output, event.max_tokens) == (100, 20, 64)
    assert (event.source_record, event.warnings) == ("aB3dEfGhIjK", None)


def test_a_logged_stream_counts_by_its_last_chunk(one):
    event = one(logged(api_method="streamGenerateContent", response_payload=[json.dumps(one) for one in chunks()]))
    assert (event.tok_output, event.output, event.stream) == (20, "Hello", True)


def test_a_row_without_a_response_is_known_by_its_request_id(one):
    event = one(logged(response_payload=[]))
    assert (event.source_record, event.status, tokens_in(event)) == ("8212345678901234567", "aborted", None)
    assert event.start_us == 1772445601_500000


@pytest.mark.parametrize("record", [{"key": "a", "request": {"contents": []}}, {"recordId": "a", "modelInput": {}}])
def test_lines_of_a_batchs_input_are_no_calls(read, record):
    (item,) = read(record, form="gemini_generate_content")
    assert isinstance(item, Rejected)
    assert "batch's input" in item.reason


INTERACTION = {
    "id": "v1_abc",
    "model": "models/gemini-3-flash-preview",
    "status": "completed",
    "created": "2026-03-02T10:00:00Z",
    "updated": "2026-03-02T10:00:03Z",
    "service_tier": "flex",
    "steps": [
        {"type": "thought", "summary": []},
        {"type": "model_output", "content": [{"type": "text", "text": "Yes."}]},
    ],
    "usage": {
        "total_input_tokens": 100,
        "total_cached_tokens": 40,
        "total_tool_use_tokens": 5,
        "total_output_tokens": 20,
        "total_thought_tokens": 30,
        "total_tokens": 155,
        "input_tokens_by_modality": [{"modality": "text", "tokens": 90}, {"modality": "image", "tokens": 10}],
        "grounding_tool_count": [{"type": "google_search", "count": 2}],
    },
}


def test_an_interaction_has_the_classes_of_all_its_hops(one):
    event = one({"request": {"model": "gemini-3-flash-preview", "input": "Is it?"}, "response": INTERACTION})
    assert (event.tok_input, event.tok_cache_read, event.tok_input_image) == (55, 40, 10)
    assert (event.tok_output, event.tok_reasoning, event.output) == (20, 30, "Yes.")
    assert tokens_in(event) + tokens_out(event) == event.tok_total_reported == 155
    assert (event.model, event.service_tier, event.units) == ("gemini-3-flash-preview", "flex", {"web_search": 2.0})
    assert event.end_us - event.start_us == 3_000_000
    assert event.prompt[0].text == "Is it?"
    assert event.warnings is None


def test_an_interactions_stream_ends_in_the_whole(one):
    events = [
        {"event_type": "interaction.created", "interaction": {"id": "v1_abc", "status": "in_progress"}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "Yes."}},
        {"event_type": "interaction.completed", "interaction": INTERACTION},
    ]
    whole = one(events, form="gemini_interactions")
    assert (whole.tok_input, whole.tok_output, whole.status, whole.stream) == (55, 20, "ok", True)
    cut = one(events[:2], form="gemini_interactions")
    assert (cut.status, cut.provider_response_id, tokens_in(cut)) == ("aborted", "v1_abc", None)


@pytest.mark.data
def test_the_samples_have_the_classes_that_their_maker_gave_them(sample, read):
    answered, blocked = read(*sample("gemini_generate_content"))
    assert (answered.tok_input, answered.tok_cache_read, answered.tok_input_image) == (590, 8192, 258)
    assert (answered.tok_output, answered.tok_reasoning) == (220, 900)
    assert (blocked.tok_input, blocked.tok_output) == (57, 0)
    (studio, failed), (vertex,) = read(*sample("gemini_batch_output")), read(*sample("vertex_batch_output"))
    for name in ("tok_input", "tok_cache_read", "tok_input_image", "tok_output", "tok_reasoning", "model"):
        assert getattr(answered, name) == getattr(studio, name) == getattr(vertex, name), name
    assert studio.is_batch
    assert vertex.is_batch
    assert failed.not_billed


def test_sound_and_pictures_of_tool_prompts_are_sound_and_pictures(one):
    counters = usage(
        toolUsePromptTokenCount=60,
        toolUsePromptTokensDetails=details(text=10, audio=20, image=30),
        totalTokenCount=180,
    )
    event = one(response(counters))
    assert (event.tok_input, event.tok_input_audio, event.tok_input_image) == (110, 20, 30)
    assert event.warnings is None
