"""OpenTelemetry spans and log records of every vocabulary, read to disjoint classes."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.usage import Rejected, SpanLink, UsageEvent, tokens_in, tokens_out
from ingest.formats import format_named
from ingest.formats.format import Origin

TRACE, SPAN, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "53995c3f42cd8ad8"


def value(given):
    if isinstance(given, bool):
        return {"boolValue": given}
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, float):
        return {"doubleValue": given}
    if isinstance(given, list):
        return {"arrayValue": {"values": [value(item) for item in given]}}
    return {"stringValue": given}


def listed(attributes):
    return [{"key": key, "value": value(given)} for key, given in attributes.items()]


def span(attributes, **fields):
    return {
        "traceId": TRACE,
        "spanId": SPAN,
        "parentSpanId": PARENT,
        "name": "call",
        "startTimeUnixNano": "1790000000123456789",
        "endTimeUnixNano": "1790000002000000000",
        "attributes": listed(attributes),
        "status": {},
        **fields,
    }


def export(*spans, resource=None):
    return {
        "resourceSpans": [{"resource": {"attributes": listed(resource or {})}, "scopeSpans": [{"spans": list(spans)}]}]
    }


def logs(*records, scope="com.anthropic.claude_code.events"):
    return {"resourceLogs": [{"scopeLogs": [{"scope": {"name": scope}, "logRecords": list(records)}]}]}


def chat(**attributes):
    named = {name.replace("__", "."): given for name, given in attributes.items()}
    return span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", **named})


def classes(event):
    return (
        event.tok_input,
        event.tok_cache_read,
        event.tok_cache_write_5m or event.tok_cache_write_30m,
        event.tok_output,
        event.tok_reasoning,
    )


TWO = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
CURRENT = {
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.cache_read.input_tokens": 600,
    "gen_ai.usage.cache_write.input_tokens": 100,
    "gen_ai.usage.output_tokens": 50,
    "gen_ai.usage.reasoning.output_tokens": 30,
}
OLD = {
    "gen_ai.usage.prompt_tokens": 1000,
    "gen_ai.usage.cache_read_input_tokens": 600,
    "gen_ai.usage.cache_creation_input_tokens": 100,
    "gen_ai.usage.completion_tokens": 50,
    "gen_ai.usage.reasoning_tokens": 30,
    "llm.usage.total_tokens": 1050,
}
OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "gpt-5",
    "llm.token_count.prompt": 1000,
    "llm.token_count.prompt_details.cache_read": 600,
    "llm.token_count.prompt_details.cache_write": 100,
    "llm.token_count.completion": 50,
    "llm.token_count.completion_details.reasoning": 30,
    "llm.token_count.total": 1050,
}
AI_SDK = {
    "operation.name": "ai.generateText.doGenerate",
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.model.id": "gpt-5",
    "ai.model.provider": "openai.chat",
    "ai.usage.inputTokens": 1000,
    "ai.usage.inputTokenDetails.cacheReadTokens": 600,
    "ai.usage.inputTokenDetails.cacheWriteTokens": 100,
    "ai.usage.outputTokens": 50,
    "ai.usage.outputTokenDetails.reasoningTokens": 30,
}
DETAILS = {
    "gen_ai.operation.name": "chat",
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.details.cache_read_tokens": 600,
    "gen_ai.usage.details.cache_write_tokens": 100,
    "gen_ai.usage.output_tokens": 50,
    "gen_ai.usage.details.reasoning_tokens": 30,
}


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


def test_spans_that_are_no_calls_are_kept_as_links_where_they_stand_under_something(read):
    root = span({"http.route": "/ask"}, spanId=PARENT, parentSpanId="")
    tool = span({"gen_ai.operation.name": "execute_tool"})
    items = read(export(root, tool))
    assert [item.benign for item in items] == [True, True]
    assert [type(item) for item in items] == [Rejected, SpanLink]
    assert (items[1].span_id, items[1].parent_id) == (SPAN, PARENT)


def test_of_a_program_that_traces_everything_only_what_may_stand_between_calls_is_kept(read):
    plain = {"http.route": "/ask"}
    spans = [
        span(plain, spanId="1" * 16, parentSpanId="9" * 16),
        span(plain, spanId="2" * 16, parentSpanId="1" * 16),
        span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}, spanId="3" * 16, parentSpanId="2" * 16),
        span({"db.system": "postgres"}, spanId="4" * 16, parentSpanId="3" * 16),
        span({"traceloop.span.kind": "task"}, spanId="5" * 16, parentSpanId="9" * 16),
    ]
    kept = {item.span_id[0] for item in read(export(*spans)) if isinstance(item, SpanLink)}
    assert kept == {"1", "2", "5"}


def test_fetching_a_stored_answer_reports_no_usage_of_its_own(read):
    (item,) = read(export(span({"gen_ai.operation.name": "fetch_response", "gen_ai.request.model": "m", **CURRENT})))
    assert isinstance(item, Rejected)
    assert item.benign


def test_an_agent_above_a_call_repeats_it_also_through_spans_between(read):
    agent = span({"gen_ai.operation.name": "invoke_agent", **CURRENT}, spanId="a" * 16, parentSpanId="")
    node = span({"openinference.span.kind": "CHAIN"}, spanId="b" * 16, parentSpanId="a" * 16)
    call = span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **CURRENT}, parentSpanId="b" * 16)
    for order in ((agent, node, call), (call, node, agent)):
        items = read(export(*order))
        assert [item.source_record for item in items if isinstance(item, UsageEvent)] == [f"{TRACE}/{SPAN}"]
    (alone,) = [item for item in read(export(agent, node)) if isinstance(item, UsageEvent)]
    assert alone.provider_response_id is None


@pytest.mark.parametrize("wrong", ["", "0" * 32, "xyz", None, 7, "4bf92f35"])
def test_a_span_without_valid_ids_is_named_and_costs_no_other(read, wrong):
    bad = {**chat(), "traceId": wrong}
    good = chat(gen_ai__usage__input_tokens=5, gen_ai__usage__output_tokens=1)
    items = read(export(bad, good, "no span"))
    refused = [item for item in items if isinstance(item, Rejected)]
    assert sorted(item.reason.split()[0] for item in refused) == ["a", "span"]
    assert next(item for item in refused if item.part is not None).part == bad
    assert [tokens_in(item) for item in items if isinstance(item, UsageEvent)] == [5]


def test_ids_in_base64_are_the_same_ids(one):
    coded = {
        "traceId": base64.b64encode(bytes.fromhex(TRACE)).decode(),
        "spanId": base64.b64encode(bytes.fromhex(SPAN)).decode(),
    }
    assert one(export({**chat(), **coded})).source_record == f"{TRACE}/{SPAN}"


def test_genai_messages_become_segments_and_answers(one):
    messages = [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "What is new?"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "look", "arguments": {}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "nothing"}]},
    ]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "Nothing."}], "finish_reason": "stop"}]
    event = one(
        export(
            span(
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.request.model": "m",
                    "gen_ai.tool.definitions": json.dumps([{"name": "look"}]),
                    "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "House rules."}]),
                    "gen_ai.input.messages": json.dumps(messages),
                    "gen_ai.output.messages": json.dumps(answer),
                }
            )
        )
    )
    assert [(part.role, part.kind) for part in event.prompt] == [
        ("tools", "tool"),
        ("system", "text"),
        ("system", "text"),
        ("user", "text"),
        ("assistant", "tool_use"),
        ("tool", "tool_result"),
    ]
    assert event.prompt[1].text == "House rules."
    assert event.output == "Nothing."


@pytest.mark.parametrize(
    "attributes",
    [
        {
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": "Hi",
            "gen_ai.completion.0.content": "Ho",
        },
        {
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "Be brief.",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.contents.0.message_content.type": "text",
            "llm.input_messages.1.message.contents.0.message_content.text": "Hi",
            "llm.output_messages.0.message.content": "Ho",
        },
        {"ai.prompt.messages": json.dumps(TWO), "ai.response.text": "Ho"},
        {"input.value": json.dumps({"messages": TWO}), "output.value": "Ho"},
    ],
)
def test_messages_of_older_vocabularies_are_the_same_segments(one, attributes):
    event = one(export(span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **attributes})))
    assert [(part.role, part.text) for part in event.prompt] == [("system", "Be brief."), ("user", "Hi")]
    assert event.output == "Ho"


def test_messages_in_events_of_a_span_are_read(one):
    events = [
        {"name": "gen_ai.user.message", "attributes": listed({"content": "Hi"})},
        {"name": "gen_ai.choice", "attributes": listed({"content": "Ho"})},
    ]
    event = one(export({**chat(), "events": events}))
    assert [part.text for part in event.prompt] == ["Hi"]
    assert event.output == "Ho"


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


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from([*CURRENT, *OLD, *OPENINFERENCE, *AI_SDK, "gen_ai.input.messages", "metadata", "tag.tags"])


@given(st.dictionaries(NAMES, JUNK, max_size=8), st.dictionaries(st.sampled_from(list(span({}))), JUNK, max_size=4))
def test_no_attribute_and_no_field_breaks_the_reader(attributes, fields):
    record = {"resourceSpans": [{"scopeSpans": [{"spans": [{**span({}), "attributes": attributes, **fields}]}]}]}
    for item in format_named("otlp_genai").parse(record, Origin("s", "f", 1)):
        if isinstance(item, UsageEvent):
            assert all(
                getattr(item, name) is None or getattr(item, name) >= 0
                for name in item.__struct_fields__
                if name.startswith("tok_")
            )


@given(JUNK)
def test_no_export_breaks_the_readers(junk):
    for record in (
        {"resourceSpans": junk},
        {"resourceLogs": junk},
        {"resourceSpans": [{"scopeSpans": [{"spans": [junk]}]}]},
    ):
        for name in ("otlp_genai", "claude_code_telemetry", "otel_spans"):
            assert all(
                isinstance(item, (UsageEvent, Rejected))
                for item in format_named(name).parse(record, Origin("s", "f", 1))
            )
