"""OpenTelemetry spans of every vocabulary, read to disjoint classes, names, times and ends."""

from __future__ import annotations

import pytest
from made_spans import (
    AI_SDK,
    CURRENT,
    DETAILS,
    OLD,
    OPENINFERENCE,
    PARENT,
    SPAN,
    TRACE,
    chat,
    classes,
    export,
    span,
)

from app.core.usage import tokens_in, tokens_out


@pytest.mark.parametrize("vocabulary", [CURRENT, OLD, OPENINFERENCE, AI_SDK, DETAILS, {**CURRENT, **OLD}])
def test_every_vocabulary_gives_the_same_classes(one, vocabulary):
    event = one(export(span({"gen_ai.request.model": "gpt-5", **vocabulary})))
    assert classes(event) == (300, 600, 100, 20, 30)
    assert tokens_in(event) + tokens_out(event) == 1050
    assert (event.provider, event.model, event.operation, event.warnings) == ("openai", "gpt-5", "chat", None)


def test_a_provider_never_switches_the_convention_back_to_its_own(one):
    usage = {"gen_ai.usage.input_tokens": 50_010, "gen_ai.usage.cache_read.input_tokens": 48_000}
    event = one(export(span({"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", **usage})))
    assert (event.tok_input, event.tok_cache_read) == (2_010, 48_000)


def test_counters_that_cannot_be_inside_stand_beside(one):
    usage = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.cache_read_input_tokens": 48_000}
    event = one(export(span({"gen_ai.operation.name": "chat", **usage})))
    assert (event.tok_input, event.tok_cache_read, event.warnings) == (10, 48_000, None)


@pytest.mark.parametrize(("total", "expected"), [(120, (40, 60)), (180, (100, 60)), (999, (40, 60))])
def test_the_total_decides_whether_cached_tokens_are_inside(one, total, expected):
    usage = {
        "gen_ai.usage.prompt_tokens": 100,
        "gen_ai.usage.cache_read_input_tokens": 60,
        "gen_ai.usage.completion_tokens": 20,
        "llm.usage.total_tokens": total,
    }
    event = one(export(span({"llm.request.type": "chat", "gen_ai.request.model": "claude-x", **usage})))
    assert (event.tok_input, event.tok_cache_read) == expected
    assert event.warnings == (["sum_mismatch"] if total == 999 else None)


def test_reasoning_beside_the_answer_is_told_by_the_total(one):
    usage = {
        "llm.token_count.prompt": 100,
        "llm.token_count.completion": 20,
        "llm.token_count.completion_details.reasoning": 50,
        "llm.token_count.total": 170,
    }
    event = one(export(span({"openinference.span.kind": "LLM", "llm.model_name": "gemini-3", **usage})))
    assert (event.tok_output, event.tok_reasoning) == (20, 50)


def test_modalities_are_classes_of_their_own(one):
    event = one(
        export(
            chat(
                gen_ai__usage__input_tokens=1000,
                gen_ai__usage__output_tokens=100,
                **{
                    "gen_ai.usage.audio.input_tokens": 300,
                    "gen_ai.usage.audio.cache_read.input_tokens": 100,
                    "gen_ai.usage.cache_read.input_tokens": 500,
                    "gen_ai.usage.image.input_tokens": 50,
                    "gen_ai.usage.audio.output_tokens": 40,
                },
            )
        )
    )
    assert (event.tok_input, event.tok_cache_read, event.tok_cache_read_audio) == (250, 400, 100)
    assert (event.tok_input_audio, event.tok_input_image) == (200, 50)
    assert (event.tok_output, event.tok_output_audio) == (60, 40)
    assert tokens_in(event) == 1000


def test_claude_codes_own_counters_stand_beside_each_other(one):
    counters = {"input_tokens": 5, "output_tokens": 40, "cache_read_tokens": 900, "cache_creation_tokens": 10}
    event = one(export(span({**counters, "model": "claude-sonnet-5"}, name="claude_code.llm_request")))
    assert classes(event) == (5, 900, 10, 40, None)
    assert event.provider == "anthropic"


