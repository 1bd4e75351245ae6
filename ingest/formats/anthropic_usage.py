"""Token classes of Anthropic usage: input, cache reads and writes stand beside each other, thinking inside output.

Source: the SDK types `usage`, `message_delta_usage`, `beta_usage`. Where `iterations` are present the top counters
leave some of them out, so the classes are the sum of the iterations, each billed at its own model.
"""

from __future__ import annotations

from typing import Any

from app.core.usage import UsageEvent, UsagePart
from ingest.formats.fields import count


def read_usage(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """Fill the classes, parts, units, tier and price context of `event`."""
    iterations = usage.get("iterations")
    if type(iterations) is list and iterations:
        _read_iterations(iterations, event, warnings)
    else:
        _read_counters(usage, event, warnings)
    tools = usage.get("server_tool_use")
    if type(tools) is dict:
        searches = count(tools.get("web_search_requests"), "web_search", warnings)
        if searches:  # fetches carry no fee of their own
            event.units = {"web_search": float(searches)}
    tier = usage.get("service_tier")
    if type(tier) is str and tier:
        event.service_tier = tier
        event.is_batch = event.is_batch or tier == "batch"
    read_context(usage, event)


def read_context(usage: dict[str, Any], event: UsageEvent) -> None:
    """What beside the tokens decides the price: where an answer was made, and at which speed."""
    context = {key: given for key in ("inference_geo", "speed") if type(given := usage.get(key)) is str and given}
    if context.get("inference_geo") == "not_available":
        del context["inference_geo"]
    if context:
        event.price_context = {**(event.price_context or {}), **context}


def _read_counters(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    event.tok_input = count(usage.get("input_tokens"), "input", warnings)
    event.tok_cache_read = count(usage.get("cache_read_input_tokens"), "cache_read", warnings)
    _read_writes(usage, event, warnings)
    output = count(usage.get("output_tokens"), "output", warnings)
    details = usage.get("output_tokens_details")
    thinking = count(details.get("thinking_tokens"), "reasoning", warnings) if type(details) is dict else None
    if thinking is not None and output is not None:
        if thinking > output:
            warnings.append("inconsistent_usage")
            thinking = output
        output -= thinking
    event.tok_output, event.tok_reasoning = output, thinking


def _read_writes(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """Cache writes: the split is a breakdown of the total; what it leaves out has the default lifetime, 5 minutes."""
    total = count(usage.get("cache_creation_input_tokens"), "cache_write", warnings)
    split = usage.get("cache_creation")
    if type(split) is not dict:
        event.tok_cache_write_5m = total
        return
    short = count(split.get("ephemeral_5m_input_tokens"), "cache_write_5m", warnings)
    long = count(split.get("ephemeral_1h_input_tokens"), "cache_write_1h", warnings)
    named = (short or 0) + (long or 0)
    if total is not None and named > total:
        warnings.append("inconsistent_usage")
    elif total is not None and total > named:
        short = (short or 0) + total - named
    event.tok_cache_write_5m, event.tok_cache_write_1h = short, long


def _read_iterations(iterations: list[Any], event: UsageEvent, warnings: list[str]) -> None:
    parts: list[UsagePart] = []
    for iteration in iterations:
        if type(iteration) is not dict:
            warnings.append("bad_number:iterations")
            continue
        model = iteration.get("model")
        part = UsageEvent()
        _read_counters(iteration, part, warnings)
        values = {name: getattr(part, name) for name in _PART_CLASSES}
        parts.append(UsagePart(model=model if type(model) is str and model else event.model or "", **values))
    for name in _PART_CLASSES:
        known = [value for part in parts if (value := getattr(part, name)) is not None]
        setattr(event, name, sum(known) if known else None)
    if len(parts) > 1 or any(part.model != event.model for part in parts):
        event.parts = parts


_PART_CLASSES = (
    "tok_input",
    "tok_cache_read",
    "tok_cache_write_5m",
    "tok_cache_write_1h",
    "tok_output",
    "tok_reasoning",
)
