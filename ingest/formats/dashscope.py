"""Alibaba's DashScope in its own shape: `output` with `text` or `choices`, `usage`, `request_id`.

`input_tokens` holds cached tokens, what an explicit cache wrote, and pictures; `output_tokens` holds reasoning. Sound
of older models stands beside the input where it does not fit in, or only that gives the total. Embeddings have a total
alone. The answer names no model: the request does. Events of a stream tell running counts. Source: Alibaba Cloud Model
Studio, DashScope API reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.fields import compact, count, integer, number, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import params_of
from ingest.formats.openai_usage import read_usage
from ingest.formats.prompts import Marks, content_parts, message_parts, tool_parts

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_PARAMETERS: Final = frozenset(("temperature", "top_p", "seed", "max_tokens", "stop", "tools"))
_ANSWERS: Final = ("text", "choices", "embeddings")


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a generation, a multimodal generation or an embedding call."""
    event = UsageEvent(provider="alibaba")
    response = exchange.response
    if exchange.request is not None:
        _read_request(exchange.request, event)
    if exchange.chunks is not None:
        event.stream = True
    if exchange.chunks:
        response = next((one for one in reversed(exchange.chunks) if table(one.get("usage"))), exchange.chunks[-1])
    if response is not None:
        _read_response(response, event, warnings)
    if exchange.chunks is not None:
        if event.finish_reason is None:
            event.status = "aborted"
        event.output = _streamed(exchange.chunks)
    return event


def _read_request(request: dict[str, Any], event: UsageEvent) -> None:
    given, shape = table(request.get("input")), table(request.get("parameters"))
    event.model = text(request.get("model"))
    event.max_tokens = integer(shape.get("max_tokens"))
    event.temperature = number(shape.get("temperature"))
    event.top_p = number(shape.get("top_p"))
    event.seed = integer(shape.get("seed"))
    event.stop = compact(shape["stop"]) if shape.get("stop") else None
    parts: list[Part] = []
    marks: Marks = []
    tool_parts(shape.get("tools"), parts, marks)
    if "messages" in given:
        message_parts(given.get("messages"), parts, marks)
    for name in ("prompt", "texts", "contents"):
        if given.get(name) is not None:
            content_parts("user", given.get(name), parts, marks)
    event.prompt = parts
    event.params = params_of(shape, _OWN_PARAMETERS, marks)


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    output = table(response.get("output"))
    event.provider_response_id = text(response.get("request_id"))
    event.model = text(response.get("model")) or event.model
    event.output = _said(output)
    ended = text(output.get("finish_reason")) or text(_choice(output).get("finish_reason"))
    event.finish_reason = None if ended == "null" else ended
    usage = table(response.get("usage"))
    if "embeddings" in output:
        event.operation = "embedding"
        if "input_tokens" not in usage:
            event.tok_input = event.tok_total_reported = count(usage.get("total_tokens"), "input", warnings)
            return
    if usage:
        read_usage(_in_openai_names(usage), event, warnings, "tok_cache_write_5m")
    if response.get("code"):
        event.status = "error"
        event.error = ": ".join(filter(None, (text(response["code"]), text(response.get("message"))))) or None


def _in_openai_names(usage: dict[str, Any]) -> dict[str, Any]:
    """The usage with its details under the names of the Responses API."""
    inside = {**table(usage.get("prompt_tokens_details")), **table(usage.get("input_tokens_details"))}
    named = {**usage, "input_tokens_details": inside}
    named["output_tokens_details"] = usage.get("output_tokens_details", usage.get("completion_tokens_details"))
    if "image_tokens" in usage:
        inside.setdefault("image_tokens", usage["image_tokens"])
    heard, given = usage.get("audio_tokens"), usage.get("input_tokens")
    if type(heard) is int and type(given) is int and "audio_tokens" not in inside:
        inside["audio_tokens"] = heard
        total, made = usage.get("total_tokens"), usage.get("output_tokens")
        beside = heard > given if type(total) is not int or type(made) is not int else total == given + made + heard
        named["input_tokens"] = given + heard if beside and heard >= 0 else given
    return named


def _choice(output: dict[str, Any]) -> dict[str, Any]:
    choices = output.get("choices")
    return table(choices[0]) if type(choices) is list and choices else {}


def _said(output: dict[str, Any]) -> str | None:
    message = table(_choice(output).get("message"))
    content = message.get("content")
    if type(content) is list:
        content = "".join(text(table(one).get("text")) or "" for one in content)
    said = text(output.get("text")) or text(content)
    calls = message.get("tool_calls")
    if calls:
        return compact([said, calls] if said else calls)
    return said


def _streamed(chunks: list[dict[str, Any]]) -> str | None:
    """The answer of a stream, whose events hold everything so far, or only what is new."""
    whole = ""
    for said in filter(None, (_said(table(chunk.get("output"))) for chunk in chunks)):
        whole = said if said.startswith(whole) else whole + said
    return whole or None


def owns(body: dict[str, Any]) -> bool:
    """Whether a body is an answer in DashScope's own shape, or an event of a stream of one."""
    output = body.get("output")
    return "request_id" in body and type(output) is dict and any(name in output for name in _ANSWERS)


def asks(body: dict[str, Any]) -> bool:
    """Whether a body is a request in DashScope's own shape."""
    return type(body.get("input")) is dict and type(body.get("parameters")) is dict and "model" in body


LAYOUT: Final = Layout(
    name="dashscope",
    title="Alibaba DashScope",
    convention="input_tokens holds cached, written and image tokens, output_tokens reasoning; embeddings a total.",
    read=read,
    owns=owns,
    asks=asks,
    places=("dashscope.aliyuncs.com/api/", "dashscope-intl.aliyuncs.com/api/"),
)