def test_names_times_and_ends(one):
    event = one(
        export(
            span(
                {
                    **CURRENT,
                    "gen_ai.operation.name": "chat",
                    "gen_ai.request.model": "gpt-5",
                    "gen_ai.response.model": "gpt-5-2026-01-01",
                    "gen_ai.response.id": "chatcmpl-9ab8c7d6e5f4",
                    "gen_ai.response.finish_reasons": ["length"],
                    "gen_ai.request.stream": True,
                    "gen_ai.response.time_to_first_chunk": 0.25,
                    "gen_ai.conversation.id": "session-1",
                    "gen_ai.request.temperature": 0.5,
                    "gen_ai.request.max_tokens": 64,
                    "gen_ai.request.stop_sequences": ["END"],
                    "openai.response.service_tier": "flex",
                    "user.id": "someone",
                }
            ),
            resource={"service.name": "shop", "deployment.environment.name": "prod"},
        )
    )
    assert (event.source_record, event.trace_id, event.parent_id) == (f"{TRACE}/{SPAN}", TRACE, PARENT)
    assert (event.model, event.provider_response_id) == ("gpt-5-2026-01-01", "chatcmpl-9ab8c7d6e5f4")
    assert (event.start_us, event.end_us) == (1_790_000_000_123_456, 1_790_000_002_000_000)
    assert (event.first_token_us, event.stream) == (1_790_000_000_373_456, True)
    assert (event.finish_reason, event.service_tier, event.session_id) == ("length", "flex", "session-1")
    assert (event.temperature, event.max_tokens, event.stop, event.user) == (0.5, 64, '["END"]', "someone")
    assert event.tags == {"service": "shop", "environment": "prod"}


@pytest.mark.parametrize(
    ("attributes", "tag"),
    [
        ({"halve.feature": "search"}, ("feature", "search")),
        ({"metadata": '{"feature": "triage", "deep": {"a": 1}}'}, ("feature", "triage")),
        ({"tag.tags": ["feature:digest"]}, ("feature", "digest")),
        ({"traceloop.association.properties.team": "core"}, ("team", "core")),
        ({"traceloop.workflow.name": "intake"}, ("trace_name", "intake")),
        ({"ai.telemetry.functionId": "summarise"}, ("trace_name", "summarise")),
        ({"gen_ai.agent.name": "planner"}, ("agent", "planner")),
    ],
)
def test_labels_become_tags(one, attributes, tag):
    event = one(export(span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **attributes})))
    assert event.tags[tag[0]] == tag[1]


@pytest.mark.parametrize(
    ("attributes", "provider", "region"),
    [
        (
            {"gen_ai.provider.name": "gcp.vertex_ai", "server.address": "us-central1-aiplatform.googleapis.com"},
            "google",
            "us-central1",
        ),
        (
            {"gen_ai.system": "aws.bedrock", "server.address": "bedrock-runtime.eu-west-1.amazonaws.com"},
            "aws",
            "eu-west-1",
        ),
        ({"gen_ai.system": "az.ai.openai"}, "azure", None),
        ({"gen_ai.provider.name": "openai", "server.address": "api.groq.com"}, "groq", None),
        ({"gen_ai.provider.name": "x_ai"}, "x-ai", None),
        ({"ai.model.provider": "anthropic.messages"}, "anthropic", None),
        ({"gen_ai.request.model": "claude-opus-4-6"}, "anthropic", None),
    ],
)
def test_providers_are_called_what_halve_calls_them(one, attributes, provider, region):
    event = one(export(span({"gen_ai.operation.name": "chat", **attributes})))
    assert (event.provider, event.region) == (provider, region)


@pytest.mark.parametrize(
    ("fields", "attributes", "expected"),
    [
        ({"status": {"code": 2, "message": "rate limited"}}, {"http.response.status_code": 429}, ("error", 429, True)),
        ({"status": {"code": "STATUS_CODE_ERROR"}}, {"error.type": "timeout"}, ("timeout", None, False)),
        ({"status": {"code": 2}}, {"error.type": "503"}, ("error", 503, False)),
        ({"status": {"code": 1}}, {}, ("ok", None, False)),
    ],
)
def test_failed_calls_say_how_and_what_is_known_of_their_bill(one, fields, attributes, expected):
    event = one(export(span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **attributes}, **fields)))
    assert (event.status, event.http_status, event.not_billed) == expected
    assert tokens_in(event) is None


def test_a_call_without_usage_is_a_call_of_unknown_cost(one):
    event = one(export(chat()))
    assert tokens_in(event) is tokens_out(event) is None
    assert not event.not_billed


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("otlp_genai_span", (176, 2560, 384, 92, 320)),
        ("otlp_openinference_span", (128, 1280, None, 9, 0)),
        ("otlp_openllmetry_span", (128, 1280, None, 9, None)),
        ("otlp_claude_code_log", (12, 41000, 900, 340, None)),
        ("phoenix_span", (128, 1280, None, 9, None)),
    ],
)
def test_sample_records_are_read_to_the_right_classes(one, sample, name, expected):
    event = one(*sample(name))
    assert classes(event) == expected
    assert event.warnings is None
