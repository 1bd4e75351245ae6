"""LiteLLM SpendLogs rows: the proxy's table, its `/spend/logs/v2` pages and exports of them.

Source: `SpendLogsPayload` and `schema.prisma` of the LiteLLM package. Prompt tokens hold cache reads and writes for
every provider; answers from LiteLLM's own cache carry tokens that nobody billed; a failure row says zero tokens
whether or not the provider charged, so they are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats import anthropic_messages, openai_chat, openai_responses, providers
from ingest.formats.dressing import UNBILLED_STATUSES, read_tags
from ingest.formats.fields import decoded_text, integer, table, text, usd_text
from ingest.formats.format import Format
from ingest.formats.openai_usage import read_usage
from ingest.formats.times import utc_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_OPERATIONS: Final = {
    "embedding": "embedding",
    "image_generation": "image",
    "text_completion": "completion",
    "transcription": "audio",
    "speech": "audio",
    "rerank": "rerank",
    "moderation": "moderation",
}
_METADATA_TAGS: Final = {
    "user_api_key_team_alias": "team",
    "user_api_key_user_id": "litellm_user",
    "original_model_group": "requested_model",
}


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
    elif "request_id" not in record and "startTime" not in record:
        yield Rejected("no LiteLLM row: it has neither request_id nor startTime")
    else:
        yield _event(record)


def _event(row: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    get = row.get
    metadata = table(get("metadata"))
    event = UsageEvent(provider=text(get("custom_llm_provider")))
    _read_bodies(row, event)
    event.model = _model(text(get("model")) or event.model, event.provider)
    event.source_record = text(get("request_id"))
    event.trace_id = text(get("litellm_call_id"))
    event.session_id = text(get("session_id"))
    event.operation = _operation(text(get("call_type")))
    _read_usage(row, metadata, event, warnings)
    _read_times(row, event, warnings)
    _read_outcome(row, metadata, event)
    _read_who(row, metadata, event)
    event.cost_reported_usd = usd_text(get("spend"), "spend", warnings)
    event.warnings = warnings or None
    return event


def _model(model: str | None, provider: str | None) -> str | None:
    """The provider's own name of the model: LiteLLM puts its provider slug in front."""
    if model is not None and provider is not None and model.startswith(f"{provider}/"):
        return model[len(provider) + 1 :]
    return model


def _operation(call_type: str | None) -> str:
    if call_type is None:
        return "chat"
    return _OPERATIONS.get(call_type.removeprefix("a"), "chat")


def _read_usage(row: dict[str, Any], metadata: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    usage = metadata.get("usage_object")
    if type(usage) is not dict or ("prompt_tokens" not in usage and "input_tokens" not in usage):
        usage = row
    failed = row.get("status") == "failure"
    if failed and not usage.get("prompt_tokens") and not usage.get("completion_tokens"):
        return
    read_usage(usage, event, warnings, providers.write_class(event.model, event.provider))


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
        failure = table(metadata.get("error_information"))
        event.status = "error"
        event.http_status = integer(failure.get("error_code"))
        named = [text(failure.get(key)) for key in ("error_class", "error_message", "traceback")]
        event.error = ": ".join(piece for piece in named if piece) or None
        if event.http_status in (408, 504) or "timeout" in str(failure.get("error_class")).lower():
            event.status = "timeout"
        elif event.http_status in UNBILLED_STATUSES and event.tok_input is None:
            event.not_billed = True
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
    read_tags(_list(get("request_tags")), tags)
    event.tags = tags or None


def _list(value: Any) -> Any:
    return decoded_text(value) if type(value) is str else value


def _read_bodies(row: dict[str, Any], event: UsageEvent) -> None:
    """The prompt and the answer, where the proxy was told to store them."""
    request = _body(row.get("proxy_server_request"))
    if "messages" not in request and "input" not in request:
        messages = _list(row.get("messages"))
        request = {"messages": messages} if type(messages) is list and messages else {}
    if request:
        if row.get("call_type") in ("anthropic_messages", "aanthropic_messages"):
            anthropic_messages.read_request(request, event)
        elif "messages" in request:
            openai_chat.read_request(request, event)
        else:
            openai_responses.read_request(request, event)
        event.tags = None
    response = _body(row.get("response"))
    if response:
        choices = response.get("choices")
        event.output = openai_chat.answer_text(choices) or anthropic_messages.answer_text(response.get("content"))
        if type(choices) is list and choices and type(choices[0]) is dict:
            event.finish_reason = text(choices[0].get("finish_reason"))


def _body(value: Any) -> dict[str, Any]:
    body = table(value)
    inner = body.get("body")
    return inner if type(inner) is dict else body


FORMAT: Final = Format(
    name="litellm_spend_logs",
    title="LiteLLM SpendLogs",
    convention="prompt_tokens holds cache reads and writes for every provider; completion_tokens holds reasoning.",
    billing="api",
    detect=detect,
    parse=parse,
)
