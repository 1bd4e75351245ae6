"""Gemini Interactions API: one interaction with its steps, or the events of its stream.

Server-managed continuations are billed on every hop, and the usage of the whole is their sum (SDK types `Interaction`,
`Usage`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, Status, UsageEvent
from ingest.formats.fields import compact, count, integer, number, table, text
from ingest.formats.gemini_contents import model_in
from ingest.formats.layout import Layout
from ingest.formats.modalities import Counters, by_modality, fill
from ingest.formats.openai_chat import error_text, params_of
from ingest.formats.prompts import content_parts, role_of, schema_part, tool_parts
from ingest.formats.times import instant

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(
    (
        "model", "agent", "input", "system_instruction", "tools", "stream", "store", "background", "service_tier",
        "labels", "generation_config", "previous_interaction_id", "response_format", "webhook_config",
    )
)  # fmt: skip
_STATUS: Final[dict[str, Status]] = {"failed": "error", "cancelled": "aborted"}
_UNITS: Final = {"google_search": "web_search", "file_search": "storage_search"}


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of an interaction; a stream counts by its last event that carries the interaction."""
    event = UsageEvent(provider="google")
    response = exchange.response
    if exchange.chunks is not None:
        event.stream = True
        carried = [one for chunk in exchange.chunks if type(one := chunk.get("interaction")) is dict]
        response = {key: value for one in carried for key, value in one.items()}
        if not any(chunk.get("event_type") in _ENDS for chunk in exchange.chunks):
            event.status = "aborted"
    if exchange.request is not None:
        _read_request(exchange.request, event)
    if response is not None:
        _read_response(response, event, warnings)
    return event


_ENDS: Final = ("interaction.completed", "interaction.complete")


def _read_request(request: dict[str, Any], event: UsageEvent) -> None:
    get = request.get
    event.model = model_in(get("model")) or text(get("model")) or text(get("agent"))
    event.service_tier = text(get("service_tier"))
    event.parent_id = text(get("previous_interaction_id"))
    event.stream = get("stream") if type(get("stream")) is bool else event.stream
    config = table(get("generation_config"))
    event.max_tokens = integer(config.get("max_output_tokens"))
    event.temperature = number(config.get("temperature"))
    event.top_p = number(config.get("top_p"))
    event.seed = integer(config.get("seed"))
    event.reasoning_effort = text(config.get("thinking_level"))
    stop = config.get("stop_sequences")
    event.stop = compact(stop) if stop else None
    parts: list[Part] = []
    tool_parts(get("tools"), parts, [])
    schema_part(get("response_format"), parts)
    content_parts("system", get("system_instruction"), parts, [])
    given = get("input")
    for item in given if type(given) is list else [given]:
        if type(item) is dict and "content" in item:
            content_parts(_role(item), item["content"], parts, [])
        else:
            content_parts("user", item if type(item) is str else [item], parts, [])
    event.prompt = parts
    event.params = params_of(request, _OWN_KEYS, [])
    _read_labels(get("labels"), event)


def _role(turn: dict[str, Any]) -> str:
    """Who said a turn, or a step of an earlier interaction."""
    said = turn.get("role") or turn.get("type")
    return {"user_input": "user", "model_output": "assistant"}.get(str(said)) or role_of(said)


def _read_labels(labels: Any, event: UsageEvent) -> None:
    if type(labels) is dict:
        found = {str(key): value for key, value in labels.items() if type(value) is str}
        event.tags = {**(event.tags or {}), **found} or None


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = response.get
    event.provider_response_id = text(get("id"))
    event.model = model_in(get("model")) or text(get("model")) or text(get("agent")) or event.model
    event.start_us = instant(get("created"), "created", warnings)
    event.end_us = instant(get("updated"), "updated", warnings)
    event.service_tier = text(get("service_tier")) or event.service_tier
    event.parent_id = text(get("previous_interaction_id")) or event.parent_id
    state = text(get("status"))
    event.finish_reason = state
    event.status = _STATUS.get(state or "", event.status)
    event.output = _said(get("steps") if "steps" in response else get("outputs"))
    _read_labels(get("labels"), event)
    usage = get("usage")
    if type(usage) is dict:
        _read_usage(usage, event, warnings)
    errors = get("errors") or get("error")
    if errors:
        event.status = "error"
        event.error = error_text(errors[0] if type(errors) is list else errors)


def _read_usage(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    def counter(name: str) -> int | None:
        return count(usage.get(name), name, warnings)

    def split(name: str) -> dict[str, int]:
        return by_modality(usage.get(name), "tokens", name, warnings)

    counters = Counters(
        prompt=counter("total_input_tokens"),
        cached=counter("total_cached_tokens"),
        tool_prompt=counter("total_tool_use_tokens"),
        answer=counter("total_output_tokens"),
        thoughts=counter("total_thought_tokens"),
        total=counter("total_tokens"),
        prompt_by=split("input_tokens_by_modality"),
        cached_by=split("cached_tokens_by_modality"),
        tool_by=split("tool_use_tokens_by_modality"),
        answer_by=split("output_tokens_by_modality"),
    )
    fill(counters, event, warnings, zeros_left_out=True)
    first = counter("initial_input_tokens")
    if first is not None and counters.prompt is not None and first < counters.prompt:
        event.calls_summed = 0  # the provider went on by itself after a tool: the prompts of all rounds together
    units: dict[str, float] = {}
    tools = usage.get("grounding_tool_count")
    for tool in tools if type(tools) is list else ():
        calls = count(tool.get("count"), "grounding", warnings) if type(tool) is dict else None
        if calls:
            name = _UNITS.get(str(tool.get("type")), str(tool.get("type")))
            units[name] = units.get(name, 0.0) + calls
    event.units = units or None


def _said(steps: Any) -> str | None:
    """The text of the model's output steps, or its calls as JSON."""
    texts: list[str] = []
    calls: list[Any] = []
    for step in steps if type(steps) is list else ():
        if type(step) is not dict:
            continue
        kind = step.get("type")
        content = step.get("content") if kind == "model_output" else [step] if kind == "text" else None
        if type(content) is list:
            texts += [one["text"] for one in content if type(one) is dict and type(one.get("text")) is str]
        elif kind == "function_call":
            calls.append(step)
    joined = "".join(texts)
    if calls:
        return compact([joined, *calls] if joined else calls)
    return joined or None


def owns(body: dict[str, Any]) -> bool:
    """Whether a body is an interaction, or an event of an interaction's stream."""
    usage = body.get("usage")
    if type(usage) is dict and ("total_input_tokens" in usage or "total_output_tokens" in usage):
        return True
    kind = body.get("event_type")
    return type(kind) is str and kind.startswith(("interaction.", "step."))


LAYOUT: Final = Layout(
    name="gemini_interactions",
    title="Gemini Interactions",
    convention="total_input_tokens holds cached tokens; thoughts and tool prompts stand beside output and input.",
    read=read,
    owns=owns,
    places=("/interactions",),
)
