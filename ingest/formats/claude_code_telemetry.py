"""Claude Code's own telemetry over OTLP: the `api_request` and `api_error` events of its logs, the spans of its traces.

Its metrics count the same tokens once more: not read. What other programs wrote into the same export is read as what
it is. Nobody knows from either how the tokens are billed, so that a file with anything of Claude Code's is read here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ingest.formats import otel_spans
from ingest.formats.claude_code_events import is_own
from ingest.formats.format import Format
from ingest.formats.otlp_genai import calls
from ingest.formats.otlp_records import outcomes
from ingest.formats.otlp_spans import is_export, records_of, spans_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.core.usage import Rejected, UsageEvent
    from ingest.formats.format import Origin
    from ingest.formats.otlp_spans import Span


def detect(record: Any) -> float:
    return 1.0 if any(not isinstance(item, str) and is_own(item) for item in _items(record)) else 0.0


def parse(record: Any, origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One event an `api_request`, a failed call too, and one a span of a call; everything else is benign."""
    if is_export(record, "Logs"):
        yield from outcomes(records_of(record))
    elif is_export(record):
        yield from calls(spans_of(record))
    else:
        yield from otel_spans.parse(record, origin)


def _items(record: Any) -> Iterable[Span | str]:
    if is_export(record, "Logs"):
        return records_of(record)
    if is_export(record):
        return spans_of(record)
    return otel_spans.spans_in(record) if otel_spans.detect(record) else ()


FORMAT: Final = Format(
    name="claude_code_telemetry",
    title="Claude Code's OpenTelemetry logs and traces",
    convention="Input, cache reads and cache writes stand beside each other.",
    billing="unknown",
    detect=detect,
    parse=parse,
)
