"""What a name in a rule stands for: `*` and `?` are any characters, in our own rules `[67]` is one of these.

In a user's file brackets are themselves: model names have them (`m[1m]`), and a rate of one model must not become the
rate of others.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

WILDCARDS: Final = "*?"


def is_glob(text: str, *, literal_brackets: bool) -> bool:
    """Whether a name stands for several."""
    return any(mark in text for mark in WILDCARDS) or (not literal_brackets and "[" in text)


def matches(name: str, pattern: str, *, literal_brackets: bool) -> bool:
    """Whether a name is one that a pattern stands for."""
    if not is_glob(pattern, literal_brackets=literal_brackets):
        return name == pattern
    return fnmatchcase(name, pattern.replace("[", "[[]") if literal_brackets else pattern)
