"""Session logs of the pi coding agent: an assistant message carries its usage and the cost of each part.

Counters stand beside each other. A message that was aborted before any usage arrived says zero everywhere: that is
unknown, not free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, Status, UsageEvent
from ingest.formats.anthropic_messages import answer_text
from ingest.formats.fields import count, text, usd_text
from ingest.formats.format import Format
from ingest.formats.times import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_STATUS: Final[dict[str, Status]] = {"aborted": "aborted", "error": "error"}
_EVENTS_WITHOUT_CALL: Final = frozenset(
    (
        "session",
        "model_change",
        "thinking_level_change",
        "compaction",
        "branch_summary",
        "custom",
        "label",
        "session_info",
    )
)


def detect(record: Any) -> float:
    if type(record) is not dict:
        return 0.0
    message = record.get("message")
    if record.get("type") == "message" and type(message) is dict and "role" in message:
        usage = message.get("usage")
        return 1.0 if type(usage) is dict and "cacheRead" in usage else 0.6
    return 0.6 if record.get("type") == "session" and "cwd" in record else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The call of an assistant message; other lines are benign."""
    if type(record) is not dict:
        yield Rejected("no pi line: not a JSON object")
        return
    message = record.get("message")
    if record.get("type") != "message" or type(message) is not dict:
        kind = record.get("type")
        yield Rejected(f"a {kind} line is no call", benign=type(kind) is str and kind in _EVENTS_WITHOUT_CALL)
    elif message.get("role") != "assistant":
        yield Rejected(f"a {message.get('role')} message is no call", benign=True)
    elif type(message.get("usage")) is not dict:
        yield Rejected("an assistant message without usage")
    else:
        yield _event(record, message, message["usage"])


def _event(record: dict[str, Any], message: dict[str, Any], usage: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    reason = text(message.get("stopReason"))
    event = UsageEvent(
        provider=text(message.get("provider")),
        model=text(message.get("model")),
        finish_reason=reason,
        status=_STATUS.get(reason or "", "ok"),
        error=text(message.get("errorMessage")),
        output=answer_text(message.get("content")),
        provider_response_id=text(message.get("responseId")),
        parent_id=text(record.get("parentId")),
        start_us=instant(record.get("timestamp"), "timestamp", warnings),
    )
    # copied histories keep both times, so they name the message where it has no id of its own
    event.source_record = text(record.get("id")) or f"{record.get('timestamp')}/{message.get('timestamp')}"
    _read_usage(usage, event, warnings)
    event.warnings = warnings or None
    return event


def _read_usage(usage: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    counts = {key: count(usage.get(key), key, warnings) for key in ("input", "output", "cacheRead", "cacheWrite")}
    if event.status != "ok" and not any(counts.values()):
        return
    event.tok_input, event.tok_output = counts["input"], counts["output"]
    event.tok_cache_read = counts["cacheRead"]
    if event.provider == "openai":
        event.tok_cache_write_30m = counts["cacheWrite"]
    else:
        event.tok_cache_write_5m = counts["cacheWrite"]
    event.tok_total_reported = count(usage.get("totalTokens"), "totalTokens", warnings)
    if event.tok_total_reported is not None and event.tok_total_reported != sum(
        value or 0 for value in counts.values()
    ):
        warnings.append("sum_mismatch")
    cost = usage.get("cost")
    if type(cost) is dict:
        event.cost_reported_usd = usd_text(cost.get("total"), "cost", warnings)


FORMAT: Final = Format(
    name="pi_sessions",
    title="pi coding agent sessions",
    convention="input, output, cacheRead and cacheWrite stand beside each other; output holds reasoning.",
    billing="unknown",
    detect=detect,
    parse=parse,
)
