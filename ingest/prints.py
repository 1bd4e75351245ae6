"""Fingerprints of prompt parts: hash of the whole part, of its blocks, of its lines; equal texts are hashed once."""

from __future__ import annotations

from hashlib import blake2b
from struct import Struct
from typing import Final

import msgspec

from app.core.hashing import encoded

BLOCK: Final = 512
LONG_PART: Final = 4096
HEAD: Final = 64 * 1024
LINES_OF: Final = 64 * 1024
CACHED_BYTES: Final = 24 * 1024 * 1024
CACHED_PARTS: Final = 50_000

# A digest as the signed number that is stored, in a tuple of one: half the time of int.from_bytes.
signed: Final = Struct(">q").unpack


class PartPrint(msgspec.Struct, gc=False):
    """What is known of one text: digest of the whole, size, and lazily its block digests; counts its sightings."""

    digest: bytes
    hash: int
    size: int
    seen: int = 0
    lines_out: bool = False
    text_out: bool = False
    blocks: list[tuple[bytes, int]] | None = None


class Prints:
    """A bounded memory of part fingerprints, keyed by their text. Forgetting only costs hashing again."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self._keyed = blake2b(digest_size=8, key=key)
        self._known: dict[str, PartPrint] = {}
        self._bytes = 0
        self._lines: dict[str, tuple[int, int]] = {}

    def of(self, text: str) -> PartPrint:
        """The fingerprint of a part's text."""
        found = self._known.get(text)
        if found is None:
            data = encoded(text)
            state = self._keyed.copy()
            state.update(data)
            digest = state.digest()
            found = PartPrint(digest, signed(digest)[0], len(data))
            self._remember(text, found)
        return found

    def digest(self, data: bytes) -> bytes:
        """Keyed BLAKE2b of 8 bytes. Copying a keyed state costs half of making one."""
        state = self._keyed.copy()
        state.update(data)
        return state.digest()

    def _remember(self, text: str, found: PartPrint) -> None:
        self._bytes += found.size
        if self._bytes > CACHED_BYTES or len(self._known) >= CACHED_PARTS:
            self._forget()
            self._bytes = found.size
        self._known[text] = found

    def _forget(self) -> None:
        """Keep what was seen again: shared system prompts and tools survive, unique user texts go."""
        kept = {text: one for text, one in self._known.items() if one.seen > 1}
        size = sum(one.size for one in kept.values())
        self._known = kept if size < CACHED_BYTES // 2 and len(kept) < CACHED_PARTS // 2 else {}

    def blocks(self, text: str, found: PartPrint) -> list[tuple[bytes, int]]:
        """(running digest up to the block's end, hash of the block's own bytes) of every full block inside the part."""
        if found.blocks is None:
            data = encoded(text)[:HEAD]
            running = self._keyed.copy()
            found.blocks = []
            for end in range(BLOCK, min(len(data), found.size - 1) + 1, BLOCK):
                piece = data[end - BLOCK : end]
                running.update(piece)
                own = self.digest(piece)
                found.blocks.append((running.digest(), signed(own)[0]))
        return found.blocks

    def lines(self, text: str, found: PartPrint) -> list[tuple[int, int]]:
        """(hash, size in bytes) of each line of a text's first 64 KiB."""
        if "\n" not in text and len(text) <= LINES_OF:
            return [(found.hash, found.size)]
        known = self._lines
        if len(known) > CACHED_PARTS:
            known.clear()
        find, make = known.get, self._line
        return [find(line) or make(line) for line in (text if len(text) <= LINES_OF else text[:LINES_OF]).split("\n")]

    def _line(self, line: str) -> tuple[int, int]:
        data = encoded(line)
        state = self._keyed.copy()
        state.update(data)
        found = self._lines[line] = signed(state.digest())[0], len(data)
        return found
