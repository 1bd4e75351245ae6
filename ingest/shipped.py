"""Records that a log shipper wrapped: Docker, Kubernetes, journald, CloudWatch, Google Cloud, Datadog, Splunk, loggers.

The record is the text of a line, or an object, under a name of the shipper's; pages and subscriptions hold lists of
them. The shipper's time is taken only where the record inside has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ingest.formats.envelope import NAMES, RESPONSES, summary_of
from ingest.formats.fields import decoded_text, integer

if TYPE_CHECKING:
    from collections.abc import Callable

_LINES: Final = ("log", "message", "msg", "MESSAGE", "@message", "textPayload", "jsonPayload", "_raw", "line", "event")
_HOLDERS: Final = ("content", "result", "_source")  # Datadog, Splunk, Elasticsearch
_LISTS: Final = ("logEvents", "events", "data", "logs", "records", "items", "hits")
WRAPPING: Final = frozenset((*_LINES, *_HOLDERS, *_LISTS))
"""A record without any of these names is no shipper's."""
_TIMES: Final = ("@timestamp", "time", "timestamp", "ts", "date", "_time", "__REALTIME_TIMESTAMP")
_OWN_TIMES: Final = frozenset(name for name, meaning in NAMES.items() if meaning in ("start", "date", "end")) | {
    "created", "createTime", "create_time", "timeUnixNano", "TimeGenerated", "logging_time", "event.timestamp",
}  # fmt: skip
_MOST_NESTED: Final = 3


def unpacked(record: Any, known: Callable[[Any], bool]) -> list[Any]:
    """The records that a shipper's record holds; empty where it is none.

    A record of a layout that is `known` is not opened further: its `message` or `result` is its own.
    """
    return _opened(record, known, 0) if type(record) is dict else []


def _inside(record: dict[str, Any], known: Callable[[Any], bool], depth: int) -> list[Any]:
    return [] if known(record) else _opened(record, known, depth)


def _opened(record: dict[str, Any], known: Callable[[Any], bool], depth: int) -> list[Any]:
    if depth >= _MOST_NESTED:
        return []
    for name in _LINES:
        value = record.get(name)
        if value is None:
            continue
        inner = decoded_text(value) if type(value) is str else value
        if type(inner) is dict:
            deeper = _inside(inner, known, depth + 1)
            return deeper or [_dated(inner, _time_of(record))]
    for name in _HOLDERS:
        holder = record.get(name)
        if type(holder) is dict and (found := _opened(holder, known, depth + 1)):
            return found
    for name in _LISTS:
        values = record.get(name)
        if type(values) is list and values and type(values[0]) is dict:
            return [one for value in values for one in _of_a_list(value, known, depth)]
    return []


def _of_a_list(value: Any, known: Callable[[Any], bool], depth: int) -> list[Any]:
    return (_inside(value, known, depth + 1) if type(value) is dict else []) or [value]


def _time_of(record: dict[str, Any]) -> Any:
    moment = next((record[name] for name in _TIMES if record.get(name) is not None), None)
    if "__REALTIME_TIMESTAMP" in record and type(moment) is str:
        return integer(moment)
    return moment


def _dated(record: dict[str, Any], moment: Any) -> dict[str, Any]:
    """The record with the shipper's time, where neither it nor its answer says one."""
    bodies = [record, *(record[name] for name in RESPONSES if type(record.get(name)) is dict)]
    if moment is None or any(not _OWN_TIMES.isdisjoint(body) for body in bodies):
        return record
    if len(bodies) > 1 or "request" in record or summary_of(record):
        return {**record, "timestamp": moment}
    return {"timestamp": moment, "response": record} if _is_answer(record) else record


def _is_answer(record: dict[str, Any]) -> bool:
    """Whether a record is an answer of an API that puts no time into it: Claude, Converse, Gemini."""
    return record.get("type") == "message" or "stopReason" in record or "usageMetadata" in record
