"""Quotes: what given usage would cost, priced by the same join as every stored request, in a store of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.core.errors import InputError
from app.core.money import usd_text
from app.core.usage import TOKEN_CLASSES
from app.warehouse.migrate import migrate
from app.warehouse.priced import Book, install, price, resolve_new
from app.warehouse.store import Warehouse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_USAGE: Final = {
    "in_text": "tok_input",
    "input": "tok_input",
    "cache_read": "tok_cache_read",
    "cache_w5m": "tok_cache_write_5m",
    "cache_w30m": "tok_cache_write_30m",
    "cache_w1h": "tok_cache_write_1h",
    "cache_w12h": "tok_cache_write_12h",
    "in_audio": "tok_input_audio",
    "cache_read_audio": "tok_cache_read_audio",
    "in_image": "tok_input_image",
    "out": "tok_output",
    "output": "tok_output",
    "reasoning": "tok_reasoning",
    "out_audio": "tok_output_audio",
    "out_image": "tok_output_image",
    **{name: name for name in TOKEN_CLASSES},
}
_UNITS: Final = {"web_searches": "web_search", "images": "image", "pages": "page", "seconds": "second"}
_CONTEXT: Final = (
    "service_tier",
    "batch",
    "region",
    "inference_geo",
    "speed",
    "deployment",
    "vertex_location",
    "base_model",
)
_MOST_UNITS: Final = 10**9
_SCHEMA: Final[dict[str, Any]] = {
    "request_key": pl.Int64,
    "provider": pl.String,
    "model": pl.String,
    "service_tier": pl.String,
    "is_batch": pl.Boolean,
    "region": pl.String,
    "price_context": pl.String,
    "account": pl.String,
    "start_us": pl.Int64,
    **dict.fromkeys(TOKEN_CLASSES, pl.Int64),
    "units": pl.String,
    "calls_summed": pl.Int32,
    "cost_state": pl.String,
}


@dataclass(frozen=True, slots=True)
class Quote:
    """The price of one line: exact USD text, None unless all of it has a price; `state` as `cost_state` of a request.

    `at_least_usd` is what the priced classes of a partly priced line cost: never the price of the line. `missing` names
    the field for want of which a line has no price.
    """

    id: str
    usd: str | None
    price_rows: tuple[str, ...]
    state: str
    warning: str | None = None
    at_least_usd: str | None = None
    missing: str | None = None


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a quote file: JSON lines, or one JSON array.

    Raises:
        InputError: the file or a line cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The file {path} cannot be read: {error}. Nothing was quoted; check the path.") from error
    if text.lstrip().startswith("["):
        return [_object(path, 1, item) for item in _decoded(path, 1, text)]
    return [
        _object(path, number, _decoded(path, number, line))
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]


def _decoded(path: Path, number: int, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {number + error.lineno - 1}: no valid JSON ({error.msg}).") from error


def _object(path: Path, number: int, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{path}, line {number}: a line to quote is a JSON object with provider, model and usage.")
    return value


def quote(book: Book, lines: Sequence[Mapping[str, Any]]) -> list[Quote]:
    """Price lines {id, provider, model, timestamp, usage, context, account} from the book alone, in their order.

    `usage` counts disjoint tokens (`in_text`, `cache_read`, `cache_w5m`, `cache_w1h`, ..., or the names of the token
    classes), but `out` includes `reasoning`. `context` holds batch, service_tier, region, inference_geo, speed,
    deployment, base_model and units such as web_searches; the first of these also count where they stand beside it.
    `calls` beside the usage says that it sums so many calls, 0 that nobody says how many: see query `pricing.priced`.
    Any rates in a line are ignored. A class or unit that no price is known for leaves its line without a price unless
    its count is 0.

    Raises:
        InputError: a line that cannot be read, named by its id.
    """
    ids = [str(line.get("id", number)) for number, line in enumerate(lines, start=1)]
    frame = pl.DataFrame(
        [_row(number, name, line) for number, (name, line) in enumerate(zip(ids, lines, strict=True))],
        schema=_SCHEMA,
        orient="row",
    )
    warehouse = Warehouse(None)
    try:
        migrate(warehouse)
        with warehouse.session() as session:
            session.register("quoted", frame)
            install(session, book, now_us=0)
            resolve_new(session, "quoted", book)
            price(session, "quoted", book, "quotes")
            priced = session.frame("pricing.quotes", {"quotes": "quotes"})
    finally:
        warehouse.close()
    return [
        Quote(
            id=ids[row["request_key"]],
            usd=None if row["cost_state"] == "partly" else usd_text(row["cost_pusd"]),
            price_rows=() if row["price_row"] is None else (row["price_row"],),
            state=row["cost_state"],
            warning="unpriced_class" if row["cost_state"] == "partly" else row["price_warning"],
            at_least_usd=usd_text(row["cost_pusd"]) if row["cost_state"] == "partly" else None,
            missing="timestamp" if row["price_warning"] == "no_time" else None,
        )
        for row in priced.iter_rows(named=True)
    ]


def _row(number: int, name: str, line: Mapping[str, Any]) -> tuple[Any, ...]:
    context, usage = _mapping(name, line, "context"), _mapping(name, line, "usage")
    context = {**{key: line[key] for key in _CONTEXT if line.get(key) is not None}, **context}
    tokens: dict[str, int | None] = dict.fromkeys(TOKEN_CLASSES)
    units: dict[str, float] = {}
    for key, value in usage.items():
        if value is None:
            continue
        if key in _USAGE:
            tokens[_USAGE[key]] = _count(name, key, value)
        else:
            units[str(_UNITS.get(key, key))] = _amount(name, key, value)
    if "out" in usage and tokens["tok_reasoning"] is not None:
        tokens["tok_output"] = max(0, (tokens["tok_output"] or 0) - tokens["tok_reasoning"])
    for key, unit in (*_UNITS.items(), *((unit, unit) for unit in _UNITS.values())):
        if context.get(key) is not None:
            units[str(unit)] = _amount(name, key, context.pop(key))
    units = {unit: count for unit, count in units.items() if count}
    return (
        number,
        line.get("provider"),
        line.get("model"),
        context.pop("service_tier", None),
        str(context.pop("batch", None)).lower() in ("true", "1"),
        context.pop("region", None),
        json.dumps({key: str(value) for key, value in context.items()}, sort_keys=True) if context else None,
        line.get("account"),
        _time_us(name, line.get("timestamp")),
        *(tokens[column] for column in TOKEN_CLASSES),
        _units_text(units),
        _calls(name, line.get("calls")),
        None,
    )


def _mapping(name: str, line: Mapping[str, Any], field: str) -> dict[str, Any]:
    value = line.get(field) or {}
    if not isinstance(value, dict):
        raise InputError(f'Line {name}: {field!r} is {value!r}, but it is an object such as {{"in_text": 1000}}.')
    return dict(value)


def _amount(name: str, key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_UNITS:
        raise InputError(f"Line {name}: {key!r} is {value!r}, but a count of units is a number from 0 to 999,999,999.")
    return value


def _units_text(units: Mapping[str, float]) -> str | None:
    """Units as a stored request has them: without exponents, which the priced join does not read."""
    if not units:
        return None
    plain = (f"{json.dumps(unit)}: {format(Decimal(str(count)), 'f')}" for unit, count in sorted(units.items()))
    return f"{{{', '.join(plain)}}}"


def _count(name: str, key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"Line {name}: usage {key!r} is {value!r}, but a count of tokens is a whole number from 0 up.")
    return value


def _calls(name: str, value: object) -> int | None:
    """How many calls a line sums; None where it is one."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_UNITS:
        raise InputError(
            f"Line {name}: calls is {value!r}, but it is how many calls the line sums: a whole number, 0 if unknown."
        )
    return None if value == 1 else value


def _time_us(name: str, text: object) -> int | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError as error:
        raise InputError(f"Line {name}: timestamp {text!r} is no ISO time such as 2026-01-31T16:00:00Z.") from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1_000_000)
