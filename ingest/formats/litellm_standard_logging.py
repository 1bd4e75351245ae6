"""LiteLLM's StandardLoggingPayload: what its S3, GCS, Azure and HTTP loggers and custom callbacks write of each call.

Source: `StandardLoggingPayload` of the LiteLLM package. The same call stands in SpendLogs under the same id, so the two
merge. Prompt tokens hold cache reads and writes for every provider; an answer from LiteLLM's own cache carries the
tokens of the first call, which nobody billed again. Payloads come alone, in a list, or inside a callback's arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats import providers
from ingest.formats.dressing import read_tags
from ingest.formats.fields import table, text, usd_text
from ingest.formats.format import Format
from ingest.formats.litellm_calls import (
    body,
    calls_summed,
    is_batch,
    listed,
    model_name,
    operation,
    read_bodies,
    read_failure,
    read_searches,
    read_served,
    usage_object,
)
from ingest.formats.openai_usage import read_usage
from ingest.formats.times import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_WRAPPERS: Final = ("standard_logging_object", "standard_logging_payload", "payload")
_LISTS: Final = ("data", "logs", "items")
_MARKS: Final = ("model_map_information", "hidden_params", "status_fields", "model_group", "saved_cache_cost")
_METADATA_TAGS: Final = {
    "user_api_key_team_id": "team",
    "user_api_key_team_alias": "team",
    "user_api_key_user_id": "litellm_user",
}
_MOST_NESTED: Final = 3


def detect(record: Any) -> float:
    payloads = _payloads(record, 0)
    return 1.0 if payloads and _is_payload(payloads[0]) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One event a payload; lists and wrappers give all of theirs."""
    payloads = _payloads(record, 0)
    if not payloads:
        yield Rejected("no LiteLLM payload: neither an object nor a list of objects")
    for payload in payloads:
        if type(payload) is not dict:
            yield Rejected("no LiteLLM payload: not a JSON object")
        elif not _is_payload(payload):
            yield Rejected("no LiteLLM payload: it has no call type, time or cost of a call")
        else:
            yield _event(payload)


def _payloads(record: Any, depth: int) -> list[Any]:
    if type(record) is list:
        return [one for item in record for one in (_payloads(item, depth + 1) if depth < _MOST_NESTED else [item])]
    if type(record) is not dict or depth >= _MOST_NESTED or _is_payload(record):
        return [record] if record is not None else []
    for name in _WRAPPERS:
        if type(record.get(name)) is dict:
            return _payloads(record[name], depth + 1)
    for name in _LISTS:
        inner = record.get(name)
        if type(inner) is list and inner and type(inner[0]) is dict and "startTime" in inner[0]:
            return _payloads(inner, depth + 1)
    return [record]


def _is_payload(record: Any) -> bool:
    if type(record) is not dict or "request_id" in record or "startTime" not in record:
        return False
    return "response_cost" in record and any(name in record for name in _MARKS)


def _event(payload: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    get = payload.get
    metadata = table(get("metadata"))
    event = UsageEvent(provider=text(get("custom_llm_provider")))
    messages = listed(get("messages"))
    asked = {**table(get("model_parameters")), "messages": messages if type(messages) is list else None}
    read_bodies(asked, body(get("response")), get("call_type"), event)
    if not event.prompt:
        event.prompt = None
    event.model = model_name(text(get("model")) or event.model, event.provider)
    event.source_record = text(get("id"))
    event.trace_id = text(get("trace_id")) or text(get("litellm_call_id"))
    event.session_id = text(get("session_id"))
    event.operation = operation(text(get("call_type")))
    event.is_batch = is_batch(text(get("call_type")))
    _read_usage(payload, metadata, event, warnings)
    event.calls_summed = calls_summed(text(get("call_type")), body(get("response")), event)
    for name, field in (("startTime", "start_us"), ("endTime", "end_us")):
        setattr(event, field, instant(get(name), name, warnings))
    first = get("completionStartTime")
    if first is not None and first != get("endTime"):  # equal: the answer was not streamed
        event.first_token_us = instant(first, "completionStartTime", warnings)
    _read_outcome(payload, metadata, event, warnings)
    _read_who(payload, metadata, event)
    event.warnings = warnings or None
    return event


def _read_usage(payload: dict[str, Any], metadata: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    usage = usage_object(payload, metadata, payload.get("hidden_params"))
    if payload.get("status") == "failure" and not usage.get("prompt_tokens") and not usage.get("completion_tokens"):
        return
    read_usage(usage, event, warnings, providers.write_class(event.model, event.provider))
    read_searches(usage, event, warnings)
    read_served(usage, table(payload.get("cost_breakdown")), body(payload.get("response")), event)


def _read_outcome(payload: dict[str, Any], metadata: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    if payload.get("cache_hit") is True or str(payload.get("cache_hit")).lower() == "true":
        event.not_billed = True
    else:
        event.provider_response_id = event.source_record
    event.cost_reported_usd = usd_text(payload.get("response_cost"), "response_cost", warnings)
    if payload.get("stream") is True:
        event.stream = True
    if payload.get("status") == "failure":
        failure = table(payload.get("error_information")) or table(metadata.get("error_information"))
        read_failure(failure, event)
        event.error = event.error or text(payload.get("error_str"))


def _read_who(payload: dict[str, Any], metadata: dict[str, Any], event: UsageEvent) -> None:
    event.account = text(metadata.get("user_api_key_org_id"))
    ends = (payload.get("end_user"), metadata.get("user_api_key_end_user_id"), metadata.get("user_api_key_user_id"))
    event.user = next((name for given in ends if (name := text(given)) is not None), None)
    event.api_key = text(metadata.get("user_api_key_hash"))
    event.api_key_alias = text(metadata.get("user_api_key_alias"))
    tags: dict[str, str] = {}
    for key, name in _METADATA_TAGS.items():
        value = text(metadata.get(key))
        if value is not None:
            tags[name] = value
    for given in (metadata.get("requester_metadata"), metadata.get("spend_logs_metadata")):
        read_tags(listed(given), tags)
    read_tags(listed(payload.get("request_tags")), tags)
    event.tags = tags or None


FORMAT: Final = Format(
    name="litellm_standard_logging",
    title="LiteLLM StandardLoggingPayload",
    convention="prompt_tokens holds cache reads and writes for every provider; completion_tokens holds reasoning.",
    billing="api",
    detect=detect,
    parse=parse,
)
