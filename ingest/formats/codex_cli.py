"""Codex CLI rollouts: one JSON line an event of a session; usage stands in `token_count` events.

Those carry the session's cumulative counter, so a call is what it grew by (`codex_counters`): events that repeat it are
no calls. Newer versions also write a `token_usage_record` with the response's id for the same call: of such a pair the
one that comes first is the call. A forked session begins with a copy of its parent's events; the parent's own log holds
those calls, so here they only set the counter. Lines mean something in order only, so a file is read whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats.codex_counters import Counter, Usage, classes, total_of, usage_of
from ingest.formats.fields import table, text
from ingest.formats.format import Format
from ingest.formats.times import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_TYPES: Final = frozenset(("session_meta", "turn_context", "event_msg", "response_item", "compacted"))
_RECORD: Final = "token_usage_record"
_PAUSE_US: Final = 3_000_000  # a copy of a history is written in one go; the first pause is the session's own
_PAIR_US: Final = 5_000_000
_AT_ONCE_US: Final = 500_000  # no call of a model is over so soon after its session began
_V7_TEXT: Final = 36


# What `codex exec --json` prints. `turn.completed` sums the thread up to that turn and names neither model nor time.
_EXEC: Final = frozenset(
    (
        "thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated",
        "item.completed",
    )
)  # fmt: skip
_NO_CALLS_TOLD: Final = (
    "the output of `codex exec --json` sums the calls of a thread and names neither their model nor their time: read "
    "the session's rollout, which tells each of them (`halve analyze --codex`)"
)


def detect(record: Any) -> float:
    if _is_printed(record):
        return 0.9
    if type(record) is not dict or type(record.get("payload")) is not dict or "timestamp" not in record:
        return 0.0
    kind = record.get("type")
    if kind == "event_msg" and record["payload"].get("type") == "token_count":
        return 1.0
    return 0.9 if kind == _RECORD or (type(kind) is str and kind in _TYPES) else 0.0


def parse(record: Any, origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """A record standing alone, as the first of its file."""
    return Rollout().parse(record, origin)


def _is_printed(record: Any) -> bool:
    kind = record.get("type") if type(record) is dict else None
    return type(kind) is str and kind in _EXEC and "payload" not in record


class Rollout:
    """Reads the lines of one file in order."""

    def __init__(self) -> None:
        self._begin({}, None)

    def _begin(self, meta: dict[str, Any], us: int | None) -> None:
        """A session starts: everything that was known was of another one."""
        spawned = table(table(table(meta.get("source")).get("subagent")).get("thread_spawn"))
        self.session = text(meta.get("id"))
        self.provider = (text(meta.get("model_provider")) or "openai").lower()
        self.is_subagent = bool(spawned) or meta.get("thread_source") == "subagent"
        self.is_fork = text(meta.get("forked_from_id")) is not None
        self.may_copy = self.is_fork or bool(spawned) or text(meta.get("parent_thread_id")) is not None
        self.own = not self.may_copy  # whether what follows is this session's own
        started = instant(meta.get("timestamp"), "timestamp", [])
        self.started_us = us if started is None else started
        self.born_us = _v7_us(self.session)
        self.turn_us: int | None = None
        self.model: str | None = None
        self.effort: str | None = None
        self.plan: str | None = None
        self.folder = text(meta.get("cwd"))
        self.branch = text(table(meta.get("git")).get("branch"))
        self.counter = Counter()
        self.asked_us: int | None = None
        self.line_us: int | None = us
        self.unpaired: tuple[str, Usage, int | None] | None = None

    def parse(self, record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
        """The call that a line reports; other lines are remembered as far as calls need them."""
        if type(record) is not dict:
            yield Rejected("no Codex line: not a JSON object")
            return
        kind, payload = record.get("type"), record.get("payload")
        if _is_printed(record):
            yield Rejected(_NO_CALLS_TOLD, benign=kind != "turn.completed")
            return
        if type(kind) is not str or not kind or type(payload) is not dict:
            yield Rejected("no Codex line: it has no type or no payload")
            return
        us = instant(record.get("timestamp"), "timestamp", [])
        if kind == "session_meta":
            yield self._meta(payload, us)
            return
        self._pass_time(us)
        if kind == "event_msg" and payload.get("type") == "token_count":
            yield self._count(record, payload, us)
        elif kind == _RECORD:
            yield self._record(record, payload, us)
        else:
            yield self._other(kind, payload, us)

    def _meta(self, meta: dict[str, Any], us: int | None) -> Rejected:
        name = text(meta.get("id"))
        if name != self.session and (self.session is None or self.own):
            self._begin(meta, us)
        elif name != self.session:
            self.is_fork = True  # the parent's head, at the start of its copied history
        return Rejected("a session_meta line is no call", benign=True)

    def _pass_time(self, us: int | None) -> None:
        """Notice where a copied history ends, as far as times show it."""
        if us is None:
            return
        if not self.own and self.turn_us is None and self.line_us is not None and us - self.line_us > _PAUSE_US:
            self.own = self._is_new(us)
        self.line_us = us

    def _is_new(self, us: int | None) -> bool:
        """False for what was logged before this session was."""
        return us is None or self.started_us is None or us >= self.started_us

    def _is_copied(self, us: int | None) -> bool:
        """True where a reading of the counter was copied from the session that this one was forked from."""
        if self.own:
            return False
        if not self._is_new(us):
            return True
        if self.turn_us is not None and self.born_us is not None:
            self.own = self.turn_us >= self.born_us
        elif not self.is_fork and not self._at_once(us):
            self.own = True  # a sub-agent whose log begins with its own first turn
        return not self.own

    def _at_once(self, us: int | None) -> bool:
        return us is not None and self.started_us is not None and us - self.started_us < _AT_ONCE_US

    def _other(self, kind: str, payload: dict[str, Any], us: int | None) -> Rejected:
        if kind == "turn_context":
            self.model = text(payload.get("model")) or self.model
            self.effort = text(payload.get("effort")) or self.effort
            self.folder = text(payload.get("cwd")) or self.folder
        named = _v7_us(text(payload.get("turn_id"))) if kind in ("turn_context", "event_msg") else None
        if named is not None:
            self.turn_us = named
        if us is not None and _is_asking(kind, payload):
            self.asked_us = us
        if kind not in _TYPES and any("token" in name for name in payload):
            return Rejected(f"a {kind} line with tokens is not read")
        return Rejected(f"a {kind} line is no call", benign=True)

    def _count(self, record: dict[str, Any], payload: dict[str, Any], us: int | None) -> UsageEvent | Rejected:
        info = payload.get("info")
        self.plan = text(table(payload.get("rate_limits")).get("plan_type")) or self.plan
        if type(info) is not dict:
            return Rejected("a token_count event without a count", benign=info is None)
        warnings: list[str] = []
        last, total = usage_of(info.get("last_token_usage"), warnings), total_of(info.get("total_token_usage"))
        if total is None and last is None:
            return Rejected("a token_count event whose counts cannot be read")
        used = self.counter.advance(total, last, warnings) if total is not None else last
        assert used is not None
        if self._is_copied(us):
            return Rejected("a call of the session that this one was forked from", benign=True)
        if not used.is_call:
            return Rejected("a token_count event that repeats the counter", benign=True)
        if self._is_second("count", used, us):
            return Rejected("a token_count event of a call that its record tells", benign=True)
        event = self._event(used, record, us, warnings)
        event.calls_summed = 0 if total is not None and self.counter.sums else None
        if total is not None and self.session is not None:
            event.source_record = f"{self.session}:{self.counter.place()}"
        return event

    def _record(self, record: dict[str, Any], payload: dict[str, Any], us: int | None) -> UsageEvent | Rejected:
        warnings: list[str] = []
        used = usage_of(payload.get("usage"), warnings)
        if used is None:
            return Rejected("a token_usage_record without usage")
        thread = text(payload.get("thread_id"))
        if (thread is not None and self.session is not None and thread != self.session) or self._is_copied(us):
            return Rejected("a call of the session that this one was forked from", benign=True)
        if not used.is_call or self._is_second(_RECORD, used, us):
            return Rejected("a token_usage_record of a call that is counted already", benign=True)
        event = self._event(used, record, us, warnings)
        event.provider_response_id = text(payload.get("response_id"))
        event.source_record = event.provider_response_id
        return event

    def _is_second(self, kind: str, used: Usage, us: int | None) -> bool:
        """True for the other of the two lines that report one call; each pairs once."""
        before, self.unpaired = self.unpaired, None
        if before is not None and before[0] != kind and _same_call(before[1], used) and _near(before[2], us):
            return True
        self.unpaired = (kind, used, us)
        return False

    def _event(self, used: Usage, record: dict[str, Any], us: int | None, warnings: list[str]) -> UsageEvent:
        event = UsageEvent(
            provider=self.provider, model=self.model, session_id=self.session, reasoning_effort=self.effort
        )
        instant(record.get("timestamp"), "timestamp", warnings)
        event.start_us = us
        if us is not None and self.asked_us is not None and self.asked_us < us:
            event.start_us, event.end_us = self.asked_us, us
        self.asked_us = None
        classes(used, event, warnings)
        event.tags = self._tags()
        event.warnings = warnings or None
        return event

    def _tags(self) -> dict[str, str]:
        tags = {"agent": "subagent" if self.is_subagent else "main"}
        if self.folder is not None:
            tags["project"] = self.folder.replace("\\", "/").rstrip("/").rpartition("/")[2] or self.folder
        if self.branch is not None:
            tags["branch"] = self.branch
        if self.plan is not None:
            tags["plan"] = self.plan
        return tags


def _is_asking(kind: str, payload: dict[str, Any]) -> bool:
    """True for what the next call answers: a turn's start, the user's words, a tool's result."""
    if kind == "turn_context":
        return True
    what = payload.get("type")
    if kind == "response_item":
        return payload.get("role") == "user" or (type(what) is str and what.endswith("_output"))
    return kind == "event_msg" and what in ("task_started", "turn_started", "user_message")


def _same_call(left: Usage, right: Usage) -> bool:
    return (left.input, left.output, left.cached or 0) == (right.input, right.output, right.cached or 0)


def _near(left: int | None, right: int | None) -> bool:
    return left is None or right is None or abs(left - right) <= _PAIR_US


def _v7_us(name: str | None) -> int | None:
    """The time that a version 7 UUID holds, in microseconds; None for any other name."""
    if name is None or len(name) != _V7_TEXT or name[14:15] != "7":
        return None
    try:
        return int(name[:8] + name[9:13], 16) * 1_000
    except ValueError:
        return None


FORMAT: Final = Format(
    name="codex_cli",
    title="Codex CLI rollouts",
    convention="Cumulative counters, differenced; input_tokens holds cached and written ones, output_tokens reasoning.",
    billing="unknown",
    detect=detect,
    parse=parse,
    in_file=lambda: Rollout().parse,
)
