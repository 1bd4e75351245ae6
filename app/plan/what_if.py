"""What if only a part of the plan is done: the stored games played again without the findings that are left out.

Nothing is simulated anew and nothing is added up from stand-alone figures, so no dollar is counted twice here either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.money import usd_text
from app.plan import store
from app.plan.shares import joint_value, share_out

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sqlalchemy import Engine as ControlEngine

    from app.plan.result import PlanResult
    from app.warehouse.store import Warehouse


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The newest plan with a part of it left out; decimal USD text of the analysed window.

    `joint_usd` is what the rest saves; `shares` deal it out among the findings that are done (they add up to it
    exactly). `counts` says of each finding of the plan how much hangs on it here: of one that is done what is lost
    without it, of one that is left out what it would bring on top.
    """

    plan: PlanResult
    joint_usd: str
    shares: Mapping[str, str]
    counts: Mapping[str, str]


def what_if(
    warehouse: Warehouse, control: ControlEngine | None, without: Collection[str], *, now_us: int
) -> WhatIf | None:
    """The newest plan without these fingerprints; None before the first analysis.

    It is about grades A to C: findings of grade D and dismissed ones take no part, whatever is asked.
    """
    opened = store.open_latest(warehouse, control, now_us=now_us)
    if opened is None:
        return None
    plan, games, joint_mask = opened
    dismissed = {item.fingerprint for item in plan.findings if item.status == "dismissed"}
    members = [item.fingerprint for item in plan.findings if item.in_joint]
    excluded = dismissed.union(without)
    done = share_out(games, joint_mask, excluded)
    shares = {key: done.allocated.get(key, 0) for key in members if key not in excluded}
    counts = {key: done.last_in.get(key, 0) for key in shares}
    for key in members:
        if key in excluded:
            counts[key] = sum(
                joint_value(game, joint_mask, excluded - {key}) - joint_value(game, joint_mask, excluded)
                for game in games
                if key in game.owners.values()
            )
    return WhatIf(plan, usd_text(done.joint) or "0", _usd(shares), _usd(counts))


def _usd(amounts: Mapping[str, int]) -> dict[str, str]:
    return {key: usd_text(amount) or "0" for key, amount in amounts.items()}
