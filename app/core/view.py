"""`View`: the whole state of a page, and the URL query it is read from and written to.

Half-open ranges of microseconds UTC, cut in a named zone; a filter is flat and readable; defaults are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final, Literal, get_args
from urllib.parse import urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

UNASSIGNED: Final = "unassigned"
"""The value of a dimension where nothing says it."""
DIMENSIONS: Final = (
    "feature",
    "team",
    "environment",
    "provider",
    "model",
    "account",
    "api_key",
    "user",
    "service_tier",
    "is_batch",
    "source",
    "status",
    "template",
    "cost_state",
)

Compare = Literal["off", "prev"]

DEFAULT_PERIOD: Final = "28d"
DEFAULT_COMPARE: Final[Compare] = "prev"
DEFAULT_BY: Final = "feature"
PERIODS: Final = ("today", "7d", "14d", "28d", "30d", "91d", "mtd", "12mo", "ytd", "all")

MAX_FILTERS: Final = 20
MAX_VALUES: Final = 50
MAX_VALUE_CHARS: Final = 500

_LAST_DAYS = re.compile(r"([1-9][0-9]{0,2})d")
_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
_SPAN = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.\.([0-9]{4}-[0-9]{2}-[0-9]{2})")


@dataclass(frozen=True, slots=True)
class Period:
    """A named range of whole local days: `from_us` included, `to_us` excluded, both microseconds UTC."""

    name: str
    from_us: int
    to_us: int
    zone: str


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition: the dimension is (or is not) one of the values. Several filters are a conjunction."""

    op: Literal["is", "not"]
    dimension: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """What a page shows: a period, what it is compared with, the dimension of its table, and filters."""

    period: Period
    compare: Compare = DEFAULT_COMPARE
    by: str = DEFAULT_BY
    filters: tuple[Filter, ...] = ()


def replace_period(view: View, chosen: Period) -> View:
    """The same view of another time."""
    return replace(view, period=chosen)


def with_filter(view: View, dimension: str, value: str) -> View:
    """The view with one more condition `is dimension value`, in place of an earlier one on that dimension."""
    kept = tuple(item for item in view.filters if item.op != "is" or item.dimension != dimension)
    return replace(view, filters=(*kept, Filter("is", dimension, (value,))))


def zone_info(name: str) -> ZoneInfo:
    """The named zone.

    Raises:
        UsageError: no such zone.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(
            f"{name!r} is no time zone. Days are cut in a zone of the IANA list, as UTC or Europe/Berlin: give one "
            "where this name was given (HALVE_ZONE, `--zone` or the page)."
        ) from error


def latest_us(now_us: int) -> int:
    """From here on no call can have started: a day after now, for clocks that show another zone."""
    return now_us + 86_400_000_000


def midnight_us(day: date, zone: ZoneInfo) -> int:
    """The instant at which a local day begins, microseconds UTC; where clocks skip midnight, the skip itself."""
    return round(datetime.combine(day, time(0), tzinfo=zone).timestamp()) * 1_000_000


def local_date(at_us: int, zone: ZoneInfo) -> date:
    """The local day that an instant falls into."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)).astimezone(zone).date()


def period(name: str, zone: str, now_us: int) -> Period:
    """The range that a name stands for at `now_us`; relative ranges end with the local day of now.

    Names are those of `PERIODS` ("all" holds requests without a time too), any `<n>d` up to 999, a month `2026-10`,
    or the days `2026-10-01..2026-10-15`, both included.

    Raises:
        UsageError: the name means nothing, or the zone does not exist.
    """
    where = zone_info(zone)
    today = local_date(now_us, where)
    if name == "all":
        # from 0, so that requests without a time are in it
        return Period(name=name, from_us=0, to_us=midnight_us(today + timedelta(days=1), where), zone=zone)
    try:
        first, after = _days_of(name, today)
        return Period(name=name, from_us=midnight_us(first, where), to_us=midnight_us(after, where), zone=zone)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{name!r} is no period. Periods are {', '.join(PERIODS)}, a month like 2026-10, "
            "or days like 2026-10-01..2026-10-15."
        ) from error


