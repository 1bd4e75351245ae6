"""OpenAI Chat Completions and everything that speaks it: response alone, with its request, and streams of chunks."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats import providers
from ingest.formats.fields import canonical, compact, integer, number, text, usd_text
from ingest.formats.layout import Layout
from ingest.formats.openai_usage import read_usage
from ingest.formats.prompts import Marks, lifetimes, message_parts, schema_part, tool_parts
from ingest.formats.research_usage import note_pro_search
from ingest.formats.times import instant

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingest.formats.envelope import Exchange

# Request keys that have a field of their own or shape neither the answer nor the cache.
_OWN_KEYS: Final = frozenset(
    (
        "model", "messages", "tools", "functions", "max_tokens", "max_completion_tokens", "temperature", "top_p", "n",
        "seed", "stop", "response_format", "reasoning_effort", "stream", "stream_options", "user", "metadata", "store",
        "service_tier", "safety_identifier", "timeout", "extra_headers", "litellm_metadata", "api_key",
    )
)  # fmt: skip

# Fields that vLLM's server adds to every answer: no list price is of a model that its owner hosts.
_SELF_HOSTED: Final = ("kv_transfer_params", "prompt_logprobs", "prompt_token_ids")

_TICKS: Final = 10**10  # of xAI's in a dollar (https://docs.x.ai/developers/cost-tracking)


def _stop(value: Any) -> str:
    return value if type(value) is str else compact(value)


def _flag(value: Any) -> bool | None:
    return value if type(value) is bool else None


_READERS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "model": ("model", text),
    "max_tokens": ("max_tokens", integer),
    "max_completion_tokens": ("max_tokens", integer),
    "temperature": ("temperature", number),
    "top_p": ("top_p", number),
    "n": ("n", integer),
    "seed": ("seed", integer),
    "stop": ("stop", _stop),
    "reasoning_effort": ("reasoning_effort", text),
    "service_tier": ("service_tier", text),
    "user": ("user", text),
    "stream": ("stream", _flag),
}


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a Chat Completions call."""
    event = UsageEvent()
    response = exchange.response
    if exchange.chunks is not None:
        response = _joined(exchange.chunks)
        event.stream = True
        if response["finish_reason"] is None and response.get("usage") is None:
            event.status = "aborted"
    request = exchange.request
    if request is not None:
        read_request(request, event)
    if response is not None:
        _read_response(response, event, warnings)
    if request is not None and event.provider == "perplexity":
        note_pro_search(request, event)
    return event


def read_request(request: dict[str, Any], event: UsageEvent) -> None:
    """Fill the parameters and the prompt parts of `event` from a Chat Completions request body."""
    for name, value in request.items():
        if value is not None and name in _READERS:
            field, read_value = _READERS[name]
            setattr(event, field, read_value(value))
    get = request.get
    parts: list[Part] = []
    marks: Marks = []
    if "tools" in request or "functions" in request:
        tool_parts(get("tools"), parts, marks)
        tool_parts(get("functions"), parts, marks)
    wanted = get("response_format")
    if type(wanted) is dict:
        event.response_format = text(wanted.get("type"))
        schema_part(wanted.get("json_schema"), parts)
    message_parts(get("messages"), parts, marks)
    event.prompt = parts
    event.params = params_of(request, _OWN_KEYS, marks)
    metadata = get("metadata")
    if type(metadata) is dict:
        event.tags = {str(key): value for key, value in metadata.items() if type(value) is str}


def params_of(request: dict[str, Any], own_keys: frozenset[str], marks: Marks) -> str | None:
    """The other parameters that shape the answer or the cache, canonical; cache marks under `cache_marks`."""
    rest = request.keys() - own_keys
    if not rest and not marks:
        return None
    params = {key: value for key in rest if (value := request[key]) is not None}
    if marks:
        params["cache_marks"] = lifetimes(marks)
    return canonical(params) if params else None


def answer_text(choices: Any) -> str | None:
    """What the model answered: the text, or the tool calls as JSON; several choices as a JSON list."""
    if type(choices) is not list:
        return None
    answers = [_choice_text(choice) for choice in choices if type(choice) is dict]
    if len(answers) == 1:
        return answers[0]
    return compact(answers) if answers else None


def _choice_text(choice: dict[str, Any]) -> str | None:
    message = choice.get("message")
    if type(message) is not dict:
        return text(choice.get("text"))
    content, calls = message.get("content"), message.get("tool_calls") or message.get("function_call")
    if calls:
        return compact([content, calls] if content else calls)
    if type(content) is str:
        return content
    return None if content is None else compact(content)


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = response.get
    event.provider_response_id = text(get("id"))
    event.model = text(get("model")) or event.model
    tier = get("service_tier")
    if tier is not None:
        event.service_tier = text(tier)
    event.start_us = instant(get("created"), "created", warnings)
    choices = get("choices")
    if type(choices) is list and choices:
        first = choices[0]
        if type(first) is dict:
            event.finish_reason = text(first.get("finish_reason"))
        event.output = answer_text(choices)
    event.provider = _provider(response, event)
    usage = get("usage")
    if type(usage) is dict:
        read_usage(usage, event, warnings, providers.write_class(event.model, event.provider))
        read_charge(usage, event, warnings)
    if get("error"):
        event.status = "error"
        event.error = error_text(get("error"))


