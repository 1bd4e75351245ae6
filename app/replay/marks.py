"""Which boundaries of a prompt to mark, exactly: a dynamic programme over boundaries, marks and lifetimes.

A hit at a boundary implies hits at all earlier marks, so cost adds up over the stretches between marks: a stretch that
ends at mark p is written where p misses and read where p hits. With write price w and read price r (multiples of plain
input) and hit share H, the gain of a stretch of T tokens is T x (1 - w + (w - r) x H).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.replay.rules import CacheRule


@dataclass(frozen=True, slots=True)
class Mark:
    """One breakpoint: the boundary's index in the sequence given and the name of its lifetime."""

    index: int
    lifetime: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The best marks in prompt order and their gain in tokens at the plain input price, per request."""

    marks: tuple[Mark, ...]
    gain: float


def best_marks(tokens: Sequence[float], hit_share: Mapping[str, Sequence[float]], rule: CacheRule, most: int) -> Choice:
    """At most `most` marks that gain the most; none where every set of marks loses.

    Args:
        tokens: tokens from the start of the prompt to each boundary, rising.
        hit_share: for each lifetime name, how often a mark at each boundary would be read (0 to 1).
        rule: prices of writes and reads; longer lifetimes have to come first in a prompt.
        most: the number of marks to spend, at most `rule.max_marks`.
    """
    names = sorted(hit_share, key=lambda name: -rule.lifetime(name).seconds)
    gains = [[_gain(rule, name, share) for share in hit_share[name]] for name in names]
    # best[p][j]: the best choice of the marks used so far that ends at boundary p with lifetime j
    best: list[list[Choice | None]] = [[None] * len(names) for _ in tokens]
    answer = Choice((), 0.0)
    for _ in range(min(most, rule.max_marks)):
        grown: list[list[Choice | None]] = [[None] * len(names) for _ in tokens]
        for place, upto in enumerate(tokens):
            for kind, name in enumerate(names):
                rate = gains[kind][place]
                options = [Choice((Mark(place, name),), upto * rate)]
                for before in range(place):
                    for held in best[before][: kind + 1]:
                        if held is not None:
                            gain = held.gain + (upto - tokens[before]) * rate
                            options.append(Choice((*held.marks, Mark(place, name)), gain))
                grown[place][kind] = max(options, key=lambda choice: (choice.gain, -len(choice.marks)))
        best = grown
        for row in best:
            for choice in row:
                if choice is not None and choice.gain > answer.gain:
                    answer = choice
    return answer


def _gain(rule: CacheRule, lifetime: str, share: float) -> float:
    write = rule.lifetime(lifetime).write
    return 1 - write + (write - rule.read) * share
