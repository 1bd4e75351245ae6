"""The plan as a coalition game: what a set of levers saves, and how the joint saving is shared without rest.

Players are numbered 0..n-1 and a coalition is a bit mask. Values are whole pico-USD saved. Shapley values: L. S.
Shapley, "A value for n-person games" (1953): the mean marginal contribution over all orders; they add up to the joint
value.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def subsets(mask: int) -> Iterator[int]:
    """Every sub-mask of a mask, the empty one and itself included, in ascending order."""
    found = []
    part = mask
    while True:
        found.append(part)
        if part == 0:
            break
        part = (part - 1) & mask
    yield from reversed(found)


def players(mask: int) -> tuple[int, ...]:
    """The players of a coalition."""
    return tuple(index for index in range(mask.bit_length()) if mask >> index & 1)


@dataclass(frozen=True, slots=True)
class Game:
    """Values of coalitions where nobody is forced to apply a lever that does not pay beside the others.

    `value[mask]` is the best that can be saved with the levers of the mask, `choice[mask]` the levers then applied: the
    game is monotone, never negative, and a lever that makes others lose is left out where it stands with them.
    """

    value: Mapping[int, int]
    choice: Mapping[int, int]


def monotone(saved: Mapping[int, int]) -> Game:
    """The best choice inside each coalition of `saved` (mask -> pico-USD, negative where it costs more).

    Only coalitions that were priced can be chosen; nothing saves nothing.
    """
    value: dict[int, int] = {}
    choice: dict[int, int] = {}
    priced = {0: 0} | dict(saved)
    for mask in sorted(priced):
        inside = [part for part in priced if part & ~mask == 0]
        best = max(inside, key=lambda part: (priced[part], -part.bit_count(), -part))
        value[mask] = priced[best]
        choice[mask] = best
    return Game(value, choice)


def shapley(value: Mapping[int, int], everyone: int) -> dict[int, int]:
    """Each player's share of `value[everyone]` in whole pico-USD; the shares add up to it exactly.

    `value` holds every sub-mask of `everyone`. Fractions are dealt with by the largest remainder, ties to the lower
    player, so the same game is always shared the same way.
    """
    members = players(everyone)
    count = len(members)
    if count == 0:
        return {}
    orders = factorial(count)
    weighted = dict.fromkeys(members, 0)
    for mask in subsets(everyone):
        size = mask.bit_count()
        weight = factorial(size) * factorial(count - size - 1) if size < count else 0
        for player in members:
            bit = 1 << player
            if mask & bit == 0:
                weighted[player] += weight * (value[mask | bit] - value[mask])
    share = {player: amount // orders for player, amount in weighted.items()}
    missing = value[everyone] - value[0] - sum(share.values())
    by_remainder = sorted(members, key=lambda player: (-(weighted[player] % orders), player))
    for player in by_remainder[:missing]:
        share[player] += 1
    return share
