"""Which calls of two sources are the same, in the groups where several calls look alike (`overlap.crowded`).

Equal calls come in bursts: a prompt that is sent ten times at once, chunks of one size that are embedded in a row. Two
questions are asked of them. How much do the sources meet: calls that are each other's nearest, which two clocks that
have nothing to do with each other seldom are. And which calls are doubles, once it is known that the sources tell of
the same ones: as many pairs as can be made, since each call has its own.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Counts = dict[tuple[str, str], int]
"""Twins by pair of sources."""
TWINS: Final = {
    "source_a": pl.String,
    "source_b": pl.String,
    "key_a": pl.Int64,
    "key_b": pl.Int64,
    "start_a": pl.Int64,
    "start_b": pl.Int64,
}


def paired(crowded: pl.DataFrame, near_us: int) -> pl.DataFrame:
    """As many twins as the calls of `overlap.crowded` can make, each call in one pair at most; columns as in TWINS."""
    left: list[int] = []
    right: list[int] = []
    for begin, at, side in _groups(crowded):
        for one, other in _most_pairs(at, side, near_us):
            left.append(begin + one)
            right.append(begin + other)
    a, b = crowded[left], crowded[right]
    columns = {
        "source_a": a["source_a"],
        "source_b": a["source_b"],
        "key_a": a["request_key"],
        "key_b": b["request_key"],
        "start_a": a["start_us"],
        "start_b": b["start_us"],
    }
    return pl.DataFrame(columns, schema=TWINS)


def meetings(crowded: pl.DataFrame, near_us: int) -> tuple[Counts, Counts]:
    """By pair of sources: calls that are each other's nearest, and the most pairs that could be made."""
    nearest: Counts = {}
    most: Counts = {}
    for (a, b), part in crowded.partition_by("source_a", "source_b", as_dict=True).items():
        for _, at, side in _groups(part):
            nearest[a, b] = nearest.get((a, b), 0) + _nearest(at, side, near_us)
            most[a, b] = most.get((a, b), 0) + sum(1 for _ in _most_pairs(at, side, near_us))
    return nearest, most


def _groups(crowded: pl.DataFrame) -> Iterator[tuple[int, list[int], list[int]]]:
    """(first row, times, sides) of the calls of each group, in order of time."""
    begins = (crowded["opens"] == 1).arg_true().to_list()
    at, side = crowded["at_us"].to_numpy(), crowded["side"].to_numpy()
    for begin, end in pairwise([*begins, crowded.height]):
        yield begin, at[begin:end].tolist(), side[begin:end].tolist()


def _most_pairs(at: Sequence[int], side: Sequence[int], near_us: int) -> Iterator[tuple[int, int]]:
    """(place of a call of side 0, of one of side 1), at most `near_us` apart.

    Each call takes the oldest of the other side that is free and near enough: the one that would be out of reach first.
    No other choice makes more pairs.
    """
    free: tuple[deque[int], deque[int]] = (deque(), deque())
    for place, now in enumerate(at):
        mine, others = side[place], free[1 - side[place]]
        while others and now - at[others[0]] > near_us:
            others.popleft()
        if others:
            other = others.popleft()
            yield (place, other) if mine == 0 else (other, place)
        else:
            free[mine].append(place)


def _nearest(at: Sequence[int], side: Sequence[int], near_us: int) -> int:
    """Pairs of calls that are each other's nearest. Of calls at one moment as many meet as both sides have there."""
    moments: list[list[int]] = []  # time, calls of side 0, calls of side 1 that did not meet at that very time
    pairs = 0
    for now, mine in zip(at, side, strict=True):
        if not moments or moments[-1][0] != now:
            moments.append([now, 0, 0])
        moments[-1][1 + mine] += 1
    for moment in moments:
        met = min(moment[1], moment[2])
        pairs += met
        moment[1] -= met
        moment[2] -= met
    lone = [(now, 0 if a else 1) for now, a, b in moments if a or b]
    before = _gaps(lone)
    after = _gaps([(-now, mine) for now, mine in reversed(lone)])[::-1]
    taken = -1
    for place in range(len(lone) - 1):
        (now, mine), (then, other) = lone[place], lone[place + 1]
        gap = then - now
        if mine != other and gap <= near_us and place != taken and gap <= before[place] and gap <= after[place + 1]:
            pairs += 1
            taken = place + 1
    return pairs


def _gaps(lone: Sequence[tuple[int, int]]) -> list[float]:
    """How long before each call the last one of the other side was; infinite where there was none."""
    last = [float("-inf"), float("-inf")]
    gaps = []
    for now, mine in lone:
        gaps.append(now - last[1 - mine])
        last[mine] = now
    return gaps
