"""What the newest plan means for the Spend page, in a line: what could be saved, or that nothing was found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from app.web import format as show
from app.web import plans

if TYPE_CHECKING:
    from app.plan.result import PlanResult
    from app.web.page import Context


@dataclass(frozen=True, slots=True)
class Banner:
    """`saves` says whether the headline is a saving; without one it is a plain statement, in no colour of gain."""

    headline: str
    text: str
    link: str
    href: str
    saves: bool


def banner(context: Context) -> Banner | None:
    """The line of the newest plan; None without a plan and where nothing of its window has a price."""
    plan = plans.current(context)
    if plan is None or plan.known_before_usd is None:
        return None
    scale = plans.Scale(plan)
    if not any(item.in_joint for item in plan.findings):
        text = f"{_looked_at(plan, scale)}{_beside(plan)}"
        return Banner(_nothing(plan), text, "See what was looked at", context.url("/savings"), saves=False)
    return Banner(
        scale.headline(plan.joint.p50),
        f"could be saved {scale.unit}, {show.share(Decimal(plan.joint.p50), Decimal(plan.before_usd))} of the "
        f"{show.money(plan.known_before_usd)} of the plan's own window, {scale.window}: "
        f"{_standing(plan)}, each dollar counted once",
        "See the plan",
        context.url("/savings"),
        saves=True,
    )


def _nothing(plan: PlanResult) -> str:
    if not plan.findings:
        return "Nothing found that is worth doing"
    dismissed = all(item.status == "dismissed" for item in plan.findings)
    return "Every finding is dismissed" if dismissed else "No saving is proven yet"


def _standing(plan: PlanResult) -> str:
    """`3 open findings`, `1 open finding, 2 in progress`: what the joint saving consists of."""
    number = Counter(item.status for item in plan.findings if item.in_joint)
    under_way = [
        f"{number[status]} {plans.STATUSES[status].lower()}" for status in ("in_progress", "done") if number[status]
    ]
    return ", ".join([show.plural(number["open"], "open finding"), *under_way])


def _looked_at(plan: PlanResult, scale: plans.Scale) -> str:
    thin = sum(said.get("state") == "not enough data" for said in plan.levers_data.values())
    missing = f"; {thin} of {show.plural(len(plan.levers_data), 'lever')} had not enough data" if thin else ""
    return (
        f"in {show.plural(plan.requests, 'request')} of {scale.window}, {show.money(plan.known_before_usd)} in "
        f"all{missing}."
    )


def _beside(plan: PlanResult) -> str:
    """What is in no total: findings without evidence, and those that somebody dismissed."""
    said = []
    potential = sum(item.grade == "D" and item.status != "dismissed" for item in plan.findings)
    if potential:
        said.append(f"{show.plural(potential, 'potential finding')} without evidence yet")
    dismissed = sum(item.status == "dismissed" for item in plan.findings)
    if dismissed:
        said.append(show.plural(dismissed, "dismissed finding"))
    return f" Beside it: {' and '.join(said)}." if said else ""