def read_charge(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """What a usage object says was charged: by OpenRouter and Perplexity in USD, by xAI in ticks.

    With the caller's own key OpenRouter's cost is its fee alone, the provider's bill is beside it. xAI and Perplexity
    charge searches and tools on top of tokens, which their lists of rates do not tell by request.
    """
    ticks = usage.get("cost_in_usd_ticks")
    if type(ticks) is int:
        event.cost_reported_usd = usd_text(Decimal(ticks) / _TICKS, "cost", warnings)
        _note_charge(event)
    if "cost" not in usage:
        return
    cost = usage["cost"]
    if type(cost) is dict:  # Perplexity splits it
        cost = cost.get("total_cost")
    event.cost_reported_usd = usd_text(cost, "cost", warnings)
    if event.provider in ("openrouter", "perplexity") and event.cost_reported_usd is not None:
        _note_charge(event)
    details = usage.get("cost_details")
    if usage.get("is_byok") is True and type(details) is dict and event.cost_reported_usd is not None:
        upstream = usd_text(details.get("upstream_inference_cost"), "upstream_cost", warnings)
        if upstream is not None:
            event.cost_reported_usd = format(Decimal(event.cost_reported_usd) + Decimal(upstream), "f")


def _note_charge(event: UsageEvent) -> None:
    event.price_context = {**(event.price_context or {}), "charge": "reported"}


def _provider(response: dict[str, Any], event: UsageEvent) -> str | None:
    response_id = event.provider_response_id
    if (
        response_id is not None
        and response_id.startswith("gen-")
        and ("provider" in response or "/" in (event.model or ""))
    ):
        return "openrouter"
    if any(name in response for name in _SELF_HOSTED):
        return "vllm"
    usage = response.get("usage")
    if "x_groq" in response or (type(usage) is dict and "queue_time" in usage):
        return "groq"
    return providers.from_model(event.model)


def error_text(error: Any) -> str | None:
    """A provider's error as one line: its code or type and its message."""
    if type(error) is not dict:
        return text(error)
    named = error.get("code") or error.get("type")
    pieces = [piece for value in (named, error.get("message")) if (piece := text(value))]
    return ": ".join(pieces) or compact(error)


def _joined(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """One response made of a stream's chunks; the last usage counts, because running usage is cumulative."""
    joined: dict[str, Any] = {"finish_reason": None}
    contents: dict[int, list[str]] = {}
    calls: dict[int, dict[int, dict[str, Any]]] = {}
    reasons: dict[int, str] = {}
    for chunk in chunks:
        for key in ("id", "model", "created", "service_tier", "usage", "error", "provider"):
            if chunk.get(key) is not None:
                joined[key] = chunk[key]
        groq = chunk.get("x_groq")
        if type(groq) is dict:
            joined["x_groq"] = True
            if groq.get("usage") is not None:  # Groq's streams before they had `usage`
                joined.setdefault("usage", groq["usage"])
        for choice in choices_of(chunk):
            if type(choice) is not dict:
                continue
            index = integer(choice.get("index")) or 0
            if type(choice.get("finish_reason")) is str:
                reasons[index] = choice["finish_reason"]
            delta = choice.get("delta")
            if type(delta) is dict:
                if type(delta.get("content")) is str:
                    contents.setdefault(index, []).append(delta["content"])
                _join_calls(delta.get("tool_calls"), calls.setdefault(index, {}))
    joined["choices"] = [
        {
            "finish_reason": reasons.get(index),
            "message": {
                "content": "".join(contents[index]) if index in contents else None,
                "tool_calls": [calls[index][at] for at in sorted(calls[index])] if calls.get(index) else None,
            },
        }
        for index in sorted(contents.keys() | reasons.keys() | {at for at, given in calls.items() if given})
    ]
    joined["finish_reason"] = reasons.get(0, next(iter(reasons.values()), None))
    return joined


def choices_of(chunk: dict[str, Any]) -> list[Any]:
    """The choices of a chunk; none where there is no list."""
    choices = chunk.get("choices")
    return choices if type(choices) is list else []


def _join_calls(deltas: Any, calls: dict[int, dict[str, Any]]) -> None:
    if type(deltas) is not list:
        return
    for delta in deltas:
        if type(delta) is not dict:
            continue
        call = calls.setdefault(integer(delta.get("index")) or 0, {"id": None, "name": None, "arguments": ""})
        call["id"] = delta.get("id") or call["id"]
        function = delta.get("function")
        if type(function) is dict:
            call["name"] = function.get("name") or call["name"]
            arguments = function.get("arguments")
            call["arguments"] += arguments if type(arguments) is str else ""


LAYOUT: Final = Layout(
    name="openai_chat",
    title="OpenAI Chat Completions",
    convention="prompt_tokens holds cached, cache-write, audio and image tokens; completion_tokens holds reasoning.",
    read=read,
)
