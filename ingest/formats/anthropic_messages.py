"""Anthropic Messages (API, Vertex, Bedrock InvokeModel): response alone, with its request, and event streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.anthropic_usage import read_usage
from ingest.formats.fields import compact, integer, number, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text, params_of
from ingest.formats.prompts import Marks, content_parts, mark_last, message_parts, schema_part, tool_parts
from ingest.formats.stream_events import is_interleaved

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(
    (
        "model", "messages", "system", "tools", "max_tokens", "temperature", "top_p", "stream", "stop_sequences",
        "metadata", "service_tier", "output_format", "cache_control", "timeout", "extra_headers", "anthropic_version",
        "litellm_metadata", "api_key",
    )
)  # fmt: skip


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a Messages call."""
    event = UsageEvent(provider="anthropic")
    response = exchange.response
    if exchange.chunks is not None:
        event.stream = True
        response = _joined(exchange.chunks)
        if not is_interleaved(exchange.chunks, warnings) and response["stop_reason"] is None:
            event.status = "aborted"
    if exchange.request is not None:
        read_request(exchange.request, event)
    if response is not None:
        _read_response(response, event, warnings)
    return event


def read_request(request: dict[str, Any], event: UsageEvent) -> None:
    """Fill the parameters, the prompt parts and the cache marks of `event` from a Messages request body."""
    get = request.get
    event.model = text(get("model"))
    event.max_tokens = integer(get("max_tokens"))
    event.temperature = number(get("temperature"))
    event.top_p = number(get("top_p"))
    event.service_tier = text(get("service_tier"))
    stop = get("stop_sequences")
    if stop:
        event.stop = compact(stop)
    streamed = get("stream")
    if type(streamed) is bool:
        event.stream = streamed
    parts: list[Part] = []
    marks: Marks = []
    tool_parts(get("tools"), parts, marks)
    shape = get("output_format")
    if type(shape) is dict:
        event.response_format = text(shape.get("type"))
        schema_part(shape.get("schema"), parts)
    content_parts("system", get("system"), parts, marks)
    message_parts(get("messages"), parts, marks)
    mark_last(get("cache_control"), parts, marks)
    event.prompt = parts
    event.params = params_of(request, _OWN_KEYS, marks)
    metadata = get("metadata")
    if type(metadata) is dict:
        event.user = text(metadata.get("user_id"))


def answer_text(content: Any) -> str | None:
    """The answer's text blocks joined, or its tool calls as JSON; thinking is left out."""
    if type(content) is not list:
        return text(content)
    texts: list[str] = []
    calls: list[Any] = []
    for block in content:
        if type(block) is not dict:
            continue
        if type(block.get("text")) is str:
            texts.append(block["text"])
        elif block.get("type") not in ("thinking", "redacted_thinking"):
            calls.append(block)
    joined = "".join(texts)
    if calls:
        return compact([joined, *calls] if joined else calls)
    return joined or None


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = response.get
    event.provider_response_id = text(get("id"))
    event.model = text(get("model")) or event.model
    event.finish_reason = text(get("stop_reason"))
    event.output = answer_text(get("content"))
    usage = get("usage")
    if type(usage) is dict:
        read_usage(usage, event, warnings)
    if get("error"):
        event.status, event.error = "error", error_text(get("error"))


def _joined(events: list[dict[str, Any]]) -> dict[str, Any]:
    """One message made of a stream's events.

    `message_start` has the exact input counters and a placeholder output; `message_delta` is cumulative, so its last
    counters replace those before. A stream without a delta keeps the input; its output is unknown.
    """
    joined: dict[str, Any] = {"stop_reason": None}
    usage: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        kind = event.get("type")
        if kind == "message_start" and type(event.get("message")) is dict:
            joined.update(event["message"])
            started = event["message"].get("usage")
            if type(started) is dict:
                usage.update({key: value for key, value in started.items() if key != "output_tokens"})
        elif kind == "message_delta":
            if type(event.get("delta")) is dict:
                joined["stop_reason"] = event["delta"].get("stop_reason") or joined.get("stop_reason")
            if type(event.get("usage")) is dict:
                usage.update({key: value for key, value in event["usage"].items() if value is not None})
        elif kind == "error":
            joined["error"] = event.get("error")
        else:
            _join_block(event, blocks)
    joined["usage"] = usage or None
    joined["content"] = [blocks[index] for index in sorted(blocks)]
    return joined


def _join_block(event: dict[str, Any], blocks: dict[int, dict[str, Any]]) -> None:
    index = integer(event.get("index")) or 0
    if event.get("type") == "content_block_start" and type(event.get("content_block")) is dict:
        blocks[index] = dict(event["content_block"])
    delta = event.get("delta")
    if event.get("type") == "content_block_delta" and type(delta) is dict:
        block = blocks.setdefault(index, {"type": "text", "text": ""})
        if type(delta.get("text")) is str:
            block["text"] = str(block.get("text") or "") + delta["text"]
        elif type(delta.get("partial_json")) is str:
            block["input"] = (block["input"] if type(block.get("input")) is str else "") + delta["partial_json"]


LAYOUT: Final = Layout(
    name="anthropic_messages",
    title="Anthropic Messages",
    convention="input_tokens, cache_read_input_tokens and cache_creation_input_tokens stand beside each other; "
    "output_tokens holds thinking tokens.",
    read=read,
)
