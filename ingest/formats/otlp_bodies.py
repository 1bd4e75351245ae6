"""Log records whose body is a record of another format: an answer that a program printed, and a collector read.

The record says what it knows itself; the log record's time, ids and attributes, and its resource's, say the rest.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from app.core.usage import UsageEvent
from ingest.formats.envelope import is_event
from ingest.formats.fields import canonical, decoded_text, text
from ingest.formats.otlp_event import start_of, tags_of
from ingest.formats.otlp_spans import any_value, attributes
from ingest.formats.otlp_vocabulary import meanings, vocabulary

if TYPE_CHECKING:
    from ingest.formats.format import Given
    from ingest.formats.otlp_spans import Span

_LABELS = ("session", "user", "account", "api_key", "api_key_alias")


def body_of(item: Span) -> Any:
    """The object or list that the body is, or None: a text without JSON, or one event of a stream, which is no call."""
    body = any_value(item.raw.get("body"))
    if type(body) is str:
        body = decoded_text(body)
    if type(body) is dict and is_event(body):
        return None
    return body if type(body) in (dict, list) and body else None


def tells_of_a_call(event: Given) -> bool:
    """Whether an event has an answer or its end: a request that was printed alone is told again by its answer."""
    if not isinstance(event, UsageEvent):
        return True
    known = (event.tok_input, event.tok_output, event.tok_cache_read, event.units, event.cost_reported_usd)
    answered = event.provider_response_id is not None or any(one is not None for one in known)
    return answered or event.status != "ok"


def label(event: UsageEvent, item: Span, nth: int) -> None:
    """Fill what the record in the body does not say; `nth` is its place in the body."""
    if event.start_us is None and event.end_us is None:
        event.start_us = start_of(item)
    if event.trace_id is None and event.parent_id is None and item.trace_id and item.span_id:
        event.trace_id, event.parent_id = item.trace_id, item.span_id
    own = attributes(item.raw.get("attributes"))
    said = meanings(own, vocabulary().names)
    for meaning in _LABELS:
        field = "session_id" if meaning == "session" else meaning
        if getattr(event, field) is None:
            setattr(event, field, text(said.get(meaning)))
    bare = tags_of(own, item.resource, said)
    if bare:
        event.tags = {**bare, **(event.tags or {})}
    if event.source_record is None and event.provider_response_id is None:
        event.source_record = _own_id(item, nth)


def _own_id(item: Span, nth: int) -> str:
    """The same for a log record that is sent again, in whichever encoding; two that are alike differ in their times."""
    get = item.raw.get
    observed = get("observedTimeUnixNano", get("observed_time_unix_nano"))
    said = canonical([str(item.start or 0), str(observed or 0), nth, any_value(get("body")), item.resource])
    return f"log-{blake2b(said.encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"
