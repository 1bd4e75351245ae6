"""LiteLLM SpendLogs rows: the proxy's table, its `/spend/logs/v2` pages and exports of them.

Source: `SpendLogsPayload` and `schema.prisma` of the LiteLLM package. Prompt tokens hold cache reads and writes for
every provider; answers from LiteLLM's own cache carry tokens that nobody billed; a failure row says zero tokens
whether or not the provider charged, so they are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats import providers
from ingest.formats.dressing import read_tags
from ingest.formats.fields import integer, table, text, usd_text
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
from ingest.formats.times import utc_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_METADATA_TAGS: Final = {
    "user_api_key_team_alias": "team",
    "user_api_key_user_id": "litellm_user",
    "original_model_group": "requested_model",
}
_OWN: Final = ("startTime", "call_type", "spend")


def detect(record: Any) -> float:
    if type(record) is not dict:
        return 0.0
    if "request_id" in record and "startTime" in record and ("spend" in record or "call_type" in record):
        return 1.0
    data = record.get("data")
    return 1.0 if type(data) is list and data and type(data[0]) is dict and detect(data[0]) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One event a row; a page (`{"data": [...]}`) gives all of its rows."""
    if type(record) is not dict:
        yield Rejected("no LiteLLM row: not a JSON object")
    elif type(record.get("data")) is list and "request_id" not in record:
        for row in record["data"]:
            yield _event(row) if type(row) is dict else Rejected("no LiteLLM row: not a JSON object")
    elif not any(name in record for name in _OWN):
        yield Rejected("no LiteLLM row: it has neither startTime nor call_type nor spend")
    else:
        yield _event(record)


def _event(row: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    get = row.get
    metadata = table(get("metadata"))
    event = UsageEvent(provider=text(get("custom_llm_provider")))
    _read_bodies(row, event)
    event.model = model_name(text(get("model")) or event.model, event.provider)
    event.source_record = text(get("request_id"))
    event.trace_id = text(get("litellm_call_id"))
    event.session_id = text(get("session_id"))
    event.operation = operation(text(get("call_type")))
    event.is_batch = is_batch(text(get("call_type")))
    _read_usage(row, metadata, event, warnings)
    event.calls_summed = calls_summed(text(get("call_type")), body(get("response")), event)
    _read_times(row, event, warnings)
    _read_outcome(row, metadata, event)
    _read_who(row, metadata, event)
    event.cost_reported_usd = usd_text(get("spend"), "spend", warnings)
    event.warnings = warnings or None
    return event


def _read_usage(row: dict[str, Any], metadata: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    usage = usage_object(row, metadata)
    failed = row.get("status") == "failure"
    if failed and not usage.get("prompt_tokens") and not usage.get("completion_tokens"):
        return
    read_usage(usage, event, warnings, providers.write_class(event.model, event.provider))
    read_searches(usage, event, warnings)
    read_served(usage, table(metadata.get("cost_breakdown")), body(row.get("response")), event)


def _read_times(row: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    event.start_us = utc_instant(row.get("startTime"), "startTime", warnings)
    event.end_us = utc_instant(row.get("endTime"), "endTime", warnings)
    first = row.get("completionStartTime")
    if first is not None and first != row.get("endTime"):  # equal: the answer was not streamed
        event.first_token_us = utc_instant(first, "completionStartTime", warnings)


def _read_outcome(row: dict[str, Any], metadata: dict[str, Any], event: UsageEvent) -> None:
    if str(row.get("cache_hit")).lower() == "true":
        event.not_billed = True
    else:
        event.provider_response_id = event.source_record
    if row.get("status") == "failure":
        read_failure(table(metadata.get("error_information")), event)
    retries = integer(metadata.get("attempted_retries"))
    event.attempt = retries + 1 if retries is not None else None


def _read_who(row: dict[str, Any], metadata: dict[str, Any], event: UsageEvent) -> None:
    get = row.get
    event.account = text(get("organization_id"))
    event.user = text(get("end_user")) or text(get("user"))
    event.api_key = text(get("api_key"))
    event.api_key_alias = text(metadata.get("user_api_key_alias"))
    tags: dict[str, str] = {}
    team = text(get("team_id"))
    if team is not None:
        tags["team"] = team
    for key, name in _METADATA_TAGS.items():
        value = text(metadata.get(key))
        if value is not None:
            tags[name] = value
    read_tags(metadata.get("spend_logs_metadata"), tags)
    read_tags(listed(get("request_tags")), tags)
    event.tags = tags or None


def _read_bodies(row: dict[str, Any], event: UsageEvent) -> None:
    request = body(row.get("proxy_server_request"))
    if "messages" not in request and "input" not in request:
        messages = listed(row.get("messages"))
        request = {"messages": messages} if type(messages) is list and messages else {}
    read_bodies(request, body(row.get("response")), row.get("call_type"), event)


FORMAT: Final = Format(
    name="litellm_spend_logs",
    title="LiteLLM SpendLogs",
    convention="prompt_tokens holds cache reads and writes for every provider; completion_tokens holds reasoning.",
    billing="api",
    detect=detect,
    parse=parse,
)
