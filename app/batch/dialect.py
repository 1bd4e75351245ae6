"""A dialect: how one family of providers writes the lines of a batch, its requests and its results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.control.batches import ItemState

RAW_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""Takes a JSON object apart one level deep and leaves the values as the bytes that they were."""
OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
encode: Final = msgspec.json.Encoder().encode

Fields = dict[str, msgspec.Raw]


class Request(NamedTuple):
    """What planning needs to know of one line: `prompt` holds its parts in the order in which providers cache them."""

    custom_id: str
    model: str
    endpoint: str
    prompt: bytes
    max_output: int | None


class Verdict(NamedTuple):
    """What one result line says. `again` is true where another attempt may end better; 4xx answers never do."""

    state: ItemState
    again: bool = False
    http_status: int | None = None
    code: str | None = None
    message: str | None = None


class LineError(Exception):
    """A line that cannot be part of a batch; the text says why, without its place."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way of writing batches.

    Attributes:
        results_format: the ingest format that reads its result lines.
        read: checks a request line, taken apart; raises LineError with every reason.
        sent: the request line under another id, every other byte as it was.
        verdict: judges a decoded result line.
        absent: the result line of an item that got none: caller's id, how it ended, code, message.
        body: the request's own body inside a request line.
    """

    results_format: str
    read: Callable[[Fields], Request]
    sent: Callable[[Fields, str], bytes]
    verdict: Callable[[dict[str, Any]], Verdict]
    absent: Callable[[str, ItemState, str, str], dict[str, Any]]
    body: Callable[[Fields], msgspec.Raw]


def text_of(fields: Fields, name: str) -> str | None:
    """A text field of an object taken apart; None where it is missing or no text."""
    raw = fields.get(name)
    if raw is None:
        return None
    value = msgspec.json.decode(raw)
    return value if type(value) is str else None


def whole_number(fields: Fields, *names: str) -> int | None:
    """The first of the named fields that holds a whole number."""
    for name in names:
        if name in fields:
            value = msgspec.json.decode(fields[name])
            if type(value) is int:
                return value
    return None


def object_of(fields: Fields, name: str) -> Fields | None:
    """An object inside an object, taken apart; None where it is missing or something else."""
    raw = fields.get(name)
    if raw is None or not bytes(raw).lstrip().startswith(b"{"):
        return None
    return RAW_OBJECT.decode(raw)


def is_empty(raw: msgspec.Raw | None) -> bool:
    """True for a missing value and for null, "", [] and {}."""
    return raw is None or bytes(raw).strip() in (b"null", b'""', b"[]", b"{}")
