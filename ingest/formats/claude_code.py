"""Claude Code session logs: one JSON line an event; an assistant line carries the usage of the call it belongs to.

One response is written as several lines, one a content block, the earlier ones with a partial output count; resumed and
forked sessions copy lines into new files. Every line is given as a snapshot of its call, under the message's own id;
the merge keeps the fullest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.anthropic_messages import answer_text
from ingest.formats.anthropic_usage import read_usage
from ingest.formats.fields import text, usd_text
from ingest.formats.format import Format
from ingest.formats.times import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_MARKS: Final = ("sessionId", "parentUuid", "isSidechain", "userType", "cwd", "version", "uuid")
_EVENTS_WITHOUT_CALL: Final = frozenset(
    (
        "user", "system", "summary", "progress", "file-history-snapshot", "queue-operation", "attachment",
        "custom-title", "ai-title", "agent-name", "last-prompt", "permission-mode", "mode", "pr-link", "tag",
        "worktree-state",
    )
)  # fmt: skip


def detect(record: Any) -> float:
    if type(record) is not dict or type(record.get("type")) is not str:
        return 0.0
    if record["type"] == "file-history-snapshot" or (record["type"] == "summary" and "leafUuid" in record):
        return 0.6
    marks = sum(1 for name in _MARKS if name in record)
    if record["type"] == "assistant" and type(record.get("message")) is dict and marks >= 3:
        return 1.0
    return 0.8 if record["type"] in _EVENTS_WITHOUT_CALL and marks >= 3 else 0.0


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The call an assistant line belongs to; other lines are benign, unknown ones are named."""
    if type(record) is not dict:
        yield Rejected("no Claude Code line: not a JSON object")
        return
    kind = record.get("type")
    message = record.get("message")
    if type(message) is dict and type(message.get("usage")) is dict:
        yield from _call(record, message, message["usage"])
    elif kind == "assistant":
        yield Rejected("an assistant line without usage")
    elif type(kind) is str and kind:
        yield Rejected(f"a {kind} line is no call", benign=kind in _EVENTS_WITHOUT_CALL)
    else:
        yield Rejected("no Claude Code line: it has no type")


def _call(record: dict[str, Any], message: dict[str, Any], usage: dict[str, Any]) -> Iterator[UsageEvent | Rejected]:
    model = text(message.get("model"))
    if model == "<synthetic>":
        yield Rejected("a placeholder of the client (<synthetic>), no call", benign=True)
        return
    warnings: list[str] = []
    event = UsageEvent(provider="anthropic", model=model)
    read_usage(usage, event, warnings)
    message_id, request_id = text(message.get("id")), text(record.get("requestId"))
    event.provider_response_id = message_id
    event.source_record = ":".join(part for part in (message_id, request_id) if part) or text(record.get("uuid"))
    event.session_id = text(record.get("sessionId"))
    event.parent_id = text(record.get("parentUuid"))
    event.start_us = instant(record.get("timestamp"), "timestamp", warnings)
    event.finish_reason = text(message.get("stop_reason"))
    event.output = answer_text(message.get("content"))
    event.cost_reported_usd = usd_text(record.get("costUSD"), "costUSD", warnings)
    if record.get("isApiErrorMessage") is True:
        event.status = "error"
    event.tags = _tags(record)
    event.warnings = warnings or None
    yield event


def _tags(record: dict[str, Any]) -> dict[str, str]:
    tags: dict[str, str] = {"agent": "subagent" if record.get("isSidechain") is True else "main"}
    folder = text(record.get("cwd"))
    if folder is not None:
        tags["project"] = folder.replace("\\", "/").rstrip("/").rpartition("/")[2] or folder
    branch = text(record.get("gitBranch"))
    if branch is not None:
        tags["branch"] = branch
    return tags


FORMAT: Final = Format(
    name="claude_code",
    title="Claude Code session logs",
    convention="As Anthropic Messages: input, cache reads and cache writes stand beside each other.",
    billing="unknown",
    detect=detect,
    parse=parse,
)
