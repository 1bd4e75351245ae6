"""Prompt and answer of a span, where an instrumentation logs them: the GenAI messages, indexed attributes, events.

All become messages as Chat Completions write them, so that one reader makes segments of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ingest.formats.fields import compact, decoded_text, integer
from ingest.formats.otlp_spans import any_value, attributes
from ingest.formats.prompts import message_parts, tool_parts

if TYPE_CHECKING:
    from app.core.usage import Part, UsageEvent
    from ingest.formats.otlp_spans import Span

# OpenLLMetry's gen_ai.prompt.0.content and OpenInference's llm.input_messages.0.message.content
_INDEXED: Final = re.compile(
    r"(?:gen_ai\.(?P<old>prompt|completion)|llm\.(?P<side>input|output)_messages|llm\.prompts)"
    r"\.(?P<index>\d{1,5})\.(?:message\.)?(?P<rest>.{1,200})$"
)
_FUNCTION: Final = re.compile(r"(?:llm\.request\.functions|llm\.tools)\.(\d{1,4})\.(.{1,100})$")
_INDEXED_STARTS: Final = ("gen_ai.prompt.", "gen_ai.completion.", "llm.")
_MESSAGE_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_OUTER_EVENTS: Final = (
    "gen_ai.client.inference.operation.details",
    "gen_ai.content.prompt",
    "gen_ai.content.completion",
)

Messages = list[dict[str, Any]]


def read_content(span: Span, said: dict[str, Any], event: UsageEvent) -> None:
    """Set `prompt` and `output` of `event` from what is logged of them; nothing where nothing is."""
    asked, answered, tools = _indexed(span.attributes)
    if not asked and not answered:
        asked, answered = _of_events(span.events)
    parts: list[Part] = []
    tool_parts(_listed(said.get("tools")) or tools, parts, [])
    system = _listed(said.get("system_text"))
    if system:
        message_parts([{"role": "system", "content": _content(system)}], parts, [])
    given = _listed(said.get("messages_in"))
    if given:
        asked = [_message(item) for item in given]
    if asked:
        message_parts(asked, parts, [])
    elif said.get("value_in") is not None:
        _read_value(said["value_in"], parts)
    event.prompt = parts or None
    event.output = _answer(said, answered)
    if event.finish_reason is None and answered:
        reason = answered[0].get("finish_reason")
        event.finish_reason = reason if type(reason) is str and reason else None


def _answer(said: dict[str, Any], answered: Messages) -> str | None:
    given = _listed(said.get("messages_out"))
    if given:
        answered = [_message(item) for item in given]
    answered = [message for message in answered if message.get("content") or message.get("tool_calls")]
    if answered:
        contents = [message.get("content") for message in answered if message.get("content")]
        if len(contents) == 1 and type(contents[0]) is str and "tool_calls" not in answered[0]:
            return contents[0]
        return compact(answered)
    value = said.get("value_out")
    if value is None or value == "":
        return None
    return value if type(value) is str else compact(value)


def _read_value(value: Any, parts: list[Part]) -> None:
    """A prompt that is logged as one value: text, or the body that was sent."""
    inner = decoded_text(value) if type(value) is str else value
    if type(inner) is dict and type(inner.get("messages")) is list:
        tool_parts(inner.get("tools"), parts, [])
        message_parts(inner["messages"], parts, [])
    elif type(inner) is list:
        message_parts(inner, parts, [])
    else:
        message_parts(value if type(value) is str else compact(value), parts, [])


def _listed(value: Any) -> list[Any]:
    """A list, given as such, as JSON text, or as a list of JSON texts."""
    if type(value) is str:
        value = decoded_text(value)
    if type(value) is not list:
        return []
    return [(decoded_text(item) or item) if type(item) is str else item for item in value]


def _message(item: Any) -> dict[str, Any]:
    """A message of the GenAI conventions, whose parts have types of their own, as Chat Completions write it."""
    if type(item) is not dict:
        return {"role": "user", "content": item if type(item) is str else compact(item)}
    parts = item.get("parts")
    if type(parts) is not list:
        return item
    message: dict[str, Any] = {"role": item.get("role"), "content": _content(parts)}
    calls = [part for part in parts if type(part) is dict and part.get("type") == "tool_call"]
    if calls:
        message["tool_calls"] = calls
    return message


def _content(parts: list[Any]) -> Any:
    """Text where there is one part of text, else typed parts; tool calls stand beside it."""
    found: list[Any] = []
    for part in parts:
        if type(part) is not dict:
            found.append(part if type(part) is str else compact(part))
        elif part.get("type") in (None, "text") and type(part.get("content")) is str:
            found.append({"type": "text", "text": part["content"]})
        elif part.get("type") == "tool_call_response":
            found.append({"type": "tool_result", "content": part.get("response", part.get("result"))})
        elif part.get("type") != "tool_call":
            found.append(part)
    if len(found) == 1 and type(found[0]) is dict and found[0].get("type") == "text":
        return found[0].get("text")
    return found


def _indexed(given: dict[str, Any]) -> tuple[Messages, Messages, list[Any]]:
    """(asked, answered, tools) out of attributes whose names count up messages."""
    sides: dict[bool, dict[int, dict[str, Any]]] = {True: {}, False: {}}
    functions: dict[int, dict[str, Any]] = {}
    for name, value in given.items():
        if not name.startswith(_INDEXED_STARTS):
            continue
        found = _INDEXED.match(name)
        if found is not None:
            asked = found["old"] == "prompt" or found["side"] == "input" or (not found["old"] and not found["side"])
            sides[asked].setdefault(int(found["index"]), {})[found["rest"]] = value
            continue
        function = _FUNCTION.match(name)
        if function is not None:
            functions.setdefault(int(function[1]), {})[function[2]] = value
    tools = [_tool(functions[index]) for index in sorted(functions)]
    return _in_order(sides[True]), _in_order(sides[False]), tools


def _tool(fields: dict[str, Any]) -> Any:
    schema = fields.get("tool.json_schema")
    return (decoded_text(schema) or fields) if type(schema) is str else fields


def _in_order(found: dict[int, dict[str, Any]]) -> Messages:
    return [_from_fields(found[index]) for index in sorted(found)]


def _from_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """One message out of its fields; those of nested parts and tool calls stay together in the order logged."""
    content = fields.get("content")
    if type(content) is str:
        inner = decoded_text(content)
        content = inner if type(inner) is list else content
    nested = {name: value for name, value in fields.items() if name.startswith("contents.")}
    if content is None and nested:
        content = _nested(nested)
    message: dict[str, Any] = {"role": fields.get("role"), "content": content}
    if "finish_reason" in fields:
        message["finish_reason"] = fields["finish_reason"]
    calls = {name: value for name, value in fields.items() if name.startswith("tool_calls.")}
    if calls:
        message["tool_calls"] = [calls]
    return message


def _nested(fields: dict[str, Any]) -> list[Any]:
    """OpenInference's contents.N.message_content.text (and .type)."""
    parts: dict[int, dict[str, Any]] = {}
    for name, value in fields.items():
        steps = name.split(".", 3)
        index = integer(steps[1]) if len(steps) > 2 else None
        if index is not None:
            parts.setdefault(index, {})[steps[-1]] = value
    return [{"type": "text", **parts[index]} for index in sorted(parts)]


def _of_events(events: list[Any]) -> tuple[Messages, Messages]:
    """Messages out of the events of a span, as the older conventions log them."""
    asked: Messages = []
    answered: Messages = []
    for item in events:
        if type(item) is not dict or type(item.get("name")) is not str or not item["name"].startswith("gen_ai."):
            continue
        held = attributes(item.get("attributes"))
        body = any_value(item.get("body"))
        if type(body) is dict:
            held = {**held, **body}
        role = _MESSAGE_EVENTS.get(item["name"])
        if role is not None:
            asked.append({"role": held.get("role") or role, "content": held.get("content")})
        elif item["name"] == "gen_ai.choice":
            message = held.get("message")
            answered.append(
                message if type(message) is dict else {"role": "assistant", "content": message or held.get("content")}
            )
        elif item["name"] in _OUTER_EVENTS:
            asked += [_message(one) for one in _listed(held.get("gen_ai.input.messages", held.get("gen_ai.prompt")))]
            answered += [
                _message(one) for one in _listed(held.get("gen_ai.output.messages", held.get("gen_ai.completion")))
            ]
    return asked, answered
