"""Single spans, one a record: Phoenix' API and exports, the console exporter of OpenTelemetry's SDKs, flattened OTLP.

Source: the Phoenix REST API (`/v1/projects/…/spans`, pages in `data`) and `ReadableSpan.to_json` of the Python SDK. A
span that repeats others is found out in a page, or when the spans are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ingest.formats.format import Format
from ingest.formats.otlp_genai import calls
from ingest.formats.otlp_spans import Span, attributes, hex_id, span_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.usage import Rejected, UsageEvent
    from ingest.formats.format import Origin

_TRACE: Final = 32
_SPAN: Final = 16


def detect(record: Any) -> float:
    if type(record) is list:
        return detect(record[0]) if record and type(record[0]) is dict else 0.0
    if type(record) is not dict:
        return 0.0
    data = record.get("data")
    if type(data) is list and data and "resourceSpans" not in record:
        return detect(data[0]) if type(data[0]) is dict else 0.0
    return 0.9 if _is_span(record) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The calls of one span, a list or a page of them."""
    yield from calls(spans_in(record))


def spans_in(record: Any) -> Iterator[Span | str]:
    """The spans of one, a list or a page of them; a text where something is none."""
    if type(record) is dict and type(record.get("data")) is list and not _is_span(record):
        record = record["data"]
    for row in record if type(record) is list else [record]:
        yield _span(row) if type(row) is dict and _is_span(row) else "no span: it has no ids"


def _is_span(row: dict[str, Any]) -> bool:
    context = row.get("context")
    if type(context) is dict and "trace_id" in context and "span_id" in context:
        return "attributes" in row or "start_time" in row
    return ("traceId" in row and "spanId" in row and "startTimeUnixNano" in row) or (
        "trace_id" in row and "span_id" in row and "start_time_unix_nano" in row
    )


def _span(row: dict[str, Any]) -> Span:
    context = row.get("context")
    if type(context) is not dict:
        resource = row.get("resource")
        shared = attributes(resource.get("attributes")) if type(resource) is dict else {}
        return span_from(row, "", shared)
    resource = row.get("resource")
    status = row.get("status")
    code = status.get("status_code") if type(status) is dict else row.get("status_code")
    message = status.get("description") if type(status) is dict else row.get("status_message")
    found = attributes(row.get("attributes"))
    if type(row.get("span_kind")) is str:
        found = {"openinference.span.kind": row["span_kind"], **found}
    events, name = row.get("events"), row.get("name")
    return Span(
        hex_id(context.get("trace_id"), _TRACE),
        hex_id(context.get("span_id"), _SPAN),
        hex_id(row.get("parent_id"), _SPAN) or None,
        name if type(name) is str else "",
        "",
        found,
        attributes(resource.get("attributes")) if type(resource) is dict else {},
        events if type(events) is list else [],
        row.get("start_time"),
        row.get("end_time"),
        str(code).upper().endswith("ERROR"),
        message if type(message) is str and message else None,
        row,
    )


FORMAT: Final = Format(
    name="otel_spans",
    title="Single OpenTelemetry spans: Phoenix, console exporters",
    convention="As OpenTelemetry traces.",
    billing="api",
    detect=detect,
    parse=parse,
)
