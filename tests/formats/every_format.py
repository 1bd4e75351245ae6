"""Made records of every format, for laws and fuzzing: units of lines that belong together (a call, a session)."""

from __future__ import annotations

from typing import Any, Final

OPENAI_USAGE: Final = {
    "prompt_tokens": 1200,
    "completion_tokens": 80,
    "total_tokens": 1280,
    "prompt_tokens_details": {"cached_tokens": 1000, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 30},
}
ANTHROPIC_USAGE: Final = {
    "input_tokens": 12,
    "cache_read_input_tokens": 4000,
    "cache_creation_input_tokens": 900,
    "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 800},
    "output_tokens": 44,
}
GEMINI: Final = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "Oui"}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {
        "promptTokenCount": 900,
        "cachedContentTokenCount": 500,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 70,
        "totalTokenCount": 990,
    },
    "modelVersion": "gemini-2.5-flash",
    "createTime": "2026-03-02T10:00:00Z",
}
CLAUDE: Final = {
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "Yes"}],
    "stop_reason": "end_turn",
    "usage": ANTHROPIC_USAGE,
}


def chat(name: str, model: str = "gpt-4o", kind: str = "chat.completion") -> dict[str, Any]:
    return {
        "id": name,
        "object": kind,
        "created": 1772445600,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes"}, "finish_reason": "stop"}],
        "usage": OPENAI_USAGE,
    }


def chunk(name: str, usage: Any = None, **delta: Any) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": None}] if delta else []
    return {"id": name, "object": "chat.completion.chunk", "created": 1772445600, "model": "gpt-4o",
            "choices": choices, "usage": usage}  # fmt: skip


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


def codex(session: int) -> list[dict[str, Any]]:
    name = f"019c5000-0000-7000-8000-{session:012d}"
    place = {"id": name, "timestamp": "2026-03-02T10:00:00Z", "cwd": "/home/dev/shop"}
    lines: list[dict[str, Any]] = [
        {"timestamp": "2026-03-02T10:00:00Z", "type": "session_meta", "payload": place},
        {"timestamp": "2026-03-02T10:00:01Z", "type": "turn_context", "payload": {"model": "gpt-5", "cwd": "/x"}},
    ]
    for number in (1, 2, 2, 3):
        total = {"input_tokens": 1000 * number, "cached_input_tokens": 400 * number, "output_tokens": 90 * number,
                 "reasoning_output_tokens": 10 * number, "total_tokens": 1090 * number}  # fmt: skip
        last = {"input_tokens": 1000, "cached_input_tokens": 400, "output_tokens": 90,
                "reasoning_output_tokens": 10, "total_tokens": 1090}  # fmt: skip
        info = {"total_token_usage": total, "last_token_usage": last}
        payload = {"type": "token_count", "info": info}
        lines.append({"timestamp": f"2026-03-02T10:00:{10 * number}Z", "type": "event_msg", "payload": payload})
    return lines


def stream(number: int) -> list[dict[str, Any]]:
    name = f"chatcmpl-stream{number:022d}"
    return [chunk(name, content="Y"), chunk(name, content="es"), chunk(name, usage=OPENAI_USAGE)]


def claude_stream(number: int) -> list[dict[str, Any]]:
    start = {
        **CLAUDE,
        "id": f"msg_stream{number:022d}",
        "content": [],
        "usage": {**ANTHROPIC_USAGE, "output_tokens": 1},
    }
    return [
        {"type": "message_start", "message": start},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 44}},
        {"type": "message_stop"},
    ]


