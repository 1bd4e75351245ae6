"""Results of Vercel's AI SDK, whole or their `usage` beside a model: counters of every provider under one set of names.

Version 4 writes `promptTokens`, 5 `inputTokens` with `cachedInputTokens`, 6 `inputTokenDetails`. Input holds cached
tokens, except in version 5 for Claude and Bedrock, whose cached tokens stand beside it; Gemini's thoughts stood beside
the output until the total of version 6. A result of several steps is billed as so many calls: they are its parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import UsageEvent, UsagePart
from ingest.formats import openai_chat, openai_responses, providers
from ingest.formats.envelope import summary_of
from ingest.formats.fields import calls_counted, compact, table, text
from ingest.formats.gateway_names import provider_of
from ingest.formats.layout import Layout
from ingest.formats.openai_usage import read_usage
from ingest.formats.times import instant

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_DETAILS: Final = (
    "cachedInputTokens",
    "reasoningTokens",
    "inputTokenDetails",
    "outputTokenDetails",
)
_COUNTS: Final = ("inputTokens", "outputTokens", "promptTokens", "completionTokens")
# A Converse response names none of these, and these a Converse response.
_OF_A_RESULT: Final = ("finishReason", "totalUsage", "providerMetadata", "modelId", "model")
_OF_CONVERSE: Final = ("stopReason", "output", "metrics", "ResponseMetadata", "trace")
_PART_CLASSES: Final = tuple(name for name in UsagePart.__struct_fields__ if name != "model")
_BESIDE: Final = ("claude", "anthropic", "amazon.", "nova")


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a result; its envelope is completed from the result where there is none."""
    event = UsageEvent()
    result = exchange.response or {}
    if not exchange.outer:
        exchange.outer = summary_of(result)
    if exchange.request is not None:
        asked = exchange.request
        reader = openai_responses if "input" in asked and "messages" not in asked else openai_chat
        reader.read_request(asked, event)
    answered, metadata = table(result.get("response")), table(result.get("providerMetadata"))
    named = (answered.get("modelId"), result.get("modelId"), result.get("model"))
    event.model = next((model for given in named if (model := text(given)) is not None), event.model)
    event.provider = next((name for slug in metadata if (name := _served_by(slug)) is not None), None)
    event.provider = event.provider or providers.from_model(event.model)
    event.provider_response_id = text(answered.get("id")) or text(result.get("id"))
    event.start_us = instant(answered.get("timestamp"), "timestamp", warnings)
    event.finish_reason = text(result.get("finishReason"))
    calls = result.get("toolCalls")
    said = text(result.get("text"))
    event.output = compact([said, calls] if said else calls) if calls else said
    steps = result.get("steps")
    if type(steps) is list and len(steps) > 1 and all(table(table(step).get("usage")) for step in steps):
        _read_steps(steps, event, warnings)
    else:
        last, usage = table(result.get("usage")), table(result.get("totalUsage")) or table(result.get("usage"))
        if usage:
            _read_usage(usage, metadata, event, warnings)
        if last and usage != last:  # all steps beside the last one
            event.calls_summed = calls_counted(len(steps)) or 0 if type(steps) is list else 0
            event.provider_response_id = None
    return event


def _read_steps(steps: list[dict[str, Any]], event: UsageEvent, warnings: list[str]) -> None:
    """The calls of a result as the parts of one event, which is their sum."""
    parts: list[UsagePart] = []
    for step in steps:
        one = UsageEvent(model=text(table(step.get("response")).get("modelId")) or event.model, provider=event.provider)
        _read_usage(step["usage"], table(step.get("providerMetadata")), one, warnings)
        parts.append(UsagePart(model=one.model or "", **{name: getattr(one, name) for name in _PART_CLASSES}))
    for name in _PART_CLASSES:
        known = [tokens for part in parts if (tokens := getattr(part, name)) is not None]
        setattr(event, name, sum(known) if known else None)
    event.parts = parts
    event.calls_summed = len(parts)
    event.provider_response_id = None  # that of the last call alone


def _served_by(slug: str) -> str | None:
    """The provider of a key of `providerMetadata`; a gateway is none."""
    return None if slug == "gateway" else provider_of(slug)


def _read_usage(usage: dict[str, Any], metadata: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    prompt = usage.get("inputTokens", usage.get("promptTokens"))
    total = usage.get("totalTokens")
    inside, outside = table(usage.get("inputTokenDetails")), table(usage.get("outputTokenDetails"))
    cached, written = inside.get("cacheReadTokens"), inside.get("cacheWriteTokens")
    if not inside:
        cached, written = (
            usage.get("cachedInputTokens"),
            table(metadata.get("anthropic")).get("cacheCreationInputTokens"),
        )
        beside = [part for part in (cached, written) if type(part) is int]
        if any(beside) and type(prompt) is int and _counts_beside(event):
            if sum(beside) <= prompt:
                warnings.append("convention_assumed")
            prompt, total = prompt + sum(beside), None  # that total leaves them out
    plain = {
        "input_tokens": prompt,
        "output_tokens": usage.get("outputTokens", usage.get("completionTokens")),
        "total_tokens": total,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "output_tokens_details": {"reasoning_tokens": outside.get("reasoningTokens", usage.get("reasoningTokens"))},
    }
    read_usage(plain, event, warnings, providers.write_class(event.model, event.provider))


def _counts_beside(event: UsageEvent) -> bool:
    """Whether version 5 passed the counters of who served this on as they came, cached tokens beside the input."""
    model = (event.model or "").lower()
    return event.provider in ("anthropic", "aws") or any(name in model for name in _BESIDE)


def owns(body: dict[str, Any]) -> bool:
    """Whether a body has usage under the SDK's names and is no Converse response, whose names are alike."""
    usage = table(body.get("totalUsage")) or body.get("usage")
    if type(usage) is not dict or usage.keys().isdisjoint(_COUNTS) or any(name in body for name in _OF_CONVERSE):
        return False
    if any(name in usage for name in _DETAILS):
        return True
    if "cacheReadInputTokens" in usage or "cacheWriteInputTokens" in usage or "choices" in body:
        return False
    model = text(body.get("model")) or ""
    bedrock = model.startswith("arn:") or ("." in model.partition("-")[0] and "/" not in model)
    return any(name in body for name in _OF_A_RESULT) and not bedrock


LAYOUT: Final = Layout(
    name="ai_sdk",
    title="Vercel AI SDK results",
    convention="inputTokens holds cached tokens, except version 5's of Claude and Bedrock; the total tells whether "
    "outputTokens holds reasoning.",
    read=read,
    owns=owns,
)
