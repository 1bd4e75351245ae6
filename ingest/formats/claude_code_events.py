"""Claude Code's events among OTLP's log records: which are calls, and what they say.

Its counters stand beside each other, as Anthropic's do. `cost_usd` is the client's own estimate at list prices. The id
of the request names a call in events and spans alike; where it is missing, session and sequence name the event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.dressing import set_http_error
from ingest.formats.fields import integer, text
from ingest.formats.otlp_event import event_of, read
from ingest.formats.otlp_spans import any_value
from ingest.formats.times import span_us

if TYPE_CHECKING:
    from ingest.formats.otlp_spans import Span

PREFIX: Final = "claude_code."
_REQUEST: Final = "api_request"
_ERRORS: Final = ("api_error", "api_refusal")
_MS: Final = 1_000


def is_own(item: Span) -> bool:
    """Whether a log record is one of Claude Code's."""
    if "claude_code" in item.scope or item.name.startswith(PREFIX):
        return True
    body = any_value(item.raw.get("body"))
    told = type(body) is str and body.startswith(PREFIX)
    return told or item.resource.get("service.name") == "claude-code"


def outcome(item: Span) -> UsageEvent | Rejected:
    """The call of an `api_request` or of a failed one; everything else is benign."""
    kind = str(item.attributes.get("event.name") or item.name).removeprefix(PREFIX)
    if kind == _REQUEST or kind in _ERRORS:
        return _event(item, kind)
    return Rejected("an event of Claude Code that is no call", benign=True)


def _event(item: Span, kind: str) -> UsageEvent:
    item.name = PREFIX + kind
    reading = read(item)
    reading.kind = "chat"
    held = item.attributes
    event = event_of(reading, None)
    session, sequence = text(held.get("session.id")), text(held.get("event.sequence"))
    request = text(held.get("request_id"))
    event.source_record = request or (f"{session}:{sequence}" if session and sequence else None)
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
