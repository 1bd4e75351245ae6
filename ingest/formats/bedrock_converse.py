"""Bedrock Converse and ConverseStream: response alone, with its request, and lists of stream events.

Cache reads and writes stand beside the input (botocore's `TokenUsage`); `cacheDetails` splits the writes by lifetime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.addresses import note_capacity
from ingest.formats.fields import compact, count, integer, number, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text, params_of
from ingest.formats.prompts import Marks, role_of

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(
    (
        "modelId", "messages", "system", "inferenceConfig", "toolConfig", "requestMetadata", "serviceTier",
        "performanceConfig", "schemaVersion",
    )
)  # fmt: skip
_EVENTS: Final = frozenset(
    ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")
)
_KINDS: Final = {"toolUse": "tool_use", "toolResult": "tool_result"}


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a Converse call; a stream's usage comes in its last event, `metadata`."""
    event = UsageEvent(provider="aws")
    response = exchange.response
    if exchange.chunks is not None:
        event.stream = True
        response = _joined(exchange.chunks)
        if "stopReason" not in response:
            event.status = "aborted"
    if exchange.request is not None:
        read_request(exchange.request, event)
    if response is not None:
        _read_response(response, event, warnings)
    return event


def read_request(request: dict[str, Any], event: UsageEvent) -> None:
    """Fill the parameters, the prompt parts and the cache marks of `event` from a Converse request."""
    get = request.get
    event.model = text(get("modelId"))
    config = table(get("inferenceConfig"))
    event.max_tokens = integer(config.get("maxTokens", config.get("max_new_tokens")))
    event.temperature = number(config.get("temperature"))
    event.top_p = number(config.get("topP", config.get("top_p")))
    stop = config.get("stopSequences")
    event.stop = compact(stop) if stop else None
    event.service_tier = text(table(get("serviceTier")).get("type"))
    note_capacity(event)
    parts: list[Part] = []
    marks: Marks = []
    tools = table(get("toolConfig")).get("tools")
    _blocks("tools", tools, "tool", parts, marks)
    _blocks("system", get("system"), "text", parts, marks)
    messages = get("messages")
    for message in messages if type(messages) is list else ():
        if type(message) is dict:
            _blocks(role_of(message.get("role")), message.get("content"), "text", parts, marks)
    event.prompt = parts
    event.params = params_of(request, _OWN_KEYS, marks)
    _read_tags(get("requestMetadata"), event)


def _read_tags(metadata: Any, event: UsageEvent) -> None:
    if type(metadata) is dict and metadata:
        found = {str(key): value for key, value in metadata.items() if type(value) is str}
        event.tags = {**(event.tags or {}), **found}


def _blocks(role: str, blocks: Any, kind: str, parts: list[Part], marks: Marks) -> None:
    """One part a content block; a `cachePoint` is a mark on the block before it."""
    for block in blocks if type(blocks) is list else [blocks] if type(blocks) is str else ():
        if type(block) is dict and "cachePoint" in block:
            if parts:
                marks.append((len(parts) - 1, text(table(block["cachePoint"]).get("ttl")) or ""))
        elif type(block) is dict and type(block.get("text")) is str:
            parts.append(Part(role, "text", block["text"]))
        elif type(block) is dict and len(block) == 1:
            name = next(iter(block))
            parts.append(Part(role, kind if role == "tools" else _KINDS.get(name, name), compact(block)))
        else:
            parts.append(Part(role, kind, block if type(block) is str else compact(block)))


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = response.get
    _read_answer(table(get("ResponseMetadata")), event)
    event.finish_reason = text(get("stopReason"))
    event.output = _said(table(table(get("output")).get("message")).get("content"))
    event.service_tier = text(table(get("serviceTier")).get("type")) or event.service_tier
    latency = text(table(get("performanceConfig")).get("latency"))
    if latency is not None and latency != "standard":
        event.price_context = {**(event.price_context or {}), "speed": latency}
    usage = get("usage")
    if type(usage) is dict:
        read_usage(usage, event, warnings)
    if get("error"):
        event.status, event.error = "error", error_text(get("error"))


def _read_answer(metadata: dict[str, Any], event: UsageEvent) -> None:
    """What boto3 adds to a body: the request's id, as the invocation log has it, and how often it tried before."""
    event.source_record = event.provider_response_id = text(metadata.get("RequestId"))
    event.http_status = integer(metadata.get("HTTPStatusCode"))
    retries = integer(metadata.get("RetryAttempts"))
    event.attempt = None if retries is None else retries + 1


