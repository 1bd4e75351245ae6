"""Answers and usage of providers that records of several formats carry."""

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


def exchange(request: dict[str, Any], response: dict[str, Any], **outer: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-02T10:00:00Z", "request": request, "response": response, **outer}


def two(make: Any) -> list[list[Any]]:
    """Two units of one record each."""
    return [[make(1)], [make(2)]]
