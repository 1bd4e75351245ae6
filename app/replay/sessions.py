"""Replay of sessions that log usage only: each step reads what the step before it left in the cache, while that lives.

Predicted read of a step = min(cached prompt of the step before, this prompt) within the lifetime, else the prefix that
all sessions of the model share. Compared with the billed reads it gives the capture rate of logs without text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.replay.capture import Captures
from app.replay.layout import evaluate
from app.replay.plans import Plan

if TYPE_CHECKING:
    from app.replay.plans import Prepared
    from app.warehouse.store import Session


@dataclass(frozen=True, slots=True)
class SessionReads:
    """Cached tokens of all steps of all sessions: as billed, as predicted from the layout as sent."""

    steps: int
    billed: int
    predicted: int

    @property
    def ratio(self) -> float | None:
        """Billed over predicted reads; None where nothing was predicted."""
        return self.billed / self.predicted if self.predicted else None


def session_reads(session: Session, prepared: Prepared) -> SessionReads:
    """Billed and predicted reads of the prepared stream's requests without fingerprints."""
    plans = [
        Plan(
            plan=0,
            scope_id=one.scope_id,
            provider=one.provider,
            model_id=one.model_id,
            rule=one.rule,
            layout=0,
            marking="session billed",
            lifetime=one.rule.lifetimes[0].name,
            start_tokens=prepared.sessions[one.scope_id].start_tokens,
        )
        for one in prepared.scopes
        if one.rule is not None and one.scope_id in prepared.sessions
    ]
    evaluate(session, plans, Captures({}), "session_as_sent")
    [(steps, billed, predicted)] = session.rows("replay.session_totals", {"split": "session_as_sent"})
    return SessionReads(steps, billed, predicted)
