"""What breaks a shared prefix: the first difference between neighbouring texts and the kind of value that it is.

Only a difference that stands before text which stays the same is a breaker; a value that merely looks volatile, at the
end of what was appended, is none.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from app.core.hashing import hash64

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Most specific first; the first class that covers the differing character names the breaker.
_CLASSES: Final = (
    ("e-mail", r"[\w.+-]+@[\w-]+\.[\w.-]+"),
    ("uuid", r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"),
    (
        "time",
        r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"
        r"|\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[AaPp][Mm])?\b|\b1[5-9]\d{8}(?:\d{3}|\d{6})?\b",
    ),
    (
        "date",
        r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b"
        r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2}(?:, \d{4})?\b",
    ),
    ("hex", r"\b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,}\b"),
    ("number", r"\b\d+(?:[.,]\d+)*\b"),
)
_VOLATILE: Final = re.compile("|".join(f"(?:{pattern})" for _, pattern in _CLASSES))
_KINDS: Final = tuple((name, re.compile(pattern)) for name, pattern in _CLASSES)
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Difference:
    """Where texts part.

    `chars` is the first character that differs, `value_from` where the changing value begins, `kind` what it is, beside
    two examples of the words around it.
    """

    chars: int
    value_from: int
    kind: str
    first: str
    second: str


def first_difference(texts: Sequence[str]) -> Difference | None:
    """The usual first difference of neighbours in `texts`; None where all are equal or only the end is longer."""
    found = [one for left, right in pairwise(texts) if (one := _difference(left, right))]
    if not found:
        return None
    kind, _ = Counter(one.kind for one in found).most_common(1)[0]
    return min((one for one in found if one.kind == kind), key=lambda one: one.chars)


def _difference(left: str, right: str) -> Difference | None:
    limit = min(len(left), len(right))
    place = next((i for i in range(limit) if left[i] != right[i]), limit)
    if place == limit:
        return None
    for name, pattern in _KINDS:
        found = next((match for match in pattern.finditer(left) if match.start() <= place < match.end()), None)
        if found is not None:
            return Difference(place, found.start(), name, *_shown(left, right, found.start()))
    start = place
    while start > 0 and not left[start - 1].isspace():
        start -= 1
    return Difference(place, start, "value that changes with the request", *_shown(left, right, start))


def _shown(left: str, right: str, start: int) -> tuple[str, str]:
    begin = max(start - 20, left.rfind("\n", 0, start) + 1)
    return tuple(text[begin : begin + _SHOWN].split("\n", 1)[0] for text in (left, right))  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text with its volatile values taken out: hash of the rest, and the rest's share of the bytes."""

    seg_hash: int
    rest: int
    share: float


def masked(texts: Iterable[tuple[int, str]]) -> list[MaskedText]:
    """(hash of the text, text) -> what stays when times, dates, ids, addresses and numbers are taken out.

    For prompts in one line, where no line can be stable. Texts with the same rest differ only in such values.
    """
    result = []
    for seg_hash, text in texts:
        rest = _VOLATILE.sub("", text)
        size = len(text.encode("utf-8", "surrogatepass"))
        kept = len(rest.encode("utf-8", "surrogatepass"))
        result.append(MaskedText(seg_hash, hash64(rest.encode("utf-8", "surrogatepass")), kept / size if size else 0.0))
    return result
