"""What the demo's providers and gateway write down: request and response pairs, and LiteLLM spend rows.

The pair envelope is the one that `ingest.formats.envelope` documents: timestamps, status, who called, then `request`
and `response` exactly as the provider saw and sent them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from app.demo import gateway_prices
from app.demo.clock import MINUTE, SECOND, iso

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.demo.company import Caller
    from app.demo.provider import CacheUse

OPENAI, ANTHROPIC, LITELLM = "openai", "anthropic", "litellm"
FOLDERS = (OPENAI, ANTHROPIC, LITELLM)

# the dated snapshot that a provider answers with for the alias that was asked
SERVED = {
    "gpt-4.1": "gpt-4.1-2025-04-14",
    "gpt-4.1-mini": "gpt-4.1-mini-2025-04-14",
    "gpt-5": "gpt-5-2025-08-07",
    "gpt-5-mini": "gpt-5-mini-2025-08-07",
    "gpt-5-nano": "gpt-5-nano-2025-08-07",
    "claude-sonnet-4-5": "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5": "claude-haiku-4-5-20251001",
}

_encode = msgspec.json.encode


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log: which folder it belongs to, when it started, its JSON bytes."""

    start_us: int
    folder: str
    workload: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Times:
    """One attempt: start, first token and end, microseconds UTC."""

    start_us: int
    first_us: int
    end_us: int


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a model reads and writes: seconds before anything, a prompt token, an answer token."""

    fixed_s: float
    read_s: float
    write_s: float

    def times(self, start_us: int, uncached: int, written: int, swing: float) -> Times:
        """Times of an answer of `written` tokens; `swing` around 1 is the provider's load."""
        first = start_us + int((self.fixed_s + uncached * self.read_s) * swing * SECOND)
        return Times(start_us, first, first + int(written * self.write_s * swing * SECOND))


PACES = {
    "gpt-4.1": Pace(0.45, 0.00010, 0.011),
    "gpt-4.1-mini": Pace(0.35, 0.00006, 0.008),
    "gpt-5": Pace(0.60, 0.00012, 0.012),
    "gpt-5-mini": Pace(0.45, 0.00006, 0.008),
    "gpt-5-nano": Pace(0.30, 0.00004, 0.005),
    "claude-sonnet-4-5": Pace(0.90, 0.00012, 0.014),
    "claude-haiku-4-5": Pace(0.50, 0.00006, 0.007),
    "harbourline-summary-7b": Pace(0.20, 0.00005, 0.010),
}


