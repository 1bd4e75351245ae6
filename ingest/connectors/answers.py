"""What HTTP sources answer: decoding into a layout, records as lines, and the forms of a time in a query."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from app.core.errors import InputError
from app.core.hashing import hash64
from ingest.connectors.polite import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T", bound=msgspec.Struct)
SECOND_US: Final = 1_000_000


def decoder(layout: type[T], what: str) -> Callable[[bytes], T]:
    """A function that reads an answer of this layout.

    It raises `UnreadableError` for one that is cut off, which is asked for again, and `InputError` for another layout,
    which is not.
    """

    def decode(body: bytes) -> T:
        try:
            return msgspec.json.decode(body, type=layout)
        except msgspec.ValidationError as error:
            raise InputError(
                f"{what} answers in another layout ({error}). Nothing of the answer was taken; what came before is "
                "stored. See whether Halve or the server needs an update."
            ) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UnreadableError(str(error)) from error

    return decode


def line_of(record: bytes) -> bytes:
    """A record on one line."""
    return msgspec.json.format(record, indent=-1) if b"\n" in record else record


def named(record: bytes, field: str) -> tuple[str, bytes]:
    """(id, line) of a record; one without a text in `field` gets one made of its bytes, the same whenever it comes."""
    line = line_of(record)
    value: Any = msgspec.json.decode(line)
    if type(value) is not dict:
        return f"~{hash64(line) & (2**64 - 1):016x}", line
    name = value.get(field)
    if type(name) is str and name:
        return name, line
    value[field] = f"~{hash64(line) & (2**64 - 1):016x}"
    return value[field], msgspec.json.encode(value)


def instant_us(text: Any) -> int | None:
    """An RFC 3339 time in microseconds UTC, None where it is none; one without a zone is UTC."""
    if type(text) is not str:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int((aware - _EPOCH).total_seconds()) * SECOND_US + aware.microsecond


def rfc3339(us: int) -> str:
    """A time as YYYY-MM-DDTHH:MM:SS.mmmZ; parts of a millisecond are dropped."""
    return f"{datetime.fromtimestamp(us // SECOND_US, UTC):%Y-%m-%dT%H:%M:%S}.{us % SECOND_US // 1000:03d}Z"


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
