"""Costs side by side: at list, at contract, and as their source reported them; and why the last one differs from ours.

A report is a claim: it never takes the place of our figure. Reasons are likely ones, found by working out what the
report would be if its maker had made one known mistake.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from app.analysis.scope import facts_scope

if TYPE_CHECKING:
    from app.core.view import View
    from app.warehouse.store import Session

REASONS: Final = {
    "zero": "The source reported 0 for tokens that cost something.",
    "cached_twice": "Cached tokens are counted twice in the report: once as cached and once more at the full rate.",
    "cached_full": "The report prices cached tokens at the full input rate.",
    "cached_free": "The report leaves cached tokens out.",
    "writes_free": "The report leaves cache writes out.",
    "writes_full": "The report prices cache writes at the plain input rate.",
    "reasoning_twice": "Reasoning tokens are counted twice in the report.",
    "reasoning_free": "The report leaves reasoning tokens out.",
    "fees_free": "The report leaves searches and other fees out.",
    "standard_rate": "The report uses the standard rate for calls at the batch or flex rate.",
    "batch_rate": "The report halves the price, as for a batch; the call does not say that it was one.",
    "other_row": "The report uses another price row of the model (an older price, another tier or region).",
    "sum_of_calls": "The row sums calls; ours takes none of them for a long prompt, so the report may be right.",
    "cache_not_logged": "The log counts no cached tokens, so ours takes none for cached; the report may be right.",
    "factor": "The report is always the same multiple of ours: another currency, a discount or a mark-up.",
    "unexplained": "No single known mistake gives this figure.",
}
FACTOR_SPREAD: Final = 0.01
FACTOR_REQUESTS: Final = 3


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A source and model: pico-USD at list, at contract (ours) and as reported, None where nothing is known.

    `both` requests have a figure of ours and a report; `both_cost_pusd` and `both_reported_pusd` are the sums over
    them. `compared` of them have a whole price, and `differing` of those differ by more than rounding.
    """

    source: str
    provider: str
    model_id: str
    requests: int
    list_pusd: int | None
    cost_pusd: int | None
    reports: int
    reported_pusd: int | None
    both: int
    both_reported_pusd: int | None
    both_cost_pusd: int | None
    compared: int
    differing: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Requests of a source and model whose report differs from our figure for one reason (`REASONS`).

    `low` and `high` are the smallest and largest ratio of report to ours; `example` is the request that differs most.
    """

    source: str
    provider: str
    model_id: str
    reason: str
    requests: int
    cost_pusd: int
    reported_pusd: int
    low: float | None
    high: float | None
    example: int
    other_row: str | None

    @property
    def said(self) -> str:
        """The likely reason in words."""
        text = REASONS[self.reason]
        if self.reason == "other_row" and self.other_row is not None:
            return f"{text.removesuffix('.')}: {self.other_row}."
        if self.reason == "factor" and self.low is not None and self.high is not None:
            return f"{text.removesuffix('.')} (× {(self.low + self.high) / 2:.4g})."
        return text


def side_by_side(session: Session, view: View) -> tuple[SideBySide, ...]:
    """Every source and model of a view, the most expensive first."""
    scope = facts_scope(session, view)
    rows = session.rows("ledger.side_by_side", {"facts": scope.relation}, **scope.range)
    return tuple(SideBySide(*row[:3], *(_int(value) for value in row[3:])) for row in rows)


def disagreements(session: Session, view: View) -> tuple[Disagreement, ...]:
    """Where reports differ from ours by more than 1 % and $0.000001, by source, model and reason, the largest first."""
    scope = facts_scope(session, view)
    return tuple(_told(row) for row in session.rows("ledger.claims", {"facts": scope.relation}, **scope.range))


def _told(row: tuple[Any, ...]) -> Disagreement:
    source, provider, model_id, reason, requests, cost, reported, low, high, example, other_row = row
    steady = low is not None and high is not None and high - low <= FACTOR_SPREAD * high
    if reason == "unexplained" and steady and requests >= FACTOR_REQUESTS:
        reason = "factor"
    return Disagreement(
        str(source),
        str(provider),
        str(model_id),
        str(reason),
        int(requests),
        int(cost),
        int(reported),
        low,
        high,
        int(example),
        other_row,
    )


def _int(value: Any) -> int | None:
    return None if value is None else int(value)
