"""Claude Code's own telemetry: the `api_request` and `api_error` events of its OTLP logs.

Its metrics count the same tokens once more: not read. Records of other programs in the same export are read as what
they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected
from ingest.formats.claude_code_events import is_own
from ingest.formats.format import Format
from ingest.formats.otlp_records import outcomes
from ingest.formats.otlp_spans import is_export, records_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.usage import UsageEvent
    from ingest.formats.format import Origin


def detect(record: Any) -> float:
    if not is_export(record, "Logs"):
        return 0.0
    first = next((item for item in records_of(record) if not isinstance(item, str)), None)
    return 1.0 if first is not None and is_own(first) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One event an `api_request`; a failed call too, everything else is benign."""
    if not is_export(record, "Logs"):
        yield Rejected("no OTLP export of logs: it has no resourceLogs")
        return
    yield from outcomes(records_of(record))


FORMAT: Final = Format(
    name="claude_code_telemetry",
    title="Claude Code's OpenTelemetry logs",
    convention="Input, cache reads and cache writes stand beside each other.",
    billing="unknown",
    detect=detect,
    parse=parse,
)
