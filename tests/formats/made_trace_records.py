"""Made records of what stands between program and provider: gateways, tracers, tables and traces."""

from __future__ import annotations

from typing import Any, Final

from tests.formats.made_answers import OPENAI_USAGE, two


def span(number: int, attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "chat gpt-4o",
        "kind": 3,
        "startTimeUnixNano": "1772445600000000000",
        "endTimeUnixNano": "1772445601000000000",
        "attributes": [{"key": key, "value": attribute(value)} for key, value in attributes.items()],
    }


def attribute(value: Any) -> dict[str, Any]:
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def otlp(number: int) -> dict[str, Any]:
    called = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.response.id": f"chatcmpl-otlp{number:024d}",
        "gen_ai.usage.input_tokens": 1200,
        "gen_ai.usage.output_tokens": 80,
        "gen_ai.usage.cache_read.input_tokens": 1000,
    }
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": [span(number, called)]}]}]}


def telemetry(number: int) -> dict[str, Any]:
    told = {
        "event.name": "api_request",
        "event.sequence": number,
        "session.id": "s-telemetry",
        "model": "claude-sonnet-4-5",
        "input_tokens": 12,
        "output_tokens": 44,
        "cache_read_tokens": 4000,
        "cache_creation_tokens": 900,
        "duration_ms": 900,
    }
    log = {
        "timeUnixNano": f"17724456{number:02d}000000000",
        "body": {"stringValue": "claude_code.api_request"},
        "attributes": [{"key": key, "value": attribute(value)} for key, value in told.items()],
    }
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": []},
                "scopeLogs": [{"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": [log]}],
            }
        ]
    }


TRACES: Final[dict[str, list[list[Any]]]] = {
    "litellm_spend_logs": two(
        lambda n: {
            "request_id": f"chatcmpl-spend{n:022d}",
            "call_type": "acompletion",
            "spend": 0.003,
            "startTime": "2026-03-02T10:00:00Z",
            "endTime": "2026-03-02T10:00:02Z",
            "model": "openai/gpt-4o",
            "custom_llm_provider": "openai",
            "metadata": {"usage_object": OPENAI_USAGE},
            "request_tags": ["feature:search"],
        }
    ),
    "litellm_standard_logging": two(
        lambda n: {
            "id": f"chatcmpl-payload{n:020d}",
            "call_type": "acompletion",
            "response_cost": 0.003,
            "startTime": 1772445600.0,
            "endTime": 1772445602.0,
            "model": "gpt-4o",
            "model_group": "chat",
            "custom_llm_provider": "openai",
            "metadata": {"usage_object": OPENAI_USAGE, "user_api_key_alias": "web"},
            "messages": [{"role": "user", "content": "Hi"}],
        }
    ),
    "helicone": two(
        lambda n: {
            "request_id": f"helicone-{n}",
            "request_created_at": "2026-03-02T10:00:00Z",
            "response_status": 200,
            "request_path": "/v1/chat/completions",
            "provider": "OPENAI",
            "model": "gpt-4o",
            "delay_ms": 900,
            "prompt_tokens": 400,
            "completion_tokens": 60,
            "prompt_cache_read_tokens": 300,
            "total_tokens": 460,
            "cost": 0.001975,
            "request_properties": {"feature": "search"},
        }
    ),
    "openrouter_generation": two(
        lambda n: {
            "data": {
                "id": f"gen-1772445600-made{n:016d}",
                "model": "anthropic/claude-sonnet-4.5",
                "created_at": "2026-03-02T10:00:00Z",
                "total_cost": 0.003,
                "native_tokens_prompt": 1200,
                "native_tokens_completion": 80,
                "native_tokens_cached": 1000,
                "native_tokens_reasoning": 30,
                "finish_reason": "stop",
                "latency": 300,
                "generation_time": 900,
            }
        }
    ),
    "portkey": two(
        lambda n: {
            "id": f"portkey-{n}",
            "created_at": "2026-03-02T10:00:00Z",
            "ai_org": "openai",
            "ai_model": "gpt-4o",
            "req_units": 1200,
            "res_units": 80,
            "total_units": 1280,
            "cost": 0.38,
            "response_status_code": 200,
            "metadata": {"team": "web"},
        }
    ),
    "cloudflare_ai_gateway": two(
        lambda n: {
            "id": f"cloudflare-{n}",
            "created_at": "2026-03-02T10:00:00Z",
            "provider": "openai",
            "model": "gpt-4o",
            "cached": False,
            "success": True,
            "status_code": 200,
            "duration": 900,
            "tokens_in": 1200,
            "tokens_out": 80,
            "cost": 0.0038,
            "metadata": '{"team":"web"}',
        }
    ),
    "langfuse": two(
        lambda n: {
            "id": f"observation-{n}",
            "traceId": "t-langfuse",
            "type": "GENERATION",
            "startTime": "2026-03-02T10:00:00Z",
            "model": "gpt-4o",
            "usageDetails": {"input": 200, "input_cached_tokens": 1000, "output": 50, "output_reasoning_tokens": 30,
                             "total": 1280},
            "metadata": {"feature": "search"},
        }
    ),
    "langchain_messages": two(
        lambda n: {
            "type": "ai",
            "id": f"run-{n}",
            "content": "Yes",
            "response_metadata": {"model_name": "gpt-4o"},
            "usage_metadata": {
                "input_tokens": 1200,
                "output_tokens": 80,
                "total_tokens": 1280,
                "input_token_details": {"cache_read": 1000},
                "output_token_details": {"reasoning": 30},
            },
        }
    ),
    "claude_code_telemetry": two(telemetry),
    "otlp_genai": two(otlp),
    "otel_spans": two(
        lambda n: {
            "name": "ChatCompletion",
            "context": {"trace_id": f"{n + 8:032x}", "span_id": f"{n + 8:016x}"},
            "span_kind": "LLM",
            "parent_id": None,
            "start_time": "2026-03-02T10:00:00Z",
            "end_time": "2026-03-02T10:00:01Z",
            "status_code": "OK",
            "attributes": {"openinference.span.kind": "LLM", "llm.model_name": "gpt-4o", "llm.token_count.prompt": 1200,
                           "llm.token_count.completion": 80, "llm.token_count.prompt_details.cache_read": 1000},
        }
    ),
    "generic_rows": two(
        lambda n: {
            "request_id": f"generic-{n}",
            "timestamp": "2026-03-02T10:00:00Z",
            "model": "gpt-4o",
            "input_tokens": 1200,
            "cache_read_tokens": 1000,
            "output_tokens": 80,
            "feature": "search",
        }
    ),
    "prefix_hash_trace": two(
        lambda n: {"timestamp": 1000 * n, "input_length": 1024, "output_length": 8, "hash_ids": [1, n]}
    ),
    "text_trace": two(lambda n: {"timestamp": float(n), "session_id": "s-text", "input": "Hi", "output": "Yes"}),
}  # fmt: skip
