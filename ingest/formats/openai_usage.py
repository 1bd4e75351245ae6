"""Token classes of OpenAI-shaped usage: cached, written, audio and image tokens are inside the prompt count.

Reasoning is inside the completion count, except where the record's own total shows that it stands beside it (xAI), or
that it was left out of both (Gemini behind Google's OpenAI endpoint). The readings are those of the OpenAI SDK types
(`completion_usage`, `response_usage`), of LiteLLM's `usage_object` (which adds the cache writes of other providers to
the prompt, split by lifetime), of DeepSeek's hit counter, xAI's SDK and Alibaba's explicit caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ingest.formats.fields import calls_counted, count
from ingest.formats.research_usage import read_research

if TYPE_CHECKING:
    from app.core.usage import UsageEvent

_NOTHING: Final[dict[str, Any]] = {}
# Perplexity's Responses and gateways that tell what was read apart from what was written, then everybody else.
_CACHED_DETAILS: Final = ("cache_read_input_tokens", "cached_tokens")
# DeepSeek, Together and Hugging Face, Mistral, LiteLLM, xAI's SDK.
_CACHED: Final = (
    "prompt_cache_hit_tokens",
    "cached_tokens",
    "num_cached_tokens",
    "cache_read_input_tokens",
    "cached_prompt_text_tokens",
)
_WRITTEN_DETAILS: Final = ("cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")
_SPLITS: Final = ("cache_write_tokens_details", "cache_creation_token_details", "cache_creation")
# Gemini's rows in OpenAI's shape and older AI SDKs.
_CAMEL: Final = {
    "promptTokens": "prompt_tokens",
    "completionTokens": "completion_tokens",
    "totalTokens": "total_tokens",
}


def read_usage(usage: dict[str, Any], event: UsageEvent, warnings: list[str], write_class: str) -> None:
    """Fill the token classes of `event` from Chat (`prompt_tokens`) or Responses (`input_tokens`) usage.

    Args:
        usage: the usage object.
        event: receives disjoint classes and `tok_total_reported`.
        warnings: receives `bad_number:*`, `inconsistent_usage`, `sum_mismatch`.
        write_class: the class of cache writes whose lifetime the usage does not say.
    """
    if "promptTokens" in usage or "completionTokens" in usage:
        usage = {_CAMEL.get(name, name): value for name, value in usage.items()}
    if "prompt_tokens" in usage or "completion_tokens" in usage:
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        in_details, out_details = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    else:
        prompt, completion = usage.get("input_tokens"), usage.get("output_tokens")
        in_details, out_details = usage.get("input_tokens_details"), usage.get("output_tokens_details")
    if in_details is None:  # Assistants, and audio and realtime, spell it without the s
        in_details = usage.get("prompt_token_details", usage.get("input_token_details"))
    if out_details is None:
        out_details = usage.get("output_token_details")
    prompt = count(prompt, "input", warnings)
    completion = count(completion, "output", warnings)
    total = count(usage.get("total_tokens"), "total", warnings)
    event.tok_total_reported = total
    if "requests" in usage:  # of a whole run, as the agent SDKs of OpenAI and Pydantic count it
        event.calls_summed = calls_counted(usage["requests"])
    if type(size := usage.get("search_context_size")) is str and size:  # Perplexity's fee of a request depends on it
        event.price_context = {**(event.price_context or {}), "search_context": size.lower()}
    in_details = in_details if type(in_details) is dict else _NOTHING
    out_details = out_details if type(out_details) is dict else _NOTHING
    _read_input(usage, in_details, prompt, event, warnings, write_class)
    if "citation_tokens" in usage:
        read_research(usage, prompt, completion, event, warnings)
        return
    if out_details.get("reasoning_tokens") is None and usage.get("reasoning_tokens") is not None:
        out_details = {**out_details, "reasoning_tokens": usage["reasoning_tokens"]}
    beside = _read_output(out_details, prompt, completion, total, event, warnings)
    if total is None or prompt is None or total == prompt + (completion or 0) + beside:
        return
    if not _left_out_thoughts(prompt, completion, total, event):
        warnings.append("sum_mismatch")


def _left_out_thoughts(prompt: int, completion: int | None, total: int, event: UsageEvent) -> bool:
    """Take what a Gemini total holds beyond prompt and answer for its thoughts; true where it holds more.

    Google's OpenAI endpoint and batches count thoughts in the total alone; they are billed as output.
    """
    thoughts = total - prompt - (completion or 0)
    if thoughts < 0 or event.tok_reasoning or "gemini" not in (event.model or "").lower():
        return False
    event.tok_reasoning = thoughts
    if completion is None:
        event.tok_output = 0
    return True


def _read_input(
    usage: dict[str, Any],
    details: dict[str, Any],
    prompt: int | None,
    event: UsageEvent,
    warnings: list[str],
    write_class: str,
) -> None:
    cached = _first(details, _CACHED_DETAILS)
    cached = count(_first(usage, _CACHED) if cached is None else cached, "cache_read", warnings)
    audio = count(details.get("audio_tokens"), "input_audio", warnings) or 0
    image = count(details.get("image_tokens"), "input_image", warnings) or 0
    image += count(details.get("video_tokens"), "input_video", warnings) or 0  # frames are sold as pictures
    writes = _writes(usage, details, warnings, write_class)
    written = sum(writes.values())
    if prompt is None:
        _inconsistent(bool(cached or written), warnings)
        return
    split = details.get("cached_tokens_details")
    if type(split) is dict and cached:
        cached, audio, image = _cached_by_kind(split, cached, audio, image, event, warnings)
    inside = (cached or 0) + (event.tok_cache_read_audio or 0) + written + audio + image
    if inside > prompt:
        cached, audio, image, written = _overlapping(cached or 0, written, audio, image, prompt, event, warnings)
        writes = _cut(writes, written)
        inside = cached + (event.tok_cache_read_audio or 0) + written + audio + image
    event.tok_input = prompt - inside
    event.tok_cache_read = cached
    for name, value in writes.items():
        setattr(event, name, value)
    if audio:
        event.tok_input_audio = audio
    if image:
        event.tok_input_image = image


def _cached_by_kind(
    split: dict[str, Any], cached: int, audio: int, image: int, event: UsageEvent, warnings: list[str]
) -> tuple[int, int, int]:
    """(cached text and image, fresh audio, fresh image) tokens where the usage says of what kind the cached ones are.

    Realtime counts cached sound and pictures among all sound and pictures; cached sound gets a class of its own.
    """
    spoken = min(count(split.get("audio_tokens"), "cache_read_audio", warnings) or 0, audio, cached)
    seen = min(count(split.get("image_tokens"), "cache_read_image", warnings) or 0, image, cached - spoken)
    event.tok_cache_read_audio = spoken or None
    return cached - spoken, audio - spoken, image - seen


def _overlapping(
    cached: int, written: int, audio: int, image: int, prompt: int, event: UsageEvent, warnings: list[str]
) -> tuple[int, int, int, int]:
    """Cached, audio, image and written tokens that fit the prompt.

    Cached and audio tokens may be the same ones: their overlap is cached audio. What still does not fit was counted by
    another convention: it is clamped and flagged.
    """
    overlap = min(cached + written + audio + image - prompt, cached, audio)
    if overlap > 0 and cached + written <= prompt:
        event.tok_cache_read_audio = overlap
        cached, audio = cached - overlap, audio - overlap
    room = prompt - (event.tok_cache_read_audio or 0)
    if cached + written + audio + image > room:
        warnings.append("inconsistent_usage")
    fitted: list[int] = []
    for value in (cached, written, audio, image):
        fitted.append(min(value, room))
        room -= fitted[-1]
    return fitted[0], fitted[2], fitted[3], fitted[1]


def _writes(usage: dict[str, Any], details: dict[str, Any], warnings: list[str], write_class: str) -> dict[str, int]:
    total = _first(details, _WRITTEN_DETAILS)
    if total is None:
        total = usage.get("cache_creation_input_tokens")
    split = _first(details, _SPLITS)
    if total is None and split is None:
        return {}
    total = count(total, "cache_write", warnings)
    classes: dict[str, int] = {}
    if type(split) is dict:
        for key, name in _WRITE_SPLIT.items():
            value = count(split.get(key), name[4:], warnings)
            if value is not None:
                classes[name] = classes.get(name, 0) + value
    named = sum(classes.values())
    if total is None:
        return classes
    if named > total:
        warnings.append("inconsistent_usage")
        return _cut(classes, total)
    if total > named or not classes:
        classes[write_class] = classes.get(write_class, 0) + total - named
    return classes


_WRITE_SPLIT: Final = {
    "ttl_30m_tokens": "tok_cache_write_30m",
    "ttl_12h_tokens": "tok_cache_write_12h",
    "ephemeral_5m_input_tokens": "tok_cache_write_5m",
    "ephemeral_30m_input_tokens": "tok_cache_write_30m",
    "ephemeral_1h_input_tokens": "tok_cache_write_1h",
    "ephemeral_12h_input_tokens": "tok_cache_write_12h",
}


def _first(values: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if values.get(name) is not None), None)


def _cut(classes: dict[str, int], room: int) -> dict[str, int]:
    fitted: dict[str, int] = {}
    for name, value in classes.items():
        fitted[name] = min(value, room)
        room -= fitted[name]
    return fitted


def _read_output(
    details: dict[str, Any],
    prompt: int | None,
    completion: int | None,
    total: int | None,
    event: UsageEvent,
    warnings: list[str],
) -> int:
    """Fill the output classes; the reasoning tokens that stand beside the completion count are returned."""
    reasoning = count(details.get("reasoning_tokens"), "reasoning", warnings)
    audio = count(details.get("audio_tokens"), "output_audio", warnings) or 0
    image = count(details.get("image_tokens"), "output_image", warnings) or 0
    event.tok_reasoning = reasoning
    if completion is None:
        return 0
    beside = 0
    if reasoning and _stands_beside(prompt, completion, reasoning, total, event):
        beside = reasoning
    elif (reasoning or 0) + audio + image > completion:
        warnings.append("inconsistent_usage")
        reasoning = min(reasoning or 0, completion)
        audio = min(audio, completion - reasoning)
        image = min(image, completion - reasoning - audio)
        event.tok_reasoning = reasoning
    event.tok_output = completion - ((reasoning or 0) - beside) - audio - image
    if audio:
        event.tok_output_audio = audio
    if image:
        event.tok_output_image = image
    return beside


def _stands_beside(prompt: int | None, completion: int, reasoning: int, total: int | None, event: UsageEvent) -> bool:
    """Whether reasoning is no part of the completion count: the total tells, without one that xAI served."""
    if total is None:
        return event.provider == "x-ai" and reasoning > 0
    return total == (prompt or 0) + completion + reasoning


def _inconsistent(wrong: bool, warnings: list[str]) -> None:
    if wrong:
        warnings.append("inconsistent_usage")
