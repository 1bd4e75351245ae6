"""Token classes of Google's counters: cached tokens inside the prompt, thoughts and tool prompts beside it.

Source: the SDK types `GenerateContentResponseUsageMetadata` and interactions' `Usage`. Some servers count thoughts
inside the answer; the record's own total tells. Pages of documents and frames of videos are read, and sold, as images.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ingest.formats.fields import count

if TYPE_CHECKING:
    from app.core.usage import UsageEvent

_PICTURES: Final = ("IMAGE", "VIDEO", "DOCUMENT")


@dataclass(slots=True)
class Counters:
    """A record's counters under one name each; None is not given. `*_by` are tokens by modality (upper case)."""

    prompt: int | None = None
    cached: int | None = None
    tool_prompt: int | None = None
    answer: int | None = None
    thoughts: int | None = None
    total: int | None = None
    prompt_by: dict[str, int] = field(default_factory=dict)
    cached_by: dict[str, int] = field(default_factory=dict)
    tool_by: dict[str, int] = field(default_factory=dict)
    answer_by: dict[str, int] = field(default_factory=dict)


def by_modality(details: Any, key: str, name: str, warnings: list[str]) -> dict[str, int]:
    """Tokens by modality from a list such as `[{"modality": "TEXT", key: 12}]`."""
    found: dict[str, int] = {}
    if type(details) is list:
        for detail in details:
            modality = detail.get("modality") if type(detail) is dict else None
            if type(modality) is str:
                tokens = count(detail.get(key), f"{name}_{modality.lower()[:20]}", warnings)
                found[modality.upper()] = found.get(modality.upper(), 0) + (tokens or 0)
    return found


def fill(counters: Counters, event: UsageEvent, warnings: list[str], *, zeros_left_out: bool) -> None:
    """Fill the classes of `event`.

    Args:
        counters: what the record says.
        event: receives disjoint classes and `tok_total_reported`.
        warnings: receives `inconsistent_usage` and `sum_mismatch`.
        zeros_left_out: whether the layout writes no counter that is zero, so that a missing one is 0 where the rest
            adds up to the total.
    """
    event.tok_total_reported = counters.total
    inside = _thoughts_inside(counters)
    parts = (counters.prompt, counters.tool_prompt, counters.answer, None if inside else counters.thoughts)
    complete = counters.total == sum(part or 0 for part in parts)
    if counters.total is not None and not complete:
        warnings.append("sum_mismatch")
    if zeros_left_out and complete:
        counters.answer, counters.thoughts = counters.answer or 0, counters.thoughts or 0
    if zeros_left_out and counters.prompt is not None and counters.cached is None:
        counters.cached = 0
    if counters.prompt is not None or counters.tool_prompt is not None:
        _fill_input(counters, event, warnings)
    elif counters.cached:
        warnings.append("inconsistent_usage")
    _fill_output(counters, event, warnings, inside=inside)


def _thoughts_inside(counters: Counters) -> bool:
    """Whether the total shows that the answer's counter holds the thoughts."""
    answer, thoughts = counters.answer, counters.thoughts
    if not thoughts or answer is None or thoughts > answer or counters.total is None:
        return False
    return counters.total == (counters.prompt or 0) + (counters.tool_prompt or 0) + answer


def _fill_input(counters: Counters, event: UsageEvent, warnings: list[str]) -> None:
    prompt, cached = counters.prompt or 0, counters.cached or 0
    if cached > prompt:
        warnings.append("inconsistent_usage")
        cached = prompt
    audio, pictures = _of(counters.prompt_by)
    cached_audio, cached_pictures = _of(counters.cached_by)
    if cached and not counters.cached_by:  # which ones is not said: text first
        spare = cached - max(prompt - audio - pictures, 0)
        cached_pictures = min(max(spare, 0), pictures)
        cached_audio = min(max(spare - cached_pictures, 0), audio)
    tool_audio, tool_pictures = _of(counters.tool_by)
    fresh_audio = max(audio - cached_audio, 0) + tool_audio
    fresh_pictures = max(pictures - cached_pictures, 0) + tool_pictures
    fresh = prompt - cached + (counters.tool_prompt or 0)
    if fresh_audio + fresh_pictures > fresh or cached_audio > cached:
        warnings.append("inconsistent_usage")
        fresh_audio, cached_audio = min(fresh_audio, fresh), min(cached_audio, cached)
        fresh_pictures = min(fresh_pictures, fresh - fresh_audio)
    event.tok_input = fresh - fresh_audio - fresh_pictures
    event.tok_cache_read = None if counters.cached is None else cached - cached_audio
    event.tok_cache_read_audio = cached_audio or None
    event.tok_input_audio = fresh_audio or None
    event.tok_input_image = fresh_pictures or None


def _fill_output(counters: Counters, event: UsageEvent, warnings: list[str], *, inside: bool) -> None:
    event.tok_reasoning = counters.thoughts
    if counters.answer is None:
        return
    visible = counters.answer - (counters.thoughts or 0 if inside else 0)
    audio, pictures = _of(counters.answer_by)
    if audio + pictures > visible:
        warnings.append("inconsistent_usage")
        audio = min(audio, visible)
        pictures = min(pictures, visible - audio)
    event.tok_output = visible - audio - pictures
    event.tok_output_audio = audio or None
    event.tok_output_image = pictures or None


def _of(tokens: dict[str, int]) -> tuple[int, int]:
    """(tokens of sound, tokens of pictures) of a split by modality."""
    return tokens.get("AUDIO", 0), sum(tokens.get(name, 0) for name in _PICTURES)
