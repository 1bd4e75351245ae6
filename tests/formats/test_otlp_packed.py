"""Counters that instrumentations pack into one attribute, or whose convention only their versions show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.core.hashing import request_key
from app.core.usage import UsageEvent, tokens_in, tokens_out
from ingest.formats import format_named
from ingest.formats.format import Origin

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
Attributes = dict[str, Any]


def export(attributes: Attributes, **fields: Any) -> dict[str, Any]:
    span = {
        "traceId": TRACE,
        "spanId": SPAN,
        "name": "call",
        "startTimeUnixNano": "1790000000000000000",
        "endTimeUnixNano": "1790000002000000000",
        "attributes": attributes,
        **fields,
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def calls(record: dict[str, Any], name: str = "otlp_genai") -> list[UsageEvent]:
    parsed = format_named(name).parse(record, Origin("s", "f", 1))
    return [item for item in parsed if isinstance(item, UsageEvent)]


def call(attributes: Attributes, **fields: Any) -> UsageEvent:
    (event,) = calls(export(attributes, **fields))
    return event


def classes(event: UsageEvent) -> tuple[int | None, ...]:
    """(fresh, read, written for minutes, written for an hour, visible, reasoning)"""
    short = event.tok_cache_write_5m if event.tok_cache_write_5m is not None else event.tok_cache_write_30m
    return event.tok_input, event.tok_cache_read, short, event.tok_cache_write_1h, event.tok_output, event.tok_reasoning


def ai_sdk(provider: str, served: Attributes | None = None, **usage: int) -> Attributes:
    found: Attributes = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.model.id": "some-model",
        "ai.model.provider": provider,
        **{f"ai.usage.{name.replace('__', '.')}": count for name, count in usage.items()},
    }
    return found if served is None else {**found, "ai.response.providerMetadata": json.dumps(served)}


MLFLOW = {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.llm.model": '"gpt-5"', "mlflow.llm.provider": '"openai"'}
LANGFUSE = {"langfuse.observation.type": "generation", "langfuse.observation.model.name": "gpt-5"}
RAW_ANTHROPIC = {
    "input_tokens": 700,
    "cache_read_input_tokens": 600,
    "cache_creation_input_tokens": 100,
    "cache_creation": {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 60},
    "output_tokens": 50,
}
LITELLM_USAGE = {
    "completion_tokens": 50,
    "prompt_tokens": 1400,
    "total_tokens": 1450,
    "completion_tokens_details": None,
    "prompt_tokens_details": {
        "audio_tokens": None,
        "cached_tokens": 600,
        "cache_creation_tokens": 100,
        "cache_creation_token_details": {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 60},
    },
}
LITELLM = {
    "llm.request.type": "acompletion",
    "gen_ai.system": "anthropic",
    "gen_ai.request.model": "claude-sonnet-5",
    "gen_ai.response.model": "what-the-caller-asked-for",
    "gen_ai.usage.input_tokens": 1400,
    "gen_ai.usage.output_tokens": 50,
    "gen_ai.usage.total_tokens": 1450,
    "gen_ai.cost.total_cost": 0.5,
    "metadata.usage_object": str(LITELLM_USAGE),
    "metadata.user_api_key_alias": "checkout",
    "metadata.user_api_key_team_alias": "shop",
    "hidden_params": json.dumps({"litellm_model_name": "anthropic/claude-sonnet-5", "response_cost": None}),
}


def packed(**usage: Any) -> str:
    return json.dumps({name.replace("__", "."): count for name, count in usage.items()})


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (
            {
                **LANGFUSE,
                "langfuse.observation.usage_details": packed(
                    input=300, input_cached_tokens=600, output=20, output_reasoning_tokens=30, total=950
                ),
            },
            (300, 600, None, None, 20, 30),
        ),
        (
            {  # older SDKs call a generation a span
                **LANGFUSE,
                "langfuse.observation.type": "span",
                "langfuse.observation.usage_details": packed(
                    prompt_tokens=900,
                    completion_tokens=50,
                    total_tokens=950,
                    prompt_tokens_details={"cached_tokens": 600},
                ),
            },
            (300, 600, None, None, 50, None),
        ),
        (
            {
                **MLFLOW,
                "mlflow.chat.tokenUsage": packed(
                    input_tokens=900, output_tokens=50, total_tokens=950, cache_read_input_tokens=600
                ),
            },
            (300, 600, None, None, 50, None),
        ),
        (LITELLM, (700, 600, 40, 60, 50, None)),
        (
            ai_sdk(
                "openai.chat",
                {"openai": {"cachedPromptTokens": 600, "reasoningTokens": 30}},
                promptTokens=900,
                completionTokens=50,
            ),
            (300, 600, None, None, 20, 30),
        ),
        (
            ai_sdk(
                "anthropic.messages",
                {"anthropic": {"cacheCreationInputTokens": 100, "cacheReadInputTokens": 600}},
                promptTokens=700,
                completionTokens=50,
            ),
            (700, 600, 100, None, 50, None),
        ),
        (
            ai_sdk(
                "anthropic.messages",
                {"anthropic": {"usage": RAW_ANTHROPIC}},
                inputTokens=700,
                outputTokens=50,
                totalTokens=750,
                cachedInputTokens=600,
            ),
            (700, 600, 40, 60, 50, None),
        ),
        (
            ai_sdk("anthropic.messages", inputTokens=700, outputTokens=50, totalTokens=750, cachedInputTokens=600),
            (700, 600, None, None, 50, None),
        ),
        (
            ai_sdk(
                "anthropic.messages",
                inputTokens=1400,
                outputTokens=50,
                totalTokens=1450,
                inputTokenDetails__noCacheTokens=700,
                inputTokenDetails__cacheReadTokens=600,
                inputTokenDetails__cacheWriteTokens=100,
            ),
            (700, 600, 100, None, 50, None),
        ),
        (
            ai_sdk(
                "amazon-bedrock",
                {"bedrock": {"usage": {"cacheWriteInputTokens": 100}}},
                inputTokens=700,
                outputTokens=50,
                cachedInputTokens=600,
            ),
            (700, 600, 100, None, 50, None),
        ),
        (
            ai_sdk(
                "google.generative-ai", inputTokens=900, outputTokens=100, reasoningTokens=30, cachedInputTokens=600
            ),
            (300, 600, None, None, 100, 30),
        ),
        (
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.system": "aws.bedrock",
                "gen_ai.request.model": "some-model",
                "gen_ai.usage.input_tokens": 700,
                "gen_ai.usage.output_tokens": 50,
                "gen_ai.usage.total_tokens": 1450,
                "gen_ai.usage.cache_read_input_tokens": 600,
                "gen_ai.usage.cache_write_input_tokens": 100,
            },
            (700, 600, 100, None, 50, None),
        ),
    ],
    ids=[
        "langfuse", "langfuse 3.3", "mlflow", "litellm", "ai sdk 4 openai", "ai sdk 4 anthropic", "ai sdk 5 anthropic",
        "ai sdk 5 anthropic, no metadata", "ai sdk 6", "ai sdk 5 bedrock", "ai sdk 5 gemini", "strands",
    ],
)  # fmt: skip
def test_packed_counters_and_old_conventions_give_the_billed_classes(
    attributes: Attributes, expected: tuple[int | None, ...]
) -> None:
    event = call(attributes)
    assert classes(event) == expected
    assert event.warnings is None
    assert (tokens_in(event) or 0) + (tokens_out(event) or 0) == sum(count or 0 for count in expected)


def test_langfuse_says_cost_time_and_error_in_attributes_of_its_own() -> None:
    event = call(
        {
            **LANGFUSE,
            "langfuse.observation.cost_details": packed(input=0.25, total=0.5),
            "langfuse.observation.completion_start_time": '"2026-09-21T14:13:20.500000Z"',
            "langfuse.observation.level": "ERROR",
            "langfuse.observation.status_message": "too long",
            "langfuse.observation.input": packed(messages=[{"role": "user", "content": "Hi"}]),
            "langfuse.observation.output": "Ho",
            "langfuse.observation.model.parameters": packed(temperature=0.5),
            "langfuse.observation.metadata.feature": "search",
        },
        startTimeUnixNano="1790000000000000000",
    )
    assert (event.cost_reported_usd, event.status, event.error) == ("0.5", "error", "too long")
    assert (event.first_token_us, event.start_us) == (1_790_000_000_500_000, 1_790_000_000_000_000)
    assert (event.temperature, event.output, event.tags) == (0.5, "Ho", {"feature": "search"})
    assert [part.text for part in event.prompt or []] == ["Hi"]


def test_the_model_that_litellm_called_is_billed_not_the_name_that_was_asked_for() -> None:
    event = call(LITELLM)
    assert (event.model, event.provider, event.cost_reported_usd) == ("claude-sonnet-5", "anthropic", "0.5")
    assert (event.api_key_alias, event.tags) == ("checkout", {"team": "shop"})


def test_a_failed_call_through_litellm_is_a_call_too() -> None:
    failed = {name: value for name, value in LITELLM.items() if "usage" not in name}
    event = call({**failed, "error.type": "429"}, status={"code": 2})
    assert (event.status, event.http_status, tokens_in(event)) == ("error", 429, None)


STRONG_ID = "chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz123"
EMBEDDING = {"llm.request.type": "aembedding", "gen_ai.request.model": "text-embedding-3-small"}


@pytest.mark.parametrize("kind", [LITELLM, {**LITELLM, **EMBEDDING}])
@pytest.mark.parametrize(
    ("told", "hit"),
    [
        ({"hidden_params": json.dumps({"cache_key": "586bf3f3", "response_cost": 0.5})}, True),
        ({"hidden_params": {"cache_key": "586bf3f3"}, "gen_ai.response.id": STRONG_ID}, True),
        ({"gen_ai.response.id": "0c1d_cache_hit1790000000.25"}, True),
        ({"gen_ai.response.id": f"{STRONG_ID}_cache_hit1790000000.25"}, True),
        ({"litellm.cache_hit": True}, True),
        ({"metadata.cache_hit": "True"}, True),
        ({"hidden_params": json.dumps({"cache_key": None, "response_cost": 0.5})}, False),
        ({"metadata.cache_hit": "False"}, False),
        ({"gen_ai.response.id": STRONG_ID}, False),
        ({"gen_ai.response.id": "my_cache_hits"}, False),
    ],
)
def test_an_answer_out_of_litellms_own_cache_costs_nothing(kind: Any, told: Any, hit: bool) -> None:
    event = call({**kind, **told})
    assert event.not_billed is hit
    assert event.cost_reported_usd == ("0" if hit else "0.5")
    assert event.provider_response_id == (None if hit else told.get("gen_ai.response.id"))
    assert tokens_in(event) == 1400


def test_the_last_steps_counters_are_not_those_of_all_steps() -> None:
    steps = {**ai_sdk("anthropic.messages", {"anthropic": {"usage": RAW_ANTHROPIC}}, inputTokens=9000, outputTokens=80)}
    event = call({**steps, "ai.operationId": "ai.generateText"})
    assert (event.tok_input, event.tok_output) == (9000, 80)


def test_a_notice_that_a_span_began_is_no_call() -> None:
    pending = {"logfire.span_type": "pending_span", "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5"}
    assert calls(export(pending)) == []


@pytest.mark.parametrize("junk", ["", "{", "[]", "null", "{'a': __import__('os')}", "{" * 9000, '{"usage": 5}', 7, []])
def test_nothing_that_is_packed_breaks_the_reader(junk: Any) -> None:
    for attributes in (LANGFUSE, MLFLOW, LITELLM, ai_sdk("anthropic.messages", inputTokens=5)):
        names = (
            "langfuse.observation.usage_details",
            "langfuse.observation.cost_details",
            "langfuse.observation.completion_start_time",
            "mlflow.chat.tokenUsage",
            "mlflow.llm.cost",
            "metadata.usage_object",
            "hidden_params",
            "ai.response.providerMetadata",
        )
        assert len(calls(export({**attributes, **dict.fromkeys(names, junk)}))) == 1


def agent_log(name: str, **attributes: Any) -> dict[str, Any]:
    return {
        "timeUnixNano": "1790000002000000000",
        "body": {"stringValue": f"claude_code.{name}"},
        "attributes": {"event.name": name, "session.id": "s", "event.sequence": 3, **attributes},
    }


COUNTERS = {"input_tokens": 5, "output_tokens": 40, "cache_read_tokens": 900, "cache_creation_tokens": 10}


def test_claude_codes_span_and_event_of_one_request_are_one_call() -> None:
    held = {**COUNTERS, "model": "claude-sonnet-5", "request_id": "req_011CSample"}
    span = call(held, name="claude_code.llm_request")
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [agent_log("api_request", **held)]}]}]}
    (event,) = calls(logs, "claude_code_telemetry")
    keys = {request_key(one.provider_response_id, "laptop", one.source_record or "") for one in (span, event)}
    assert len(keys) == 1
    assert classes(span) == classes(event) == (5, 900, 10, None, 40, None)


@pytest.mark.parametrize("name", ["claude_code_telemetry", "otlp_genai"])
def test_records_of_several_programs_in_one_export_are_each_read(name: str) -> None:
    other = {
        "timeUnixNano": "1790000002000000000",
        "eventName": "gen_ai.client.inference.operation.details",
        "traceId": TRACE,
        "spanId": SPAN,
        "attributes": {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.usage.input_tokens": 7,
            "gen_ai.input.messages": json.dumps([{"role": "user", "content": "What is claude_code?"}]),
        },
    }
    records = [other, agent_log("api_request", model="claude-sonnet-5", **COUNTERS), agent_log("user_prompt")]
    found = calls({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}, name)
    assert [(event.model, tokens_in(event)) for event in found] == [("gpt-5", 7), ("claude-sonnet-5", 915)]


SERVED = {
    "service_tier": "priority",
    "speed": "fast",
    "inference_geo": "us",
    "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 0},
}


@pytest.mark.parametrize(
    "attributes",
    [
        {**LITELLM, "metadata.usage_object": str({**LITELLM_USAGE, **SERVED})},
        ai_sdk("anthropic.messages", {"anthropic": {"usage": {**RAW_ANTHROPIC, **SERVED}}}),
    ],
    ids=["litellm", "ai sdk"],
)
def test_usage_of_anthropic_says_its_tier_speed_place_and_searches(attributes: Attributes) -> None:
    event = call(attributes)
    assert (event.service_tier, event.units) == ("priority", {"web_search": 2.0})
    assert event.price_context == {"speed": "fast", "inference_geo": "us"}


@pytest.mark.parametrize(
    ("asked", "answered", "tier"),
    [("flex", None, "flex"), ("auto", None, None), ("priority", "default", "default"), (None, None, None)],
)
def test_the_tier_of_a_call_is_found_among_its_parameters_too(
    asked: str | None, answered: str | None, tier: str | None
) -> None:
    event = call(
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "gpt-5",
            "llm.invocation_parameters": json.dumps({"temperature": 1, "service_tier": asked}),
            "llm.token_count.prompt": 10,
            "openai.response.service_tier": answered,
        }
    )
    assert event.service_tier == tier
