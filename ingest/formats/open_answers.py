"""An answer whose stream is still open: where it began, its events, and what of them is its own for sure."""

from __future__ import annotations

from typing import Any, Final

from ingest.formats.envelope import NAMES
from ingest.formats.stream_events import INTERLEAVED

_STARTS: Final = ("message_start", "response.created", "message-start", "stream-start")
_PROMPT: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_TIMED: Final = frozenset(name for name, meaning in NAMES.items() if meaning in ("end", "latency_ms", "latency_s"))
_TIMES: Final = tuple(name for name, meaning in NAMES.items() if meaning == "start")


class Answer:
    """What was read of an answer so far, and what stood around it."""

    __slots__ = (
        "answer", "at", "counted", "ended", "events", "finished", "head", "last", "model", "outer", "place", "prompt",
        "seen", "since", "uncertain", "whole",
    )  # fmt: skip

    def __init__(self, place: Any) -> None:
        self.place = place
        self.events: list[dict[str, Any]] = []
        self.outer: dict[str, Any] = {}
        self.last: dict[str, Any] = {}
        self.finished = False  # it said why it ended; a mere end or its counters may still follow
        self.since = self.at = 0  # the numbers of the records that began it and that went on with it last
        # Of answers without an id: whether it is over and waits for an older one; the answer that had begun last at its
        # last event; whether others ran at once; the counters that are its own for sure; what stood around its start.
        self.ended = False
        self.seen = 0
        self.uncertain = False
        self.counted: dict[str, Any] | None = None
        self.head: dict[str, Any] = {}
        # Of Gemini, whose chunks look like whole answers and may carry no id.
        self.whole: list[tuple[Any, Any]] = []
        self.model: str | None = None
        self.prompt: int | None = None
        self.answer = 0

    def add(self, event: dict[str, Any], outer: dict[str, Any]) -> None:
        if not self.events:
            self.head = outer
        self.events.append(event)
        delta = event.get("delta")
        if event.get("type") == "message_delta" and type(delta) is dict and delta.get("stop_reason"):
            self.finished = True
        choices = event.get("choices")
        if type(choices) is list and any(type(one) is dict and one.get("finish_reason") for one in choices):
            self.finished = True
        if outer:
            self.outer = {**outer, **self.outer}
            self.last = outer

    def record(self) -> Any:
        """The one record that all of them are."""
        if len(self.whole) == 1:
            return opened(self.whole[0][1], self.events[0], self.outer)
        if self.uncertain and starts(self.events[0]):
            return {**self.head, "response": self._certain()} if self.head else self._certain()
        if not self.outer:
            return self.events
        ended = next((self.last[name] for name in _TIMES if self.last.get(name) is not None), None)
        dated = {} if ended is None or not _TIMED.isdisjoint(self.outer) else {"end_time": ended}
        return {**self.outer, **dated, "response": self.events}

    def _certain(self) -> list[dict[str, Any]]:
        """The events that no other answer can have had."""
        first = self.events[0]
        if "messageStart" in first:  # usage comes whole, in one event: only the text may be of several
            return [event for event in self.events if not any(name.startswith("contentBlock") for name in event)]
        return [{**first, INTERLEAVED: True}] if self.counted is None else [first, self.counted]


def starts(event: dict[str, Any]) -> bool:
    """Whether an event begins an answer."""
    return "messageStart" in event or event.get("type") in _STARTS or event.get("event_type") in _STARTS


def opened(record: Any, event: dict[str, Any], outer: dict[str, Any]) -> Any:
    """A whole answer of Gemini where readers look for it: as the record has it, or as its response."""
    return record if not outer or record.get("response") is event else {**outer, "response": event}


def started_with(answer: Answer) -> tuple[Any, ...] | None:
    """What the start of an answer of Anthropic's counts of its prompt."""
    message = answer.events[0].get("message")
    return prompt_counts(message.get("usage")) if type(message) is dict else None


def prompt_counts(usage: Any) -> tuple[Any, ...] | None:
    """What Anthropic's counters say of a prompt; None where they do not."""
    if type(usage) is not dict or type(usage.get("input_tokens")) is not int:
        return None
    return tuple(usage.get(name) or 0 for name in _PROMPT)
