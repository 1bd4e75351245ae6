"""What an analysis says: plain frozen values for pages, JSON, mail and the terminal.

Every `*_usd` is decimal USD text of the analysed window, never a float; a figure that is not known is None, never "0".
`PlanResult.monthly` scales an amount to 30 days; it gives None where the window is too thin for a monthly figure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

import msgspec

from app.levers.lever import Effort, Grade, Risk  # noqa: TC001  read at run time when a stored result is decoded

Basis = Literal["paid", "list-price value"]
FindingStatus = Literal["open", "in_progress", "done", "dismissed"]


@dataclass(frozen=True, slots=True)
class Range:
    """An estimate (`p50`, the central one) with its interval; `p10` and `p90` are None below eight clusters."""

    p10: str | None
    p50: str
    p90: str | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One request behind a finding: what it cost and what it would have cost if only this finding were applied."""

    request_key: int
    start_us: int | None
    before_usd: str
    after_usd: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A priced candidate: one lever in one scope.

    `standalone_usd` is what it saves alone (`standalone`: the same with its interval), `last_in_usd` what it adds when
    everything else of the plan is done already, `allocated_usd` its Shapley share of the joint total (the shares add up
    to it exactly; "0" for grade D, which is outside the joint total). `before_usd` is what the touched requests cost.
    """

    fingerprint: str
    lever: str
    title: str
    stage: int
    feature: str
    template: int | None
    provider: str
    model_id: str
    scope: str
    grade: Grade
    in_joint: bool
    requests: int
    before_usd: str
    standalone_usd: str
    last_in_usd: str
    allocated_usd: str
    standalone: Range
    effort: Effort
    risk: Risk
    reversible: bool
    headline: str
    steps: tuple[str, ...]
    verify: str
    example: str = ""
    arithmetic: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    query: str = ""
    evidence: tuple[Evidence, ...] = ()
    params: dict[str, Any] = field(default_factory=dict)
    status: FindingStatus = "open"
    reason: str | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class LeverTotal:
    """One step of the waterfall: the shares of all findings of a lever inside the joint total."""

    lever: str
    title: str
    stage: int
    findings: int
    standalone_usd: str
    last_in_usd: str
    allocated_usd: str


@dataclass(frozen=True, slots=True)
class PlanResult:
    """All accepted findings priced together.

    `joint` holds grades A to C and never exceeds `before_usd`, the known cost of the window; `potential_usd` is what
    grade D would add on top of it.
    `findings` are ordered: inside the joint by share, then grade D by stand-alone, then dismissed ones (not priced
    again: their figures are those of doing only them).
    """

    run_id: int
    computed_us: int
    from_us: int
    to_us: int
    zone: str
    basis: Basis
    price_book: str
    requests: int
    unpriced_requests: int
    left_out_requests: int
    before_usd: str
    joint: Range
    potential_usd: str
    clusters: int
    days: str
    per_30_days: str | None
    findings: tuple[Finding, ...]
    levers: tuple[LeverTotal, ...]
    levers_data: dict[str, dict[str, Any]]
    notes: tuple[str, ...] = ()

    @property
    def known_before_usd(self) -> str | None:
        """What the window cost; None where there are requests and none of them has a price."""
        return None if self.requests and self.unpriced_requests == self.requests else self.before_usd

    def monthly(self, amount_usd: str | None) -> str | None:
        """An amount of the window as USD per 30 days, or None where no monthly figure is allowed."""
        if amount_usd is None or self.per_30_days is None:
            return None
        scaled = Decimal(amount_usd) * Decimal(self.per_30_days)
        return format(scaled.quantize(Decimal("0.000001")).normalize(), "f")


def plan_document(result: PlanResult) -> dict[str, Any]:
    """The `plan` part of `halve analyze --json`: joint_usd, potential_usd and one row a finding of the plan.

    Dismissed findings are not part of it.
    """
    return {
        "joint_usd": {"p10": result.joint.p10, "p50": result.joint.p50, "p90": result.joint.p90},
        "potential_usd": result.potential_usd,
        "before_usd": result.known_before_usd,
        "basis": result.basis,
        "per_30_days": result.per_30_days,
        "clusters": result.clusters,
        "notes": list(result.notes),
        "levers": [_row(finding) for finding in result.findings if finding.status != "dismissed"],
    }


def _row(finding: Finding) -> dict[str, Any]:
    return {
        "lever": finding.lever,
        "scope": finding.scope,
        "feature": finding.feature,
        "model_id": finding.model_id,
        "grade": finding.grade,
        "standalone_usd": finding.standalone_usd,
        "last_in_usd": finding.last_in_usd,
        "allocated_usd": finding.allocated_usd,
        "p10": finding.standalone.p10,
        "p50": finding.standalone.p50,
        "p90": finding.standalone.p90,
        "requests": finding.requests,
        "headline": finding.headline,
        "steps": list(finding.steps),
        "arithmetic": list(finding.arithmetic),
        "assumptions": list(finding.assumptions),
        "evidence": [msgspec.to_builtins(row) for row in finding.evidence],
        "fingerprint": finding.fingerprint,
    }
