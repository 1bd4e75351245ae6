"""The two prompt caches that the demo's providers run: sequential, plain dictionaries, one request after the other.

They share nothing with `app.replay`: what the replay concludes from a log can be checked against what these billed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECOND = 1_000_000


@dataclass(slots=True)
class _Entry:
    """A cached prefix: readable from `ready_us`, alive until its lifetime has passed since `used_us`."""

    ready_us: int
    used_us: int


class _Store:
    """Prefixes by chain hash. Reading one renews it; one left longer than the lifetime is gone."""

    def __init__(self, ttl_us: int) -> None:
        self._ttl_us = ttl_us
        self._entries: dict[int, _Entry] = {}
        self._order: deque[tuple[int, int]] = deque()

    def alive(self, key: int, now_us: int) -> bool:
        entry = self._entries.get(key)
        return entry is not None and entry.ready_us <= now_us <= entry.used_us + self._ttl_us

    def touch(self, key: int, now_us: int, ready_us: int) -> None:
        """Write the prefix, or renew it where it is there already."""
        entry = self._entries.get(key)
        if entry is not None and now_us <= entry.used_us + self._ttl_us:
            entry.used_us = max(entry.used_us, now_us)
            entry.ready_us = min(entry.ready_us, ready_us)
        else:
            self._entries[key] = _Entry(ready_us, now_us)
        self._order.append((now_us, key))
        self._forget(now_us)

    def _forget(self, now_us: int) -> None:
        order, limit = self._order, now_us - self._ttl_us
        while order and order[0][0] < limit:
            _, key = order.popleft()
            entry = self._entries.get(key)
            if entry is not None and entry.used_us < limit:
                del self._entries[key]


class AutomaticCache:
    """Prefix caching that needs no marks, as OpenAI ran it up to gpt-5.5.

    Prompts of at least 1,024 tokens are cached in steps of 128; an entry lives while the gap between two uses is at
    most `ttl_s` (documented as five to ten minutes idle). Writing is free. Rule as documented by the provider until
    the autumn of 2025 for models up to gpt-5.5, in-memory retention.
    """

    MINIMUM = 1024
    STEP = 128

    def __init__(self, ttl_s: int = 300) -> None:
        self._store = _Store(ttl_s * _SECOND)

    def lookup(self, model: str, tokens: Sequence[int], now_us: int, ready_us: int) -> int:
        """Cached tokens of this prompt, which is then itself in the cache from `ready_us` on."""
        if len(tokens) < self.MINIMUM:
            return 0
        store, step, chain = self._store, self.STEP, hash(model)
        cached, unbroken = 0, True
        for end in range(step, len(tokens) + 1, step):
            chain = hash((chain, tuple(tokens[end - step : end])))
            if unbroken and store.alive(chain, now_us):
                cached = end
            else:
                unbroken = False
            store.touch(chain, now_us, ready_us)
        return cached if cached >= self.MINIMUM else 0


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a prompt in the provider's order: its chain hash, all tokens up to its end, and its mark."""

    chain: int
    tokens: int
    marked: bool


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How the provider billed a prompt: read from the cache, written to it, and neither."""

    read: int
    written: int
    uncached: int


class MarkedCache:
    """Prefix caching at marked blocks, as Anthropic runs it.

    A mark looks back over at most 20 blocks for a prefix that an earlier request wrote; the deepest one found is
    read and renewed, the rest up to the last mark is written. A prefix shorter than the model's minimum is silently
    not cached. An entry lives five minutes from its last use and is readable once the answer that wrote it began.
    """

    LOOKBACK = 20

    def __init__(self, minimum: int = 1024, ttl_s: int = 300) -> None:
        self._minimum = minimum
        self._store = _Store(ttl_s * _SECOND)

    def lookup(self, blocks: Sequence[Block], now_us: int, ready_us: int) -> CacheUse:
        """How these blocks are billed; the marked prefixes are in the cache from `ready_us` on."""
        total = blocks[-1].tokens if blocks else 0
        marks = [i for i, block in enumerate(blocks) if block.marked and block.tokens >= self._minimum]
        if not marks:
            return CacheUse(0, 0, total)
        read = self._deepest(blocks, marks, now_us)
        for i in marks:
            self._store.touch(blocks[i].chain, now_us, ready_us)
        if read is not None and read not in marks:
            self._store.touch(blocks[read].chain, now_us, ready_us)
        read_tokens = 0 if read is None else blocks[read].tokens
        written = max(0, blocks[marks[-1]].tokens - read_tokens)
        return CacheUse(read_tokens, written, total - read_tokens - written)

    def _deepest(self, blocks: Sequence[Block], marks: Sequence[int], now_us: int) -> int | None:
        for mark in reversed(marks):
            for i in range(mark, max(-1, mark - self.LOOKBACK), -1):
                if blocks[i].tokens >= self._minimum and self._store.alive(blocks[i].chain, now_us):
                    return i
        return None
