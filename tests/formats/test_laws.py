"""Laws that hold for every format: parse never raises, classes are never negative, and they add up to the total."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.billed import BilledLine
from app.core.usage import TOKEN_CLASSES, Rejected, UsageEvent, tokens_in, tokens_out
from ingest.formats import FORMATS, detect_format, format_named
from ingest.formats.column_map import propose
from ingest.formats.format import Origin

CHAT, MESSAGES = format_named("openai_chat"), format_named("anthropic_messages")
KEYS = [
    "id",
    "type",
    "object",
    "model",
    "usage",
    "choices",
    "message",
    "content",
    "role",
    "request",
    "response",
    "body",
    "stream",
    "error",
    "status",
    "created",
    "created_at",
    "timestamp",
    "input",
    "output",
    "usageDetails",
    "observations",
    "trace",
    "data",
    "batch",
    "metadata",
    "request_tags",
    "custom_id",
    "result",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "prompt_tokens_details",
    "cached_tokens",
    "input_tokens",
    "output_tokens",
    "cache_creation",
    "iterations",
    "messages",
    "tools",
    "system",
    "startTime",
    "request_id",
    "spend",
    "hash_ids",
    "delta",
    "index",
    "tool_calls",
    "parentObservationId",
    "server_tool_use",
    "cache_control",
    "ttl",
    "text",
    "function",
    "arguments",
    "response_format",
    "json_schema",
    "contents",
    "parts",
    "candidates",
    "usageMetadata",
    "promptTokenCount",
    "totalTokenCount",
    "usage_metadata",
    "modelId",
    "inputTokenCount",
    "inputTokens",
    "stopReason",
    "meta",
    "billed_units",
    "tokens",
    "results",
    "event_type",
    "attributes",
]
WORDS = [
    "message",
    "assistant",
    "GENERATION",
    "SPAN",
    "chat.completion",
    "chat.completion.chunk",
    "response",
    "response.completed",
    "message_start",
    "message_delta",
    "content_block_delta",
    "text_completion",
    "list",
    "succeeded",
    "errored",
    "failure",
    "True",
    "text",
    "tool_use",
    "generation-create",
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**6),
    st.integers(-(10**40), 10**40),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(WORDS),
    st.text(max_size=8),
    st.sampled_from(
        ["\ud800", "\x00", "{}", '{"a":1}', "data: {}", "1e400", "2026-03-02T10:00:00Z", "0000-00-00", "-1"]
    ),
)
ANY_JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=8),
    max_leaves=25,
)

SEEDS = [
    {"request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}], "tools": [{"a": 1}], "stop": ["s"]},
     "response": {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-4o", "created": 1772445600,
                  "choices": [{"index": 0, "message": {"content": "y"}, "finish_reason": "stop"}],
                  "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
                            "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 2},
                            "completion_tokens_details": {"reasoning_tokens": 3}}},
     "timestamp": 1772445600, "latency_ms": 3, "status": 200, "tags": ["feature:x"], "metadata": {"a": {"b": 1}}},
    [{"object": "chat.completion.chunk", "id": "c", "choices": [{"index": 0, "delta": {"content": "x", "tool_calls": [
        {"index": 0, "id": "t", "function": {"name": "f", "arguments": "{"}}]}, "finish_reason": "stop"}]}],
    {"object": "response", "model": "gpt-5", "created_at": 1.5, "status": "completed", "reasoning": {"effort": "low"},
     "text": {"format": {"type": "text"}}, "output": [{"type": "message", "content": [{"text": "x"}]}],
     "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7, "input_tokens_details": {"cached_tokens": 1}}},
    {"type": "message", "id": "msg_1", "model": "claude-x", "content": [{"type": "text", "text": "x"}],
     "usage": {"input_tokens": 1, "cache_creation_input_tokens": 5, "cache_creation": {"ephemeral_5m_input_tokens": 5},
               "output_tokens": 2, "iterations": [{"model": "m", "input_tokens": 1}], "server_tool_use": {}}},
    [{"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}},
     {"type": "content_block_delta", "index": 0, "delta": {"text": "x"}},
     {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}],
    {"request_id": "r", "startTime": "2026-03-02", "spend": 1, "call_type": "acompletion", "prompt_tokens": 5,
     "model": "openai/gpt-4o", "custom_llm_provider": "openai", "metadata": {"usage_object": {"prompt_tokens": 5}},
     "proxy_server_request": {"messages": []}, "response": {"choices": [{}]}, "status": "failure", "cache_hit": "True"},
    {"trace": {"id": "t", "tags": []}, "observations": [
        {"id": "a", "type": "GENERATION", "traceId": "t", "usageDetails": {"input": 5, "output": 2, "total": 7}},
        {"id": "b", "type": "GENERATION", "parentObservationId": "a", "traceId": "t", "usage": {"input": 5}}]},
    {"batch": [{"id": "1", "type": "generation-create", "timestamp": "t", "body": {"id": "o", "usage": {"input": 1}}}]},
    {"type": "assistant", "sessionId": "s", "uuid": "u", "cwd": "/a", "message": {"usage": {"input_tokens": 1}}},
    {"type": "message", "message": {"role": "assistant", "usage": {"input": 1, "cacheRead": 2, "cost": {"total": 1}}}},
    {"id": "b", "custom_id": "c", "response": {"status_code": 200, "body": {"object": "chat.completion", "usage": {}}}},
    {"custom_id": "c", "result": {"type": "succeeded", "message": {"usage": {"input_tokens": 1}}}},
    {"timestamp": 1, "input_length": 5, "hash_ids": [1, 2]},
    {"timestamp": 1, "input": "x", "output": "y", "session_id": "s"},
    {"model": "m", "timestamp": 1, "input_tokens": 5, "cache_read_tokens": 2, "output_tokens": 3, "status": "429"},
    {"path": "/v1beta/models/gemini-2.5-pro:generateContent", "request": {
        "contents": [{"role": "user", "parts": [{"text": "x"}, {"inlineData": {"mimeType": "image/png"}}]}],
        "systemInstruction": {"parts": [{"text": "s"}]}, "tools": [{"functionDeclarations": [{"name": "f"}]}],
        "generationConfig": {"maxOutputTokens": 5, "stopSequences": ["."], "thinkingConfig": {"thinkingBudget": 1}}},
     "response": {"responseId": "g", "modelVersion": "gemini-2.5-pro", "createTime": "2026-03-02T10:00:00Z",
        "candidates": [{"content": {"parts": [{"text": "y"}, {"functionCall": {}}]}, "finishReason": "STOP",
                        "groundingMetadata": {"webSearchQueries": ["q"]}}],
        "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 7,
            "thoughtsTokenCount": 3, "toolUsePromptTokenCount": 2, "totalTokenCount": 112, "trafficType": "ON_DEMAND",
            "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 30}, {"modality": "IMAGE", "tokenCount": 9}],
            "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 10}],
            "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 4}]}}},
    [{"candidates": [{"index": 0, "content": {"parts": [{"text": "a", "thought": True}]}}], "usageMetadata": {}},
     {"candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "STOP"}], "usageMetadata": {}}],
    {"id": "i", "status": "completed", "steps": [{"type": "model_output", "content": [{"type": "text", "text": "y"}]}],
     "usage": {"total_input_tokens": 9, "total_cached_tokens": 4, "total_output_tokens": 2, "total_thought_tokens": 1,
               "total_tokens": 12, "grounding_tool_count": [{"type": "google_search", "count": 2}],
               "input_tokens_by_modality": [{"modality": "image", "tokens": 3}]}},
    {"endpoint": "e", "logging_time": "2026-03-02", "request_id": 1, "api_method": "a",
     "response_payload": ['{"usageMetadata": {"promptTokenCount": 1}}'], "request_payload": ['{"contents": []}']},
    {"key": "k", "response": {"usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 1}}},
    {"status": "", "processed_time": "2026-03-02T10:00:00Z", "request": {"contents": []}, "response": {}},
    {"output": {"message": {"content": [{"text": "x"}, {"toolUse": {"name": "f"}}]}}, "stopReason": "end_turn",
     "usage": {"inputTokens": 3, "outputTokens": 4, "totalTokens": 10, "cacheReadInputTokens": 2,
               "cacheWriteInputTokens": 1, "cacheDetails": [{"ttl": "1h", "inputTokens": 1}]}},
    [{"messageStart": {"role": "assistant"}}, {"contentBlockDelta": {"delta": {"text": "x"}, "contentBlockIndex": 0}},
     {"messageStop": {"stopReason": "end_turn"}}, {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 2}}}],
    {"schemaType": "ModelInvocationLog", "timestamp": "2026-03-02T10:00:00Z", "accountId": "1", "region": "eu-west-1",
     "requestId": "r", "operation": "InvokeModel", "modelId": "meta.llama3-8b-instruct-v1:0", "identity": {"arn": "a"},
     "input": {"inputBodyJson": {"prompt": "x", "max_gen_len": 5}, "inputTokenCount": 3, "cacheReadInputTokenCount": 1},
     "output": {"outputBodyJson": {"generation": "y", "prompt_token_count": 3, "generation_token_count": 2},
                "outputTokenCount": 2}, "requestMetadata": {"team": "t"}, "errorCode": "ThrottlingException"},
    {"recordId": "r", "modelInput": {"inputText": "x"}, "modelOutput": {
        "inputTextTokenCount": 3, "results": [{"tokenCount": 2, "outputText": "y", "completionReason": "FINISH"}]}},
    {"Type": "ApiManagementGatewayLlmLog", "TimeGenerated": "2026-03-02T10:00:00Z", "RequestId": "r",
     "DeploymentName": "d", "ModelName": "gpt-5", "PromptTokens": 5, "CompletionTokens": 2, "TotalTokens": 7,
     "SequenceNumber": 0, "RequestMessages": [{"role": "user", "content": "x"}]},
    {"time": "2026-03-02T10:00:00Z", "resourceId": "/x/providers/Microsoft.CognitiveServices/accounts/a",
     "operationName": "ChatCompletions_Create", "durationMs": 5, "properties": {"modelDeploymentName": "d"},
     "response": {"object": "chat.completion", "model": "gpt-4", "choices": [], "usage": {"prompt_tokens": 1}}},
    {"type": "gemini", "id": "m", "model": "gemini-3", "timestamp": "2026-03-02T10:00:00Z", "content": "x",
     "tokens": {"input": 9, "output": 2, "cached": 4, "thoughts": 1, "tool": 3, "total": 15}},
    {"attributes": {"event.name": "gemini_cli.api_response", "model": "m", "input_token_count": 5, "duration_ms": 3}},
    {"run_id": "r", "model": "claude-x", "usage_metadata": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11,
     "input_token_details": {"cache_read": 2, "cache_creation": 3, "ephemeral_5m_input_tokens": 3}}},
    {"id": "r", "model": "rerank-v3.5", "results": [{"index": 0, "relevance_score": 1}],
     "meta": {"billed_units": {"search_units": 2}}},
    {"id": "c", "message": {"content": [{"type": "text", "text": "x"}]}, "finish_reason": "COMPLETE",
     "usage": {"billed_units": {"input_tokens": 3, "output_tokens": 2}, "tokens": {"input_tokens": 9}}},
    {"request": {"model": "gpt-image-1", "prompt": "x"}, "response": {"created": 1772445600, "data": [{"url": "u"}],
     "usage": {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13, "input_tokens_details": {"image_tokens": 3}}
     }},
    {"request": {"model": "whisper-1"}, "response": {"text": "x", "usage": {"type": "duration", "seconds": 3.5}}},
    {"id": "modr-1", "model": "omni-moderation-latest", "results": [{"flagged": False, "categories": {}}]},
    {"id": "run_1", "object": "thread.run", "thread_id": "t", "status": "completed", "model": "gpt-4o",
     "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}, "tools": [{}], "instructions": "x"},
]  # fmt: skip


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, index))


def put(value, path, new):
    if not path:
        return new
    changed = copy.deepcopy(value)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = new
    return changed


@st.composite
def damaged(draw):
    """A real record with one or two of its places replaced by anything."""
    record = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 2))):
        record = put(record, draw(st.sampled_from(list(places(record)))), draw(ANY_JSON))
    return record


def check(items):
    for item in items:
        assert isinstance(item, UsageEvent | BilledLine | Rejected)
        if isinstance(item, BilledLine):
            assert item.quantity is not None or item.cost is not None
            continue
        if isinstance(item, Rejected):
            assert item.reason
            continue
        for name in TOKEN_CLASSES:
            value = getattr(item, name)
            assert value is None or (type(value) is int and value >= 0), (name, value)
        for name in ("start_us", "end_us", "first_token_us", "max_tokens", "n", "seed", "http_status", "attempt"):
            value = getattr(item, name)
            assert value is None or (type(value) is int and -(2**63) <= value < 2**63), (name, value)
        texts = ("model", "provider", "source_record", "provider_response_id", "session_id", "user", "output", "params")
        for name in texts:
            assert getattr(item, name) is None or type(getattr(item, name)) is str, name
        assert all(type(part.text) is str and type(part.kind) is str for part in item.prompt or [])
        assert all(type(key) is str and type(value) is str for key, value in (item.tags or {}).items())
        assert all(warning and " " not in warning for warning in item.warnings or [])
        flagged = {"sum_mismatch", "inconsistent_usage"} & set(item.warnings or [])
        if item.tok_total_reported is not None and tokens_in(item) is not None and not flagged:
            assert tokens_in(item) + (tokens_out(item) or 0) == item.tok_total_reported or any(
                warning.startswith(("bad_number", "unknown_class")) for warning in item.warnings or []
            )


def read_by(form, record):
    gathered = form.gather([(1, record)]) if form.gather is not None else [(1, record)]
    return [item for line, given_record in gathered for item in form.parse(given_record, Origin("s", "f", line))]


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(record=ANY_JSON)
def test_parse_is_total_on_any_json(form, record):
    score = form.detect(record)
    assert 0.0 <= score <= 1.0
    check(read_by(form, record))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(record=damaged())
def test_parse_is_total_on_damaged_records(form, record):
    assert 0.0 <= form.detect(record) <= 1.0
    check(read_by(form, record))


COUNT = st.integers(0, 10**7)


@settings(max_examples=150, deadline=None)
@given(prompt=COUNT, cached=COUNT, written=COUNT, audio=COUNT, answer=COUNT, reasoning=COUNT)
def test_openai_classes_add_up_to_what_was_reported_or_are_flagged(prompt, cached, written, audio, answer, reasoning):
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written, "audio_tokens": audio},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    (event,) = read_by(CHAT, {"object": "chat.completion", "model": "gpt-5", "usage": usage})
    assert tokens_in(event) == prompt
    assert tokens_out(event) == answer
    fits = cached + written <= prompt and audio <= prompt - written and reasoning <= answer
    assert fits or "inconsistent_usage" in event.warnings


@settings(max_examples=100, deadline=None)
@given(fresh=COUNT, read=COUNT, short=COUNT, long=COUNT, answer=COUNT)
def test_anthropic_classes_add_up_to_what_was_reported(fresh, read, short, long, answer):
    usage = {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": short + long,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
        "output_tokens": answer,
    }
    (event,) = read_by(MESSAGES, {"type": "message", "role": "assistant", "content": [], "usage": usage})
    assert tokens_in(event) == fresh + read + short + long
    assert tokens_out(event) == answer
    assert event.warnings is None


@settings(max_examples=100, deadline=None)
@given(records=st.lists(damaged(), max_size=6))
def test_detection_is_deterministic_and_never_raises(records):
    first, second = detect_format(records), detect_format(json_copy(records))
    assert first is second


def json_copy(value):
    return copy.deepcopy(value)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.dictionaries(st.sampled_from(KEYS), ANY_JSON, max_size=6), max_size=4))
def test_a_proposal_never_raises_and_names_each_column_once(rows):
    columns = propose(list(rows[0]) if rows else [], rows).columns
    assert len(set(columns.values())) == len(columns)


@settings(max_examples=100, deadline=None)
@given(cut=st.integers(0, 400))
def test_a_torn_event_stream_keeps_what_arrived_whole(cut):
    events = [
        {"object": "chat.completion.chunk", "id": "c", "choices": [{"index": 0, "delta": {"content": str(i)}}]}
        for i in range(4)
    ]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)[: cut or None]
    items = read_by(CHAT, {"response_body": text})
    check(items)
    whole = text.count("\n\n") if cut else 4
    if whole and isinstance(items[0], UsageEvent):
        assert items[0].output.startswith("0123"[:whole])
