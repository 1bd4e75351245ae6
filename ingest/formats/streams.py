"""Streams logged one event a line: the events of one answer are joined into one record, a list of them.

OpenAI chunks carry the answer's id, so answers may be interleaved; Anthropic and Responses events carry none, so those
between a start and its end belong together. At most 256 answers and 65,536 events are held open; the oldest is let go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from ingest.formats.envelope import is_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_OPEN: Final = 256
MAX_EVENTS: Final = 65_536
_STARTS: Final = ("message_start", "response.created", "response.queued")
_ENDS: Final = ("message_stop", "response.completed", "response.failed", "response.incomplete", "response.done")


Place = TypeVar("Place")
_WHOLE: Final = ("chat.completion", "response", "realtime.response", "list")
_BODIES: Final = ("response", "response_body", "responseBody", "custom_id")


def gather(records: Iterable[tuple[Place, Any]]) -> Iterator[tuple[Place, Any]]:
    """Pass records through; the events of a stream come as one list at the place of the first."""
    opened: dict[str, tuple[Place, list[Any]]] = {}
    held = 0
    for place, record in records:
        if type(record) is not dict or not is_event(record):
            yield place, record
            continue
        name = _name(record)
        if record.get("type") in _STARTS and name in opened and record.get("type") != "response.queued":
            held -= len(opened[name][1])
            yield opened.pop(name)
        opened.setdefault(name, (place, []))[1].append(record)
        held += 1
        if _is_last(record):
            held -= len(opened[name][1])
            yield opened.pop(name)
        while len(opened) > MAX_OPEN or held > MAX_EVENTS:
            oldest = opened.pop(next(iter(opened)))
            held -= len(oldest[1])
            yield oldest
    yield from opened.values()


def calls_in(items: list[Any]) -> list[Any]:
    """The records of a list, which may be the events of one stream, or of several, or whole answers side by side.

    Events are joined as those that stand one a line. Chunks of Gemini, which are no events, are one answer as long as
    they carry one id.
    """
    found: list[Any] = []
    rest: list[Any] = []
    for _, item in gather((0, item) for item in items):
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
    ids = [one.get("responseId") or one.get("response_id") for one in (before, item)]
    return None not in ids and ids[0] != ids[1]


def _name(record: dict[str, Any]) -> str:
    if record.get("object") == "chat.completion.chunk":
        return f"chunk:{record.get('id')}"
    return "responses" if str(record.get("type")).startswith("response.") else "messages"


def _is_last(record: dict[str, Any]) -> bool:
    if record.get("type") in _ENDS:
        return True
    # OpenAI's usage comes in a chunk of its own after the last choice; running usage (vLLM) has choices beside it
    return record.get("object") == "chat.completion.chunk" and not record.get("choices") and bool(record.get("usage"))
