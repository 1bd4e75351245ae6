"""OpenAI Responses API: response alone, with its request, and event streams that end in `response.completed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, Status, UsageEvent
from ingest.formats import providers
from ingest.formats.fields import compact, count, integer, number, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text, params_of, read_charge
from ingest.formats.openai_usage import read_usage
from ingest.formats.prompts import Marks, content_parts, role_of, schema_part, tool_parts
from ingest.formats.times import instant

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(
    (
        "model", "input", "instructions", "tools", "max_output_tokens", "temperature", "top_p", "stream", "user",
        "metadata", "store", "service_tier", "safety_identifier", "background", "include", "stream_options", "text",
        "reasoning", "timeout", "extra_headers", "litellm_metadata", "api_key",
    )
)  # fmt: skip
_STATUS: Final[dict[str, Status]] = {"failed": "error", "cancelled": "aborted"}


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a Responses call. A stream counts by its last event that carries the response."""
    event = UsageEvent(provider="openai", operation="chat")
    response = exchange.response
    if exchange.chunks is not None:
        event.stream = True
        response, ended = _last_response(exchange.chunks)
        if not ended:
            event.status = "aborted"
    if exchange.request is not None:
        read_request(exchange.request, event)
    if response is not None:
        _read_response(response, event, warnings)
    return event


def read_request(request: dict[str, Any], event: UsageEvent) -> None:
    """Fill the parameters and the prompt parts of `event` from a Responses request body."""
    _read_parameters(request, event)
    marks = _read_prompt(request, event)
    event.params = params_of(_flattened(request), _OWN_KEYS, marks)
    metadata = request.get("metadata")
    if type(metadata) is dict:
        event.tags = {str(key): value for key, value in metadata.items() if type(value) is str}


def _read_parameters(body: dict[str, Any], event: UsageEvent) -> None:
    """The parameters, which the response repeats with their defaults filled in."""
    get = body.get
    event.model = text(get("model")) or event.model
    event.max_tokens = integer(get("max_output_tokens"))
    event.temperature = number(get("temperature"))
    event.top_p = number(get("top_p"))
    event.service_tier = text(get("service_tier")) or event.service_tier
    event.user = text(get("user"))
    streamed = get("stream")
    if type(streamed) is bool:
        event.stream = streamed
    reasoning = get("reasoning")
    if type(reasoning) is dict:
        event.reasoning_effort = text(reasoning.get("effort"))
    shape = get("text")
    if type(shape) is dict and type(shape.get("format")) is dict:
        event.response_format = text(shape["format"].get("type"))
    event.parent_id = text(get("previous_response_id"))
    conversation = get("conversation")
    event.session_id = text(conversation.get("id") if type(conversation) is dict else conversation)


def _flattened(request: dict[str, Any]) -> dict[str, Any]:
    """The request with the parts of `reasoning` and `text` that have no field of their own as plain parameters."""
    reasoning, shape = request.get("reasoning"), request.get("text")
    extra: dict[str, Any] = {}
    if type(reasoning) is dict and reasoning.get("summary"):
        extra["reasoning.summary"] = reasoning["summary"]
    if type(shape) is dict and shape.get("verbosity"):
        extra["text.verbosity"] = shape["verbosity"]
    return {**request, **extra} if extra else request


def _read_prompt(body: dict[str, Any], event: UsageEvent) -> Marks:
    parts: list[Part] = []
    marks: Marks = []
    tool_parts(body.get("tools"), parts, marks)
    shape = body.get("text")
    if type(shape) is dict and type(shape.get("format")) is dict:
        schema_part(shape["format"].get("schema"), parts)
    content_parts("system", body.get("instructions"), parts, marks)
    items = body.get("input")
    if type(items) is list:
        for item in items:
            _input_item(item, parts, marks)
    else:
        content_parts("user", items, parts, marks)
    event.prompt = parts
    return marks


