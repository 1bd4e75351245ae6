"""The reconciled share of a period alone, for pages that show only that: no cell, residual or evidence is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.analysis.bill_compared import compared
from app.analysis.reconciliation import share_of, summed

if TYPE_CHECKING:
    from app.core.view import Period
    from app.warehouse.store import Session


def reconciled_share(session: Session, period: Period) -> float | None:
    """Share of the bill's dollars that requests stand for; None where no bill speaks of the period."""
    sides = compared(session, period)
    return None if sides is None else share_of(summed(sides.table))