def exchange(request: dict[str, Any], response: dict[str, Any], **outer: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-02T10:00:00Z", "request": request, "response": response, **outer}


def two(make: Any) -> list[list[Any]]:
    """Two units of one record each."""
    return [[make(1)], [make(2)]]


UNITS: Final[dict[str, list[list[Any]]]] = {
    "gemini_batch_output": two(lambda n: {"key": f"row-{n}", "response": {**GEMINI, "responseId": f"batch-{n}"}}),
    "vertex_request_log": two(
        lambda n: {
            "endpoint": "projects/p/locations/us-central1/publishers/google/models/gemini-2.5-flash",
            "logging_time": "2026-03-02T10:00:00Z",
            "request_id": f"vertex-{n}",
            "api_method": "GenerateContent",
            "full_request": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
            "full_response": {**GEMINI, "responseId": f"vertex-{n}"},
        }
    ),
    "bedrock_invocation_log": two(
        lambda n: {
            "timestamp": "2026-03-02T10:00:00Z",
            "accountId": "1",
            "region": "us-west-2",
            "requestId": f"bedrock-{n}",
            "operation": "Converse",
            "modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
            "input": {"inputTokenCount": 12, "cacheReadInputTokenCount": 4000, "cacheWriteInputTokenCount": 900},
            "output": {"outputTokenCount": 44},
            "schemaType": "ModelInvocationLog",
        }
    ),
    "bedrock_batch_output": two(
        lambda n: {"recordId": f"row-{n}", "modelInput": {"max_tokens": 9, "messages": []}, "modelOutput": CLAUDE}
    ),
    "azure_apim_llm_log": two(
        lambda n: {
            "TimeGenerated": "2026-03-02T10:00:00Z",
            "CorrelationId": f"apim-{n}",
            "RequestId": f"apim-{n}",
            "DeploymentName": "chat",
            "ModelName": "gpt-4o-2024-08-06",
            "PromptTokens": 1200,
            "CompletionTokens": 80,
            "TotalTokens": 1280,
            "SequenceNumber": 0,
            "Type": "ApiManagementGatewayLlmLog",
        }
    ),
    "azure_openai_log": two(
        lambda n: {
            "time": "2026-03-02T10:00:00Z",
            "resourceId": "/SUBSCRIPTIONS/S/RESOURCEGROUPS/R/PROVIDERS/MICROSOFT.COGNITIVESERVICES/ACCOUNTS/A",
            "category": "RequestResponse",
            "operationName": "ChatCompletions_Create",
            "correlationId": f"azure-{n}",
            "durationMs": 900,
            "resultSignature": "200",
            "properties": {"modelDeploymentName": "chat", "modelName": "gpt-4o", "modelVersion": "2024-08-06"},
            "response": chat(f"chatcmpl-azure{n:022d}"),
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
    "gemini_cli": two(
        lambda n: {
            "id": f"m-{n}",
            "timestamp": "2026-03-02T10:00:00Z",
            "type": "gemini",
            "content": "Yes",
            "model": "gemini-2.5-flash",
            "tokens": {"input": 900, "output": 20, "cached": 500, "thoughts": 70, "tool": 0, "total": 990},
        }
    ),
    "openai_batch_output": two(
        lambda n: {
            "id": f"batch_req_{n:024d}",
            "custom_id": f"row-{n}",
            "response": {"status_code": 200, "request_id": "r", "body": chat(f"chatcmpl-batch{n:022d}")},
            "error": None,
        }
    ),
    "anthropic_batch_results": two(
        lambda n: {
            "custom_id": f"row-{n}",
            "result": {"type": "succeeded", "message": {**CLAUDE, "id": f"msg_batch{n:022d}"}},
        }
    ),
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
                "id": f"gen-1772445600-{n:016d}",
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
    "openai_chat": [
        [chat("chatcmpl-plain0000000000000000000001")],
        [
            exchange(
                {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0.2},
                chat("chatcmpl-plain0000000000000000000002"),
                latency_ms=900,
                tags={"feature": "search"},
            )
        ],
    ],
    "openai_responses": two(
        lambda n: {
            "id": f"resp_{n:030d}",
            "object": "response",
            "created_at": 1772445600.5,
            "status": "completed",
            "model": "gpt-5",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "Yes"}]}],
            "usage": {
                "input_tokens": 1200,
                "input_tokens_details": {"cached_tokens": 1000},
                "output_tokens": 80,
                "output_tokens_details": {"reasoning_tokens": 30},
                "total_tokens": 1280,
            },
        }
    ),
    "anthropic_messages": two(
        lambda n: exchange(
            {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]},
            {**CLAUDE, "id": f"msg_{n:030d}"},
        )
    ),
    "openai_completions": two(
        lambda n: {**chat(f"cmpl-{n:028d}", "gpt-3.5-turbo-instruct", "text_completion"), "choices": [{"text": "Yes"}]}
    ),
    "openai_embeddings": two(
        lambda n: exchange(
            {"model": "text-embedding-3-small", "input": "Hi"},
            {
                "object": "list",
                "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}],
                "model": "text-embedding-3-small",
                "usage": {"prompt_tokens": 40, "total_tokens": 40},
            },
            id=f"embedding-{n}",
        )
    ),
    "gemini_generate_content": two(
        lambda n: exchange(
            {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}, {**GEMINI, "responseId": f"gemini-{n}"}
        )
    ),
    "claude_code": two(
        lambda n: {
            "parentUuid": "p",
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/shop",
            "sessionId": "s-claude",
            "version": "2.4.1",
            "type": "assistant",
            "uuid": f"u-{n}",
            "timestamp": "2026-03-02T10:00:00Z",
            "requestId": f"req_{n}",
            "message": {**CLAUDE, "id": f"msg_code{n:024d}"},
        }
    ),
    "claude_code_telemetry": two(telemetry),
    "otlp_genai": two(otlp),
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
    "codex_cli": [codex(1), codex(2)],
    "pi_sessions": two(
        lambda n: {
            "type": "message",
            "id": f"pi-{n}",
            "timestamp": "2026-03-02T10:00:00Z",
            "message": {
                "role": "assistant",
                "provider": "anthropic",
                "model": "claude-sonnet-4-5",
                "stopReason": "stop",
                "content": [{"type": "text", "text": "Yes"}],
                "usage": {"input": 12, "output": 44, "cacheRead": 4000, "cacheWrite": 900, "totalTokens": 4956},
            },
        }
    ),
    "gemini_cached_contents": two(
        lambda n: {
            "name": f"cachedContents/made{n}",
            "model": "models/gemini-2.5-flash",
            "createTime": "2026-03-02T10:00:00Z",
            "expireTime": "2026-03-02T11:00:00Z",
            "usageMetadata": {"totalTokenCount": 5000},
        }
    ),
    "gemini_interactions": two(
        lambda n: {
            "id": f"interaction-{n}",
            "object": "interaction",
            "model": "gemini-2.5-flash",
            "status": "completed",
            "created": "2026-03-02T10:00:00Z",
            "outputs": [{"type": "text", "text": "Oui"}],
            "usage": {"total_input_tokens": 900, "total_cached_tokens": 500, "total_output_tokens": 20,
                      "total_thought_tokens": 70, "total_tokens": 990},
        }
    ),
    "bedrock_converse": two(
        lambda n: exchange(
            {"modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0", "messages": []},
            {
                "output": {"message": {"role": "assistant", "content": [{"text": "Yes"}]}},
                "stopReason": "end_turn",
                "usage": {"inputTokens": 12, "outputTokens": 44, "totalTokens": 4956, "cacheReadInputTokens": 4000,
                          "cacheWriteInputTokens": 900},
            },
            id=f"converse-{n}",
        )
    ),
    "bedrock_models": two(
        lambda n: exchange(
            {"inputText": "Hi"},
            {"inputTextTokenCount": 3, "results": [{"tokenCount": 5, "outputText": "Yes"}]},
            id=f"titan-{n}",
        )
    ),
    "rerank": two(
        lambda n: {
            "id": f"rerank-{n}",
            "results": [{"index": 0, "relevance_score": 0.9}],
            "meta": {"billed_units": {"search_units": 1}},
        }
    ),
    "mistral_ocr": two(
        lambda n: exchange(
            {"model": "mistral-ocr-latest", "document": {"document_url": f"https://example.org/{n}.pdf"}},
            {"model": "mistral-ocr-2512", "pages": [{"index": 0}], "usage_info": {"pages_processed": n + 1}},
            id=f"ocr-{n}",
        )
    ),
    "cohere": two(
        lambda n: {
            "id": f"cohere-{n}",
            "finish_reason": "COMPLETE",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Yes"}]},
            "usage": {"billed_units": {"input_tokens": 30, "output_tokens": 4},
                      "tokens": {"input_tokens": 90, "output_tokens": 4}},
        }
    ),
    "openai_images": two(
        lambda n: exchange(
            {"model": "gpt-image-1", "prompt": "A cat"},
            {
                "created": 1772445600,
                "data": [{"b64_json": "AA=="}],
                "usage": {"input_tokens": 10, "input_tokens_details": {"image_tokens": 0, "text_tokens": 10},
                          "output_tokens": 1056, "total_tokens": 1066},
            },
            id=f"image-{n}",
        )
    ),
    "openai_audio": two(
        lambda n: exchange(
            {"model": "gpt-4o-transcribe"},
            {
                "text": "Hello",
                "usage": {"type": "tokens", "input_tokens": 14, "input_token_details": {"audio_tokens": 14},
                          "output_tokens": 3, "total_tokens": 17},
            },
            id=f"audio-{n}",
        )
    ),
    "openai_moderation": two(
        lambda n: exchange(
            {"model": "omni-moderation-latest", "input": "Hi"},
            {"id": f"modr-{n}", "model": "omni-moderation-latest", "results": [{"flagged": False, "categories": {}}]},
        )
    ),
    "openai_assistants": two(
        lambda n: {
            "id": f"run_{n:024d}",
            "object": "thread.run",
            "created_at": 1772445600,
            "status": "completed",
            "model": "gpt-4o",
            "thread_id": "thread_1",
            "usage": {"prompt_tokens": 1200, "completion_tokens": 80, "total_tokens": 1280},
        }
    ),
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
    "swe_agent": two(
        lambda n: {
            "instance_id": f"repo__issue-{n}",
            "trajectory": [{"action": "ls"}],
            "history": [],
            "info": {"exit_status": "submitted",
                     "model_stats": {"instance_cost": 0.3, "tokens_sent": 9000, "tokens_received": 70, "api_calls": 4}},
        }
    ),
    "prefix_hash_trace": two(
        lambda n: {"timestamp": 1000 * n, "input_length": 1024, "output_length": 8, "hash_ids": [1, n]}
    ),
    "text_trace": two(lambda n: {"timestamp": float(n), "session_id": "s-text", "input": "Hi", "output": "Yes"}),
    "openai_org_usage": two(
        lambda n: {
            "object": "page",
            "data": [
                {
                    "object": "bucket",
                    "start_time": 1772409600 + 86400 * n,
                    "end_time": 1772496000 + 86400 * n,
                    "results": [
                        {
                            "object": "organization.usage.completions.result",
                            "input_tokens": 5000,
                            "input_cached_tokens": 4000,
                            "output_tokens": 300,
                            "num_model_requests": 9,
                            "model": "gpt-4o-2024-08-06",
                            "project_id": "p",
                        }
                    ],
                }
            ],
            "has_more": False,
        }
    ),
    "openai_org_costs": two(
        lambda n: {
            "object": "page",
            "data": [
                {
                    "object": "bucket",
                    "start_time": 1772409600 + 86400 * n,
                    "end_time": 1772496000 + 86400 * n,
                    "results": [
                        {
                            "object": "organization.costs.result",
                            "amount": {"value": 4.5, "currency": "usd"},
                            "line_item": "gpt-4o-2024-08-06, input",
                            "project_id": "p",
                        }
                    ],
                }
            ],
            "has_more": False,
        }
    ),
    "anthropic_usage_report": two(
        lambda n: {
            "data": [
                {
                    "starting_at": f"2026-03-0{n}T00:00:00Z",
                    "ending_at": f"2026-03-0{n + 1}T00:00:00Z",
                    "results": [
                        {
                            "uncached_input_tokens": 1200,
                            "cache_read_input_tokens": 4000,
                            "cache_creation": {"ephemeral_5m_input_tokens": 100},
                            "output_tokens": 80,
                            "model": "claude-sonnet-4-5",
                            "workspace_id": "w",
                        }
                    ],
                }
            ],
            "has_more": False,
        }
    ),
    "anthropic_cost_report": two(
        lambda n: {
            "data": [
                {
                    "starting_at": f"2026-03-0{n}T00:00:00Z",
                    "ending_at": f"2026-03-0{n + 1}T00:00:00Z",
                    "results": [
                        {
                            "currency": "USD",
                            "amount": "24.5",
                            "cost_type": "tokens",
                            "model": "claude-sonnet-4-5",
                            "token_type": "uncached_input_tokens",
                            "description": "Claude Sonnet 4.5 Usage - Input Tokens",
                        }
                    ],
                }
            ],
            "has_more": False,
        }
    ),
    "aws_cur": two(
        lambda n: {
            "bill_payer_account_id": "1",
            "bill_billing_period_start_date": "2026-03-01T00:00:00Z",
            "line_item_line_item_type": "Usage",
            "line_item_product_code": "AmazonBedrock",
            "line_item_usage_type": "USW2-Claude4.5Sonnet-input-token-count",
            "line_item_usage_start_date": f"2026-03-0{n}T10:00:00Z",
            "line_item_usage_account_id": "1",
            "line_item_usage_amount": 17.5,
            "pricing_unit": "1K tokens",
            "line_item_unblended_cost": 0.0525,
            "line_item_currency_code": "USD",
        }
    ),
    "gcp_billing": two(
        lambda n: {
            "billing_account_id": "b",
            "service": {"id": "s", "description": "Vertex AI"},
            "sku": {"id": "k", "description": "Gemini 2.5 Flash Text Input - Predictions"},
            "usage_start_time": f"2026-03-0{n}T10:00:00Z",
            "usage_end_time": f"2026-03-0{n}T11:00:00Z",
            "project": {"id": "p"},
            "location": {"region": "us-central1"},
            "cost": 0.5,
            "currency": "USD",
            "usage": {"amount": 1000.0, "unit": "count", "pricing_unit": "count"},
            "credits": [],
            "cost_type": "regular",
        }
    ),
    "azure_cost": two(
        lambda n: {
            "BillingAccountId": "b",
            "BillingCurrency": "USD",
            "Date": f"03/0{n}/2026",
            "SubscriptionId": "s",
            "MeterCategory": "Foundry Models",
            "MeterSubCategory": "Azure OpenAI GPT5",
            "MeterName": "gpt 5 inp Gl 1M Tokens",
            "UnitOfMeasure": "1M",
            "Quantity": 4.1,
            "CostInBillingCurrency": 5.125,
            "ChargeType": "Usage",
            "ConsumedService": "Microsoft.CognitiveServices",
        }
    ),
    "focus": two(
        lambda n: {
            "BilledCost": 1.5,
            "EffectiveCost": 1.5,
            "ListCost": 1.5,
            "BillingAccountId": "b",
            "BillingCurrency": "USD",
            "BillingPeriodStart": "2026-03-01T00:00:00Z",
            "BillingPeriodEnd": "2026-04-01T00:00:00Z",
            "ChargeCategory": "Usage",
            "ChargeDescription": "Claude Sonnet 4.5 input tokens",
            "ChargePeriodStart": f"2026-03-0{n}T00:00:00Z",
            "ChargePeriodEnd": f"2026-03-0{n + 1}T00:00:00Z",
            "ConsumedQuantity": 500000,
            "ConsumedUnit": "Tokens",
            "ProviderName": "AWS",
            "ServiceName": "Amazon Bedrock",
            "ServiceCategory": "AI and Machine Learning",
        }
    ),
    "openrouter_activity": two(
        lambda n: {
            "date": f"2026-03-0{n}",
            "model": "anthropic/claude-sonnet-4.5",
            "usage": 1.5,
            "requests": 9,
            "prompt_tokens": 5000,
            "completion_tokens": 300,
            "cached_tokens": 4000,
        }
    ),
    "vercel_ai_gateway": two(
        lambda n: {
            "day": f"2026-03-0{n}",
            "model": "anthropic/claude-sonnet-4.5",
            "total_cost": 1.5,
            "input_tokens": 1000,
            "cached_input_tokens": 4000,
            "output_tokens": 300,
            "request_count": 9,
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
}  # fmt: skip

# Events of streams, one a line: a file of its own each.
STREAMS: Final[dict[str, list[list[Any]]]] = {
    "openai_chat": [stream(1), stream(2)],
    "anthropic_messages": [claude_stream(1), claude_stream(2)],
}
