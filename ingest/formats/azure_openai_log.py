"""Azure OpenAI diagnostic logs (category RequestResponse), alone or with the bodies that a gateway kept beside them.

The diagnostics themselves hold no token counts: without a body the usage is unknown. The deployment is the caller's
name for a model; the answer often says only the family, so the model is exact only with its version.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.azure_names import account_of, entries, place_of
from ingest.formats.dressing import set_http_error
from ingest.formats.envelope import Exchange
from ingest.formats.exchanges import event_of
from ingest.formats.fields import integer, table, text
from ingest.formats.format import Format
from ingest.formats.times import span_us, utc_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_DATED: Final = re.compile(r"20\d{2}-\d{2}-\d{2}")
_BODIES: Final = (("request", "response"), ("requestBody", "responseBody"))
_NO_CALLS: Final = ("audit", "trace")
_OPERATIONS: Final = {
    "chatcompletions": "chat",
    "responses": "chat",
    "completions": "completion",
    "embeddings": "embedding",
    "images": "image",
    "audio": "audio",
    "transcriptions": "audio",
    "translations": "audio",
}


def detect(record: Any) -> float:
    record = next(iter(entries(record)), None)
    if type(record) is not dict or not _is_azure(record):
        return 0.0
    properties = table(record.get("properties"))
    named = properties.keys() & {"modelDeploymentName", "modelName", "apiName"}
    return 1.0 if named and "operationName" in record else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The call of one record, or those of a list of them; audit and trace records are no calls."""
    for entry in entries(record):
        yield _call(entry)


def _call(record: Any) -> UsageEvent | Rejected:
    if type(record) is not dict or not _is_azure(record):
        return Rejected("no Azure OpenAI diagnostic record: it names no Cognitive Services resource")
    properties = table(record.get("properties"))
    if str(record.get("category")).lower() in _NO_CALLS:
        return Rejected(f"a record of the category {record['category']} is no call", benign=True)
    request, response = _bodies(record, properties)
    item = event_of(Exchange(request, response, None, {})) if request or response else UsageEvent()
    if type(item) is UsageEvent:
        warnings = list(item.warnings or [])
        _read_call(record, properties, item, warnings)
        item.warnings = warnings or None
    return item


def _is_azure(record: dict[str, Any]) -> bool:
    return "microsoft.cognitiveservices" in str(record.get("resourceId", record.get("_ResourceId"))).lower()


def _bodies(record: dict[str, Any], properties: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    for asked, answered in _BODIES:
        for holder in (record, properties):
            request, response = table(holder.get(asked)), table(holder.get(answered))
            if request or response:
                return request or None, response or None
    return None, None


def _read_call(record: dict[str, Any], properties: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = record.get
    event.provider = "azure"
    event.source_record = event.provider_response_id or text(get("correlationId")) or event.source_record
    event.trace_id = text(get("correlationId"))
    event.account = account_of(get("resourceId", get("_ResourceId")))
    event.region = place_of(get("location"))
    event.api_key_alias = text(properties.get("objectId"))
    event.model = _model(properties, event.model)
    deployment = text(properties.get("modelDeploymentName"))
    if deployment is not None:
        event.price_context = {**(event.price_context or {}), "deployment": deployment}
    kind = str(get("operationName")).lower().partition("_")[0]
    event.operation = _OPERATIONS.get(kind, event.operation)
    given = utc_instant(get("time"), "time", warnings)
    event.start_us = event.start_us if given is None else given
    lasted = span_us(get("durationMs"), 1_000)
    if lasted is not None and event.start_us is not None:
        event.end_us = event.start_us + lasted
    streamed = text(properties.get("streamType"))
    if streamed is not None:
        event.stream = streamed.lower() == "streaming"
    status = integer(get("resultSignature", get("resultType")))
    if status is not None and 100 <= status < 600:
        event.http_status = status
        if status >= 400:
            set_http_error(event, status)


def _model(properties: dict[str, Any], answered: str | None) -> str | None:
    """The model with its version where Azure says both; else as answered, which may be the family alone."""
    name, version = text(properties.get("modelName")), text(properties.get("modelVersion"))
    if answered is not None and _DATED.search(answered):
        return answered
    if name is not None and version is not None:
        return name if version in name else f"{name}-{version}"
    return answered or name


FORMAT: Final = Format(
    name="azure_openai_log",
    title="Azure OpenAI diagnostic log",
    convention="As the response body beside it (Chat, Responses, completions, embeddings).",
    billing="api",
    detect=detect,
    parse=parse,
)
