"""Gemini CLI: chat sessions (one JSON document, or one line a message) and its telemetry written to a file.

A session's messages may be written again with more in them: they carry an id, and the merge keeps the fullest. Sessions
and telemetry tell of the same calls under ids of their own, so read one of them.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.dressing import set_http_error
from ingest.formats.fields import compact, count, integer, table, text
from ingest.formats.format import Format
from ingest.formats.modalities import Counters, fill
from ingest.formats.times import instant, span_us

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_API_EVENTS: Final = ("gemini_cli.api_response", "gemini_cli.api_error")
_NO_CALLS: Final = frozenset(("user", "info", "error", "warning", "tool", "system", "shell", "about", "help", "stats"))
_SESSION: Final = frozenset(("sessionId", "projectHash"))
_PROMPT: Final = frozenset(("sessionId", "messageId", "type", "message", "timestamp"))  # of `logs.json` beside them
_NAMES: Final = {
    "prompt": ("input", "input_token_count"),
    "cached": ("cached", "cached_content_token_count"),
    "tool_prompt": ("tool", "tool_token_count"),
    "answer": ("output", "output_token_count"),
    "thoughts": ("thoughts", "thoughts_token_count"),
    "total": ("total", "total_token_count"),
}


def detect(record: Any) -> float:
    if type(record) is not dict:
        return 0.0
    if record.get("type") == "gemini" and type(record.get("tokens")) is dict:
        return 1.0
    if record.keys() >= _SESSION:
        return 1.0
    if record.keys() == _PROMPT:
        return 0.6
    name = _event_name(record)
    if name in _API_EVENTS:
        return 1.0
    return 0.8 if name is not None and name.startswith("gemini_cli.") else 0.0


def parse(record: Any, origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The calls of one record; a session document holds several."""
    if type(record) is not dict:
        yield Rejected("no Gemini CLI record: not a JSON object")
    elif type(record.get("messages")) is list:
        session = text(record.get("sessionId"))
        calls = [one for one in record["messages"] if type(one) is dict and one.get("type") == "gemini"]
        if not calls:
            yield Rejected("a session without an answer", benign=True)
        for message in calls:
            yield _message(message, session, origin)
    elif record.get("type") == "gemini":
        yield _message(record, text(record.get("sessionId")), origin)
    elif (name := _event_name(record)) is not None:
        yield _telemetry(record, name)
    elif record.keys() >= _SESSION or "$set" in record or "$rewindTo" in record:
        yield Rejected("a session's own line is no call", benign=True)
    else:
        kind = record.get("type")
        benign = type(kind) is str and kind in _NO_CALLS
        yield Rejected(f"a {kind} line is no call" if kind else "no Gemini CLI record: it has no type", benign=benign)


def _message(message: dict[str, Any], session: str | None, origin: Origin) -> UsageEvent | Rejected:
    tokens = message.get("tokens")
    if type(tokens) is not dict:
        return Rejected("an answer without token counts", benign=tokens is None)
    warnings: list[str] = []
    event = UsageEvent(provider="google", model=text(message.get("model")))
    _read_counters(tokens, event, warnings)
    event.source_record = text(message.get("id"))
    event.session_id = session or _session_of(origin)
    event.end_us = instant(message.get("timestamp"), "timestamp", warnings)
    event.start_us = event.end_us
    content, calls = message.get("content"), message.get("toolCalls")
    said = content if type(content) is str else compact(content) if content else ""
    event.output = compact([said, calls] if said else calls) if calls else said or None
    folder = _project_of(origin)
    event.tags = {"project": folder} if folder is not None else None
    event.warnings = warnings or None
    return event


def _session_of(origin: Origin) -> str | None:
    """A file holds one session; its name is the session's where the lines do not say it."""
    return PurePath(origin.file).name.partition(".")[0] or None


def _project_of(origin: Origin) -> str | None:
    """The folder that stands for the project in `.gemini/tmp/<project>/chats/`."""
    parts = PurePath(origin.file).parts
    return parts[-3] if len(parts) >= 3 and parts[-2] == "chats" else None


def _event_name(record: dict[str, Any]) -> str | None:
    name = table(record.get("attributes")).get("event.name", record.get("event.name"))
    return name if type(name) is str and name.startswith("gemini_cli.") else None


def _telemetry(record: dict[str, Any], name: str) -> UsageEvent | Rejected:
    if name not in _API_EVENTS:
        return Rejected(f"a {name} event is no call", benign=True)
    said = table(record.get("attributes")) or record
    warnings: list[str] = []
    event = UsageEvent(provider="google", model=text(said.get("model")))
    _read_counters(said, event, warnings)
    event.session_id = text(said.get("session.id"))
    stamp = said.get("event.timestamp", record.get("timestamp"))
    event.end_us = instant(stamp, "event.timestamp", warnings)
    lasted = span_us(said.get("duration_ms"), 1_000)
    event.start_us = event.end_us if lasted is None or event.end_us is None else event.end_us - lasted
    ids = (event.session_id, text(said.get("prompt_id")), text(stamp))
    event.source_record = ":".join(part for part in ids if part) or None
    auth = text(said.get("auth_type"))
    event.tags = {"auth_type": auth} if auth is not None else None
    event.http_status = integer(said.get("status_code"))
    event.error = text(said.get("error")) or text(said.get("error.message"))
    if event.http_status is not None and event.http_status >= 400:
        set_http_error(event, event.http_status)
    elif name == "gemini_cli.api_error" or event.error is not None:
        event.status = "error"
    event.warnings = warnings or None
    return event


def _read_counters(given: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    """The counters that messages and telemetry both write, zeros included; a failed call has none."""

    def counter(field: str) -> int | None:
        return next(
            (count(given[name], field, warnings) for name in _NAMES[field] if given.get(name) is not None), None
        )

    counters = Counters(
        prompt=counter("prompt"),
        cached=counter("cached"),
        tool_prompt=counter("tool_prompt"),
        answer=counter("answer"),
        thoughts=counter("thoughts"),
        total=counter("total"),
    )
    if any(known is not None for known in (counters.prompt, counters.answer, counters.total)):
        fill(counters, event, warnings, zeros_left_out=False)


FORMAT: Final = Format(
    name="gemini_cli",
    title="Gemini CLI sessions and telemetry",
    convention="input holds cached tokens; thoughts and tool stand beside output and input.",
    billing="unknown",
    detect=detect,
    parse=parse,
)
