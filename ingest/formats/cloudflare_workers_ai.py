"""Cloudflare Workers AI: its own API wraps every answer in `result`, beside `success` and `errors`.

What lies in it is the model's own answer: text with OpenAI's counters, or a whole Chat Completions or Responses body.
The answer names no model; the request or the called path (`/ai/run/@cf/...`) does. An answer without `usage` is
unknown. Source: Workers AI REST API, `ai/run`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ingest.formats import openai_chat, openai_responses
from ingest.formats.envelope import Exchange
from ingest.formats.fields import compact, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_usage import read_usage

if TYPE_CHECKING:
    from app.core.usage import UsageEvent

_MODEL: Final = re.compile(r"/ai/run/(@[^?#\s]+)")
_EVENT: Final = frozenset(("response", "p", "usage", "tool_calls"))


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a call of a model at Workers AI."""
    whole = exchange.response
    result = table(whole.get("result", whole)) if whole is not None else None
    event = _answered(exchange, result, warnings)
    event.provider = "cloudflare"
    for name in ("path", "url", "endpoint", "model"):
        place = exchange.outer.get(name)
        if event.model is None and type(place) is str and (called := _MODEL.search(place)) is not None:
            event.model = called.group(1)
    if whole is not None and whole.get("success") is False:
        errors = whole.get("errors")
        first = errors[0] if type(errors) is list and errors else None
        event.status, event.error = "error", openai_chat.error_text(first)
    return event


def _answered(exchange: Exchange, result: dict[str, Any] | None, warnings: list[str]) -> UsageEvent:
    """The event of what lies in the wrapper, read as what it is."""
    if result is not None and type(result.get("output")) is list:
        return openai_responses.read(Exchange(exchange.request, result, None, {}), warnings)
    if result is not None and "choices" in result:
        return openai_chat.read(Exchange(exchange.request, result, None, {}), warnings)
    event = openai_chat.read(Exchange(exchange.request, None, None, {}), warnings)
    if exchange.chunks is not None:
        event.stream = True
        said = "".join(text(chunk.get("response")) or "" for chunk in exchange.chunks)
        counted = [chunk for chunk in exchange.chunks if table(chunk.get("usage"))]
        result = {"response": said, "usage": counted[-1]["usage"] if counted else None}
    if result is None:
        return event
    if "shape" in result and "data" in result:
        event.operation = "embedding"
    answer = result.get("response")
    event.output = answer or None if type(answer) is str else compact(answer) if answer else None
    usage = table(result.get("usage"))
    if usage:
        read_usage(usage, event, warnings, "tok_cache_write_30m")
    return event


def owns(body: dict[str, Any]) -> bool:
    """Whether a body is the wrapper, what a Worker gets of it, or an event of a stream."""
    if type(body.get("success")) is bool and "result" in body:
        result = body["result"]
        if type(result) is dict:
            return (
                any(name in result for name in ("response", "usage", "choices")) or {"shape", "data"} <= result.keys()
            )
        return body["success"] is False and type(body.get("errors")) is list
    return "response" in body and body.keys() <= _EVENT


LAYOUT: Final = Layout(
    name="cloudflare_workers_ai",
    title="Cloudflare Workers AI",
    convention="prompt_tokens and completion_tokens of the usage in result; an answer without usage is unknown.",
    read=read,
    owns=owns,
    places=("/ai/run/@",),
)
