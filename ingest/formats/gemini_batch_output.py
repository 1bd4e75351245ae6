"""Output of Gemini batch jobs: AI Studio's lines `{key, response | error}` and Vertex's `{request, response, status}`.

The job of a batch whose requests stood in the call itself holds its answers, in their order, in `inlinedResponses`.

Vertex also runs Claude this way. Rows that failed are not charged: both charge completed requests only
(https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-gemini).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.hashing import hash64
from app.core.usage import Rejected, UsageEvent
from ingest.formats.batch_lines import complete
from ingest.formats.envelope import Exchange
from ingest.formats.exchanges import event_of
from ingest.formats.fields import canonical, table, text
from ingest.formats.format import Format
from ingest.formats.gemini_contents import pick
from ingest.formats.gemini_generate_content import owns
from ingest.formats.openai_chat import error_text
from ingest.formats.times import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin


def detect(record: Any) -> float:
    if type(record) is not dict or ("custom_id" in record and "processed_time" not in record):
        return 0.0
    if _inlined(record):
        return 1.0
    if "processed_time" in record and ("request" in record or "instance" in record):
        return 1.0
    if "key" not in record:
        return 0.0
    response = table(record.get("response"))
    if response:
        ours = owns(response) or _in_openais_shape(response)
        return 1.0 if ours and not record.keys() - _LINE else 0.0
    return 0.8 if type(record.get("error")) is dict and not record.keys() - _LINE else 0.0


def _in_openais_shape(response: dict[str, Any]) -> bool:
    """Whether a row was asked, and so answered, as a Chat Completion."""
    return response.get("object") == "chat.completion" and "gemini" in str(response.get("model"))


_ROW: Final = frozenset(("key", "custom_id", "processed_time", "status"))
_OUTCOME: Final = frozenset(("response", "error", "status"))
_LINE: Final = frozenset(("key", "response", "error", "request", "metadata", "logged"))


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The request of one line, or those of a job that holds its answers."""
    rows = _inlined(record) if type(record) is dict else []
    for number, row in enumerate(rows):
        yield from _line({"key": f"{_job(record)}-{number}", **row} if type(row) is dict else row)
    if not rows:
        yield from _line(record)


def _inlined(record: dict[str, Any]) -> list[Any]:
    """The answers that a job holds: as the API gives it, or as the SDK writes it."""
    for holder in (record, table(record.get("dest")), table(record.get("response")), table(record.get("output"))):
        rows = pick(holder, "inlinedResponses")
        if type(rows) is dict:
            rows = pick(rows, "inlinedResponses")
        if type(rows) is list and rows:
            return rows
    return []


def _job(record: dict[str, Any]) -> str:
    return text(record.get("name")) or f"batch-{hash64(canonical(record).encode()):x}"


def _line(record: Any) -> Iterator[UsageEvent | Rejected]:
    if type(record) is not dict or record.keys().isdisjoint(_ROW) or record.keys().isdisjoint(_OUTCOME):
        yield Rejected("no line of a Gemini batch output: it has no response, error or status of a row")
        return
    request, response = table(record.get("request")), table(record.get("response"))
    item = event_of(Exchange(request or None, response or None, None, {})) if request or response else UsageEvent()
    if type(item) is UsageEvent:
        if item.provider in (None, "anthropic"):
            item.provider = "google"
        _finish(item, record, answered=bool(response))
    yield item


def _finish(event: UsageEvent, record: dict[str, Any], *, answered: bool) -> None:
    warnings = list(event.warnings or [])
    event.end_us = instant(record.get("processed_time"), "processed_time", warnings)
    if event.start_us is None:
        event.start_us = event.end_us
    failure = record.get("error") or record.get("status")
    if failure and not answered:
        event.status, event.not_billed = "error", True
        event.error = error_text(failure)
    row = text(record.get("key")) or text(record.get("custom_id")) or _row(record)
    complete(event, record, row)
    if event.tags is not None and "key" not in record and "custom_id" not in record:
        del event.tags["custom_id"]
    event.warnings = warnings or None


def _row(record: dict[str, Any]) -> str:
    """Vertex rows without an id of their own are known by what was asked."""
    return f"request-{hash64(canonical(record.get('request')).encode()):x}"


FORMAT: Final = Format(
    name="gemini_batch_output",
    title="Gemini and Vertex batch output",
    convention="As generateContent; Claude on Vertex as Anthropic Messages.",
    billing="api",
    detect=detect,
    parse=parse,
)
