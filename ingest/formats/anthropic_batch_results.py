"""Results of Anthropic message batches: one line a request, in any order, matched by `custom_id`.

Rows that errored, expired or were cancelled were not charged (Anthropic's batch documentation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, Status, UsageEvent
from ingest.formats.batch_lines import complete, read_exchange, unanswered
from ingest.formats.format import Format
from ingest.formats.openai_chat import error_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_FAILED: Final[dict[str, Status]] = {"errored": "error", "expired": "timeout", "canceled": "aborted"}


def detect(record: Any) -> float:
    if type(record) is not dict or "custom_id" not in record or type(record.get("result")) is not dict:
        return 0.0
    kind = record["result"].get("type")
    return 1.0 if type(kind) is str and (kind == "succeeded" or kind in _FAILED) else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The request of one line."""
    result = record.get("result") if type(record) is dict else None
    if type(result) is not dict or "custom_id" not in record:
        yield Rejected("no line of batch results: it has no custom_id and result")
        return
    kind, message = result.get("type"), result.get("message")
    if kind == "succeeded" and type(message) is dict:
        item = read_exchange(record, {"type": "message", "content": None, **message})
    elif type(kind) is str and kind in _FAILED:
        item = unanswered(record)
        item.provider, item.status, item.not_billed, item.error = "anthropic", _FAILED[kind], True, _error(result)
    else:
        item = Rejected("a batch result of an unknown type")
    if type(item) is UsageEvent:
        complete(item, record)
    yield item


def _error(result: dict[str, Any]) -> str | None:
    error = result.get("error")
    if type(error) is dict and type(error.get("error")) is dict:
        error = error["error"]
    return error_text(error) if error else None


FORMAT: Final = Format(
    name="anthropic_batch_results",
    title="Anthropic message batch results",
    convention="As Anthropic Messages.",
    billing="api",
    detect=detect,
    parse=parse,
)
