"""What is pushed, checked before it is acknowledged: whether it is what it says, and what in it can never be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from app.core.errors import InputError
from ingest.formats import claude_code_telemetry, detect_format, format_named
from ingest.formats.otlp_spans import is_export, records_of, spans_of
from ingest.lines import fast
from ingest.opening import BOM
from ingest.push.journal import Pushed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Signal = Literal["traces", "logs"]

_TRACE_BYTES: Final = 16
_SPAN_BYTES: Final = 8
_SAMPLE_LINES: Final = 20
_AGENT_MARKS: Final = (b"claude_code", b"claude-code")
REJECTED: Final = "of the spans came without a valid trace id and span id: not stored, named on the page Sources"


class Checked(msgspec.Struct, frozen=True):
    """A body that can be kept (None where there is nothing in it), and how many of its items never will be stored."""

    pushed: Pushed | None
    rejected: int = 0
    message: str = ""


def check_export(source: str, signal: Signal, body: bytes, *, as_json: bool) -> Checked:
    """An OTLP export request of traces or logs.

    Raises:
        InputError: it is none.
    """
    if as_json:
        return _json_export(source, signal, body)
    from ingest import otlp_protobuf

    if signal == "logs":
        logs = otlp_protobuf.logs_request(body)
        kind = _kind("logs", body, lambda: otlp_protobuf.decoded(body))
        return Checked(Pushed(source, kind, body) if logs.resource_logs else None)
    request = otlp_protobuf.trace_request(body)
    if not otlp_protobuf.is_traces(request):
        raise InputError("This is no OTLP export of traces: no span has an id or a time. Logs go to /v1/logs.")
    spans = [span for one in request.resource_spans for group in one.scope_spans for span in group.spans]
    wrong = sum(not _valid(span.trace_id, _TRACE_BYTES) or not _valid(span.span_id, _SPAN_BYTES) for span in spans)
    kind = _kind("spans", body, lambda: otlp_protobuf.decoded(body))
    return Checked(Pushed(source, kind, body) if spans else None, wrong, _told(wrong))


def _json_export(source: str, signal: Signal, body: bytes) -> Checked:
    try:
        export = fast(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"This is no OTLP export in JSON: {error}.") from error
    if type(export) is not dict:
        raise InputError("This is no OTLP export in JSON: it is not an object.")
    if not export:
        return Checked(None)
    line = body if b"\n" not in body else msgspec.json.encode(export)
    if signal == "logs":
        if not is_export(export, "Logs"):
            raise InputError("This is no OTLP export of logs: it has no resourceLogs.")
        some = next(records_of(export), None)
        return Checked(None if some is None else Pushed(source, f"{_kind('logs', body, lambda: export)}-json", line))
    if not is_export(export):
        raise InputError("This is no OTLP export of traces: it has no resourceSpans.")
    spans = list(spans_of(export))
    wrong = sum(isinstance(span, str) or not span.trace_id or not span.span_id for span in spans)
    kind = _kind("spans", body, lambda: export)
    return Checked(Pushed(source, f"{kind}-json", line) if spans else None, wrong, _told(wrong))


def _kind(kind: str, body: bytes, export: Callable[[], Any]) -> str:
    """What an export is kept as: an agent's own, whose billing nobody knows, or any other that may name it."""
    marked = any(mark in body for mark in _AGENT_MARKS)
    return f"agent-{kind}" if marked and claude_code_telemetry.detect(export()) else kind


def _valid(given: bytes, size: int) -> bool:
    return len(given) == size and any(given)


def _told(wrong: int) -> str:
    return f"{wrong} {REJECTED}" if wrong else ""


def check_records(source: str, body: bytes, form: str = "") -> Checked:
    """Plain JSON or JSON lines of any format that Halve reads; `form` names it, else the records show it.

    Raises:
        InputError: no JSON, or records whose layout is none that Halve knows. UsageError: no format has that name.
    """
    if not body.strip():
        return Checked(None)
    sample = list(_first_values(body))
    if form:
        name = format_named(form).name
    else:
        found = detect_format(sample)
        if found is None:
            raise InputError(
                "The layout of these records is none that Halve knows. Name it with ?format=NAME, or see the "
                "documented columns of generic rows."
            )
        name = found.name
    return Checked(Pushed(source, "records", body, name))


def _first_values(body: bytes) -> Iterator[Any]:
    """The first records of a body: those of its first lines, or of the one document that it is.

    Raises:
        InputError: neither can be decoded.
    """
    lines: Iterable[bytes] = body.removeprefix(BOM).split(b"\n", _SAMPLE_LINES)[:_SAMPLE_LINES]
    values = []
    for line in lines:
        if line.strip():
            try:
                values.append(fast(line))
            except (msgspec.DecodeError, RecursionError):
                break
    if not values:
        try:
            whole = fast(body.removeprefix(BOM))
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputError(f"This is neither JSON nor JSON lines: {error}.") from error
        values = [whole]
    for value in values:
        if type(value) is list:
            yield from value[:_SAMPLE_LINES]
        yield value
