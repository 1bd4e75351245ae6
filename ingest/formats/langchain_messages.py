"""LangChain's `usage_metadata`: records of runs that carry it, and dumped AI messages.

Its counters hold everything, whatever the provider's own convention: input_tokens holds cache reads and writes, and the
`ephemeral_*` details are a split of `cache_creation`, not more tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats import providers
from ingest.formats.dressing import read_tags
from ingest.formats.envelope import meta
from ingest.formats.fields import compact, count, table, text
from ingest.formats.format import Format
from ingest.formats.openai_usage import read_usage
from ingest.formats.prompts import message_parts
from ingest.formats.times import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_DETAILS: Final = {"cache_read": "cached_tokens", "cache_creation": "cache_write_tokens", "audio": "audio_tokens"}
_ROLES: Final = ("human", "system", "tool", "function", "HumanMessage", "SystemMessage", "ToolMessage")


def detect(record: Any) -> float:
    message = _message(record)
    usage = message.get("usage_metadata") if message is not None else None
    if type(usage) is not dict or "prompt_token_count" in usage:
        return 0.0
    return 1.0 if "input_tokens" in usage or "output_tokens" in usage else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The call whose usage a record carries; a person's or a tool's message is none."""
    message = _message(record)
    if message is None:
        yield Rejected("no LangChain record: not a JSON object")
        return
    usage = message.get("usage_metadata")
    if type(usage) is not dict:
        kind = message.get("type")
        yield Rejected("a message without usage_metadata", benign=kind in _ROLES)
        return
    warnings: list[str] = []
    event = UsageEvent()
    _read_message(message, record, event, warnings)
    _read_usage(usage, event, warnings)
    event.warnings = warnings or None
    yield event


def _message(record: Any) -> dict[str, Any] | None:
    """The message itself: a record, or the `kwargs` of LangChain's serialised constructor, or a run's output."""
    if type(record) is not dict:
        return None
    if "lc" in record and (inner := table(record.get("kwargs"))):
        return inner
    for holder in (record.get("message"), record.get("output"), record.get("data")):
        if type(holder) is dict and "usage_metadata" not in record:
            inner = holder["kwargs"] if type(holder.get("kwargs")) is dict else holder
            if type(inner.get("usage_metadata")) is dict:
                return {**record, **inner}
    return record


def _read_message(message: dict[str, Any], record: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    known = meta({key: value for key, value in record.items() if key != "id" or type(value) is str})
    response = table(message.get("response_metadata"))
    names = (response.get("model_name"), response.get("model"), response.get("model_id"), message.get("model"))
    event.model = next((name for given in names if (name := text(given)) is not None), None)
    served = text(response.get("model_provider")) or text(message.get("provider")) or text(message.get("ls_provider"))
    event.provider = served.lower() if served is not None else providers.from_model(event.model)
    event.provider_response_id = text(response.get("id"))
    run = text(message.get("run_id")) or text(message.get("id"))
    event.source_record = run or event.provider_response_id
    event.trace_id, event.session_id = text(known.get("trace")), text(known.get("session"))
    event.parent_id = text(message.get("parent_run_id"))
    event.finish_reason = text(response.get("finish_reason")) or text(response.get("stop_reason"))
    event.service_tier = text(response.get("service_tier"))
    event.start_us = instant(known.get("start"), "start_time", warnings)
    event.end_us = instant(known.get("end"), "end_time", warnings)
    content, calls = message.get("content"), message.get("tool_calls")
    said = content if type(content) is str else compact(content) if content else ""
    event.output = compact([said, calls] if said else calls) if calls else said or None
    if "messages" in message:
        event.prompt = []
        message_parts(message["messages"], event.prompt, [])
    tags: dict[str, str] = {}
    read_tags(known.get("metadata"), tags)
    read_tags(known.get("tags"), tags)
    for name in ("feature", "team", "environment"):
        if (given := text(known.get(name))) is not None:
            tags[name] = given
    event.tags = tags or None


def _read_usage(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    given, made = table(usage.get("input_token_details")), table(usage.get("output_token_details"))
    details = {ours: given.get(theirs) for theirs, ours in _DETAILS.items()}
    split = {key: value for key, value in given.items() if key.startswith("ephemeral_")}
    named = sum(count(value, "cache_write", []) or 0 for value in split.values())
    if split and not details["cache_write_tokens"]:
        details["cache_write_tokens"] = named  # newer versions leave the sum at zero beside its split
    shaped = {
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "total_tokens": usage.get("total_tokens"),
        "input_tokens_details": {**details, "cache_creation_token_details": split or None},
        "output_tokens_details": {
            "reasoning_tokens": made.get("reasoning"),
            "audio_tokens": made.get("audio"),
            "image_tokens": made.get("image"),
        },
    }
    read_usage(shaped, event, warnings, providers.write_class(event.model, event.provider))


FORMAT: Final = Format(
    name="langchain_messages",
    title="LangChain usage_metadata",
    convention="input_tokens holds cache reads and writes, output_tokens reasoning; ephemeral details split writes.",
    billing="api",
    detect=detect,
    parse=parse,
)
