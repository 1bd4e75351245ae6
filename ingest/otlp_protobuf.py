"""OTLP's protobuf: export requests as the objects that OTLP's JSON would give, attributes as plain values.

A file of them holds each behind its length in four bytes, big-endian, as the OpenTelemetry collector's file exporter
and our own journal write them.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from app.core.errors import InputError
from ingest.opening import MAX_RECORD_BYTES
from ingest.records import Broken, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.message import Message

LENGTH_BYTES: Final = 4
HEAD: Final = 2048
_FAILED: Final = 2


def read_exports(stream: IO[bytes]) -> Iterator[Record | Broken]:
    """Every export of a file; a broken one is named, and ends the file where what follows it cannot be found."""
    place = at = 0
    while prefix := stream.read(LENGTH_BYTES):
        place += 1
        size = int.from_bytes(prefix, "big")
        if len(prefix) < LENGTH_BYTES or not 0 < size <= MAX_RECORD_BYTES:
            yield Broken(place, "no length of an export stands here: the file is damaged from here on", prefix, at)
            return
        body = stream.read(size)
        if len(body) < size:
            yield Broken(place, "the export breaks off before its end", body[:HEAD], at)
            return
        try:
            yield Record(place, decoded(body), None, at)
        except InputError as error:
            yield Broken(place, str(error), body[:HEAD], at)
        at += LENGTH_BYTES + size


def decoded(body: bytes) -> dict[str, Any]:
    """An export request of traces or logs as OTLP's JSON has it.

    Raises:
        InputError: it is neither.
    """
    try:
        spans = trace_request(body)
    except InputError:
        # Bytes of log records are seldom spans too: their ids stand where a span has attributes.
        return _logs(logs_request(body))
    if is_traces(spans):
        return {"resourceSpans": [_resource_spans(one) for one in spans.resource_spans]}
    return _logs(logs_request(body))


def _logs(request: ExportLogsServiceRequest) -> dict[str, Any]:
    return {"resourceLogs": [_resource_logs(one) for one in request.resource_logs]}


def trace_request(body: bytes) -> ExportTraceServiceRequest:
    """A protobuf export request of traces.

    Raises:
        InputError: it cannot be decoded.
    """
    request = ExportTraceServiceRequest()
    _parse(request, body)
    return request


def logs_request(body: bytes) -> ExportLogsServiceRequest:
    """A protobuf export request of logs.

    Raises:
        InputError: it cannot be decoded.
    """
    request = ExportLogsServiceRequest()
    _parse(request, body)
    return request


def _parse(message: Message, body: bytes) -> None:
    try:
        message.ParseFromString(body)
    except DecodeError as error:
        raise InputError(f"This is no OTLP export in protobuf: {error}.") from error


def is_traces(request: ExportTraceServiceRequest) -> bool:
    """Whether that is what it was read as: log records read as spans have neither ids nor times anywhere."""
    spans = [span for one in request.resource_spans for group in one.scope_spans for span in group.spans]
    return not spans or any(span.trace_id or span.span_id or span.start_time_unix_nano for span in spans)


def _resource_spans(given: Any) -> dict[str, Any]:
    return {
        "resource": {"attributes": _attributes(given.resource.attributes)},
        "scopeSpans": [
            {"scope": {"name": group.scope.name}, "spans": [_span(span) for span in group.spans]}
            for group in given.scope_spans
        ],
    }


def _span(span: Any) -> dict[str, Any]:
    status = span.status
    return {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "parentSpanId": span.parent_span_id.hex(),
        "name": span.name,
        "startTimeUnixNano": span.start_time_unix_nano,
        "endTimeUnixNano": span.end_time_unix_nano,
        "attributes": _attributes(span.attributes),
        "events": [
            {
                "name": event.name,
                "timeUnixNano": event.time_unix_nano,
                "attributes": _attributes(event.attributes),
            }
            for event in span.events
        ],
        "status": {"code": status.code, "message": status.message} if status.code == _FAILED else None,
    }


def _resource_logs(given: Any) -> dict[str, Any]:
    return {
        "resource": {"attributes": _attributes(given.resource.attributes)},
        "scopeLogs": [
            {"scope": {"name": group.scope.name}, "logRecords": [_log_record(one) for one in group.log_records]}
            for group in given.scope_logs
        ],
    }


def _log_record(record: Any) -> dict[str, Any]:
    return {
        "timeUnixNano": record.time_unix_nano,
        "observedTimeUnixNano": record.observed_time_unix_nano,
        "eventName": record.event_name or None,
        "body": _value(record.body),
        "attributes": _attributes(record.attributes),
        "traceId": record.trace_id.hex(),
        "spanId": record.span_id.hex(),
    }


def _attributes(given: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in given}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    held = getattr(value, kind)
    if kind == "array_value":
        return [_value(item) for item in held.values]
    if kind == "kvlist_value":
        return _attributes(held.values)
    return held.hex() if kind == "bytes_value" else held
