"""Cohere chat (version 2 and 1) and embeddings: `billed_units` are charged, `tokens` were processed.

Billed units leave out the model's own preamble, so they are the classes; cached tokens are a count of the processed
prompt and carry no price of their own. Streams tell the usage in their last event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.fields import compact, count, integer, number, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text, params_of
from ingest.formats.prompts import Marks, content_parts, message_parts, schema_part, tool_parts
from ingest.formats.stream_events import is_interleaved

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(
    (
        "model", "messages", "message", "preamble", "chat_history", "documents", "tools", "stream", "max_tokens",
        "temperature", "p", "seed", "stop_sequences", "response_format", "texts", "inputs", "images",
    )
)  # fmt: skip


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a chat or embed call."""
    event = UsageEvent(provider="cohere")
    response = exchange.response
    if exchange.chunks is not None:
        event.stream = True
        response, ended = _joined(exchange.chunks)
        if not is_interleaved(exchange.chunks, warnings) and not ended:
            event.status = "aborted"
    if exchange.request is not None:
        _read_request(exchange.request, event)
    if response is not None:
        _read_response(response, event, warnings)
    return event


def _read_request(request: dict[str, Any], event: UsageEvent) -> None:
    get = request.get
    event.model = text(get("model"))
    event.max_tokens = integer(get("max_tokens"))
    event.temperature = number(get("temperature"))
    event.top_p = number(get("p"))
    event.seed = integer(get("seed"))
    event.stream = get("stream") if type(get("stream")) is bool else event.stream
    stop = get("stop_sequences")
    event.stop = compact(stop) if stop else None
    parts: list[Part] = []
    marks: Marks = []
    tool_parts(get("tools"), parts, marks)
    shape = get("response_format")
    if type(shape) is dict:
        event.response_format = text(shape.get("type"))
        schema_part(shape.get("json_schema", shape.get("schema")), parts)
    content_parts("system", get("preamble"), parts, marks)
    history = get("chat_history")
    for turn in history if type(history) is list else ():
        if type(turn) is dict:
            role = {"CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}.get(str(turn.get("role")), "user")
            content_parts(role, turn.get("message"), parts, marks)
    documents = get("documents")
    parts += [Part("user", "document", compact(one)) for one in (documents if type(documents) is list else ())]
    if "messages" in request:
        message_parts(get("messages"), parts, marks)
    for name in ("message", "texts", "inputs"):
        if get(name) is not None:
            content_parts("user", get(name), parts, marks)
    event.prompt = parts
    event.params = params_of(request, _OWN_KEYS, marks)


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = response.get
    event.provider_response_id = text(get("id")) or text(get("generation_id")) or text(get("response_id"))
    event.model = text(get("model")) or event.model
    event.finish_reason = text(get("finish_reason"))
    if "embeddings" in response:
        event.operation = "embedding"
    event.output = _said(response)
    usage = table(get("usage")) or table(get("meta"))
    billed = table(usage.get("billed_units"))
    counted = billed or table(usage.get("tokens"))
    event.tok_input = count(counted.get("input_tokens"), "input", warnings)
    event.tok_output = count(counted.get("output_tokens"), "output", warnings)
    event.tok_input_image = count(counted.get("image_tokens"), "input_image", warnings) or None
    units = {
        name: float(value)
        for key, name in (("search_units", "rerank"), ("classifications", "classification"), ("pages", "page"))
        if (value := number(billed.get(key)))
    }
    event.units = units or None
    if get("error"):
        event.status, event.error = "error", error_text(get("error"))


def _said(response: dict[str, Any]) -> str | None:
    message = response.get("message")
    if type(message) is not dict:
        return text(response.get("text"))
    content, calls = message.get("content"), message.get("tool_calls")
    texts = [
        one["text"]
        for one in (content if type(content) is list else ())
        if type(one) is dict and one.get("type") != "thinking" and type(one.get("text")) is str
    ]
    joined = "".join(texts)
    if calls:
        return compact([joined, calls] if joined else calls)
    return joined or None


def _joined(chunks: list[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """One response made of a stream's events, and whether the stream came to its end."""
    joined: dict[str, Any] = {}
    texts: list[str] = []
    ended = False
    for chunk in chunks:
        joined["id"] = joined.get("id") or chunk.get("id") or chunk.get("generation_id")
        kind = chunk.get("type") or chunk.get("event_type")
        delta = table(chunk.get("delta"))
        if kind == "content-delta":
            texts.append(text(table(table(delta.get("message")).get("content")).get("text")) or "")
        elif kind == "message-end":
            joined.update(delta)
            ended = True
        elif kind == "stream-end":
            joined.update(table(chunk.get("response")))
            ended = True
    if texts:
        joined["message"] = {"content": [{"type": "text", "text": "".join(texts)}]}
    return joined, ended


def owns(body: dict[str, Any]) -> bool:
    """Whether a body bills in Cohere's units, or is an event of its streams."""
    for name in ("usage", "meta"):
        counted = body.get(name)
        if type(counted) is dict and ("billed_units" in counted or type(counted.get("tokens")) is dict):
            return True
    return body.get("type") in _EVENTS or body.get("event_type") in _EVENTS


_EVENTS: Final = ("message-start", "content-start", "content-delta", "message-end", "stream-start", "stream-end")

LAYOUT: Final = Layout(
    name="cohere",
    title="Cohere chat and embeddings",
    convention="billed_units are the classes: input_tokens and output_tokens stand beside each other.",
    read=read,
    owns=owns,
)
