"""Calls that failed or were cut off and say no usage: their cost is unknown, and here is between what it lies.

Providers do not bill what they refuse before the first token (most 4xx); formats mark that as not billed. What broke
later may be billed in part. So it is nothing at least, and at most, for nine calls of ten, what the answered calls of
the same model cost: the bound takes the ninetieth percentile for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.view import Period
    from app.warehouse.store import Session

FEW: Final = 20
"""With fewer answered calls of its model nothing is said about how much a call may have cost."""


@dataclass(frozen=True, slots=True)
class LostUsage:
    """Calls of one model that ended the same way; `high_pusd` is what all of them cost at most, None where unknown."""

    provider: str
    model: str
    status: str
    calls: int
    answered: int
    high_pusd: int | None


def lost_usage(session: Session, period: Period) -> tuple[LostUsage, ...]:
    """By model and ending, the most calls first."""
    rows = session.rows("spend.lost_usage", from_us=period.from_us, to_us=period.to_us, few=FEW)
    return tuple(
        LostUsage(
            str(provider),
            str(model),
            str(status),
            int(calls),
            int(answered),
            None if high is None else int(calls) * int(high),
        )
        for provider, model, status, calls, answered, high in rows
    )


def bounds(lost: Sequence[LostUsage]) -> tuple[int, int, int]:
    """Calls with a bound, what they cost at most (pico-USD), and calls without one."""
    known = [one for one in lost if one.high_pusd is not None]
    return (
        sum(one.calls for one in known),
        sum(one.high_pusd or 0 for one in known),
        sum(one.calls for one in lost if one.high_pusd is None),
    )
