"""One line of a log as JSON: the fast decode, and what to do with a line that is no clean JSON.

A torn line followed by a whole record, two records on one line, stray NUL bytes, bad UTF-8, NaN and lone surrogates
cost the part that is broken, never the rest.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

_LONGEST_NUMBER: Final = 1_000  # digits; Python refuses to read longer ones, and no count or amount has them


def _whole(digits: str) -> int | float:
    """A whole number; one that is too long to be any count is infinite, so that it costs its field alone."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else float(digits)


class _Decoder(json.JSONDecoder):
    """JSON in which every text can be held: half of a surrogate pair, as an escape spells it, is a question mark."""

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        value, end = super().raw_decode(s, idx)
        is_suspect = s.find(r"\ud", idx, end) >= 0 or s.find(r"\uD", idx, end) >= 0
        return (_holdable(value) if is_suspect else value), end


def _holdable(value: Any) -> Any:
    if type(value) is str:
        return value.encode("utf-8", "replace").decode()
    if type(value) is dict:
        return {_holdable(key): _holdable(inner) for key, inner in value.items()}
    return list(map(_holdable, value)) if type(value) is list else value


DECODER: Final = _Decoder(parse_int=_whole)
_FIRST_KEY: Final = re.compile(r'\{\s*"[^"\\]{1,64}"\s*:')
_OBJECT: Final = re.compile(r'\{\s*"')
_BRACKETED: Final = re.compile(r"\[[^\[\]{}\"]*\]")  # `[2026-03-02 10:00:00] {...}`
_MAX_TRIES: Final = 64

Decoded = tuple[list[Any], str | None]

fast: Final = msgspec.json.Decoder().decode


def salvage(line: bytes) -> Decoded:
    """The JSON values that a broken line still holds, and what was wrong with it (None when nothing was lost)."""
    text = line.decode("utf-8", "replace").replace("\x00", "").strip()
    if not text:
        return [], "only NUL bytes, as an unclean shutdown leaves them"
    if (value := _behind_a_prefix(text)) is not None:
        return [value], None
    values: list[Any] = []
    position = 0
    try:
        while position < len(text):
            value, position = DECODER.raw_decode(text, position)
            if not values and position < len(text) and text[0] not in '{["':
                return [], "a line of text without a JSON record"  # which begins with a number, as a time does
            values.append(value)
            while position < len(text) and text[position] in " \t\r,":
                position += 1
    except json.JSONDecodeError as error:
        late = _whole_record_at_the_end(text, position)
        reason = f"torn or malformed JSON at character {error.pos}: {error.msg}"
        return values + late, reason
    except RecursionError:
        return values, "JSON nested too deeply"
    return values, None


def _behind_a_prefix(text: str) -> Any:
    """The object that ends a line of text: a logger or a container runtime put a time, a level or a name before it."""
    start = _OBJECT.search(text) if text[0] not in "{[" or _BRACKETED.match(text) else None
    if start is None:
        return None
    try:
        value, end = DECODER.raw_decode(text, start.start())
    except (json.JSONDecodeError, RecursionError):
        return None
    return value if end == len(text) else None


def _whole_record_at_the_end(text: str, start: int) -> list[Any]:
    """The record after a torn fragment, where it starts with the same first key and runs to the end of the line."""
    head = _FIRST_KEY.match(text, start)
    if head is None:
        return []
    position = text.rfind(head.group(), start + 1)
    for _ in range(_MAX_TRIES):
        if position <= start:
            return []
        try:
            value, end = DECODER.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            end = -1
        if end == len(text):
            return [value]
        position = text.rfind(head.group(), start + 1, position)
    return []
