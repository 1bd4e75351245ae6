"""Records of another layout than most of their file: read as what they are, not by a convention that is not theirs.

A file is read by the format that its first records show best. A record that this format does not know, and another is
certain of, is read by the other; one that this format refuses, by whichever knows it. Bills are never read among logs.
What a log shipper wrapped is opened first, and what stands in the bodies of OTLP's log records.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.core.usage import Rejected, UsageEvent
from ingest.formats import FORMATS, MIN_SCORE
from ingest.formats.bills import BILLS
from ingest.formats.exchanges import EXCHANGE_FORMATS, layout_score
from ingest.formats.otlp_bodies import body_of, label, tells_of_a_call
from ingest.formats.otlp_genai import FORMAT as OTLP
from ingest.formats.otlp_records import outcomes
from ingest.formats.otlp_spans import is_export, records_of
from ingest.shipped import WRAPPING, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ingest.formats.format import Format, Given, Origin
    from ingest.formats.otlp_spans import Span

CERTAIN: Final = 0.9
_MORE: Final = 1e-9  # of two that are as sure the first is taken
# In the order of detection: those before the exchanges may hold an exchange inside, and mean more by it.
_FIRST_EXCHANGE: Final = FORMATS.index(EXCHANGE_FORMATS[0])
_STRANGERS: Final = tuple(form for form in FORMATS if form not in BILLS and form.in_file is None)
_HOLDING: Final = tuple(form for form in _STRANGERS if FORMATS.index(form) < _FIRST_EXCHANGE)
_AFTER: Final = tuple(form for form in _STRANGERS if form not in _HOLDING and form not in EXCHANGE_FORMATS)
# What a record of these has and an envelope seldom: without any of them they need not be asked.
_TELLING: Final = frozenset(
    (
        "custom_id", "key", "processed_time", "recordId", "resourceId", "_ResourceId", "modelId", "message", "records",
        "properties", "DeploymentName", "ModelName", "request_id", "startTime", "standard_logging_object", "payload",
        "data", "logs", "ai_org", "ai_model", "req_units", "generation_id", "tokens_in", "logging_time", "run_id",
        "usage_metadata", "attributes", "tokens", "sessionId",
    )
)  # fmt: skip


def parser_of(form: Format) -> Callable[[Any, Origin], Iterator[Given]]:
    """What reads the records of one file whose format is `form` from the first to the last, strangers among them."""
    if form in BILLS:
        return form.parser()
    read = _reader(form)

    def parse(record: Any, place: Origin) -> Iterator[Given]:
        return _log_records(record, place) if is_export(record, "Logs") else read(record, place)

    return parse


def _reader(form: Format) -> Callable[[Any, Origin], Iterator[Given]]:
    own = form.parser()
    exchanges = form in EXCHANGE_FORMATS  # one parse for all of them: it refuses what it does not know

    def parse(record: Any, place: Origin) -> Iterator[Given]:
        if not exchanges and _score(form, record) > 0:
            return own(record, place)
        inner = _shipped(record, form)
        if len(inner) == 1:
            return read(inner[0], place)
        return chain.from_iterable(read(one, place) for one in inner)

    def read(record: Any, place: Origin) -> Iterator[Given]:
        if not exchanges:
            stranger = None if _score(form, record) > 0 else _other(record, form, CERTAIN)
        elif type(record) is dict and _TELLING.isdisjoint(record):
            stranger = None
        else:
            stranger = _best(_HOLDING, record, form, CERTAIN)
        if stranger is None:
            found = own(record, place)
            first = next(found, None)
            if first is None:
                return found
            if not isinstance(first, Rejected) or first.benign or first.part is not None:
                return chain((first,), found)
            stranger = _other(record, form, MIN_SCORE)
            if stranger is None:
                return chain((first,), found)
        return stranger.parse(record, place)

    return parse


def _log_records(export: dict[str, Any], place: Origin) -> Iterator[Given]:
    """What OTLP's log records tell of; one that is no call itself may hold a record of another format."""
    for item in records_of(export):
        for given in outcomes((item,)):
            inner = _of_body(item, place) if _is_nothing(given) and not isinstance(item, str) else ()
            yield from inner or (given,)


def _is_nothing(given: Given) -> bool:
    return isinstance(given, Rejected) and given.benign


def _of_body(item: Span, place: Origin) -> list[Given]:
    """What the record in the body of a log record gives; nothing where no format knows it or it is no call."""
    body = body_of(item)
    if body is None:
        return []
    found: list[Given] = []
    try:
        for record in _shipped(body, OTLP):
            form = _other(record, OTLP, MIN_SCORE)
            if form is not None and form.provider_logs:
                found.extend(form.parse(record, place))
    except RecursionError:
        return []
    return [_labelled(given, item, nth) for nth, given in enumerate(found) if tells_of_a_call(given)]


def _labelled(given: Given, item: Span, nth: int) -> Given:
    if isinstance(given, UsageEvent):
        label(given, item, nth)
    elif isinstance(given, Rejected) and given.part is None:
        return msgspec.structs.replace(given, part=item.raw)
    return given


def _shipped(record: Any, form: Format) -> list[Any]:
    """The records that a log shipper wrapped, where they are of a layout that is known and the wrapper is of none."""
    if type(record) is not dict or WRAPPING.isdisjoint(record):
        return [record]
    inner = unpacked(record, lambda one: _is_known(one, form))
    if not inner or _is_known(record, form) or not any(_is_known(one, form) for one in inner):
        return [record]
    return inner


def _is_known(record: Any, form: Format) -> bool:
    if _score(form, record) > 0 or _exchange_score(record) >= MIN_SCORE:
        return True
    return _other(record, form, MIN_SCORE) is not None


def _other(record: Any, form: Format, least: float) -> Format | None:
    """The format that knows a record best, of those that are at least so sure; `form` is not asked again."""
    best = _best(_HOLDING, record, form, least)
    if best is None and form not in EXCHANGE_FORMATS and _exchange_score(record) >= least:
        return EXCHANGE_FORMATS[0]
    return best or _best(_AFTER, record, form, least)


def _best(candidates: tuple[Format, ...], record: Any, form: Format, least: float) -> Format | None:
    best: Format | None = None
    for candidate in candidates:
        score = _score(candidate, record)
        if score >= least and candidate is not form:
            best, least = candidate, score + _MORE
    return best


def _exchange_score(record: Any) -> float:
    try:
        return layout_score(record)
    except RecursionError:
        return 0.0


def _score(candidate: Format, record: Any) -> float:
    try:
        return candidate.detect(record)
    except RecursionError:
        return 0.0