def openai_usage(prompt: int, cached: int, completion: int, reasoning: int = 0) -> dict[str, Any]:
    """Chat usage: `cached` is part of `prompt`, `reasoning` part of `completion`."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def openai_response(
    response_id: str,
    model: str,
    start_us: int,
    text: str,
    usage: dict[str, Any],
    finish: str = "stop",
) -> dict[str, Any]:
    """A whole chat completion."""
    return {
        "id": f"chatcmpl-{response_id}",
        "object": "chat.completion",
        "created": start_us // SECOND,
        "model": SERVED[model],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "logprobs": None,
                "finish_reason": finish,
            }
        ],
        "usage": usage,
        "service_tier": "default",
    }


def openai_error(status: int) -> dict[str, Any]:
    """The body of a refused chat request; nothing was generated and nothing is billed."""
    kind, text = (
        ("rate_limit_exceeded", "Rate limit reached for this model. Please try again later.")
        if status == 429
        else ("server_error", "The server had an error while processing your request.")
    )
    return {"error": {"message": text, "type": kind, "param": None, "code": kind}}


def anthropic_response(
    response_id: str,
    model: str,
    content: list[dict[str, Any]],
    use: CacheUse,
    written: int,
    *,
    stop: str = "end_turn",
    tier: str = "standard",
) -> dict[str, Any]:
    """A whole message: the three input classes are disjoint, `written` includes thinking."""
    return {
        "id": f"msg_01{response_id}",
        "type": "message",
        "role": "assistant",
        "model": SERVED[model],
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": use.uncached,
            "cache_creation_input_tokens": use.written,
            "cache_read_input_tokens": use.read,
            "cache_creation": {"ephemeral_5m_input_tokens": use.written, "ephemeral_1h_input_tokens": 0},
            "output_tokens": written,
            "service_tier": tier,
        },
    }


def pair(
    folder: str,
    workload: str,
    times: Times,
    caller: Caller,
    request: Mapping[str, Any],
    response: Mapping[str, Any],
    status: int = 200,
) -> Line:
    """A request with its response in the common envelope."""
    record: dict[str, Any] = {"timestamp": iso(times.start_us)}
    if status == 200:
        record["first_token_time"] = iso(times.first_us)
    record["end_time"] = iso(times.end_us)
    record["status"] = status
    if caller.key_alias is not None:
        record["api_key_id"] = f"key_{caller.key_hash[:20]}"
        record["api_key_alias"] = caller.key_alias
    if caller.user is not None:
        record["user"] = caller.user
    if caller.session is not None:
        record["session_id"] = caller.session
    tags = {"feature": caller.feature, "team": caller.team, "environment": caller.environment}
    known = {name: value for name, value in tags.items() if value is not None}
    if known:
        record["metadata"] = known
    record["request"] = request
    record["response"] = response
    return Line(times.start_us, folder, workload, _encode(record))


@dataclass(frozen=True, slots=True)
class GatewayCall:
    """What LiteLLM knows of one call: ids, model, usage; prompt and answer only where it is told to store them."""

    request_id: str
    call_id: str
    model: str
    provider: str
    api_base: str
    usage: Mapping[str, Any]
    request: Mapping[str, Any] | None = None
    answer: str | None = None
    failure: tuple[str, str, str] | None = None  # code, class, message
    retries: int = 0


def gateway_row(workload: str, times: Times, caller: Caller, call: GatewayCall) -> Line:
    """One row of `LiteLLM_SpendLogs`, as `/spend/logs/v2` and a table export give it: nested fields are JSON text.

    A stored prompt stands in the body of `proxy_server_request`; the column `messages` stays empty.
    """
    usage = call.usage
    spend = gateway_prices.spend(call.model, usage)
    metadata: dict[str, Any] = {
        "user_api_key": caller.key_hash,
        "user_api_key_alias": caller.key_alias,
        "user_api_key_team_id": caller.team,
        "user_api_key_team_alias": caller.team,
        "usage_object": usage,
        "attempted_retries": call.retries,
        "status": "failure" if call.failure else "success",
    }
    if call.failure:
        code, kind, message = call.failure
        metadata["error_information"] = {
            "error_code": code,
            "error_class": kind,
            "llm_provider": call.provider,
            "error_message": message,
        }
    tags = [f"feature:{caller.feature}", f"environment:{caller.environment}"] if caller.feature else []
    record = {
        "request_id": call.request_id,
        "call_type": "acompletion",
        "api_key": caller.key_hash,
        "spend": spend,
        "total_tokens": usage["total_tokens"],
        "prompt_tokens": usage["prompt_tokens"],
        "completion_tokens": usage["completion_tokens"],
        "startTime": iso(times.start_us),
        "endTime": iso(times.end_us),
        "completionStartTime": iso(times.end_us if call.failure else times.first_us),
        "request_duration_ms": (times.end_us - times.start_us) // 1000,
        "model": call.model,
        "model_id": f"deployment-{call.model}",
        "model_group": call.model,
        "custom_llm_provider": call.provider,
        "api_base": call.api_base,
        "user": caller.user or "",
        "metadata": _text(metadata),
        "cache_hit": "False",
        "cache_key": "Cache OFF",
        "request_tags": _text(tags),
        "team_id": caller.team,
        "organization_id": None,
        "end_user": "",
        "requester_ip_address": None,
        "messages": "{}",
        "response": _text(_stored_answer(call)),
        "session_id": caller.session,
        "status": "failure" if call.failure else "success",
        "mcp_namespaced_tool_name": None,
        "agent_id": None,
        "proxy_server_request": _text(call.request or {}),
        "litellm_call_id": call.call_id,
    }
    return Line(times.start_us, LITELLM, workload, _encode(record))


def _stored_answer(call: GatewayCall) -> dict[str, Any]:
    if call.answer is None:
        return {}
    message = {"role": "assistant", "content": call.answer}
    return {"id": call.request_id, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}


def _text(value: Any) -> str:
    return _encode(value).decode()


def refused_times(start_us: int) -> Times:
    """A refusal comes at once."""
    return Times(start_us, start_us, start_us + MINUTE // 400)
