"""Single values of a record: a bad one costs that field, never the record.

Token counts are whole, from 0 to MOST_TOKENS; anything else is unknown (None) with the warning `bad_number:<field>`.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import msgspec

MOST_TOKENS: Final = 10**9  # of one class of one call; far above any context window, so a larger number counts nothing
_MAX_COUNT: Final = 2**53
_decode: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode
_encode_sorted: Final = msgspec.json.Encoder(order="sorted").encode


def count(value: Any, field: str, warnings: list[str]) -> int | None:
    """A token count or other whole number from 0 to MOST_TOKENS; text and whole floats are read, None is absent."""
    if type(value) is int and 0 <= value <= MOST_TOKENS:
        return value
    if value is None:
        return None
    number = _whole(value)
    if number is None:
        warnings.append(f"bad_number:{field}")
    return number


def _whole(value: Any) -> int | None:
    if type(value) is str:
        try:
            value = float(value) if len(value) < 40 else None
        except ValueError:
            return None
    elif isinstance(value, Decimal) and value.is_finite():  # as Parquet gives numbers
        value = float(value)
    if type(value) is float and math.isfinite(value) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def number(value: Any) -> float | None:
    """A finite number (text is read), else None."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is int:
        return float(value) if abs(value) < _MAX_COUNT else None
    if isinstance(value, Decimal):
        return float(value) if value.is_finite() and abs(value) < _MAX_COUNT else None
    if type(value) is str and 0 < len(value) < 40:
        try:
            parsed = float(value)
        except ValueError:
            return None
        return parsed if math.isfinite(parsed) else None
    return None


def integer(value: Any) -> int | None:
    """A whole number that fits 64 bits, else None."""
    if type(value) is int:
        return value if -(2**63) <= value < 2**63 else None
    parsed = number(value)
    return int(parsed) if parsed is not None and parsed.is_integer() and abs(parsed) < _MAX_COUNT else None


def calls_counted(value: Any) -> int | None:
    """How many calls a record says that it sums; None where it says one, or nothing that counts calls."""
    calls = _whole(value)
    return calls if calls is not None and calls > 1 else None


def text(value: Any) -> str | None:
    """Non-empty text; a number becomes its digits; anything else is None."""
    if type(value) is str:
        return value or None
    if type(value) is int or type(value) is float:
        return str(value)
    return None


def usd_text(value: Any, field: str, warnings: list[str]) -> str | None:
    """A reported amount as plain decimal text; `bad_number:<field>` where it is no finite number."""
    if value is None or value == "":
        return None
    try:
        amount = (
            Decimal(str(value)) if isinstance(value, (int, float, str, Decimal)) and type(value) is not bool else None
        )
    except InvalidOperation:
        amount = None
    if amount is None or not amount.is_finite() or abs(amount) >= 10**6 or (amount and amount.adjusted() < -30):
        warnings.append(f"bad_number:{field}")
        return None
    return format(amount, "f")


def table(value: Any) -> dict[str, Any]:
    """A JSON object, given as such or as its text; an empty one otherwise."""
    if type(value) is dict:
        return value
    decoded = decoded_text(value) if type(value) is str else None
    return decoded if type(decoded) is dict else {}


def decoded_text(value: str) -> Any:
    """The JSON value that a text holds, or None where it holds none."""
    head = value.lstrip()[:1]
    if head not in ("{", "["):
        return None
    try:
        return _decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


def compact(value: Any) -> str:
    """JSON text without spaces, keys in the order they were logged."""
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:  # half of a surrogate pair: cannot be UTF-8, kept as an escape
        return json.dumps(value, separators=(",", ":"))


def canonical(value: Any) -> str:
    """JSON text with sorted keys, so that equal parameters have equal text."""
    try:
        return _encode_sorted(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), sort_keys=True)
