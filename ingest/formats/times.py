"""Instants as logs write them: seconds, milliseconds, microseconds or nanoseconds since 1970, ISO 8601, HTTP dates.

The unit of a number is decided by its size; anything outside 2015 to 2100 is no time of an LLM call and stays unknown.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH: Final = _EPOCH.replace(tzinfo=None)
_MICROSECOND: Final = timedelta(microseconds=1)
FIRST_US: Final = (datetime(2015, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LONGEST_US: Final = 10**15  # 31 years; anything longer is no duration of a call or a trace
# A day and a clock, then an offset and what says it once more: `+0000 UTC m=+1.5` (Go), `Z[Europe/Berlin]` (Java).
_WRITTEN: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d)((?::\d\d(?:[.,]\d+)?)?)"
    r"(?: ?(Z|[+-]\d\d:?\d\d)(?: (?:[A-Z]{2,5}|[+-]\d\d(?:\d\d)?))?(?: m=[+-][\d.]+)?(?:\[[\w/+-]+\])?)?"
)
LAST_US: Final = (datetime(2100, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_FIRST_S: Final = FIRST_US // 1_000_000
_LAST_S: Final = LAST_US // 1_000_000 - 1


def instant(value: Any, field: str, warnings: list[str]) -> int | None:
    """Microseconds UTC of a logged time.

    Args:
        value: a number, text or a datetime; None is simply absent. Text without a zone is read as UTC and noted as
            `zone_assumed:<field>`.
        field: named in the warning `bad_time:<field>` where the value is no plausible time.
        warnings: receives the codes.
    """
    kind = type(value)
    if (kind is float or kind is int) and _FIRST_S <= value < _LAST_S:  # the commonest first
        seconds: float = value
        return round(seconds * 1_000_000)
    if value is None or value == "":
        return None
    if kind is str:
        us = _text_us(value, field, warnings)
    elif isinstance(value, datetime):  # as Parquet gives times
        us = _moment_us(value, field, warnings)
    else:
        us = _number_us(value)
    if us is not None and FIRST_US <= us < LAST_US:
        return us
    warnings.append(f"bad_time:{field}")
    return None


def utc_instant(value: Any, field: str, warnings: list[str]) -> int | None:
    """As `instant`, for layouts that document their zone-less text as UTC."""
    noted: list[str] = []
    us = instant(value, field, noted)
    if us is None:
        warnings += noted
    return us


def span_us(value: Any, unit_us: int) -> int | None:
    """A duration in a unit of `unit_us` microseconds; None where it is no plausible number of at least 0."""
    if (type(value) is float or type(value) is int) and 0 <= value * unit_us <= _LONGEST_US:
        return round(value * unit_us)
    number = _finite(value)
    if number is None or not 0 <= number * unit_us <= _LONGEST_US:
        return None
    return round(number * unit_us)


def _text_us(text: str, field: str, warnings: list[str]) -> int | None:
    """ISO 8601, also with the ` UTC` that BigQuery writes behind it, a number as text, or an HTTP date."""
    try:
        moment = datetime.fromisoformat(text.removesuffix(" UTC") + "Z" if text.endswith(" UTC") else text)
    except ValueError:
        number = _finite(text)
        if number is None:
            return _other_us(text, field, warnings)
        return _number_us(int(text) if text.strip().isdigit() else number)
    if moment.tzinfo is None and text.strip().isdigit():  # 20260302 is a compact ISO date and a number: the number
        return _number_us(int(text))
    return _moment_us(moment, field, warnings)


def _other_us(text: str, field: str, warnings: list[str]) -> int | None:
    """ISO 8601 as languages write it beside the standard, and what is no ISO 8601."""
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        return _http_us(text)
    day, clock, minute, second, zone = written.groups()
    later_s = 0
    if clock == "24" and minute == "00" and second.strip("0.,:") == "":  # the end of a day
        clock, later_s = "00", 86_400
    elif second.startswith(":60"):  # a leap second: POSIX counts it as the one after it
        second, later_s = ":59" + second[3:], 1
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}:{minute}{second}{zone or ''}")
    except ValueError:
        return None
    return _moment_us(moment, field, warnings) + later_s * 1_000_000


def _moment_us(moment: datetime, field: str, warnings: list[str]) -> int:
    if moment.tzinfo is None:
        warnings.append(f"zone_assumed:{field}")
        return (moment - _NAIVE_EPOCH) // _MICROSECOND
    return (moment - _EPOCH) // _MICROSECOND


def _http_us(text: str) -> int | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND


def _number_us(value: Any) -> int | None:
    number = value if type(value) is int else _finite(value)
    if number is None or number <= 0:
        return None
    if number < 10**11:
        return round(number * 1_000_000)
    if number < 10**14:
        return round(number * 1_000)
    if number < 10**17:
        return int(number)
    return int(number) // 1_000


def _finite(value: Any) -> float | None:
    if type(value) is bool or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
