"""Exact common prefixes of texts, byte by byte, as boundaries that the cache primitive understands.

The compressed prefix tree of a group of texts has one inner node wherever two of them part. A text's boundaries are the
nodes on its path plus its own end, so "the longest prefix shared with an earlier call" is its deepest boundary that
hits. Sorted neighbours give the tree: cost is sorting plus one comparison of each text with its neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


@dataclass(frozen=True, slots=True)
class Boundary:
    """One boundary of the text `index`: prefixes are equal exactly where `node` is; `depth` is in bytes."""

    index: int
    node: int
    depth: int


def common_prefix(first: bytes, second: bytes) -> int:
    """Length in bytes of the longest common prefix, by doubling and halving slices that C compares."""
    limit = min(len(first), len(second))
    if first[:limit] == second[:limit]:
        return limit
    low, high = 0, limit  # equal up to low, different before high
    while high - low > 1:
        middle = (low + high) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle
    return low


def boundaries(texts: Sequence[bytes], first_node: int = 0) -> Generator[Boundary, None, int]:
    """All boundaries of `texts`, texts without bytes left out; nodes are numbered from `first_node` on and
    the next free number is the generator's return value.

    Equal texts share their end node. At most one boundary a text for each place where its path parts from another.
    """
    order = sorted((index for index, text in enumerate(texts) if text), key=lambda index: texts[index])
    node = first_node
    path: list[tuple[int, int]] = []  # (depth, node) along the current text, depths rising
    pending: list[list[int]] = []  # per path entry: the texts below it
    previous: int | None = None
    for index in order:
        shared = 0 if previous is None else common_prefix(texts[previous], texts[index])
        node = yield from _close(path, pending, shared, node)
        if path and path[-1][0] == len(texts[index]):
            pending[-1].append(index)
        else:
            path.append((len(texts[index]), node))
            pending.append([index])
            node += 1
        previous = index
    return (yield from _close(path, pending, 0, node))


def _close(
    path: list[tuple[int, int]], pending: list[list[int]], shared: int, node: int
) -> Generator[Boundary, None, int]:
    """Emit and leave every node deeper than `shared`; its texts move up to the node at `shared`, made where missing."""
    carried: list[int] = []
    while path and path[-1][0] > shared:
        depth, number = path.pop()
        members = pending.pop() + carried
        for index in members:
            yield Boundary(index, number, depth)
        carried = members
    if shared > 0 and carried:
        if path and path[-1][0] == shared:
            pending[-1].extend(carried)
        else:
            path.append((shared, node))
            pending.append(carried)
            node += 1
    return node
