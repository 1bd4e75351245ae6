"""Vertex AI's request-response log, exported from its BigQuery table: one row a call of Gemini or Claude.

The table may hold a sample of the traffic only, as its sampling rate says; the rows do not tell. Columns: `endpoint`,
`deployed_model_id`, `logging_time`, `request_id`, `request_payload`, `response_payload`, `model`, `model_version`,
`api_method`, `full_request`, `full_response`, `metadata`, `otel_log`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.envelope import Exchange
from ingest.formats.exchanges import event_of
from ingest.formats.fields import decoded_text, table, text
from ingest.formats.format import Format
from ingest.formats.gemini_contents import location_in, model_in
from ingest.formats.times import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_COLUMNS: Final = frozenset(("logging_time", "request_id", "endpoint"))
_BODIES: Final = frozenset(("full_response", "response_payload"))


def detect(record: Any) -> float:
    if type(record) is not dict or not record.keys() >= _COLUMNS or _BODIES.isdisjoint(record):
        return 0.0
    return 1.0 if "api_method" in record or "deployed_model_id" in record else 0.8


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The call of one row."""
    if type(record) is not dict or not record.keys() >= _COLUMNS:
        yield Rejected("no row of a Vertex request-response log: it has no logging_time, request_id and endpoint")
        return
    request = table(record.get("full_request")) or next(iter(_payloads(record.get("request_payload"))), {})
    response, chunks = table(record.get("full_response")), None
    if not response:
        told = _payloads(record.get("response_payload"))
        response, chunks = (told[0], None) if len(told) == 1 else ({}, told or None)
    item = event_of(Exchange(request or None, response or None, chunks, {}))
    if type(item) is UsageEvent:
        warnings = list(item.warnings or [])
        _read_row(record, item, warnings)
        if not response and chunks is None:
            item.status = "aborted"
        item.warnings = warnings or None
    yield item


def _payloads(value: Any) -> list[dict[str, Any]]:
    """Bodies as the repeated column holds them: JSON texts, which together may be one list of stream events."""
    texts = value if type(value) is list else [value]
    found: list[dict[str, Any]] = []
    for one in texts:
        body = decoded_text(one) if type(one) is str else one
        found += [item for item in (body if type(body) is list else [body]) if type(item) is dict]
    return found


def _read_row(record: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    event.provider = "google"
    event.source_record = event.provider_response_id or text(record.get("request_id"))
    logged = instant(record.get("logging_time"), "logging_time", warnings)
    if event.start_us is None:
        event.start_us = logged
    endpoint, named = record.get("endpoint"), text(record.get("model"))
    event.region = location_in(endpoint)
    event.model = event.model or model_in(named) or named or model_in(endpoint)
    method = str(record.get("api_method")).lower()
    if "stream" in method:
        event.stream = True
    if "embed" in method:
        event.operation = "embedding"


FORMAT: Final = Format(
    name="vertex_request_log",
    title="Vertex AI request-response log",
    convention="As generateContent; Claude on Vertex as Anthropic Messages.",
    billing="api",
    detect=detect,
    parse=parse,
)
