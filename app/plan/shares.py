"""How the joint saving is shared: one small game a scope, added up over scopes. Pure whole-number arithmetic.

Scopes are independent, so the shares of a lever's finding are the sums of its shares in its scopes, and all shares
together are the joint saving to the last pico-dollar. The same function answers what-if: leave findings out, add again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping  # noqa: TC003  read at run time when stored games are decoded
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.plan.game import monotone, shapley, subsets

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@dataclass(frozen=True, slots=True)
class ScopeGame:
    """One scope: what its touched requests cost, which finding each player stands for, what coalitions save.

    `saved` holds every priced mask of the plan's players. Masks that differ only in players without a finding here are
    read as equal, so nobody is paid for what another scope's lever does.
    """

    before_pusd: int
    owners: Mapping[int, str]
    saved: Mapping[int, int]


@dataclass(slots=True)
class Shares:
    """Pico-USD of the window by fingerprint. `choice` names, by scope, the mask applied in the joint plan."""

    joint: int = 0
    potential: int = 0
    standalone: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    last_in: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    allocated: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    choice: list[int] = field(default_factory=list)


def share_out(games: Sequence[ScopeGame], joint_mask: int, excluded: Collection[str] = frozenset()) -> Shares:
    """Share every scope's joint saving among its findings; `excluded` fingerprints take no part but keep a stand-alone.

    `joint_mask` are the players of grades A to C.
    """
    total = Shares()
    for game in games:
        _add(total, game, joint_mask, excluded)
    return total


def _add(total: Shares, game: ScopeGame, joint_mask: int, excluded: Collection[str]) -> None:
    everyone = sum(1 << player for player in game.owners)
    taking_part = sum(1 << player for player, owner in game.owners.items() if owner not in excluded)
    values = _restricted(game.saved, everyone)
    for player, owner in game.owners.items():
        total.standalone[owner] += max(values.get(1 << player, 0), 0)
        total.last_in[owner] += 0
        total.allocated[owner] += 0
    joint = joint_mask & taking_part
    joint_game = monotone({mask: values[mask] for mask in subsets(joint)})
    total.joint += joint_game.value[joint]
    total.choice.append(joint_game.choice[joint])
    for player, share in shapley(joint_game.value, joint).items():
        owner = game.owners[player]
        total.allocated[owner] += share
        total.last_in[owner] += joint_game.value[joint] - joint_game.value[joint & ~(1 << player)]
    whole = monotone({mask: value for mask, value in values.items() if mask & ~taking_part == 0})
    best = max(whole.value.values())
    total.potential += best - joint_game.value[joint]
    for player, owner in game.owners.items():
        bit = 1 << player
        if bit & taking_part and not bit & joint_mask:
            total.last_in[owner] += max(whole.value.get(joint | bit, 0) - joint_game.value[joint], 0)


def joint_value(game: ScopeGame, joint_mask: int, excluded: Collection[str] = frozenset()) -> int:
    """Pico-USD that the findings of grades A to C save in one scope without the excluded ones: what is dealt out."""
    everyone = sum(1 << player for player in game.owners)
    taking_part = sum(1 << player for player, owner in game.owners.items() if owner not in excluded)
    values = _restricted(game.saved, everyone)
    joint = joint_mask & taking_part
    return monotone({mask: values[mask] for mask in subsets(joint)}).value[joint]


def _restricted(saved: Mapping[int, int], everyone: int) -> dict[int, int]:
    """Values by the players that act here; of masks that look alike the smallest, others left out, decides."""
    values: dict[int, int] = {0: 0}
    for mask in sorted(saved):
        values.setdefault(mask & everyone, saved[mask])
    return values
