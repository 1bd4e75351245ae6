"""Token classes of Helicone's columns.

Helicone stores the prompt without cached and audio tokens and the answer without reasoning (its body processors and
`toHeliconeRequest`); older rows and other loggers of the same layout hold them inside. `total_tokens` is computed from
the two headline counts and so decides nothing. Where both readings are possible the one whose list price is the row's
own cost is taken; without such proof they stand beside each other, flagged `convention_assumed`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from app.core.usage import tokens_in, tokens_out
from ingest.formats.fields import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.usage import UsageEvent

_NEAR: Final = Decimal("0.02")
_COLUMNS: Final = {
    "input": "prompt_tokens",
    "output": "completion_tokens",
    "read": "prompt_cache_read_tokens",
    "written": "prompt_cache_write_tokens",
    "audio": "prompt_audio_tokens",
    "spoken": "completion_audio_tokens",
    "thought": "reasoning_tokens",
}


class Reading(NamedTuple):
    """Disjoint counts of one reading, and whether both sides hold their details inside."""

    input: int
    read: int
    written: int
    audio: int
    output: int
    thought: int
    spoken: int
    inside: bool


def read_usage(row: dict[str, Any], event: UsageEvent, warnings: list[str], write_class: str) -> None:
    """Fill the token classes of `event` from a row's columns; nothing where every prompt and answer count is zero."""
    known = {name: count(row.get(column), name, warnings) for name, column in _COLUMNS.items()}
    if not known["input"] and not known["output"] and not known["read"] and not known["written"]:
        return
    counts = {name: value or 0 for name, value in known.items()}
    possible = list(_readings(counts))
    reading = possible[0]
    if len(possible) > 1:
        proven = _as_charged(possible, event)
        reading = proven or reading
        if proven is None:
            warnings.append("convention_assumed")
    event.tok_input = reading.input if known["input"] is not None else None
    event.tok_cache_read = reading.read if known["read"] is not None else None
    if reading.written:
        setattr(event, write_class, reading.written)
    event.tok_input_audio = reading.audio or None
    event.tok_output = reading.output if known["output"] is not None else None
    event.tok_reasoning = reading.thought if known["thought"] is not None else None
    event.tok_output_audio = reading.spoken or None
    if reading.inside or sum(counts.values()) == counts["input"] + counts["output"]:
        event.tok_total_reported = count(row.get("total_tokens"), "total", warnings)
        if event.tok_total_reported not in (None, (tokens_in(event) or 0) + (tokens_out(event) or 0)):
            warnings.append("sum_mismatch")


def _readings(counts: dict[str, int]) -> Iterator[Reading]:
    """What the counts may mean, the details beside the headline counts first."""
    details_in = counts["read"] + counts["written"] + counts["audio"]
    details_out = counts["thought"] + counts["spoken"]
    ways_in = [False, *([True] if 0 < details_in <= counts["input"] else [])]
    ways_out = [False, *([True] if 0 < details_out <= counts["output"] else [])]
    for held_in, held_out in product(ways_in, ways_out):
        yield Reading(
            input=counts["input"] - (details_in if held_in else 0),
            read=counts["read"],
            written=counts["written"],
            audio=counts["audio"],
            output=counts["output"] - (details_out if held_out else 0),
            thought=counts["thought"],
            spoken=counts["spoken"],
            inside=(held_in or not details_in) and (held_out or not details_out),
        )


def _as_charged(possible: list[Reading], event: UsageEvent) -> Reading | None:
    """The reading whose list price is nearest to the row's own cost, if it is near; None where nothing is proven."""
    if event.cost_reported_usd is None or event.model is None or event.start_us is None:
        return None
    cost = Decimal(event.cost_reported_usd)
    if cost <= 0:
        return None
    ranked = [
        (abs(price - cost) / cost, number, reading)
        for number, reading in enumerate(possible)
        if (price := _list_price(reading, event, event.start_us)) is not None
    ]
    if not ranked or min(ranked)[0] > _NEAR:
        return None
    return min(ranked)[2]


def _list_price(reading: Reading, event: UsageEvent, start_us: int) -> Decimal | None:
    from genai_prices import Usage, calc_price

    used = Usage(
        input_tokens=reading.input + reading.read + reading.written + reading.audio,
        cache_read_tokens=reading.read,
        cache_write_tokens=reading.written,
        input_audio_tokens=reading.audio,
        output_tokens=reading.output + reading.thought + reading.spoken,
        output_audio_tokens=reading.spoken,
    )
    when = datetime.fromtimestamp(start_us / 1_000_000, UTC)
    for provider in (event.provider, None):
        try:
            found = calc_price(used, model_ref=event.model or "", provider_id=provider, genai_request_timestamp=when)
        except (LookupError, ValueError):
            continue
        return found.total_price
    return None
