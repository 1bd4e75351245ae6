"""Streams logged one event a line: the events of one answer are joined into one record, however they are interleaved.

Answers are told apart by the id that their events carry, by that of the call in the record around them, else by order:
an event without any belongs to the answer that began last and has not ended. Where later events show that such answers
ran at once, nobody can say whose the events between were: of each stays what is its own for sure, and its usage is
unknown. So an answer waits for those that began before it. What comes out is the list of events, or the record around
the first with that list as its response. At most 256 answers and 65,536 events are held open; the oldest is let go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from app.core.response_ids import is_strong_id
from ingest.formats.open_answers import Answer, opened, prompt_counts, started_with, starts
from ingest.formats.stream_events import call_id, counted_by_gemini, is_finished_by, kind_of, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ingest.formats.stream_events import Told

MAX_OPEN: Final = 256
MAX_EVENTS: Final = 65_536
SILENT: Final = 4096  # an answer that did not end and of which so many records say nothing was broken off
_ENDS: Final = (
    "message_stop", "message-end", "stream-end",
    "response.completed", "response.failed", "response.incomplete", "response.done",
)  # fmt: skip
_NAMELESS: Final = ":#"

Place = TypeVar("Place")
Place_contra = TypeVar("Place_contra", contravariant=True)
_WHOLE: Final = ("chat.completion", "response", "realtime.response", "list")
_BODIES: Final = ("response", "response_body", "responseBody", "custom_id")


class _Gathering:
    """The answers that are open while the records of one file are read."""

    def __init__(self, *, unmarked: bool, resumed: bool) -> None:
        self._unmarked = unmarked  # whether Gemini's chunks, which are marked as none, are joined too
        self._open: dict[str, Answer] = {}
        self._held = 0
        self._serial = 0
        self._begun: dict[str, int] = {}  # of each kind without ids: the answer that began last
        self._owed = 0  # ends that are still to come of answers which were over when the next began
        self._resumed = resumed  # whether an earlier reading took answers whose mere ends may still come
        self._records = 0
        self.goes_on: int | None = (
            None  # the number of the record that began the answer which the last one goes on with
        )
        self._cuttable = True
        self._finishing = False  # whether this log keeps why Gemini's answers ended

    def take(self, place: Any, record: Any) -> Iterator[tuple[Any, Any]]:
        """What is whole after this record."""
        self._records += 1
        self.goes_on = None
        found = told(record)
        if found is None or self._is_whole(found):
            yield place, record
            return
        for event in found.events:
            kind = kind_of(event)
            if kind == "gemini":
                self._cuttable = False  # how its answers end is known from the whole log only
                if not self._unmarked or found.outer.keys() & {"usage", "object"}:
                    yield place, record
                else:
                    yield from self._gemini(place, record, event, found.outer)
                continue
            assert kind is not None
            call = call_id(found.outer)
            name = self._name(kind, event, call)
            if starts(event) and (before := self._before(name, kind, event)) is not None:
                self._owed += _NAMELESS in before
                yield from self._over(before)
            if event.get("type") == "message_stop" and self._is_owed(name):
                self.goes_on = self._records
                continue
            answer = self._add(name, place, event, found.outer)
            if _NAMELESS in name:
                self._note_overlap(name, answer)
            if _is_last(kind, event):
                yield from self._over(name)
        yield from self._bounded()

    def _is_whole(self, found: Told) -> bool:
        """Whether a record holds all the events of an answer, as recorded event-stream text does."""
        if len(found.events) < 2:
            return False
        first, last = found.events[0], found.events[-1]
        kind = kind_of(first)
        return kind == "gemini" or (
            kind is not None
            and (starts(first) or kind == "chat")
            and _is_last(kind, last)
            and self._name(kind, first, call_id(found.outer)) not in self._open
        )

    @property
    def records(self) -> int:
        """How many records were taken."""
        return self._records

    def is_cut(self) -> bool:
        """Whether a later reading may begin with the last record: no answer that began before it seems to go on."""
        return (
            self._cuttable
            and self.goes_on is None
            and all(
                answer.finished or answer.ended or answer.since == self._records or self._records - answer.at > SILENT
                for answer in self._open.values()
            )
        )

    def rest(self) -> Iterator[tuple[Any, Any]]:
        """What was never ended; chunks of Gemini without an id only where other answers of this log do end."""
        for name in list(self._open):
            answer = self._open[name]
            if answer.whole and not self._finishing and not answer.finished and not _is_named(answer):
                del self._open[name]
                yield from answer.whole
            else:
                if _NAMELESS in name and answer.finished and not answer.ended and self._nameless(name)[0] != name:
                    answer.uncertain = True  # the log breaks off in the middle of both
                yield self._close(name)

    def _add(self, name: str, place: Any, event: dict[str, Any], outer: dict[str, Any]) -> Answer:
        answer = self._open.get(name)
        if answer is None:
            answer = self._open[name] = Answer(place)
            answer.since = self._records
        elif answer.since < self._records:
            self.goes_on = answer.since
        answer.at = self._records
        answer.add(event, outer)
        self._held += 1
        return answer

    def _close(self, name: str) -> tuple[Any, Any]:
        answer = self._open.pop(name)
        self._held -= len(answer.events)
        return answer.place, answer.record()

    def _is_owed(self, name: str) -> bool:
        """Whether a mere end is that of an answer which was over before: this one did not say yet why it ended."""
        answer = self._open.get(name)
        if answer is None and self._resumed:
            return True
        owed = _NAMELESS in name and self._owed > 0 and (answer is None or not answer.finished)
        self._owed -= owed
        return owed

    def _over(self, name: str) -> Iterator[tuple[Any, Any]]:
        """What an answer's end makes whole: itself, unless one that is older is open and may have run at once."""
        if _NAMELESS not in name:
            yield self._close(name)
            return
        self._open[name].ended = True
        for other in self._nameless(name):
            if not self._open[other].ended:
                return
            yield self._close(other)

    def _nameless(self, name: str) -> list[str]:
        """The answers without an id that are held, of the kind of this one; the oldest first."""
        prefix = name[: name.index(_NAMELESS) + len(_NAMELESS)]
        return [other for other in self._open if other.startswith(prefix)]

    def _note_overlap(self, name: str, answer: Answer) -> None:
        """An answer that goes on after another began ran beside it: whose the events between were is unknown."""
        kind = name[: name.index(_NAMELESS)]
        if len(answer.events) == 1:
            self._begun[kind] = _serial_of(name)
        elif answer.seen < self._begun[kind]:
            for other in self._nameless(name):
                if _serial_of(other) > answer.seen or other == name:
                    self._open[other].uncertain = True
        answer.seen = self._begun[kind]

    def _bounded(self) -> Iterator[tuple[Any, Any]]:
        while len(self._open) > MAX_OPEN or self._held > MAX_EVENTS:
            yield self._close(next(iter(self._open)))

    def _name(self, kind: str, event: dict[str, Any], call: str | None) -> str:
        """The name under which an event's answer is open, or is to be opened."""
        own = _own_id(kind, event)
        if own is not None and kind == "responses":
            begun = None if starts(event) or f"{kind}:{own}" in self._open else f"{kind}:?"
            return begun if begun in self._open else f"{kind}:{own}"
        if own is not None:
            strong = is_strong_id(own)
            return f"{kind}:{own}" if strong or call is None else f"{kind}:{own}:{call}"
        if kind == "responses":  # of its events only some carry the id; the others hold no usage
            return self._latest(kind, call) or f"{kind}:?"
        if call is not None:
            return f"{kind}::{call}"
        latest = None if starts(event) else self._counting(event) or self._latest(f"{kind}{_NAMELESS}", None, event)
        if latest is None:
            self._serial += 1
            latest = f"{kind}{_NAMELESS}{self._serial}"
        return latest

    def _counting(self, event: dict[str, Any]) -> str | None:
        """The open answer of Anthropic's whose prompt an event counts, where only one has such a prompt."""
        counts = prompt_counts(event.get("usage")) if event.get("type") == "message_delta" else None
        if counts is None:
            return None
        fits = [
            name
            for name, answer in self._open.items()
            if name.startswith(f"messages{_NAMELESS}") and not answer.ended and started_with(answer) == counts
        ]
        if len(fits) != 1:
            return None
        self._open[fits[0]].counted = event
        return fits[0]

    def _latest(self, prefix: str, call: str | None, event: dict[str, Any] | None = None) -> str | None:
        """The name of the answer that began last under a prefix; of a call, if it is known, alone."""
        names = (name for name in reversed(self._open) if name.startswith(prefix) and not self._open[name].ended)
        if event is not None and event.get("type") == "message_stop":  # what said why it ended goes before
            open_ones = list(names)
            return next((name for name in open_ones if self._open[name].finished), next(iter(open_ones), None))
        if call is None:
            return next(names, None)
        return next((name for name in names if call_id(self._open[name].outer) == call), None)

    def _before(self, name: str, kind: str, event: dict[str, Any]) -> str | None:
        """The open answer that is over when another one starts: of the same call, or one that said why it ended."""
        if name in self._open and _own_id(kind, event) is not None:
            return None
        if name in self._open:
            return None if self._open[name].events[0] == event else name  # a start may be told of twice
        latest = self._latest(f"{kind}{_NAMELESS}", None)
        return latest if latest is not None and self._open[latest].finished else None

    def _gemini(
        self, place: Any, record: Any, event: dict[str, Any], outer: dict[str, Any]
    ) -> Iterator[tuple[Any, Any]]:
        """Chunks look like whole answers: one that does not say why it ended begins an answer of several."""
        self._finishing = self._finishing or (bool(event.get("candidates")) and is_finished_by(event))
        name = self._gemini_name(event, outer)
        if name is not None and self._open[name].finished and event.get("candidates"):
            yield self._close(name)
            name = None
        if name is None:
            if is_finished_by(event):
                yield place, opened(record, event, outer)
                return
            self._serial += 1
            name = f"gemini:#{self._serial}"
        answer = self._add(name, place, event, outer)
        answer.whole.append((place, record))
        answer.finished = answer.finished or is_finished_by(event)
        prompt, count = counted_by_gemini(event)
        answer.prompt = prompt if answer.prompt is None else answer.prompt
        answer.answer = max(answer.answer, count)
        answer.model = answer.model or _model_of(event)

    def _gemini_name(self, event: dict[str, Any], outer: dict[str, Any]) -> str | None:
        """The open answer that a chunk goes on with: of the same ids and model, whose counters it does not undo."""
        prompt, count = counted_by_gemini(event)
        ids = _response_id(event), call_id(outer)
        for name in reversed(self._open):
            answer = self._open[name]
            if not name.startswith("gemini:") or (_response_id(answer.events[0]), call_id(answer.outer)) != ids:
                continue
            if answer.model != _model_of(event) or (count and count < answer.answer):
                continue
            if None in (prompt, answer.prompt) or prompt == answer.prompt:
                return name
        return None


