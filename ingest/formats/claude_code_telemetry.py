"""Claude Code's own telemetry: the `api_request` and `api_error` events of its OTLP logs.

Its counters stand beside each other, as Anthropic's do. `cost_usd` is the client's own estimate at list prices. Session
id and event sequence name an event, wherever it comes from. Its metrics count the same tokens once more: not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.dressing import set_http_error
from ingest.formats.fields import integer, text
from ingest.formats.format import Format
from ingest.formats.otlp_event import event_of, read
from ingest.formats.otlp_spans import is_export, records_of
from ingest.formats.times import span_us

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin
    from ingest.formats.otlp_spans import Span

PREFIX: Final = "claude_code."
_REQUEST: Final = "api_request"
_ERRORS: Final = ("api_error", "api_refusal")
_MS: Final = 1_000


def detect(record: Any) -> float:
    if not is_export(record, "Logs"):
        return 0.0
    first = next((item for item in records_of(record) if not isinstance(item, str)), None)
    return 1.0 if first is not None and _is_own(first) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One event an `api_request`; a failed call too, everything else is benign."""
    if not is_export(record, "Logs"):
        yield Rejected("no OTLP export of logs: it has no resourceLogs")
        return
    for item in records_of(record):
        if isinstance(item, str):
            yield Rejected(item)
            continue
        kind = _kind(item)
        if kind == _REQUEST or kind in _ERRORS:
            yield _event(item, kind)
        else:
            yield Rejected("an event of Claude Code that is no call", benign=True)


def _is_own(item: Span) -> bool:
    return (
        "claude_code" in item.scope
        or item.name.startswith(PREFIX)
        or item.resource.get("service.name") == "claude-code"
    )


def _kind(item: Span) -> str:
    return str(item.attributes.get("event.name") or item.name).removeprefix(PREFIX)


def _event(item: Span, kind: str) -> UsageEvent:
    item.name = PREFIX + kind
    reading = read(item)
    reading.kind = "chat"
    held = item.attributes
    event = event_of(reading, None)
    session, sequence = text(held.get("session.id")), text(held.get("event.sequence"))
    request = text(held.get("request_id"))
    event.source_record = f"{session}:{sequence}" if session and sequence else request
    event.user = text(held.get("user.account_uuid")) or text(held.get("user.id")) or event.user
    query = text(held.get("query_source"))
    if query is not None:
        event.tags = {"query_source": query, **(event.tags or {})}
    # The event is written when the answer is there.
    event.end_us = event.start_us
    lasted = span_us(held.get("duration_ms"), _MS)
    if event.end_us is not None and lasted is not None:
        event.start_us = event.end_us - lasted
    if kind in _ERRORS:
        event.status = "error"
        event.error = text(held.get("error")) or kind
        event.attempt = integer(held.get("attempt"))
        http = integer(held.get("status_code"))
        if http is not None:
            event.http_status = http
            set_http_error(event, http)
    return event


FORMAT: Final = Format(
    name="claude_code_telemetry",
    title="Claude Code's OpenTelemetry logs",
    convention="Input, cache reads and cache writes stand beside each other.",
    billing="unknown",
    detect=detect,
    parse=parse,
)
