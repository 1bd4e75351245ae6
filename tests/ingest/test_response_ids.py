"""Ids of responses: what joins two sources' records of one call, and what never joins two calls."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.hashing import request_key
from app.core.response_ids import is_strong_id, plain_id

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store

UUID = "0daf962f-a275-4a3c-839a-047854645532"
EVENT_ID = urlsafe_b64encode(
    (1_772_445_600).to_bytes(4, "little") + b"\x8d\xfb\x35\xc0\xf0\xa5\xe2\x0f\xc8\xd1\x8c\x98\x0e"
)
EVENT = EVENT_ID.decode().rstrip("=")


@pytest.mark.parametrize(
    ("response_id", "provider"),
    [
        ("chatcmpl-CVgXbYwT3pLk9QmZr5HsAdEfGjN2u", "openai"),
        ("chatcmpl-1f6e0000-0000-4000-8000-000000000001", None),
        ("resp_0123456789abcdef0123456789abcdef0123456789abcdef", "openai"),
        ("msg_01XFDUDYJgAACzvnptvVoYEL", "anthropic"),
        ("msg_bdrk_01XFDUDYJgAACzvnptvVoYEL", "aws"),
        ("gen-1772445600-AbCdEfGhIjKlMnOpQrSt", "openrouter"),
        (UUID, "x-ai"),
        (UUID, "xai"),
        (UUID, "fireworks_ai"),
        (UUID, "aws.bedrock"),
        (UUID.replace("-", ""), "mistral"),
        (EVENT, "google"),
        (EVENT, None),
    ],
)
def test_an_id_of_a_known_shape_names_one_call_in_any_source(response_id: str, provider: str | None) -> None:
    assert is_strong_id(response_id, provider)
    assert request_key(response_id, "gateway", "a", provider) == request_key(response_id, "app", "b", provider)


@pytest.mark.parametrize(
    ("response_id", "provider"),
    [
        ("chatcmpl-123", "ollama"),
        ("chatcmpl-1772445600123", "proxy"),  # a millisecond
        ("chatcmpl-order-service-batch-7", "vllm"),  # what a caller put into X-Request-Id
        ("chatcmpl-session-42-user-7", "vllm"),
        ("chatcmpl-deadbeef0123", "vllm"),  # 48 bits
        ("gen-17724456001", "openrouter"),
        ("resp_1", "openai"),
        (UUID, None),  # anybody's: a session, a trace, a message
        (UUID, "openai"),
        ("0daf962f-a275-1a3c-839a-047854645532", "x-ai"),  # version 1: time and machine
        ("0199a213-81c0-7800-8aa1-bbab2a035a53", "x-ai"),  # version 7: some makers count in it
        (UUID.replace("-", ""), "langfuse"),
        ("d41d8cd98f00b204e9800998ecf8427e", "mistral"),  # a digest of a prompt is the same for equal prompts
        ("4bf92f3577b34da6a3ce929d0e0e4736", None),  # a trace id
        ("summarize_invoice_batch", "google"),
        ("checkout-assistant-prod1", "google"),
        ("aB3dEfGhIjK", "google"),
        ("", "openai"),
    ],
)
def test_a_weak_id_joins_nothing_across_sources(response_id: str, provider: str | None) -> None:
    assert not is_strong_id(response_id, provider)
    assert request_key(response_id, "gateway", "a", provider) != request_key(response_id, "app", "a", provider)
    assert request_key(response_id, "app", "a", provider) != request_key(response_id, "app", "b", provider)


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=9), st.integers(0, 99_999))
def test_names_that_programs_make_are_never_strong(word: str, number: int) -> None:
    for name in (
        f"{word}-{number}",
        f"chatcmpl-{word}-{number}",
        f"run_{word}_{number}",
        f"{word}_{word}_{number:06d}",
    ):
        assert not is_strong_id(name, "google"), name


def test_litellms_packed_ids_are_opened() -> None:
    packed = b"litellm:custom_llm_provider:openai;model_id:None;response_id:resp_0123456789abcdef01"
    assert plain_id("resp_" + b64encode(packed).decode()) == "resp_0123456789abcdef01"
    assert plain_id("resp_" + urlsafe_b64encode(packed).decode().rstrip("=")) == "resp_0123456789abcdef01"
    for other in ("resp_bGl0ZWxsbTpjdXN0b21", "resp_bGl0ZWxsbT", "resp_0123456789abcdef01", "x"):
        assert plain_id(other) == other


def gemini(usage: dict[str, int]) -> dict[str, Any]:
    return {
        "responseId": EVENT,
        "modelVersion": "gemini-2.5-flash",
        "createTime": "2026-03-02T10:00:00Z",
        "candidates": [{"content": {"parts": [{"text": "Yes"}]}, "finishReason": "STOP"}],
        "usageMetadata": usage,
    }


USED = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}


def litellm(request_id: str, provider: str, model: str) -> dict[str, Any]:
    return {
        "request_id": request_id,
        "call_type": "acompletion",
        "startTime": "2026-03-02T10:00:00Z",
        "endTime": "2026-03-02T10:00:02Z",
        "spend": 0.01,
        "model": model,
        "custom_llm_provider": provider,
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "status": "success",
        "team_id": "core",
    }


def chat(response_id: str, model: str, host: str) -> dict[str, Any]:
    return {
        "timestamp": "2026-03-02T10:00:00Z",
        "host": host,
        "feature": "search",
        "response": {
            "id": response_id,
            "object": "chat.completion",
            "created": 1772445600,
            "model": model,
            "choices": [{"index": 0, "message": {"content": "Yes"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        },
    }


CONVERSE = {
    "output": {"message": {"content": [{"text": "Yes"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120},
    "ResponseMetadata": {"RequestId": UUID, "HTTPStatusCode": 200},
}
INVOCATION = {
    "schemaType": "ModelInvocationLog",
    "timestamp": "2026-03-02T10:00:00Z",
    "accountId": "1",
    "region": "us-east-1",
    "requestId": UUID,
    "operation": "Converse",
    "modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "input": {"inputTokenCount": 100},
    "output": {"outputTokenCount": 20},
}
PACKED = (
    "resp_"
    + b64encode(
        b"litellm:custom_llm_provider:openai;model_id:x;response_id:resp_0123456789abcdef0123456789abcdef"
    ).decode()
)
SPAN = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
                            "spanId": "00f067aa0ba902b7",
                            "name": "chat anthropic.claude-sonnet-4-5-20250929-v1:0",
                            "startTimeUnixNano": "1772445600000000000",
                            "endTimeUnixNano": "1772445602000000000",
                            "attributes": [
                                {"key": "gen_ai.system", "value": {"stringValue": "aws.bedrock"}},
                                {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
                                {"key": "gen_ai.request.model", "value": {"stringValue": INVOCATION["modelId"]}},
                                {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "100"}},
                                {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "20"}},
                                {"key": "aws.request_id", "value": {"stringValue": UUID}},
                            ],
                        }
                    ]
                }
            ]
        }
    ]
}
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "gemini": ({"response": gemini(USED), "feature": "search"}, litellm(EVENT, "gemini", "gemini-2.5-flash")),
    "bedrock": ({"timestamp": "2026-03-02T10:00:00Z", "feature": "search", "response": CONVERSE}, INVOCATION),
    "bedrock in a trace": (SPAN, INVOCATION),
    "xai": (chat(UUID, "grok-4.7", "api.x.ai"), litellm(UUID, "xai", "grok-4.7")),
    "mistral": (
        chat(UUID.replace("-", ""), "mistral-large-2512", "api.mistral.ai"),
        litellm(UUID.replace("-", ""), "mistral", "mistral-large-2512"),
    ),
    "deepseek": (chat(UUID, "deepseek-v4-pro", "api.deepseek.com"), litellm(UUID, "deepseek", "deepseek-v4-pro")),
    "litellm's own": (
        chat("resp_0123456789abcdef0123456789abcdef", "gpt-5", "api.openai.com"),
        litellm(PACKED, "openai", "gpt-5"),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_sources_that_tell_of_one_call_meet_in_one_row(store: Store, tmp_path: Path, name: str) -> None:
    for number, record in enumerate(PAIRS[name]):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(record) + "\n")
        store.ingest(tmp_path / f"{number}.jsonl", source=f"source-{number}")
    assert store.one("SELECT count(*) FROM requests") == 1
    assert store.rows("SELECT source FROM request_origins ORDER BY source") == [("source-0",), ("source-1",)]
    assert store.rows("SELECT tok_input + tok_output FROM requests") == [(120,)]


@pytest.mark.parametrize("response_id", ["chatcmpl-session-42-user-7", "chatcmpl-1772445600123", UUID, "constant"])
def test_different_calls_under_one_weak_id_stay_two_rows(store: Store, tmp_path: Path, response_id: str) -> None:
    for number, tokens in enumerate((100, 900)):
        record = chat(response_id, "qwen3-32b", "10.0.0.7:8000")
        record["id"] = f"call-{number}"
        record["response"]["usage"] = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(record) + "\n")
        store.ingest(tmp_path / f"{number}.jsonl", source="vllm")
    assert store.rows("SELECT tok_input FROM requests ORDER BY 1") == [(100,), (900,)]


def test_ids_that_a_local_server_gives_again_join_no_calls_of_other_times(store: Store, tmp_path: Path) -> None:
    """Ollama numbers its answers from 0 to 999; a copy of the same log adds nothing."""
    calls = []
    for number, second in enumerate((0, 7, 7)):
        body = chat("chatcmpl-417", "qwen3-32b", "10.0.0.7:11434")
        body["timestamp"] = f"2026-03-02T10:00:{second:02d}Z"
        calls.append(json.dumps({**body, "feature": str(number)}) + "\n")
    for name, lines in (("a", calls[:2]), ("copy", calls[:2])):
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
        store.ingest(tmp_path / f"{name}.jsonl", source="ollama")
    assert store.rows("SELECT start_us % 60000000 FROM requests ORDER BY 1") == [(0,), (7_000_000,)]
    (tmp_path / "again.jsonl").write_text(calls[2])
    assert store.ingest(tmp_path / "again.jsonl", source="ollama").stored == 0
