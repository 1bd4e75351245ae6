"""Token classes of Langfuse's free-form `usageDetails`: the sender decides whether details are inside or beside.

The record's own total decides: if all keys add up to it they stand beside each other; if input and output alone do, the
details are inside them. Maps that are a provider's raw usage are read as that provider's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ingest.formats import anthropic_usage, openai_usage, providers
from ingest.formats.fields import count
from ingest.formats.grounding import searches_sold

if TYPE_CHECKING:
    from app.core.usage import UsageEvent

_CLASSES: Final = {
    "input_cached_tokens": "tok_cache_read",
    "input_cached": "tok_cache_read",
    "input_cache_read": "tok_cache_read",
    "cache_read_input_tokens": "tok_cache_read",
    "prompt_details.cache_read": "tok_cache_read",
    "prompt_details.cache_input": "tok_cache_read",
    "input_cache_creation": "write",
    "input_cache_write": "write",
    "cache_creation_input_tokens": "write",
    "prompt_details.cache_write": "write",
    "input_cache_creation_5m": "tok_cache_write_5m",
    "input_cache_creation_1h": "tok_cache_write_1h",
    "input_audio_tokens": "tok_input_audio",
    "prompt_details.audio": "tok_input_audio",
    "input_image_tokens": "tok_input_image",
    "output_reasoning_tokens": "tok_reasoning",
    "output_reasoning": "tok_reasoning",
    "completion_details.reasoning": "tok_reasoning",
    "output_audio_tokens": "tok_output_audio",
    "completion_details.audio": "tok_output_audio",
    "output_image_tokens": "tok_output_image",
}
# details that are priced as plain output
_PLAIN_OUTPUT: Final = ("output_accepted_prediction_tokens", "output_rejected_prediction_tokens")
# searches of Google's tool, which carry a fee: the names that Langfuse's own price list knows them by (2026-08)
_SEARCHES: Final = ("web_search_queries", "webSearchQueries", "grounding_queries", "groundingQueries")
_GEMINI: Final = ("prompt_token_count", "promptTokenCount")


def read_usage(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """Fill the token classes and searches of `event`; an empty map leaves them unknown."""
    write_class = providers.write_class(event.model, event.provider)
    searches = [count(usage[name], name, warnings) or 0 for name in _SEARCHES if name in usage]
    if searches:
        usage = {name: value for name, value in usage.items() if name not in _SEARCHES}
        if max(searches):  # one number under several names
            event.units = {"web_search": searches_sold(event.model, max(searches))}
    if "prompt_tokens" in usage or "completion_tokens" in usage:
        openai_usage.read_usage(usage, event, warnings, write_class)
    elif any(key in usage for key in _GEMINI):
        _read_gemini(usage, event, warnings)
    elif "input_tokens" in usage or "output_tokens" in usage:
        if "total_tokens" in usage or "input_tokens_details" in usage:
            openai_usage.read_usage(usage, event, warnings, write_class)
        else:
            anthropic_usage.read_usage(usage, event, warnings)
    else:
        _read_map(usage, event, warnings, write_class)


def _read_map(usage: dict[str, Any], event: UsageEvent, warnings: list[str], write_class: str) -> None:
    numbers = {key: value for key, given in usage.items() if (value := count(given, _code(key), warnings)) is not None}
    total = numbers.pop("total", None)
    event.tok_total_reported = total
    given_in, given_out = numbers.pop("input", None), numbers.pop("output", None)
    plain = sum(numbers.pop(key, 0) for key in _PLAIN_OUTPUT)
    classes: dict[str, int] = {}
    for key, value in numbers.items():
        name = _CLASSES.get(key)
        if name is None:
            warnings.append(f"unknown_class:{_code(key)}")
        else:
            name = write_class if name == "write" else name
            classes[name] = classes.get(name, 0) + value
    details = sum(classes.values()) + plain
    flat = (given_in or 0) + (given_out or 0)
    inside = total is not None and details > 0 and flat == total != flat + details
    if inside:
        given_in = _less(given_in, _sum_of(classes, output=False), warnings)
        given_out = _less(given_out, _sum_of(classes, output=True), warnings)
    elif total is not None and flat + details != total:
        warnings.append("sum_mismatch")
    event.tok_input = given_in
    event.tok_output = given_out if inside or not plain else (given_out or 0) + plain
    for name, value in classes.items():
        setattr(event, name, value)


def _code(key: str) -> str:
    """A key as part of a warning's code: short and without spaces."""
    return "_".join(key.split())[:60]


def _sum_of(classes: dict[str, int], *, output: bool) -> int:
    return sum(value for name, value in classes.items() if name.startswith(("tok_output", "tok_reasoning")) is output)


def _less(whole: int | None, part: int, warnings: list[str]) -> int | None:
    if whole is None or part <= whole:
        return None if whole is None else whole - part
    warnings.append("inconsistent_usage")
    return 0


def _read_gemini(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """Gemini's counters: cached inside the prompt, thoughts beside the candidates unless the total says inside."""

    def value(snake: str, camel: str) -> int | None:
        return count(usage.get(snake, usage.get(camel)), snake, warnings)

    prompt = value("prompt_token_count", "promptTokenCount")
    cached = value("cached_content_token_count", "cachedContentTokenCount")
    answer = value("candidates_token_count", "candidatesTokenCount")
    thoughts = value("thoughts_token_count", "thoughtsTokenCount")
    tools = value("tool_use_prompt_token_count", "toolUsePromptTokenCount") or 0
    total = event.tok_total_reported = value("total_token_count", "totalTokenCount")
    event.tok_cache_read, event.tok_reasoning = cached, thoughts
    event.tok_input = _less(prompt, cached or 0, warnings)
    if event.tok_input is not None:
        event.tok_input += tools
    flat = (prompt or 0) + (answer or 0) + tools
    if thoughts and total == flat:
        event.tok_output = _less(answer, thoughts, warnings)
        return
    event.tok_output = answer
    if total is not None and total != flat + (thoughts or 0):
        warnings.append("sum_mismatch")
