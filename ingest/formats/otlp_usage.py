"""Token classes of a span: details inside the counts they belong to, unless the span's own sums show them beside.

The convention is that of the OpenTelemetry semantic conventions for generative AI: `input_tokens` holds what was read
from and written to the cache, `output_tokens` holds reasoning, whatever the provider's own API does. Old
instrumentations that passed Anthropic's counters on are recognised by their sums: details larger than their whole, or
a total that only adds up with the details beside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.formats import providers
from ingest.formats.fields import count

if TYPE_CHECKING:
    from app.core.usage import UsageEvent

COUNTERS = (
    "input", "output", "cache_read", "cache_write", "reasoning", "input_audio", "cache_read_audio", "input_image",
    "output_audio", "output_image",
)  # fmt: skip
_READ = (*COUNTERS, "total", "cache_write_1h")


def has_usage(said: dict[str, Any]) -> bool:
    """Whether a span says anything of its tokens."""
    return any(said.get(name) not in (None, "") for name in COUNTERS)


def read_usage(
    said: dict[str, Any], event: UsageEvent, warnings: list[str], *, beside: bool, apart: bool = False
) -> None:
    """Fill the token classes of `event` from what a span says by meaning.

    Args:
        said: counters by meaning (`otlp_vocabulary.yml`).
        event: receives disjoint classes and `tok_total_reported`; its model and provider name the lifetime of writes.
        warnings: receives `bad_number:*`, `inconsistent_usage`, `sum_mismatch`.
        beside: the layout's own convention: true where cached tokens stand beside the input.
        apart: likewise of reasoning and the output.
    """
    found = {name: count(said.get(name), name, warnings) for name in _READ}
    if found["cache_read"] is None:
        found["cache_read"] = found["cache_read_audio"]
    prompt, answer, total = found["input"], found["output"], found["total"]
    event.tok_total_reported = total
    cached = (found["cache_read"] or 0) + (found["cache_write"] or 0)
    reasoning = found["reasoning"] or 0
    if prompt is not None and cached:
        beside = _stands_beside(prompt, cached, answer or 0, reasoning, total, beside=beside)
    _read_input(found, prompt, event, warnings, beside=beside)
    apart = answer is not None and _reasoning_apart(
        prompt, cached if beside else 0, answer, reasoning, total, apart=apart
    )
    _read_output(found, answer, event, warnings, apart=apart)
    whole = (prompt or 0) + (cached if beside else 0) + (answer or 0) + (reasoning if apart else 0)
    if total is not None and prompt is not None and total != whole:
        warnings.append("sum_mismatch")


def _stands_beside(prompt: int, cached: int, answer: int, reasoning: int, total: int | None, *, beside: bool) -> bool:
    if total is not None:
        sums = {prompt + answer, prompt + answer + reasoning}
        inside_fits = total in sums and cached <= prompt
        beside_fits = total - cached in sums
        if inside_fits != beside_fits:
            return beside_fits
    return beside or cached > prompt


def _read_input(
    found: dict[str, int | None], prompt: int | None, event: UsageEvent, warnings: list[str], *, beside: bool
) -> None:
    read, written = found["cache_read"], found["cache_write"]
    audio, image = found["input_audio"] or 0, found["input_image"] or 0
    audio_read = min(found["cache_read_audio"] or 0, read or 0)
    if prompt is None:
        if read or written:
            warnings.append("inconsistent_usage")
        return
    fresh_audio = max(0, audio - audio_read)
    rest = prompt - fresh_audio - image
    if not beside:
        rest -= (read or 0) + (written or 0)
    if rest < 0:  # modalities that overlap the cache: plain input gives way, and then they do
        warnings.append("inconsistent_usage")
        fresh_audio = image = 0
        rest = max(0, prompt - (0 if beside else (read or 0) + (written or 0)))
        if not beside and (read or 0) + (written or 0) > prompt:
            read = min(read or 0, prompt)
            written = prompt - read
            audio_read = min(audio_read, read)
    event.tok_input = rest
    if read is not None:
        event.tok_cache_read = read - audio_read
    if audio_read:
        event.tok_cache_read_audio = audio_read
    if written is not None:
        _read_written(written, min(found["cache_write_1h"] or 0, written), event)
    if fresh_audio:
        event.tok_input_audio = fresh_audio
    if image:
        event.tok_input_image = image


def _read_written(written: int, hour: int, event: UsageEvent) -> None:
    if hour:
        event.tok_cache_write_1h = hour
    if not hour or written > hour:
        setattr(event, providers.write_class(event.model, event.provider), written - hour)


def _reasoning_apart(
    prompt: int | None, beside: int, answer: int, reasoning: int, total: int | None, *, apart: bool
) -> bool:
    """Whether reasoning stands beside the answer: the record's own total, or an answer too small for it, says so."""
    if not reasoning:
        return False
    if total is not None and prompt is not None:
        if total == prompt + beside + answer:
            return False
        if total == prompt + beside + answer + reasoning:
            return True
    return apart or reasoning > answer


def _read_output(
    found: dict[str, int | None], answer: int | None, event: UsageEvent, warnings: list[str], *, apart: bool
) -> None:
    reasoning = found["reasoning"]
    audio, image = found["output_audio"] or 0, found["output_image"] or 0
    if answer is None:
        if reasoning:
            warnings.append("inconsistent_usage")
        return
    rest = answer - audio - image - (0 if apart else reasoning or 0)
    if rest < 0:
        warnings.append("inconsistent_usage")
        audio = image = 0
        rest = max(0, answer - (0 if apart else reasoning or 0))
    event.tok_output = rest
    event.tok_reasoning = reasoning
    if audio:
        event.tok_output_audio = audio
    if image:
        event.tok_output_image = image
