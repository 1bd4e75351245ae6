"""Ollama's own API: `/api/chat`, `/api/generate` and `/api/embed`, whole answers or the lines of a stream.

`prompt_eval_count` and `eval_count` stand beside each other; the second holds what was thought. A prompt that was still
in memory may have no count: it is unknown. `created_at` is when the answer ended, durations are nanoseconds. What a
local model costs is not known from its answer, so a call is unpriced, never free. Source: Ollama,
github.com/ollama/ollama/blob/main/docs/api.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.envelope import meta
from ingest.formats.fields import compact, count, integer, number, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text, params_of
from ingest.formats.prompts import Marks, content_parts, message_parts, schema_part, tool_parts
from ingest.formats.times import span_us, utc_instant

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(
    ("model", "messages", "prompt", "system", "input", "tools", "stream", "format", "options", "keep_alive", "context")
)
_OWN_OPTIONS: Final = ("temperature", "top_p", "seed", "num_predict", "stop")
_NANOSECONDS: Final = 1_000  # of a microsecond


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a chat, generate or embed call."""
    event = UsageEvent(provider="ollama")
    response = exchange.response
    if exchange.request is not None:
        _read_request(exchange.request, event)
    if exchange.chunks is not None:
        event.stream = True
        response = exchange.chunks[-1] if exchange.chunks else response
        if response is None or response.get("done") is not True:
            event.status = "aborted"
    if response is not None:
        _read_response(response, event, warnings, timed="start" not in meta(exchange.outer))
    if exchange.chunks is not None:
        event.output = "".join(filter(None, map(_said, exchange.chunks))) or None
    return event


def _read_request(request: dict[str, Any], event: UsageEvent) -> None:
    get, options = request.get, table(request.get("options"))
    event.model = text(get("model"))
    event.stream = get("stream") if type(get("stream")) is bool else None
    event.max_tokens = integer(options.get("num_predict"))
    event.temperature = number(options.get("temperature"))
    event.top_p = number(options.get("top_p"))
    event.seed = integer(options.get("seed"))
    stop = options.get("stop")
    event.stop = compact(stop) if stop else None
    parts: list[Part] = []
    marks: Marks = []
    tool_parts(get("tools"), parts, marks)
    shape = get("format")
    if type(shape) is dict:
        event.response_format = "json_schema"
        schema_part(shape, parts)
    else:
        event.response_format = text(shape)
    content_parts("system", get("system"), parts, marks)
    if "messages" in request:
        message_parts(get("messages"), parts, marks)
    for name in ("prompt", "input"):
        if get(name) is not None:
            content_parts("user", get(name), parts, marks)
    event.prompt = parts
    others = {name: value for name, value in options.items() if name not in _OWN_OPTIONS}
    event.params = params_of({**request, **others}, _OWN_KEYS, marks)


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str], *, timed: bool) -> None:
    get = response.get
    event.model = text(get("model")) or event.model
    event.finish_reason = text(get("done_reason"))
    event.output = _said(response)
    if "embeddings" in response:
        event.operation = "embedding"
    event.tok_input = count(get("prompt_eval_count"), "input", warnings)
    event.tok_output = count(get("eval_count"), "output", warnings)
    if timed and get("created_at") is not None:
        event.start_us = event.end_us = utc_instant(get("created_at"), "created_at", warnings)
        took = number(get("total_duration"))
        lasted = None if took is None else span_us(took / _NANOSECONDS, 1)
        if event.end_us is not None and lasted is not None:
            event.start_us = event.end_us - lasted
    if get("error"):
        event.status, event.error = "error", error_text(get("error"))


def _said(response: dict[str, Any]) -> str | None:
    message = table(response.get("message"))
    said = text(response.get("response")) or text(message.get("content"))
    calls = message.get("tool_calls")
    if calls:
        return compact([said, calls] if said else calls)
    return said


def owns(body: dict[str, Any]) -> bool:
    """Whether a body is an answer, or a line of a streamed one."""
    if type(body.get("done")) is bool:
        return "model" in body and (type(body.get("response")) is str or type(body.get("message")) is dict)
    return "embeddings" in body and "total_duration" in body


def asks(body: dict[str, Any]) -> bool:
    """Whether a body is a request with what only Ollama takes."""
    return "keep_alive" in body or "num_ctx" in table(body.get("options"))


LAYOUT: Final = Layout(
    name="ollama",
    title="Ollama",
    convention="prompt_eval_count and eval_count stand beside each other; no count is unknown, no price not free.",
    read=read,
    owns=owns,
    asks=asks,
)
