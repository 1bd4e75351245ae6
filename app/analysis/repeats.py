"""What an answer cache with a fixed lifetime would have served: a fold along each key, vectorised over all keys.

An entry is stored when its answer is complete and lives `ttl_us` from then; a hit does not renew it. A request that
starts before the answer is complete is sent as well and stores nothing new. Failed calls store nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_NONE: Final = -1
_SAFE: Final = 2**62


def served(rows: pl.DataFrame, ttl_us: int) -> NDArray[np.bool_]:
    """For each row whether a stored answer would have served it.

    `rows`, sorted by key and start, has `key` (Int64, any number a key), `start_us`, `end_us`, `stores` (bool: the
    answer may be kept) and `asks` (bool: it may be served from the store).
    """
    if rows.height == 0:
        return np.zeros(0, dtype=np.bool_)
    key = rows["key"].to_numpy()
    start = rows["start_us"].to_numpy()
    ready = np.maximum(rows["end_us"].to_numpy(), start)
    stores, asks = rows["stores"].to_numpy(), rows["asks"].to_numpy()
    firsts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    span = int(ready.max() - start.min()) + ttl_us + 2
    keys_at_once = max(_SAFE // span, 1)
    found = np.zeros(rows.height, dtype=np.bool_)
    for low in range(0, len(firsts), keys_at_once):
        begin = firsts[low]
        end = firsts[low + keys_at_once] if low + keys_at_once < len(firsts) else rows.height
        part = slice(begin, end)
        inside = firsts[low : low + keys_at_once] - begin
        found[part] = _fold(inside, start[part], ready[part], stores[part], ttl_us, span)
    answered: NDArray[np.bool_] = found & asks
    return answered


def _fold(
    firsts: NDArray[np.int64],
    start: NDArray[np.int64],
    ready: NDArray[np.int64],
    stores: NDArray[np.bool_],
    ttl_us: int,
    span: int,
) -> NDArray[np.bool_]:
    """Rows that found a live entry. Times of key g are moved to g x span, so that one search serves all keys."""
    count = len(start)
    group = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, count)))
    ends = np.append(firsts[1:], count)[group]
    moved = group * span - start.min()
    next_store = _next_true(stores)
    anchors = _anchors(start + moved, ready + moved + ttl_us, next_store, ends, firsts)
    held = np.maximum.accumulate(np.where(anchors, np.arange(count), _NONE))
    stored = ready[np.maximum(held, 0)]
    alive: NDArray[np.bool_] = (held >= firsts[group]) & (start >= stored) & (start <= stored + ttl_us) & ~anchors
    return alive


def _next_true(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each place the nearest place at or after it whose flag is set; the length where there is none."""
    count = len(flags)
    places = np.where(flags, np.arange(count), count)
    return np.minimum.accumulate(places[::-1])[::-1].astype(np.int64)


def _anchors(
    place: NDArray[np.int64],
    expires: NDArray[np.int64],
    next_store: NDArray[np.int64],
    ends: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The rows that store an entry: per key the first that may, then the first that may after it has expired."""
    count = len(place)
    anchors = np.zeros(count, dtype=np.bool_)
    current = next_store[starts]
    current = current[current < ends[starts]]
    while len(current):
        anchors[current] = True
        after = np.searchsorted(place, expires[current], side="right")
        after = np.maximum(after, current + 1)
        inside = after < ends[current]
        limit = ends[current][inside]
        current = next_store[after[inside]]
        current = current[current < limit]
    return anchors