class Cuts(Protocol[Place_contra]):
    """Where a later reading of a log may begin."""

    def note(self, number: int, place: Place_contra) -> None:
        """The record of this number, counted from 1, is such a place as far as is known."""

    def take_back(self, number: int) -> None:
        """Those after this record are none: the answer that it began goes on."""


def gather(
    records: Iterable[tuple[Place, Any]],
    *,
    unmarked: bool = True,
    resumed: bool = False,
    cuts: Cuts[Place] | None = None,
) -> Iterator[tuple[Place, Any]]:
    """Pass records through; the events of a stream come as one record at the place of the first.

    With `unmarked` chunks of Gemini are joined too, which only the end that they lack tells from whole answers.
    `cuts` are told at which records a later reading may begin, which then is `resumed`.
    """
    gathering = _Gathering(unmarked=unmarked, resumed=resumed)
    for place, record in records:
        yield from gathering.take(place, record)
        if cuts is not None and gathering.goes_on is not None:
            cuts.take_back(gathering.goes_on)
        if cuts is not None and gathering.is_cut():
            cuts.note(gathering.records, place)
    yield from gathering.rest()


def is_unnamed(gathered: Any) -> bool:
    """Whether a gathered record is an answer of which no event carries an id."""
    events = gathered.get("response") if type(gathered) is dict else gathered
    first = events[0] if type(events) is list and events else events  # one that came whole is no list
    first = first if type(first) is dict else {}
    return kind_of(first) in ("converse", "gemini") and not _response_id(first)


