"""Text traces (LMCache): the whole prompt and answer of each call of a session; only for `halve replay`.

No tokens are logged, so they stay unknown; the prompt is one part, as logged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, Rejected, UsageEvent
from ingest.formats.fields import text
from ingest.formats.format import Format
from ingest.formats.times import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin


def detect(record: Any) -> float:
    if type(record) is not dict or not record.keys() <= {"timestamp", "input", "output", "session_id"}:
        return 0.0
    return 1.0 if type(record.get("input")) is str and "session_id" in record else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One call of a session."""
    if type(record) is not dict or type(record.get("input")) is not str:
        yield Rejected("no line of a text trace: it has no input text")
        return
    warnings: list[str] = []
    answer = record.get("output")
    yield UsageEvent(
        session_id=text(record.get("session_id")),
        start_us=instant(record.get("timestamp"), "timestamp", warnings),
        prompt=[Part("user", "text", record["input"])],
        output=answer if type(answer) is str else None,
        warnings=warnings or None,
    )


FORMAT: Final = Format(
    name="text_trace",
    title="Text trace (LMCache)",
    convention="No token counts: prompt and answer as text.",
    billing="unknown",
    detect=detect,
    parse=parse,
    provider_logs=False,
)
