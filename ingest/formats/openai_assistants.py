"""OpenAI Assistants runs: the object of a run, or the events of its stream; a run still going has no usage yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, Status, UsageEvent
from ingest.formats.fields import compact, integer, number, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text, params_of
from ingest.formats.openai_usage import read_usage
from ingest.formats.prompts import Marks, content_parts, message_parts, tool_parts
from ingest.formats.times import instant

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(
    (
        "assistant_id", "model", "instructions", "additional_instructions", "additional_messages", "tools", "metadata",
        "temperature", "top_p", "stream", "max_prompt_tokens", "max_completion_tokens", "response_format",
        "reasoning_effort", "thread",
    )
)  # fmt: skip
_STATUS: Final[dict[str, Status]] = {"failed": "error", "cancelled": "aborted", "expired": "timeout"}


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a run; of a stream, the run as it was last told."""
    event = UsageEvent(provider="openai")
    run = exchange.response
    if exchange.chunks is not None:
        event.stream = True
        runs = [chunk for chunk in exchange.chunks if chunk.get("object") == "thread.run"]
        run = runs[-1] if runs else None
        event.output = _said(exchange.chunks)
    if exchange.request is not None:
        _read_body(exchange.request, event)
    if run is not None:
        _read_run(run, event, warnings)
    return event


def _read_body(body: dict[str, Any], event: UsageEvent) -> None:
    """Parameters and known prompt parts, which requests and runs name alike; the thread's messages are elsewhere."""
    get = body.get
    event.model = text(get("model")) or event.model
    event.max_tokens = integer(get("max_completion_tokens")) or event.max_tokens
    event.temperature = number(get("temperature"))
    event.top_p = number(get("top_p"))
    event.reasoning_effort = text(get("reasoning_effort"))
    shape = get("response_format")
    event.response_format = text(shape.get("type")) if type(shape) is dict else text(shape)
    parts: list[Part] = []
    marks: Marks = []
    tool_parts(get("tools"), parts, marks)
    content_parts("system", get("instructions"), parts, marks)
    content_parts("system", get("additional_instructions"), parts, marks)
    thread = get("thread")
    for messages in (thread.get("messages") if type(thread) is dict else None, get("additional_messages")):
        if messages:
            message_parts(messages, parts, marks)
    event.prompt = parts or event.prompt
    metadata = get("metadata")
    if type(metadata) is dict and metadata:
        found = {str(key): value for key, value in metadata.items() if type(value) is str}
        event.tags = {**(event.tags or {}), **found}
    if "assistant_id" in body and "object" not in body:
        event.params = params_of(body, _OWN_KEYS, marks)


def _read_run(run: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = run.get
    event.provider_response_id = text(get("id"))
    event.session_id = text(get("thread_id"))
    _read_body(run, event)
    assistant = text(get("assistant_id"))
    if assistant is not None:
        event.tags = {**(event.tags or {}), "assistant_id": assistant}
    event.start_us = instant(get("started_at") or get("created_at"), "started_at", warnings)
    ended = next((at for name in _ENDS if (at := get(name)) is not None), None)
    event.end_us = instant(ended, "completed_at", warnings)
    state = text(get("status"))
    event.finish_reason = state
    event.status = _STATUS.get(state or "", event.status)
    usage = get("usage")
    if type(usage) is dict:
        read_usage(usage, event, warnings, "tok_cache_write_30m")
        event.calls_summed = 0  # a step that writes or calls tools is a call of its own; the run does not count them
    if get("last_error"):
        event.error = error_text(get("last_error"))


_ENDS: Final = ("completed_at", "failed_at", "cancelled_at")


def _said(chunks: list[dict[str, Any]]) -> str | None:
    """The text of the completed messages of a stream."""
    texts = [
        part["text"]["value"]
        for chunk in chunks
        if chunk.get("object") == "thread.message" and type(chunk.get("content")) is list
        for part in chunk["content"]
        if type(part) is dict and type(part.get("text")) is dict and type(part["text"].get("value")) is str
    ]
    return texts[-1] if len(texts) == 1 else compact(texts) if texts else None


LAYOUT: Final = Layout(
    name="openai_assistants",
    title="OpenAI Assistants runs",
    convention="prompt_tokens and completion_tokens of all steps of the run; details as in Chat Completions.",
    read=read,
)