def read_usage(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """Fill the classes of `event` from a Converse `usage`, or from the like counters of a Nova body."""

    def counter(*names: str) -> int | None:
        given = next((usage[name] for name in names if usage.get(name) is not None), None)
        return count(given, names[0], warnings)

    event.tok_input = counter("inputTokens", "inputTokenCount")
    event.tok_output = counter("outputTokens", "outputTokenCount")
    event.tok_cache_read = counter("cacheReadInputTokens", "cacheReadInputTokenCount")
    written = counter("cacheWriteInputTokens", "cacheWriteInputTokenCount")
    short, long = split_writes(usage.get("cacheDetails"), written, warnings)
    event.tok_cache_write_5m, event.tok_cache_write_1h = short, long
    total = counter("totalTokens", "totalTokenCount")
    event.tok_total_reported = total
    plain = (event.tok_input or 0) + (event.tok_output or 0)
    cache = (event.tok_cache_read or 0) + (short or 0) + (long or 0)
    if total is not None and total == plain and cache:
        event.tok_total_reported = None  # some models' totals leave the cache out
    elif total is not None and total != plain + cache and (event.tok_input is not None or cache):
        warnings.append("sum_mismatch")


def split_writes(details: Any, written: int | None, warnings: list[str]) -> tuple[int | None, int | None]:
    """Cache writes of (five minutes, one hour); what the details leave out has the default lifetime, five minutes."""
    named = {"5m": 0, "1h": 0}
    for detail in details if type(details) is list else ():
        ttl = detail.get("ttl") if type(detail) is dict else None
        if type(ttl) is str and ttl in named:
            named[ttl] += count(detail.get("inputTokens"), "cache_write", warnings) or 0
    if written is None:
        return (named["5m"] or None, named["1h"] or None)
    if named["5m"] + named["1h"] > written:
        warnings.append("inconsistent_usage")
        named["1h"] = min(named["1h"], written)
    return (written - named["1h"], named["1h"] or None)


def _said(content: Any) -> str | None:
    texts: list[str] = []
    calls: list[Any] = []
    for block in content if type(content) is list else ():
        if type(block) is not dict or "reasoningContent" in block:
            continue
        if type(block.get("text")) is str:
            texts.append(block["text"])
        else:
            calls.append(block)
    joined = "".join(texts)
    if calls:
        return compact([joined, *calls] if joined else calls)
    return joined or None


def _joined(events: list[dict[str, Any]]) -> dict[str, Any]:
    """One response made of a stream's events."""
    joined: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        start, delta = table(event.get("contentBlockStart")), table(event.get("contentBlockDelta"))
        if start or delta:
            index = integer((start or delta).get("contentBlockIndex")) or 0
            block = blocks.setdefault(index, {})
            block.update(table(start.get("start")))
            _extend(block, table(delta.get("delta")))
        if "messageStop" in event:
            joined["stopReason"] = table(event["messageStop"]).get("stopReason")
        if "metadata" in event:
            joined.update(table(event["metadata"]))
        for name, value in event.items():
            if name.endswith("Exception"):
                joined["error"] = {"type": name, "message": table(value).get("message")}
    joined["output"] = {"message": {"content": [blocks[index] for index in sorted(blocks)]}}
    return joined


def _extend(block: dict[str, Any], delta: dict[str, Any]) -> None:
    if type(delta.get("text")) is str:
        block["text"] = str(block.get("text") or "") + delta["text"]
    elif type(delta.get("toolUse")) is dict:
        tool = block.setdefault("toolUse", {})
        if type(tool) is dict:
            tool["input"] = str(tool.get("input") or "") + str(delta["toolUse"].get("input") or "")
    elif "reasoningContent" in delta:
        block["reasoningContent"] = True


def owns(body: dict[str, Any]) -> bool:
    """Whether a body is a Converse response, or an event of its stream."""
    usage = body.get("usage")
    if type(usage) is dict:
        return "inputTokens" in usage or "outputTokens" in usage
    return "stopReason" in body or (len(body) == 1 and not _EVENTS.isdisjoint(body))


def asks(body: dict[str, Any]) -> bool:
    """Whether a body is a Converse request: its content blocks name their kind by a key."""
    if "inferenceConfig" in body or "toolConfig" in body:
        return True
    messages = body.get("messages")
    first = messages[0] if type(messages) is list and messages and type(messages[0]) is dict else {}
    blocks = first.get("content")
    block = blocks[0] if type(blocks) is list and blocks and type(blocks[0]) is dict else None
    return block is not None and "type" not in block and "text" in block


LAYOUT: Final = Layout(
    name="bedrock_converse",
    title="Bedrock Converse",
    convention="inputTokens, cacheReadInputTokens and cacheWriteInputTokens stand beside each other; outputTokens "
    "holds reasoning.",
    read=read,
    owns=owns,
    asks=asks,
    places=("/converse",),
)
