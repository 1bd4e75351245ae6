"""Spans and log records out of OTLP's JSON, whatever their attributes say: ids, times, attributes as plain values.

Ids are hex text in OTLP's JSON; base64, as protobuf's own JSON mapping writes them, is read too. Attributes may come as
OTLP's list of typed values or as a plain object, as other tools and our own protobuf reader give them.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRACE_CHARS: Final = 32
_SPAN_CHARS: Final = 16
_HEX: Final = frozenset("0123456789abcdef")
_MAX_DEPTH: Final = 32
_ERRORS: Final = frozenset((2, "2", "ERROR", "STATUS_CODE_ERROR"))


class Span(msgspec.Struct, gc=False):
    """One span, or one log record under its span's ids. Times are as logged, `trace_id` and `span_id` lower-case hex.

    `trace_id` or `span_id` is empty where it is missing or no valid id.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    scope: str
    attributes: dict[str, Any]
    resource: dict[str, Any]
    events: list[Any]
    start: Any
    end: Any
    failed: bool
    message: str | None
    raw: Any

    @property
    def key(self) -> tuple[str, str]:
        return self.trace_id, self.span_id


def is_export(record: Any, kind: str = "Spans") -> bool:
    """Whether a record is an export request of spans (or, with `kind` Logs, of log records)."""
    return type(record) is dict and type(record.get(f"resource{kind}", record.get(f"resource_{kind.lower()}"))) is list


def spans_of(export: dict[str, Any]) -> Iterator[Span | str]:
    """Every span of an export request; a text where something in it is no span: what it is instead."""
    for resource, scope, item in _walk(export, "Spans", "spans"):
        yield span_from(item, scope, resource) if type(item) is dict else "a span that is not a JSON object"


def records_of(export: dict[str, Any]) -> Iterator[Span | str]:
    """Every log record of an export request, as a span without an end."""
    for resource, scope, item in _walk(export, "Logs", "logRecords"):
        yield log_record(item, scope, resource) if type(item) is dict else "a log record that is not a JSON object"


def _walk(export: dict[str, Any], kind: str, leaf: str) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """(resource attributes, scope name, item) of everything in an export; broken levels are passed over."""
    for holder in _objects(export, f"resource{kind}"):
        resource = holder.get("resource")
        shared = attributes(resource.get("attributes")) if type(resource) is dict else {}
        for group in _objects(holder, f"scope{kind}"):
            scope = group.get("scope")
            name = scope.get("name") if type(scope) is dict else None
            items = _listed(group, leaf)
            for item in items:
                yield shared, name if type(name) is str else "", item


def _listed(holder: dict[str, Any], name: str) -> list[Any]:
    found = holder.get(name)
    if found is None:
        found = holder.get(_snake(name))
    return found if type(found) is list else []


def _objects(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [item for item in _listed(holder, name) if type(item) is dict]


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def span_from(item: dict[str, Any], scope: str, resource: dict[str, Any]) -> Span:
    """A span of OTLP's JSON, in camelCase or snake_case."""
    get = item.get
    status = get("status")
    code = status.get("code") if type(status) is dict else None
    message = status.get("message") if type(status) is dict else None
    events = get("events")
    name = get("name")
    return Span(
        hex_id(get("traceId", get("trace_id")), _TRACE_CHARS),
        hex_id(get("spanId", get("span_id")), _SPAN_CHARS),
        hex_id(get("parentSpanId", get("parent_span_id")), _SPAN_CHARS) or None,
        name if type(name) is str else "",
        scope,
        attributes(get("attributes")),
        resource,
        events if type(events) is list else [],
        get("startTimeUnixNano", get("start_time_unix_nano")),
        get("endTimeUnixNano", get("end_time_unix_nano")),
        type(code) in (int, str) and code in _ERRORS,
        message if type(message) is str and message else None,
        item,
    )


def log_record(item: dict[str, Any], scope: str, resource: dict[str, Any]) -> Span:
    """A log record: its time is its start, its body's text its name where it carries no event name."""
    get = item.get
    found = attributes(get("attributes"))
    body = any_value(get("body"))
    name = get("eventName", get("event_name")) or found.get("event.name") or body
    if type(body) is dict:
        found = {**body, **found}
    time = get("timeUnixNano", get("time_unix_nano"))
    return Span(
        hex_id(get("traceId", get("trace_id")), _TRACE_CHARS),
        hex_id(get("spanId", get("span_id")), _SPAN_CHARS),
        None,
        name if type(name) is str else "",
        scope,
        found,
        resource,
        [],
        time if time not in (None, 0, "0") else get("observedTimeUnixNano", get("observed_time_unix_nano")),
        None,
        failed=False,
        message=None,
        raw=item,
    )


def hex_id(value: Any, chars: int) -> str:
    """An id as lower-case hex of `chars` characters, empty where it is none or all zero."""
    if type(value) is not str:
        return ""
    text = value.removeprefix("0x").lower()
    if len(text) == chars and _HEX.issuperset(text):
        return text if text.strip("0") else ""
    if len(value) > chars:
        return ""
    try:
        raw = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return ""
    return raw.hex() if len(raw) * 2 == chars and any(raw) else ""


def attributes(value: Any) -> dict[str, Any]:
    """Attributes as plain values by name."""
    if type(value) is dict:
        return value
    if type(value) is not list:
        return {}
    found: dict[str, Any] = {}
    for item in value:
        if type(item) is dict:
            name = item.get("key")
            if type(name) is str:
                found[name] = any_value(item.get("value"))
    return found


def any_value(value: Any, depth: int = 0) -> Any:
    """The plain value of OTLP's AnyValue, bytes as hex; what is none is given back as it is."""
    if type(value) is not dict or len(value) > 1:
        return value
    if not value:
        return None
    ((kind, held),) = value.items()
    if kind in ("stringValue", "boolValue", "doubleValue", "string_value", "bool_value", "double_value"):
        return held
    if kind in ("bytesValue", "bytes_value"):
        return _hex(held)
    if kind in ("intValue", "int_value"):
        return _integer(held)
    if depth < _MAX_DEPTH and type(held) is dict:
        if kind in ("arrayValue", "array_value"):
            items = held.get("values")
            return [any_value(item, depth + 1) for item in items] if type(items) is list else []
        if kind in ("kvlistValue", "kvlist_value"):
            items = held.get("values")
            return {
                str(item.get("key")): any_value(item.get("value"), depth + 1)
                for item in (items if type(items) is list else [])
                if type(item) is dict
            }
    return value


def _hex(held: Any) -> Any:
    try:
        return base64.b64decode(held, validate=True).hex() if type(held) is str else held
    except (binascii.Error, ValueError):
        return held


def _integer(held: Any) -> Any:
    """64-bit integers are decimal text in OTLP's JSON."""
    if type(held) is str and len(held) < 24:
        try:
            return int(held)
        except ValueError:
            return held
    return held
