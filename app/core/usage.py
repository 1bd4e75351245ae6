"""The one record that every source becomes: a `UsageEvent` is one attempt at a provider call.

Token classes are disjoint and add up to the provider's total; missing is None, never 0. Times are microseconds UTC.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

INPUT_CLASSES: Final = (
    "tok_input",
    "tok_cache_read",
    "tok_cache_write_5m",
    "tok_cache_write_30m",
    "tok_cache_write_1h",
    "tok_cache_write_12h",
    "tok_input_audio",
    "tok_cache_read_audio",
    "tok_input_image",
)
OUTPUT_CLASSES: Final = ("tok_output", "tok_reasoning", "tok_output_audio", "tok_output_image")
TOKEN_CLASSES: Final = INPUT_CLASSES + OUTPUT_CLASSES
CACHE_WRITE_CLASSES: Final = (
    "tok_cache_write_5m",
    "tok_cache_write_30m",
    "tok_cache_write_1h",
    "tok_cache_write_12h",
)
COST_PARTS: Final = (
    "input_pusd",
    "cache_read_pusd",
    "cache_write_pusd",
    "output_pusd",
    "reasoning_pusd",
    "other_pusd",
)

Status = Literal["ok", "error", "aborted", "timeout"]
Billing = Literal["api", "subscription", "provisioned", "free", "unknown"]


class Part(msgspec.Struct, frozen=True, gc=False):
    """One part of a prompt in the provider's order: a tool block, a system block or a message part.

    `role` is tools, system, user, assistant or tool; `kind` is text, tool, tool_use, tool_result, image, schema.
    `text` is exactly what was logged for the part (its raw JSON text where it is no plain string).
    """

    role: str
    kind: str
    text: str


class UsagePart(msgspec.Struct, frozen=True, kw_only=True):
    """One separately billed part of a response (an iteration, a fallback): its model and its own classes."""

    model: str
    tok_input: int | None = None
    tok_cache_read: int | None = None
    tok_cache_write_5m: int | None = None
    tok_cache_write_30m: int | None = None
    tok_cache_write_1h: int | None = None
    tok_cache_write_12h: int | None = None
    tok_output: int | None = None
    tok_reasoning: int | None = None


class UsageEvent(msgspec.Struct, kw_only=True):
    """One attempt at a provider call as its source logged it: not yet fingerprinted, priced or attributed."""

    # identity
    source_record: str | None = None
    provider_response_id: str | None = None
    trace_id: str | None = None
    parent_id: str | None = None
    session_id: str | None = None
    # who; raw values, hashed by the pipeline before anything is stored
    account: str | None = None
    user: str | None = None
    api_key: str | None = None
    api_key_alias: str | None = None
    tags: dict[str, str] | None = None
    # what
    provider: str | None = None
    model: str | None = None
    operation: str = "chat"
    region: str | None = None
    service_tier: str | None = None
    is_batch: bool = False
    stream: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    n: int | None = None
    seed: int | None = None
    stop: str | None = None
    response_format: str | None = None
    reasoning_effort: str | None = None
    # other parameters that shape the answer or the cache key, canonical JSON text (sorted keys)
    params: str | None = None
    # price context beyond tier, batch and region: inference_geo, speed, deployment, base_model
    price_context: dict[str, str] | None = None
    # when
    start_us: int | None = None
    first_token_us: int | None = None
    end_us: int | None = None
    itl_p50_us: int | None = None
    itl_p99_us: int | None = None
    # how it ended
    status: Status = "ok"
    http_status: int | None = None
    finish_reason: str | None = None
    attempt: int | None = None
    retry_of: str | None = None
    error: str | None = None
    # disjoint token classes
    tok_input: int | None = None
    tok_cache_read: int | None = None
    tok_cache_write_5m: int | None = None
    tok_cache_write_30m: int | None = None
    tok_cache_write_1h: int | None = None
    tok_cache_write_12h: int | None = None
    tok_input_audio: int | None = None
    tok_cache_read_audio: int | None = None
    tok_input_image: int | None = None
    tok_output: int | None = None
    tok_reasoning: int | None = None
    tok_output_audio: int | None = None
    tok_output_image: int | None = None
    # the provider's own total, for the sum check
    tok_total_reported: int | None = None
    units: dict[str, float] | None = None
    # money the source itself reported, and whether the source knows that nothing was billed
    cost_reported_usd: str | None = None
    not_billed: bool = False
    # where the record sums several calls: how many, 0 where it does not say; None is one call
    calls_summed: int | None = None
    # one response billed as several
    parts: list[UsagePart] | None = None
    # content; only fingerprints of it are stored unless text is kept
    prompt: list[Part] | None = None
    output: str | None = None
    # already hashed prefixes (prefix-hash traces): chain of block ids and the tokens of one block
    prefix_hashes: list[int] | None = None
    prefix_block_tokens: int | None = None
    warnings: list[str] | None = None


class Rejected(msgspec.Struct, frozen=True):
    """A record that could not become an event: why, and (for the quarantine) its redacted head.

    `benign` is a record that is simply no request (a user line, a summary): counted, not quarantined. `part` is what of
    a record of several it is about.
    """

    reason: str
    benign: bool = False
    part: Any = None


class SpanLink(Rejected, frozen=True, kw_only=True):
    """A span that is no call, or repeats calls under it, but may stand between calls of its trace: benign, kept.

    Through links a later call is found to stand above earlier ones, whose usage it repeats.
    """

    trace_id: str
    span_id: str
    parent_id: str
    start_us: int | None = None


def tokens_in(event: UsageEvent | UsagePart) -> int | None:
    """All prompt tokens of an event, or None where no input class is known."""
    known = [value for name in INPUT_CLASSES if (value := getattr(event, name, None)) is not None]
    return sum(known) if known else None


def tokens_out(event: UsageEvent | UsagePart) -> int | None:
    """All answer tokens of an event, or None where no output class is known."""
    known = [value for name in OUTPUT_CLASSES if (value := getattr(event, name, None)) is not None]
    return sum(known) if known else None
