"""OpenTelemetry: OTLP export requests of traces, one a line or a file, with the calls of any GenAI vocabulary.

Source: the OTLP 1.x protocol and the collector's file exporter. Names of attributes are data (`otlp_vocabulary.yml`).
Log records with GenAI attributes describe the call of their span and merge with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, SpanLink, UsageEvent
from ingest.formats.format import Format
from ingest.formats.otlp_event import event_of, read, start_of
from ingest.formats.otlp_parents import between, repeating
from ingest.formats.otlp_records import outcomes
from ingest.formats.otlp_spans import Span, is_export, records_of, spans_of
from ingest.formats.otlp_vocabulary import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ingest.formats.format import Origin

NO_CALL: Final = "a span that is no call"
REPEATS: Final = "a span that repeats the usage of those under it"


def detect(record: Any) -> float:
    return 0.9 if is_export(record) or is_export(record, "Logs") else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The calls of an export request of spans or log records."""
    if is_export(record):
        yield from calls(spans_of(record))
    elif is_export(record, "Logs"):
        yield from outcomes(records_of(record))
    else:
        yield Rejected("no OTLP export: it has neither resourceSpans nor resourceLogs")


def calls(given: Iterable[Span | str]) -> Iterator[UsageEvent | Rejected]:
    """One event a call; other spans are benign, and kept as links where they stand under something."""
    spans: list[Span] = []
    for place, item in enumerate(given, start=1):
        if isinstance(item, str):
            yield Rejected(item)
        elif not item.trace_id or not item.span_id:
            yield Rejected(f"span {place} of the export has no valid trace id and span id", part=item.raw)
        else:
            spans.append(item)
    readings = [read(span) for span in spans]
    repeats, links = repeating(readings), between(readings)
    for place, reading in enumerate(readings):
        if reading.kind == NONE:
            yield _passed(reading.span, NO_CALL, link=place in links)
        elif place in repeats:
            yield _passed(reading.span, REPEATS, link=True)
        else:
            yield event_of(reading, reading.span.parent_id)


def _passed(span: Span, reason: str, *, link: bool) -> Rejected:
    if span.parent_id is None or not link:
        return Rejected(reason, benign=True)
    return SpanLink(
        reason,
        benign=True,
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_id=span.parent_id,
        start_us=start_of(span),
    )


FORMAT: Final = Format(
    name="otlp_genai",
    title="OpenTelemetry traces (OTLP): GenAI, OpenInference, OpenLLMetry and vendors' names",
    convention="Cached, written and reasoning tokens are inside input and output, beside them where only that adds up.",
    billing="api",
    detect=detect,
    parse=parse,
)
