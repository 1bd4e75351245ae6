"""What a batch's runner may know beside a provider's result line: the request that was asked, and a `logged` object.

    {"custom_id": "...", "response": {...}, "request": {the body that was sent},
     "logged": {"id": "...", "timestamp": "...", "attempt": 1, "tags": {"feature": "..."}}}

The providers' own files have neither; their lines are read as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.core.usage import UsageEvent
from ingest.formats.dressing import read_tags
from ingest.formats.envelope import Exchange
from ingest.formats.exchanges import event_of
from ingest.formats.fields import integer, table, text
from ingest.formats.times import instant

if TYPE_CHECKING:
    from app.core.usage import Rejected


def read_exchange(record: dict[str, Any], response: dict[str, Any] | None) -> UsageEvent | Rejected:
    """The event of a line's response, with its request where that is there."""
    request = record.get("request")
    return event_of(Exchange(request if type(request) is dict else None, response, None, {}))


def unanswered(record: dict[str, Any]) -> UsageEvent:
    """The event of a row without an answer: what its request says, where that is there."""
    item = read_exchange(record, None) if type(record.get("request")) is dict else None
    return item if type(item) is UsageEvent else UsageEvent()


def complete(event: UsageEvent, record: dict[str, Any], row: str | None = None) -> None:
    """Add what the runner knows; what the provider says itself stays, but for the id of a row that has none.

    `row` is the caller's own id of the row where the layout has another name for it than `custom_id`.
    """
    row = str(record["custom_id"]) if row is None else row
    tags = {"custom_id": row}
    logged = table(record.get("logged"))
    if logged:
        warnings: list[str] = []
        if event.start_us is None and "timestamp" in logged:
            event.start_us = instant(logged["timestamp"], "start", warnings)
        event.attempt = integer(logged.get("attempt"))
        read_tags(logged.get("tags"), tags)
    event.is_batch = True
    event.tags = {**(event.tags or {}), **tags}
    event.source_record = text(record.get("id")) or event.source_record or text(logged.get("id")) or row
