"""Requests and answers of Gemini's generateContent: prompt parts, parameters and what the model said.

The API writes camelCase, its Python SDK's dumps snake_case; both are read. `cachedContent` names a prefix that the
request does not repeat, so it stays among the parameters.
"""

from __future__ import annotations

import re
from typing import Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.fields import canonical, compact, integer, number, text
from ingest.formats.prompts import role_of, schema_part

_MODEL: Final = re.compile(r"models/([^/:?\s]+)")
_LOCATION: Final = re.compile(r"locations/([a-z0-9-]+)")
_CONTENTS: Final = ("contents", "content")
_OWN: Final = frozenset(
    (
        "contents", "content", "systemInstruction", "system_instruction", "tools", "model", "generationConfig",
        "generation_config", "config", "serviceTier", "service_tier", "labels",
    )
)  # fmt: skip
_OWN_CONFIG: Final = frozenset(
    (
        "maxOutputTokens", "temperature", "topP", "candidateCount", "seed", "stopSequences", "responseMimeType",
        "responseSchema", "responseJsonSchema", "systemInstruction", "tools", "httpOptions", "serviceTier", "labels",
    )
)  # fmt: skip


def pick(body: dict[str, Any], name: str) -> Any:
    """The value under a camelCase name, or under the same name in snake_case."""
    value = body.get(name)
    return body.get(snake(name)) if value is None else value


def snake(name: str) -> str:
    """`usageMetadata` as `usage_metadata`."""
    return re.sub(r"([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def model_in(place: Any) -> str | None:
    """The model that a called path or a resource name holds: `…/models/gemini-2.5-pro:generateContent`."""
    found = _MODEL.search(place) if type(place) is str else None
    return found.group(1) if found is not None else None


def location_in(place: Any) -> str | None:
    """The Vertex location that a called path holds."""
    found = _LOCATION.search(place) if type(place) is str else None
    return found.group(1) if found is not None else None


def read_request(request: dict[str, Any], event: UsageEvent) -> None:
    """Fill the parameters and the prompt parts of `event` from a generateContent request body."""
    given = next((value for name in ("generationConfig", "config") if type(value := pick(request, name)) is dict), {})
    config = {_camel(key): value for key, value in given.items()}
    model = text(request.get("model"))
    event.model = model_in(model) or model
    event.max_tokens = integer(config.get("maxOutputTokens"))
    event.temperature = number(config.get("temperature"))
    event.top_p = number(config.get("topP"))
    event.n = integer(config.get("candidateCount"))
    event.seed = integer(config.get("seed"))
    stop = config.get("stopSequences")
    event.stop = compact(stop) if stop else None
    event.response_format = text(config.get("responseMimeType"))
    thinking = config.get("thinkingConfig")
    if type(thinking) is dict:
        event.reasoning_effort = text(pick(thinking, "thinkingLevel")) or text(pick(thinking, "thinkingBudget"))
    event.service_tier = text(pick(request, "serviceTier")) or text(config.get("serviceTier"))
    labels = request.get("labels", config.get("labels"))
    if type(labels) is dict:
        event.tags = {str(key): value for key, value in labels.items() if type(value) is str}
    _read_prompt(request, config, event)
    rest = {key: value for key, value in request.items() if key not in _OWN and value is not None}
    rest |= {key: value for key, value in config.items() if key not in _OWN_CONFIG and value is not None}
    event.params = canonical(rest) if rest else None


def answer_text(candidates: Any) -> str | None:
    """What the model answered: text without its thoughts, or its calls as JSON; several candidates as a JSON list."""
    if type(candidates) is not list:
        return None
    answers = [_said(candidate.get("content")) for candidate in candidates if type(candidate) is dict]
    if len(answers) == 1:
        return answers[0]
    return compact(answers) if answers else None


def parts_of(content: Any) -> list[dict[str, Any]]:
    """The parts of a content object that are objects."""
    parts = content.get("parts") if type(content) is dict else None
    return [part for part in parts if type(part) is dict] if type(parts) is list else []


def _said(content: Any) -> str | None:
    texts: list[str] = []
    calls: list[Any] = []
    for part in parts_of(content):
        if part.get("thought") is True:
            continue
        if type(part.get("text")) is str:
            texts.append(part["text"])
        else:
            calls.append({key: value for key, value in part.items() if key not in _SIGNATURES})
    joined = "".join(texts)
    if calls:
        return compact([joined, *calls] if joined else calls)
    return joined or None


def _read_prompt(request: dict[str, Any], config: dict[str, Any], event: UsageEvent) -> None:
    parts: list[Part] = []
    for tools in (request.get("tools"), config.get("tools")):
        for tool in tools if type(tools) is list else ():
            declared = pick(tool, "functionDeclarations") if type(tool) is dict else None
            parts += [Part("tools", "tool", compact(one)) for one in (declared if type(declared) is list else [tool])]
    for name in ("responseSchema", "responseJsonSchema"):
        schema_part(config.get(name), parts)
    _content("system", pick(request, "systemInstruction") or config.get("systemInstruction"), parts)
    for name in _CONTENTS:
        given = request.get(name)
        for content in given if type(given) is list else [given]:
            _content("user", content, parts)
    event.prompt = parts


def _content(role: str, content: Any, parts: list[Part]) -> None:
    """One content object: a role and its parts; the SDK also takes plain text and single parts."""
    if content is None or content == "":
        return
    if type(content) is str:
        parts.append(Part(role, "text", content))
        return
    if type(content) is list:
        for one in content:
            _content(role, one, parts)
        return
    if type(content) is not dict:
        parts.append(Part(role, "text", compact(content)))
        return
    inner = content.get("parts")
    if type(inner) is list:
        said_by = role_of(content.get("role")) if role != "system" and content.get("role") else role
        for part in inner:
            _content(said_by, part, parts)
    elif type(content.get("text")) is str:
        parts.append(Part(role, "text", content["text"]))
    else:
        plain = {key: value for key, value in content.items() if key not in _SIGNATURES}
        parts.append(Part(role, _kind(plain), compact(plain)))


# Encrypted notes to the model that go with a part; they are new in each answer.
_SIGNATURES: Final = ("thoughtSignature", "thought_signature")


def _kind(part: dict[str, Any]) -> str:
    if "functionCall" in part or "function_call" in part:
        return "tool_use"
    if "functionResponse" in part or "function_response" in part:
        return "tool_result"
    for name in ("inlineData", "fileData"):
        data = pick(part, name)
        if type(data) is dict:
            media = pick(data, "mimeType")
            return media.partition("/")[0] if type(media) is str and media else "file"
    return "part"


def _camel(name: Any) -> str:
    head, *rest = str(name).split("_")
    return head + "".join(word.capitalize() for word in rest)
