"""Made records of providers: what their APIs answer, stream, log and hand back from batches."""

from __future__ import annotations

from typing import Any, Final

from tests.formats.made_answers import ANTHROPIC_USAGE, CLAUDE, GEMINI, OPENAI_USAGE, chat, chunk, exchange, two


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


PROVIDERS: Final[dict[str, list[list[Any]]]] = {
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
    "ai_sdk": two(
        lambda n: {
            "text": "Yes",
            "finishReason": "stop",
            "usage": {"inputTokens": 1200, "outputTokens": 80, "totalTokens": 1280, "cachedInputTokens": 1000,
                      "reasoningTokens": 30},
            "response": {"id": f"resp_{n:030d}", "timestamp": "2026-03-02T10:00:00Z", "modelId": "gpt-5"},
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
    "cloudflare_workers_ai": two(
        lambda n: exchange(
            {"model": "@cf/meta/llama-3.1-8b-instruct", "messages": [{"role": "user", "content": f"Is it {n}?"}]},
            {
                "result": {
                    "response": "Yes",
                    "usage": {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23},
                },
                "success": True,
                "errors": [],
                "messages": [],
            },
            id=f"workers-{n}",
        )
    ),
    "ollama": two(
        lambda n: {
            "model": "qwen3:8b",
            "created_at": f"2026-03-02T10:00:0{n}.5Z",
            "message": {"role": "assistant", "content": "Yes"},
            "done": True,
            "done_reason": "stop",
            "total_duration": 500_000_000,
            "prompt_eval_count": 26,
            "eval_count": 4 + n,
        }
    ),
    "dashscope": two(
        lambda n: exchange(
            {"model": "qwen-plus", "input": {"prompt": f"Is it {n}?"}, "parameters": {}},
            {
                "request_id": f"dashscope-{n}",
                "output": {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Yes"}}]},
                "usage": {"input_tokens": 30, "output_tokens": 9, "total_tokens": 39,
                          "prompt_tokens_details": {"cached_tokens": 20},
                          "output_tokens_details": {"reasoning_tokens": 5}},
            },
            id=f"dashscope-{n}",
        )
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
}  # fmt: skip

# Events of streams, one a line: a file of its own each.
STREAMS: Final[dict[str, list[list[Any]]]] = {
    "openai_chat": [stream(1), stream(2)],
    "anthropic_messages": [claude_stream(1), claude_stream(2)],
}
