"""What one record tells of a provider's stream: an event alone, in a program's own record, or as event-stream text.

A program that logs a stream chunk by chunk writes `{"request_id": "...", "time": "...", "chunk": {...}}`, or a shipper
wraps the line. The record around the event stays beside it: it holds the call's id, time, model and labels.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from ingest.formats import sse
from ingest.formats.envelope import REQUESTS, is_event
from ingest.formats.fields import decoded_text
from ingest.formats.gemini_contents import pick

CONVERSE: Final = (
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
)
COHERE: Final = frozenset(
    (
        "message-start", "content-start", "content-delta", "content-end", "tool-plan-delta", "tool-call-start",
        "tool-call-delta", "tool-call-end", "citation-start", "citation-end", "message-end", "stream-start",
        "text-generation", "citation-generation", "tool-calls-generation", "tool-calls-chunk", "stream-end",
    )
)  # fmt: skip
_HOLDERS: Final = (
    "chunk", "event", "data", "delta", "message", "msg", "body", "response", "payload", "log", "MESSAGE", "@message",
    "textPayload", "jsonPayload", "_raw", "raw", "line", "sse", "content", "result", "output", "value", "part",
)  # fmt: skip
_CALL_IDS: Final = (
    "stream_id", "streamId", "call_id", "callId", "request_id", "requestId", "completion_id", "generation_id",
    "correlation_id", "correlationId", "span_id", "spanId", "trace_id", "traceId", "session_id", "sessionId",
)  # fmt: skip
# What stands in the bytes of a log that holds events; where it is a prompt that does, reading is slower and no worse.
_SIGNS: Final = re.compile(
    rb"chat\.completion\.chunk|content_block_delta|response\.output_text\.delta|contentBlockDelta|content-delta|stream-start"
)
_OF_WHOLE_CALLS: Final = frozenset((*REQUESTS, "key", "custom_id", "recordId", "modelInput", "processed_time")) - {
    "body"
}
_MOST_NESTED: Final = 3
INTERLEAVED: Final = "interleaved"
"""The mark on the start of an answer whose later events nobody can tell from those of others."""


class Told(NamedTuple):
    """The events that a record holds, mostly one, and what stands around them (empty for a bare event)."""

    events: list[dict[str, Any]]
    outer: dict[str, Any]


def told(record: Any) -> Told | None:
    """What a record tells of a stream; None where it holds no event of one."""
    return _told(record, 0) if type(record) is dict else None


def kind_of(event: dict[str, Any]) -> str | None:
    """Whose stream an event is of: chat, responses, messages, converse, cohere or gemini; None for anything else."""
    kind = event.get("type")
    if type(kind) is str:
        if is_event(event):
            return "responses" if kind.startswith("response.") else "messages"
        if kind in COHERE:
            return "cohere"
    if event.get("object") == "chat.completion.chunk":
        return "chat"
    old = event.get("event_type")
    if type(old) is str and old in COHERE:
        return "cohere"
    if len(event) <= 2 and _is_converse(event):
        return "converse"
    return "gemini" if type(event.get("candidates")) is list or _usage_of_gemini(event) is not None else None


def holds_events(values: list[Any]) -> bool:
    """True where a record among some is an event of a stream: only together with others it is a call."""
    return any(
        kind_of(event) != "gemini" or not is_finished_by(event)
        for value in values
        if (found := told(value)) is not None
        for event in found.events
    )


def may_hold_events(text: bytes) -> bool:
    """Whether the text of a log names the events of a stream anywhere."""
    return _SIGNS.search(text) is not None


def is_interleaved(events: list[dict[str, Any]], warnings: list[str]) -> bool:
    """Whether only the start of an answer could be told from others that ran at once; says so among the warnings."""
    marked = bool(events) and events[0].get(INTERLEAVED) is True
    if marked:
        warnings.append("interleaved_stream")
    return marked


def call_id(outer: dict[str, Any]) -> str | None:
    """The id of the call that a program wrote around an event; ids of single lines are none."""
    return next((str(outer[name]) for name in _CALL_IDS if type(outer.get(name)) in (str, int) and outer[name]), None)


def counted_by_gemini(event: dict[str, Any]) -> tuple[int | None, int]:
    """(tokens of the prompt, tokens of the answer so far) of a chunk of Gemini; its counters are cumulative."""
    usage = _usage_of_gemini(event) or {}
    prompt, answer = pick(usage, "promptTokenCount"), pick(usage, "candidatesTokenCount")
    return prompt if type(prompt) is int else None, answer if type(answer) is int else 0


def is_finished_by(event: dict[str, Any]) -> bool:
    """Whether a chunk of Gemini says why its answer ended."""
    candidates = event.get("candidates")
    if type(candidates) is not list or not candidates:
        return True  # a blocked prompt, an embedding, counters alone: no part of an answer
    return any(type(one) is dict and pick(one, "finishReason") for one in candidates)


def _told(record: dict[str, Any], depth: int) -> Told | None:
    if kind_of(record) is not None:
        return Told([record], {})
    if depth >= _MOST_NESTED or not _OF_WHOLE_CALLS.isdisjoint(record):
        return None  # a whole call, with its request
    for name in _HOLDERS:
        value = record.get(name)
        inner = _inner(value, depth) if type(value) in (dict, str) else None
        if inner is not None:
            around = {key: given for key, given in record.items() if key != name}
            return Told(inner.events, {**around, **inner.outer})
    return None


def _inner(value: Any, depth: int) -> Told | None:
    if type(value) is dict:
        return _told(value, depth + 1)
    if value.startswith("{"):
        decoded = decoded_text(value)
        return _told(decoded, depth + 1) if type(decoded) is dict else None
    if not sse.is_stream(value):
        return None
    found = [event for event in sse.events(value) if type(event) is dict]
    if found and all(kind_of(event) is not None for event in found):
        return Told(found, {})
    return Told([], {}) if value.strip() == "data: [DONE]" else None


def _is_converse(event: dict[str, Any]) -> bool:
    name = next(iter(event), "")
    value = event.get(name)
    if type(value) is not dict or name not in CONVERSE:
        return False
    return type(value.get("usage")) is dict if name == "metadata" else name != "messageStart" or "role" in value


def _usage_of_gemini(event: dict[str, Any]) -> dict[str, Any] | None:
    usage = pick(event, "usageMetadata")
    return usage if type(usage) is dict and "input_tokens" not in usage else None
