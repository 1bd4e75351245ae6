"""The demo provider's own tokenizer: words in pieces of up to six letters, numbers in threes, marks one by one.

It is no real vocabulary, only a fixed rule with the density of one (about four bytes a token on English), so that
the made usage is consistent: equal text gives equal tokens, and a prompt's tokens are those of its parts.
"""

from __future__ import annotations

import re

_PIECE = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\sA-Za-z0-9]")

MESSAGE_TOKENS = 4  # what a chat message costs beyond its text
REPLY_TOKENS = 3  # what opening the answer costs


class Tokenizer:
    """Text to token ids; ids are given in order of first sight, so they are equal for equal runs."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._stable: dict[str, tuple[int, ...]] = {}

    def encode(self, text: str) -> tuple[int, ...]:
        ids = self._ids
        return tuple([ids.setdefault(piece, len(ids)) for piece in _PIECE.findall(text)])

    def encode_stable(self, text: str) -> tuple[int, ...]:
        """As `encode`, remembered: for the few texts that come back in every prompt."""
        known = self._stable.get(text)
        if known is None:
            known = self._stable[text] = self.encode(text)
        return known


def count(text: str) -> int:
    """Tokens of a text."""
    return len(_PIECE.findall(text))
