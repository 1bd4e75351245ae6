"""Log records of an OTLP export, each read as what it is: an event of Claude Code, or a call by GenAI conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.usage import Rejected
from ingest.formats import claude_code_events
from ingest.formats.otlp_event import event_of, read
from ingest.formats.otlp_vocabulary import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.core.usage import UsageEvent
    from ingest.formats.otlp_spans import Span


def outcomes(given: Iterable[Span | str]) -> Iterator[UsageEvent | Rejected]:
    """One outcome a record: the call that it tells of, or why it is none."""
    for item in given:
        if isinstance(item, str):
            yield Rejected(item)
        elif claude_code_events.is_own(item):
            yield claude_code_events.outcome(item)
        else:
            yield _outcome(item)


def _outcome(item: Span) -> UsageEvent | Rejected:
    reading = read(item)
    if reading.kind == NONE or not (reading.usage or reading.said.get("response_id")):
        return Rejected("a log record that is no call", benign=True)
    event = event_of(reading, None)
    if event.source_record is None and event.provider_response_id is None:
        return Rejected("a log record of a call without the ids of its span or its response", part=item.raw)
    return event
