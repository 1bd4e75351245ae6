"""Fingerprints of prompt parts: hash of the whole part, of its blocks, of its lines; equal texts are hashed once."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.core.usage import Part

BLOCK: Final = 512
LONG_PART: Final = 4096
HEAD: Final = 64 * 1024
LINES_OF: Final = 64 * 1024
CACHED_BYTES: Final = 24 * 1024 * 1024
CACHED_PARTS: Final = 50_000


class PartPrint:
    """What is known of one text: digest of the whole, size, and lazily its block digests; counts its sightings."""

    __slots__ = ("blocks", "digest", "hash", "lines_out", "seen", "size", "text_out")

    def __init__(self, data: bytes, key: bytes) -> None:
        self.digest = blake2b(data, digest_size=8, key=key).digest()
        self.hash = int.from_bytes(self.digest, "big", signed=True)
        self.size = len(data)
        self.blocks: list[tuple[bytes, int]] | None = None
        self.seen = 0
        self.lines_out = False
        self.text_out = False


class Prints:
    """A bounded memory of part fingerprints, keyed by their text. Forgetting only costs hashing again."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self._known: dict[str, PartPrint] = {}
        self._bytes = 0
        self._line_hashes: dict[str, int] = {}

    def of(self, part: Part) -> PartPrint:
        text = part.text
        found = self._known.get(text)
        if found is None:
            found = PartPrint(encoded(text), self.key)
            self._remember(text, found)
        return found

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
            running = blake2b(digest_size=8, key=self.key)
            found.blocks = []
            for end in range(BLOCK, min(len(data), found.size - 1) + 1, BLOCK):
                piece = data[end - BLOCK : end]
                running.update(piece)
                own = blake2b(piece, digest_size=8, key=self.key).digest()
                found.blocks.append((running.digest(), int.from_bytes(own, "big", signed=True)))
        return found.blocks

    def line_hashes(self, text: str) -> tuple[list[int], list[int]]:
        """Hashes and sizes in bytes of the lines of a text's first 64 KiB."""
        known = self._line_hashes
        if len(known) > CACHED_PARTS:
            known.clear()
        hashes: list[int] = []
        sizes: list[int] = []
        for line in (text if len(text) <= LINES_OF else text[:LINES_OF]).split("\n"):
            data = encoded(line)
            value = known.get(line)
            if value is None:
                value = int.from_bytes(blake2b(data, digest_size=8, key=self.key).digest(), "big", signed=True)
                known[line] = value
            hashes.append(value)
            sizes.append(len(data))
        return hashes, sizes


def encoded(text: str) -> bytes:
    """UTF-8 bytes of a text; lone surrogates pass, because a hash must not depend on what a store can hold."""
    return text.encode("utf-8", "surrogatepass")
