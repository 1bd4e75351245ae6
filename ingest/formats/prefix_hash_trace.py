"""Prefix-hash traces (Mooncake): request lengths and the ids of the prompt's blocks; only for `halve replay`.

Times are milliseconds from the start of the trace. Equal ids mean an equal whole prefix up to the end of the block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.fields import count
from ingest.formats.format import Format
from ingest.formats.times import span_us

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

BLOCK_TOKENS: Final = 512  # of the published traces; a trace may say another in `block_size`


def detect(record: Any) -> float:
    return 1.0 if type(record) is dict and type(record.get("hash_ids")) is list and "timestamp" in record else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One request of the trace; its time is relative to the trace's start."""
    if type(record) is not dict or type(record.get("hash_ids")) is not list:
        yield Rejected("no line of a prefix-hash trace: it has no hash_ids")
        return
    hashes = record["hash_ids"]
    if not all(type(value) is int and -(2**63) <= value < 2**63 for value in hashes):
        yield Rejected("hash_ids holds something that is no 64-bit number")
        return
    start_us = span_us(record.get("timestamp"), 1_000)
    if start_us is None:
        yield Rejected("a line of a prefix-hash trace without a timestamp cannot be replayed")
        return
    warnings: list[str] = []
    yield UsageEvent(
        start_us=start_us,
        tok_input=count(record.get("input_length"), "input_length", warnings),
        tok_output=count(record.get("output_length"), "output_length", warnings),
        prefix_hashes=hashes,
        prefix_block_tokens=count(record.get("block_size"), "block_size", warnings) or BLOCK_TOKENS,
        session_id=record["session_id"] if type(record.get("session_id")) is str else None,
        warnings=warnings or None,
    )


FORMAT: Final = Format(
    name="prefix_hash_trace",
    title="Prefix-hash trace (Mooncake)",
    convention="input_length counts the whole prompt; hash_ids name its blocks of 512 tokens in order.",
    billing="unknown",
    detect=detect,
    parse=parse,
    provider_logs=False,
)