def _days_of(name: str, today: date) -> tuple[date, date]:
    tomorrow = today + timedelta(days=1)
    if name == "today":
        return today, tomorrow
    if name == "mtd":
        return today.replace(day=1), tomorrow
    if name == "ytd":
        return today.replace(month=1, day=1), tomorrow
    if name == "12mo":
        return _month_start(today.year, today.month - 11), tomorrow
    if match := _LAST_DAYS.fullmatch(name):
        return tomorrow - timedelta(days=int(match[1])), tomorrow
    if match := _MONTH.fullmatch(name):
        start = date(int(match[1]), int(match[2]), 1)
        return start, _month_start(start.year, start.month + 1)
    if match := _SPAN.fullmatch(name):
        first, last = date.fromisoformat(match[1]), date.fromisoformat(match[2])
        if first <= last:
            return first, last + timedelta(days=1)
    raise ValueError(name)


def _month_start(year: int, month: int) -> date:
    years, zero_based = divmod(month - 1, 12)
    return date(year + years, zero_based + 1, 1)


def previous(of: Period, now_us: int) -> Period:
    """The equally long range just before, for comparison.

    An unfinished range is compared like for like: its last day is cut at the same time of day as now.
    """
    where = zone_info(of.zone)
    first, after = local_date(of.from_us, where), local_date(of.to_us - 1, where) + timedelta(days=1)
    length = after - first
    to_us = of.from_us
    if of.from_us < now_us < of.to_us:
        today = local_date(now_us, where)
        into_day = now_us - midnight_us(today, where)
        to_us = min(to_us, midnight_us(today - length, where) + into_day)
    return Period(name="previous", from_us=midnight_us(first - length, where), to_us=to_us, zone=of.zone)


def parse(
    pairs: Iterable[tuple[str, str]], *, zone: str, now_us: int, page_keys: Collection[str] = ()
) -> tuple[View, tuple[str, ...]]:
    """A view of the pairs of a URL query, and a notice for each thing that could not be used and was left out.

    `page_keys` belong to the page itself (sorting, page number) and are passed over silently.
    """
    now = period(DEFAULT_PERIOD, zone, now_us)
    compare: Compare = DEFAULT_COMPARE
    by = DEFAULT_BY
    filters: list[Filter] = []
    notices: list[str] = []
    for key, value in pairs:
        if key == "period":
            try:
                now = period(value, zone, now_us)
            except UsageError as error:
                notices.append(str(error))
        elif key == "compare" and value in get_args(Compare):
            compare = "off" if value == "off" else "prev"
        elif key == "by" and value in DIMENSIONS:
            by = value
        elif key == "f":
            condition = parse_filter(value)
            if condition is None or len(filters) == MAX_FILTERS:
                notices.append(f"The filter {_shown(value)} could not be read and is left out.")
            elif condition not in filters:
                filters.append(condition)
        elif key not in page_keys:
            notices.append(f"This page does not know {_shown(f'{key}={value}')}; it is left out.")
    return View(period=now, compare=compare, by=by, filters=tuple(filters)), tuple(notices)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")


def parse_filter(text: str) -> Filter | None:
    """The filter written `is,model,gpt-5,gpt-5-mini`; None where it is none. Backslash escapes a comma or itself."""
    op, dimension, *values = _split(text)[: MAX_VALUES + 3] if text.count(",") >= 2 else ("", "")
    if op not in ("is", "not") or dimension not in DIMENSIONS or not values or len(values) > MAX_VALUES:
        return None
    if any(len(value) > MAX_VALUE_CHARS for value in values):
        return None
    return Filter(op="is" if op == "is" else "not", dimension=dimension, values=tuple(dict.fromkeys(values)))


def _split(text: str) -> list[str]:
    parts, current, escaped = [], [], False
    for character in text:
        if escaped or character not in "\\,":
            current.append(character)
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            parts.append("".join(current))
            current = []
    return [*parts, "".join(current)]


def print_filter(condition: Filter) -> str:
    """The text that `parse_filter` reads back."""
    values = (value.replace("\\", "\\\\").replace(",", "\\,") for value in condition.values)
    return ",".join((condition.op, condition.dimension, *values))


def pairs(view: View) -> tuple[tuple[str, str], ...]:
    """The pairs of a view's URL query; defaults are left out, so that a link carries only what somebody chose."""
    chosen = []
    if view.period.name != DEFAULT_PERIOD:
        chosen.append(("period", view.period.name))
    if view.compare != DEFAULT_COMPARE:
        chosen.append(("compare", view.compare))
    if view.by != DEFAULT_BY:
        chosen.append(("by", view.by))
    return (*chosen, *(("f", print_filter(condition)) for condition in view.filters))


def query(view: View, extra: Iterable[tuple[str, str]] = ()) -> str:
    """The URL query of a view (without the question mark), with a page's own pairs behind it."""
    return urlencode([*pairs(view), *extra], safe=",:")
