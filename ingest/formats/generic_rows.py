"""The generic table: JSONL, CSV or Parquet rows under the documented column names, or under a column map.

The names and what they hold are `column_map.FIELDS`. Values may be text, as CSV gives them; a bad one costs its field.
Times are found under other usual names too (`start`, `ts`, `created_at`): a call without one has no price and no day.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, Rejected, UsageEvent
from ingest.formats import providers
from ingest.formats.column_map import FIELDS, TIMES, ColumnMap, columns_named, value_at
from ingest.formats.dressing import STATUSES, set_http_error
from ingest.formats.fields import calls_counted, compact, count, decoded_text, integer, number, text, usd_text
from ingest.formats.format import Format
from ingest.formats.prompts import message_parts
from ingest.formats.times import instant, span_us

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin

_COUNTERS: Final = frozenset(name for name in FIELDS if name.endswith("_tokens") and name != "max_tokens")
_TOTALS: Final = frozenset(("input_tokens", "uncached_input_tokens", "output_tokens", "visible_output_tokens"))
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_HOURS: Final = ("time", "Time", "time_of_day")
_TIME_OF_DAY: Final = re.compile(r"\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?")
_TRUE: Final = ("true", "1", "yes", "t", "y")


def detect(record: Any) -> float:
    if type(record) is not dict:
        return 0.0
    if not record.keys() & _TOTALS or not record.keys() & {"model", "timestamp"}:
        return 0.0
    others = any(name.endswith("_tokens") and name not in FIELDS for name in record)
    return 0.0 if others else 0.5  # counters of other names belong to another layout, whose convention is not ours


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """One call a row, under the documented names."""
    if type(record) is not dict:
        yield Rejected("no row: not a JSON object")
    elif not record.keys() & _COUNTERS:
        yield Rejected("a row without a token column; give a column map")
    else:
        yield _event({**record, **_times(record), "calls": _calls(record)})


def with_map(columns: ColumnMap) -> Format:
    """The generic table read through a column map."""
    return replace(FORMAT, parse=partial(_parse_mapped, columns))


def _parse_mapped(columns: ColumnMap, record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    if type(record) is not dict:
        yield Rejected("no row: not a JSON object")
        return
    row: dict[str, Any] = dict(columns.constants)
    for name, path in columns.columns.items():
        value = record.get(path)
        row[name] = value_at(record, path) if value is None else value
    if any(row.get(name) is not None for name in columns.columns):
        yield _event(row)
    else:
        yield Rejected("a row that has none of the mapped columns")


def _times(row: dict[str, Any]) -> dict[str, Any]:
    """The times that a row tells under other names than the documented ones: of each the first that is a moment."""
    found: dict[str, Any] = {}
    for field in TIMES:
        if row.get(field) in (None, ""):
            told = [
                moment for column in columns_named(field, tuple(row)) if (moment := _moment(row, column)) is not None
            ]
            if told:
                found[field] = told[0]
    return found


def _calls(row: dict[str, Any]) -> int | None:
    """How many calls a row says that it sums, under any usual name; None for one."""
    told = (calls_counted(row[column]) for column in columns_named("calls", tuple(row)))
    return next((calls for calls in told if calls is not None), None)


def _moment(row: dict[str, Any], column: str) -> Any:
    """The value of a column where it is a moment; a day that stands beside the time of day is read with it."""
    value = row[column]
    if type(value) is str and _DAY.fullmatch(value) is not None:
        hours = next(
            (given for name in _HOURS if _TIME_OF_DAY.fullmatch(given := str(row.get(name))) is not None), None
        )
        value = value if hours is None else f"{value}T{hours}"
    return value if instant(value, column, []) is not None else None


def _event(row: dict[str, Any]) -> UsageEvent:
    warnings: list[str] = []
    get = row.get
    event = UsageEvent(
        source_record=text(get("request_id")),
        provider_response_id=text(get("response_id")),
        session_id=text(get("session_id")),
        trace_id=text(get("trace_id")),
        account=text(get("account")),
        user=text(get("user")),
        api_key=text(get("api_key")),
        model=text(get("model")),
        service_tier=text(get("service_tier")),
        start_us=instant(get("timestamp"), "timestamp", warnings),
        cost_reported_usd=usd_text(get("cost_usd"), "cost_usd", warnings),
        max_tokens=integer(get("max_tokens")),
        temperature=number(get("temperature")),
        error=text(get("error")),
        calls_summed=calls_counted(get("calls")),
    )
    stated = text(get("provider"))
    event.provider = stated.lower() if stated is not None else providers.from_model(event.model)
    event.is_batch = str(get("is_batch")).lower() in _TRUE
    _read_end(row, event, warnings)
    _read_input(row, event, warnings)
    _read_output(row, event, warnings)
    _check_total(row, event, warnings)
    _read_status(get("status"), event)
    tags = {name: value for name in ("feature", "team", "environment") if (value := text(get(name))) is not None}
    event.tags = tags or None
    if get("prompt"):
        event.prompt = _prompt(get("prompt"))
    event.output = text(get("output"))
    event.warnings = warnings or None
    return event


def _read_end(row: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    event.end_us = instant(row.get("end_time"), "end_time", warnings)
    event.first_token_us = instant(row.get("first_token_time"), "first_token_time", warnings)
    if event.end_us is None and event.start_us is not None:
        lasted = span_us(row.get("latency_ms"), 1_000)
        event.end_us = event.start_us + lasted if lasted is not None else None


def _counted(row: dict[str, Any], name: str, warnings: list[str]) -> int | None:
    value = row.get(name)
    return None if value is None or value == "" else count(value, name, warnings)


def _read_input(row: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    whole, uncached = _counted(row, "input_tokens", warnings), _counted(row, "uncached_input_tokens", warnings)
    read = _counted(row, "cache_read_tokens", warnings)
    written, long = _counted(row, "cache_write_tokens", warnings), _counted(row, "cache_write_1h_tokens", warnings)
    if uncached is None and whole is None and (read or written or long):
        warnings.append("inconsistent_usage")  # how much more there was is not known, and the rest alone no input
        return
    if uncached is None and whole is not None:
        read, written, long = _fitted(whole, (read, written, long), warnings)
        uncached = whole - (read or 0) - (written or 0) - (long or 0)
    event.tok_input, event.tok_cache_read, event.tok_cache_write_1h = uncached, read, long
    if written is not None:
        setattr(event, providers.write_class(event.model, event.provider), written)


def _fitted(whole: int, inside: tuple[int | None, ...], warnings: list[str]) -> list[int | None]:
    """The parts of a whole, clamped and flagged where they are more than it."""
    if sum(value or 0 for value in inside) <= whole:
        return list(inside)
    warnings.append("inconsistent_usage")
    fitted: list[int | None] = []
    for value in inside:
        fitted.append(None if value is None else min(value, whole))
        whole -= fitted[-1] or 0
    return fitted


def _read_output(row: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    whole, visible = _counted(row, "output_tokens", warnings), _counted(row, "visible_output_tokens", warnings)
    reasoning = _counted(row, "reasoning_tokens", warnings)
    if visible is None and whole is not None:
        (reasoning,) = _fitted(whole, (reasoning,), warnings)
        visible = whole - (reasoning or 0)
    event.tok_output, event.tok_reasoning = visible, reasoning


def _check_total(row: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    total = _counted(row, "total_tokens", warnings)
    event.tok_total_reported = total
    written = (event.tok_cache_write_5m or 0) + (event.tok_cache_write_30m or 0) + (event.tok_cache_write_1h or 0)
    summed = (event.tok_input or 0) + (event.tok_cache_read or 0) + written
    summed += (event.tok_output or 0) + (event.tok_reasoning or 0)
    if total is not None and event.tok_input is not None and summed != total:
        warnings.append("sum_mismatch")


def _read_status(value: Any, event: UsageEvent) -> None:
    http = integer(value)
    if http is not None:
        event.http_status = http
        if http >= 400:
            set_http_error(event, http)
    elif type(value) is str:
        event.status = STATUSES.get(value.lower(), event.status)
    elif event.error is not None:
        event.status = "error"


def _prompt(value: Any) -> list[Part]:
    decoded = decoded_text(value) if type(value) is str else value
    parts: list[Part] = []
    messages = decoded if type(decoded) is list else (value if type(value) is str else compact(value))
    message_parts(messages, parts, [])
    return parts


FORMAT: Final = Format(
    name="generic_rows",
    title="Generic table (JSONL, CSV, Parquet)",
    convention="input_tokens holds cached tokens and output_tokens reasoning; the uncached and visible columns do not.",
    billing="api",
    detect=detect,
    parse=parse,
)
