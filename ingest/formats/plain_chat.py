"""The commonest record in one step: an envelope around a Chat Completions request of plain texts and its answer.

Typed structs take a third of the time. A record with any other field, type or number than these is left to the general
reading (`exchanges`), which gives the same event for the records that are read here.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from app.core.usage import Part, UsageEvent
from ingest.formats import providers
from ingest.formats.dressing import read_tags
from ingest.formats.fields import MOST_TOKENS
from ingest.formats.times import FIRST_US, LAST_US, instant, span_us

Count = Annotated[int, Meta(ge=0, lt=2**53)]
Tokens = Annotated[int, Meta(ge=0, le=MOST_TOKENS)]
_PATIENCE: Final = 32  # lines of another shape in a row, after which no more are tried
# What the general reading takes from a tag, a request or an id beyond these fields.
_TELLING_TAGS: Final = frozenset(("env", "modelDeploymentName", "session_id"))
_ROLES: Final = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


class _Strict(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """An object that holds these fields alone."""


class _Message(_Strict, frozen=True):
    role: Literal["system", "developer", "user", "assistant"]
    content: str


class _Request(_Strict, frozen=True):
    model: str
    messages: list[_Message]
    temperature: Annotated[float, Meta(ge=0, le=1000)] | None = None
    max_tokens: Count | None = None
    top_p: Annotated[float, Meta(ge=0, le=1000)] | None = None
    n: Count | None = None
    seed: Count | None = None
    stream: Literal[False] | None = None
    user: str | None = None


class _Answer(_Strict, frozen=True):
    role: str
    content: str
    refusal: None = None
    annotations: tuple[()] | None = None


class _Choice(_Strict, frozen=True):
    index: int
    message: _Answer
    finish_reason: str
    logprobs: None = None


class _InputDetails(_Strict, frozen=True):
    cached_tokens: Tokens | None = None
    audio_tokens: Tokens | None = None


class _OutputDetails(_Strict, frozen=True):
    reasoning_tokens: Tokens | None = None
    audio_tokens: Tokens | None = None
    accepted_prediction_tokens: Tokens | None = None
    rejected_prediction_tokens: Tokens | None = None


class _Usage(_Strict, frozen=True):
    prompt_tokens: Tokens
    completion_tokens: Tokens
    total_tokens: Tokens
    prompt_tokens_details: _InputDetails = _InputDetails()
    completion_tokens_details: _OutputDetails = _OutputDetails()


class _Response(_Strict, frozen=True):
    id: str
    object: Literal["chat.completion"]
    created: Annotated[int, Meta(ge=FIRST_US // 1_000_000, lt=LAST_US // 1_000_000)]
    model: str
    choices: tuple[_Choice]
    usage: _Usage
    service_tier: str | None = None
    system_fingerprint: str | None = None


class _Record(_Strict, frozen=True):
    """The names that the envelope's documentation gives first."""

    timestamp: int | float | str
    request: _Request
    response: _Response
    end_time: int | float | str | None = None
    first_token_time: int | float | str | None = None
    latency_ms: float | None = None
    id: str | None = None
    status: Annotated[int, Meta(ge=100, lt=400)] | None = None
    session_id: str | None = None
    trace_id: str | None = None
    parent_id: str | None = None
    user: str | None = None
    account: str | None = None
    region: str | None = None
    feature: str | None = None
    team: str | None = None
    environment: str | None = None
    tags: dict[str, str] | None = None


_decode: Final = msgspec.json.Decoder(_Record).decode


class PlainChat:
    """Reads the lines of one chunk; gives up on a chunk whose lines have another shape."""

    def __init__(self) -> None:
        self._left = _PATIENCE

    def __call__(self, line: bytes) -> UsageEvent | None:
        """The event of a line of that shape; None for any other line."""
        if not self._left:
            return None
        try:
            event = _event(_decode(line))
        except (msgspec.DecodeError, RecursionError):
            event = None
        self._left = self._left - 1 if event is None else _PATIENCE
        return event


def _event(record: _Record) -> UsageEvent | None:
    request, response = record.request, record.response
    usage, choice = response.usage, response.choices[0]
    given, made = usage.prompt_tokens_details, usage.completion_tokens_details
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    cached, audio = given.cached_tokens, given.audio_tokens or 0
    reasoning, spoken = made.reasoning_tokens, made.audio_tokens or 0
    tok_input = prompt - (cached or 0) - audio
    tok_output = completion - (reasoning or 0) - spoken
    if tok_input < 0 or tok_output < 0 or prompt + completion != usage.total_tokens or response.id.startswith("gen-"):
        return None
    if record.tags is not None and not _TELLING_TAGS.isdisjoint(record.tags):
        return None
    # Set one by one: a constructor that looks up as many names takes twice as long.
    event = UsageEvent()
    event.provider_response_id = response.id or None
    event.model = model = response.model or request.model or None
    event.provider = providers.from_model(model)
    event.service_tier = response.service_tier or None
    event.finish_reason = choice.finish_reason or None
    event.max_tokens, event.temperature = request.max_tokens, request.temperature
    event.stream, event.top_p, event.n, event.seed = request.stream, request.top_p, request.n, request.seed
    event.tok_input, event.tok_cache_read = tok_input, cached
    event.tok_output, event.tok_reasoning = tok_output, reasoning
    if audio:
        event.tok_input_audio = audio
    if spoken:
        event.tok_output_audio = spoken
    event.tok_total_reported = usage.total_tokens
    event.prompt = [Part(_ROLES[said.role], "text", said.content) for said in request.messages if said.content]
    event.output = choice.message.content
    event.user = record.user or request.user or None
    event.source_record = record.id or event.provider_response_id
    _place(event, record)
    _label(event, record)
    return event


def _place(event: UsageEvent, record: _Record) -> None:
    """When it was, how it ended, and to what it belongs."""
    warnings: list[str] = []
    start_us = instant(record.timestamp, "start", warnings)
    event.start_us = start_us = record.response.created * 1_000_000 if start_us is None else start_us
    if record.end_time is not None:
        event.end_us = instant(record.end_time, "end", warnings)
    if record.first_token_time is not None:
        event.first_token_us = instant(record.first_token_time, "first_token", warnings)
    if event.end_us is None and (lasted := span_us(record.latency_ms, 1_000)) is not None:
        event.end_us = start_us + lasted
    event.http_status = record.status
    event.trace_id = record.trace_id or None
    event.parent_id = record.parent_id or None
    event.session_id = record.session_id or None
    if warnings:
        event.warnings = warnings


def _label(event: UsageEvent, record: _Record) -> None:
    tags: dict[str, str] = {}
    if record.tags:
        read_tags(record.tags, tags)
    if record.feature:
        tags["feature"] = record.feature
    if record.team:
        tags["team"] = record.team
    if record.environment:
        tags["environment"] = record.environment
    event.tags = tags or None
    event.account = record.account or None
    event.region = record.region or None