def calls_in(items: list[Any]) -> list[Any]:
    """The records of a list, which may be the events of one stream, or of several, or whole answers side by side.

    Events are joined as those that stand one a line. Chunks of Gemini, which are no events, are one answer as long as
    they carry one id.
    """
    found: list[Any] = []
    rest: list[Any] = []
    for _, item in gather(enumerate(items), unmarked=False):
        if type(item) is list or _is_whole(item):
            found.append(item)
        elif type(item) is dict and rest and _other_answer(rest[-1], item):
            found.append(rest)
            rest = [item]
        else:
            rest.append(item)
    if rest or not found:
        found.append(rest)
    return found


def _is_whole(item: Any) -> bool:
    """Whether an item of a list is a call by itself: a whole answer, or an envelope."""
    if type(item) is not dict:
        return False
    if item.get("object") in _WHOLE or (any(name in item for name in _BODIES) and "event_type" not in item):
        return True
    if item.get("type") == "message" or item.get("object") == "text_completion":
        return type(item.get("usage")) is dict and bool(item.get("content") or item.get("choices"))
    return type(item.get("usage")) is dict and "model" in item and "choices" not in item and "object" not in item


def _other_answer(before: Any, item: dict[str, Any]) -> bool:
    if type(before) is not dict:
        return False
    if before.get("done") is True:  # the last line of an answer of Ollama
        return True
    ids = [_response_id(one) for one in (before, item)]
    return None not in ids and ids[0] != ids[1]


def _response_id(body: dict[str, Any]) -> Any:
    return body.get("responseId") or body.get("response_id")


def _model_of(event: dict[str, Any]) -> Any:
    return event.get("modelVersion") or event.get("model_version")


def _is_named(answer: Answer) -> bool:
    return bool(_response_id(answer.events[0]) or call_id(answer.outer))


def _own_id(kind: str, event: dict[str, Any]) -> str | None:
    """The id of the answer that an event itself carries."""
    if kind == "chat":
        return str(event.get("id"))
    response = event.get("response")
    named = response.get("id") if kind == "responses" and type(response) is dict else None
    return named if type(named) is str and is_strong_id(named) else None


def _serial_of(name: str) -> int:
    return int(name.rpartition("#")[2])


def _is_last(kind: str, event: dict[str, Any]) -> bool:
    if kind == "chat":
        # OpenAI's usage comes in a chunk of its own after the last choice; running usage (vLLM) has choices beside it
        return not event.get("choices") and bool(event.get("usage"))
    if kind == "converse":
        return "metadata" in event
    return event.get("type") in _ENDS or event.get("event_type") in _ENDS