def _input_item(item: Any, parts: list[Part], marks: Marks) -> None:
    if type(item) is not dict:
        content_parts("user", item, parts, marks)
    elif "role" in item:
        content_parts(role_of(item["role"]), item.get("content"), parts, marks)
    elif item.get("type") in ("function_call_output", "custom_tool_call_output"):
        content_parts("tool", [item], parts, marks)
    else:
        content_parts("assistant", [item], parts, marks)


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = response.get
    if event.prompt is None:
        _read_parameters(response, event)
    else:
        event.model = text(get("model")) or event.model
        event.service_tier = text(get("service_tier")) or event.service_tier
    event.provider = providers.from_model(event.model) or event.provider  # others serve this API too
    event.provider_response_id = text(get("id"))
    event.start_us = instant(get("created_at"), "created_at", warnings)
    event.end_us = instant(get("completed_at"), "completed_at", warnings)
    state = get("status")
    if type(state) is str:
        event.status = _STATUS.get(state, event.status)
        reason = get("incomplete_details")
        event.finish_reason = text(reason.get("reason")) if type(reason) is dict else state
    if get("error"):
        event.status, event.error = "error", error_text(get("error"))
    event.output = _output_text(get("output"))
    usage = get("usage")
    if type(usage) is dict:
        read_usage(usage, event, warnings, "tok_cache_write_30m")
        read_charge(usage, event, warnings)
    _read_units(get("tool_usage") or _invoked(usage), get("output"), event, warnings)
    metadata = get("metadata")
    if type(metadata) is dict and metadata:
        found = {str(key): value for key, value in metadata.items() if type(value) is str}
        event.tags = {**(event.tags or {}), **found}


def _read_units(tool_usage: Any, output: Any, event: UsageEvent, warnings: list[str]) -> None:
    """Searches that carry a fee: as the response counts them, else the calls among its items.

    Opening and reading a page that was found costs nothing. A container of the code interpreter is billed when it is
    made, and an item does not tell whether it was made before: not counted.
    """
    searched = tool_usage.get("web_search") if type(tool_usage) is dict else None
    searches = count(searched.get("num_requests"), "web_search", warnings) if type(searched) is dict else None
    items = [item for item in output if type(item) is dict] if type(output) is list else []
    if searches is None:
        searches = sum(item.get("type") == "web_search_call" and _is_search(item.get("action")) for item in items)
    units = {"web_search": searches, "storage_search": sum(item.get("type") == "file_search_call" for item in items)}
    event.units = {name: float(value) for name, value in units.items() if value} or None


def _invoked(usage: Any) -> dict[str, Any] | None:
    """Perplexity counts the calls of its tools in the usage."""
    searched = table(table(table(usage).get("tool_calls_details")).get("search_web"))
    return {"web_search": {"num_requests": searched.get("invocation")}} if searched else None


def _is_search(action: Any) -> bool:
    return type(action) is not dict or action.get("type", "search") == "search"


def _output_text(output: Any) -> str | None:
    """The answer's text, or its tool calls as JSON."""
    if type(output) is not list:
        return None
    texts: list[str] = []
    calls: list[Any] = []
    for item in output:
        if type(item) is not dict:
            continue
        if item.get("type") == "message" and type(item.get("content")) is list:
            texts += [part["text"] for part in item["content"] if type(part) is dict and type(part.get("text")) is str]
        elif item.get("type") != "reasoning":
            calls.append(item)
    joined = "".join(texts)
    if calls:
        return compact([joined, *calls] if joined else calls)
    return joined or None


_ENDS: Final = ("response.completed", "response.failed", "response.incomplete", "response.done")  # realtime's is `done`


def _last_response(chunks: list[dict[str, Any]]) -> tuple[dict[str, Any] | None, bool]:
    for chunk in reversed(chunks):
        response = chunk.get("response")
        if type(response) is dict:
            ended = chunk.get("type") in _ENDS
            return response, ended
    return None, False


LAYOUT: Final = Layout(
    name="openai_responses",
    title="OpenAI Responses",
    convention="input_tokens holds cached and cache-write tokens; output_tokens holds reasoning tokens.",
    read=read,
)
