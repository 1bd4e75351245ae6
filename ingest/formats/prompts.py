"""The parts of a prompt in the order in which providers read it: tools, answer schema, system, messages.

Text parts keep their text exactly; others become their JSON text, compact, in the order logged, without cache marks: a
mark that moves on with the conversation does not change what is cached. Marks are returned beside the parts.
"""

from __future__ import annotations

from typing import Any, Final

from app.core.usage import Part
from ingest.formats.fields import compact

Marks = list[tuple[int, str]]

_KINDS: Final = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "tool_use": "tool_use",
    "server_tool_use": "tool_use",
    "function_call": "tool_use",
    "custom_tool_call": "tool_use",
    "tool_result": "tool_result",
    "web_search_tool_result": "tool_result",
    "function_call_output": "tool_result",
    "custom_tool_call_output": "tool_result",
}
_ROLES: Final = {"developer": "system", "function": "tool", "model": "assistant", "human": "user", "ai": "assistant"}
_MARK_KEYS: Final = ("cache_control", "prompt_cache_breakpoint")


def tool_parts(tools: Any, parts: list[Part], marks: Marks) -> None:
    """One part a tool definition."""
    if type(tools) is list:
        for tool in tools:
            parts.append(Part("tools", "tool", _unmarked(tool, len(parts), marks)))


def schema_part(schema: Any, parts: list[Part]) -> None:
    """The answer schema, which providers put before the system text."""
    if schema:
        parts.append(Part("system", "schema", compact(schema)))


def content_parts(role: str, content: Any, parts: list[Part], marks: Marks, text_kind: str = "text") -> None:
    """The parts of one message's content: plain text, or a list of typed parts."""
    if type(content) is str:
        if content:
            parts.append(Part(role, text_kind, content))
    elif type(content) is list:
        for item in content:
            if type(item) is str:
                parts.append(Part(role, text_kind, item))
            elif type(item) is dict:
                _item(role, item, parts, marks, text_kind)
    elif content is not None:
        parts.append(Part(role, text_kind, compact(content)))


def message_parts(messages: Any, parts: list[Part], marks: Marks) -> None:
    """The parts of a list of messages as Chat Completions and Anthropic write them; plain text is one user message."""
    if type(messages) is not list:
        content_parts("user", messages, parts, marks)
        return
    for message in messages:
        if type(message) is not dict:
            content_parts("user", message, parts, marks)
            continue
        role = role_of(message.get("role"))
        content_parts(role, message.get("content"), parts, marks, "tool_result" if role == "tool" else "text")
        calls = message.get("tool_calls")
        if type(calls) is list:
            parts += [Part(role, "tool_use", compact(call)) for call in calls]
        elif message.get("function_call"):
            parts.append(Part(role, "tool_use", compact(message["function_call"])))


def role_of(role: Any) -> str:
    """One of tools, system, user, assistant, tool; a role that is none of them is kept as it is."""
    return _ROLES.get(role, role) if type(role) is str and role else "user"


def mark_last(mark: Any, parts: list[Part], marks: Marks) -> None:
    """A mark on the whole request stands on its last part."""
    if mark and parts:
        marks.append((len(parts) - 1, _lifetime(mark)))


def lifetimes(marks: Marks) -> list[list[int | str]]:
    """Cache marks as they are kept in `params`: [index of the part that carries one, its lifetime]."""
    return [[index, ttl] for index, ttl in marks]


def _item(role: str, item: dict[str, Any], parts: list[Part], marks: Marks, text_kind: str) -> None:
    kind = item.get("type", "text")
    known = _KINDS.get(kind) if type(kind) is str else None
    text = item.get("text")
    if known == "text" and type(text) is str:
        _note_marks(item, len(parts), marks)
        parts.append(Part(role, text_kind, text))
        return
    parts.append(Part(role, known or (str(kind) if kind else text_kind), _unmarked(item, len(parts), marks)))


def _unmarked(item: Any, index: int, marks: Marks) -> str:
    """The JSON text of an item without its cache mark, which is noted."""
    if type(item) is dict and _note_marks(item, index, marks):
        item = {name: value for name, value in item.items() if name not in _MARK_KEYS}
    return compact(item)


def _note_marks(item: dict[str, Any], index: int, marks: Marks) -> bool:
    """Note the cache mark of an item, if it carries one; true where it has a key for one."""
    marked = False
    for key in _MARK_KEYS:
        if key in item:
            marked = True
            mark = item[key]
            if mark:
                marks.append((index, _lifetime(mark)))
    return marked


def _lifetime(mark: Any) -> str:
    ttl = mark.get("ttl") if type(mark) is dict else None
    return ttl if type(ttl) is str else ""
