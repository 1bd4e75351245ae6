"""Plan results in the warehouse: written whole, read with today's decisions laid over them.

A decision needs no new analysis: the stored coalition games are shared out again without the dismissed findings.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import msgspec
import polars as pl

from app.control import findings as decisions
from app.core.money import pico, usd_text
from app.plan.assemble import lever_totals
from app.plan.result import Evidence, Finding, PlanResult, Range
from app.plan.shares import ScopeGame, Shares, share_out
from app.warehouse import ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine as ControlEngine

    from app.plan.outcomes import Players
    from app.warehouse.store import Session, Warehouse

KEEP_RUNS: Final = 60
STALE: Final = (
    "Costs were priced anew after this plan was made (version {version}): its dollars are those from before. "
    "Analyse again to have the new ones."
)


class _Games(msgspec.Struct, frozen=True):
    """The stored form of the games: players by name, the joint mask, one game a scope."""

    players: list[str]
    joint: int
    scopes: list[ScopeGame]


def save(warehouse: Warehouse, result: PlanResult, games: Sequence[ScopeGame], players: Players) -> None:
    """Store a run in one transaction; only the newest runs are kept."""
    names = [player.lever if player.joint else f"{player.lever}?" for player in players.all]
    held = _Games(names, players.joint, list(games))
    head = replace(result, findings=(), levers=())
    with warehouse.writing() as session:
        session.execute(
            "plan.insert_run",
            run_id=result.run_id,
            computed_us=result.computed_us,
            from_us=result.from_us,
            to_us=result.to_us,
            zone=result.zone,
            price_book=result.price_book,
            before_pusd=pico(result.before_usd),
            joint_pusd=share_out(games, players.joint, _dismissed(result)).joint,
            potential_pusd=pico(result.potential_usd),
            result=msgspec.json.encode(head).decode(),
            games=msgspec.json.encode(held).decode(),
        )
        _insert(session, "findings", _finding_rows(result))
        _insert(session, "evidence", _evidence_rows(result))
        for table in ("plan_evidence", "plan_findings", "plan_runs"):
            session.execute("plan.forget", {"rows_of": table}, keep=KEEP_RUNS)


def _dismissed(result: PlanResult) -> frozenset[str]:
    return frozenset(item.fingerprint for item in result.findings if item.status == "dismissed")


def _insert(session: Session, name: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        session.register(f"plan_new_{name}", pl.DataFrame(rows, infer_schema_length=None))
        session.execute(f"plan.insert_{name}")


def _finding_rows(result: PlanResult) -> list[dict[str, Any]]:
    return [
        {
            "run_id": result.run_id,
            "place": place,
            "fingerprint": item.fingerprint,
            "lever": item.lever,
            "feature": item.feature,
            "template": item.template,
            "provider": item.provider,
            "model_id": item.model_id,
            "grade": item.grade,
            "requests": item.requests,
            "standalone_pusd": pico(item.standalone_usd),
            "last_in_pusd": pico(item.last_in_usd),
            "allocated_pusd": pico(item.allocated_usd),
            "detail": msgspec.json.encode(replace(item, evidence=())).decode(),
        }
        for place, item in enumerate(result.findings)
    ]


def _evidence_rows(result: PlanResult) -> list[dict[str, Any]]:
    return [
        {
            "run_id": result.run_id,
            "fingerprint": item.fingerprint,
            "place": place,
            "request_key": row.request_key,
            "start_us": row.start_us,
            "before_pusd": pico(row.before_usd),
            "after_pusd": pico(row.after_usd),
            "note": row.note,
        }
        for item in result.findings
        for place, row in enumerate(item.evidence)
    ]


def latest(warehouse: Warehouse, control: ControlEngine | None, *, now_us: int) -> PlanResult | None:
    """The newest stored result with the decisions of now, or None before the first analysis."""
    opened = open_latest(warehouse, control, now_us=now_us)
    return None if opened is None else opened[0]


def open_latest(
    warehouse: Warehouse, control: ControlEngine | None, *, now_us: int
) -> tuple[PlanResult, Sequence[ScopeGame], int] | None:
    """The same with its games and the mask of the players of grades A to C."""
    with warehouse.session() as session:
        heads = session.rows("plan.latest_run")
        if not heads:
            return None
        [(run_id, head, games)] = heads
        findings = _read_findings(session, run_id)
        priced = ledger.last_change(session)
    stored = replace(msgspec.json.decode(head, type=PlanResult), findings=findings)
    if priced is not None and priced[1] > stored.computed_us:
        stored = replace(stored, notes=(*stored.notes, STALE.format(version=priced[0])))
    held = msgspec.json.decode(games, type=_Games)
    if control is None:
        return replace(stored, levers=lever_totals(findings)), held.scopes, held.joint
    decided = with_decisions(stored, control, now_us)
    return reshared(decided, held.scopes, held.joint), held.scopes, held.joint


def _read_findings(session: Session, run_id: int) -> tuple[Finding, ...]:
    rows: dict[str, list[Evidence]] = {}
    for fingerprint, key, start_us, before, after, note in session.rows("plan.run_evidence", run_id=run_id):
        rows.setdefault(fingerprint, []).append(
            Evidence(key, start_us, usd_text(before) or "0", usd_text(after) or "0", note)
        )
    return tuple(
        replace(msgspec.json.decode(detail, type=Finding), evidence=tuple(rows.get(fingerprint, ())))
        for fingerprint, detail in session.rows("plan.run_findings", run_id=run_id)
    )


def with_decisions(result: PlanResult, control: ControlEngine, now_us: int) -> PlanResult:
    """The same figures with the status, reason and owner that people gave each finding."""
    states = decisions.states(control, now_us)
    findings = tuple(
        replace(
            item,
            status=state.status,
            reason=state.reason,
            owner=state.owner,
            in_joint=item.grade != "D" and state.status != "dismissed",
        )
        if (state := states.get(item.fingerprint)) is not None
        else item
        for item in result.findings
    )
    return replace(result, findings=findings)


def reshared(result: PlanResult, games: Sequence[ScopeGame], joint_mask: int) -> PlanResult:
    """The plan without its dismissed findings, from the stored games; intervals are scaled with the joint saving."""
    return _with_shares(result, share_out(games, joint_mask, _dismissed(result)))


def _with_shares(result: PlanResult, shares: Shares) -> PlanResult:
    def figures(item: Finding) -> Finding:
        key = item.fingerprint
        return replace(
            item,
            allocated_usd=usd_text(shares.allocated.get(key, 0)) or "0",
            last_in_usd=usd_text(shares.last_in.get(key, 0)) or "0",
        )

    findings = sorted(
        (figures(item) for item in result.findings),
        key=lambda item: (
            item.status == "dismissed",
            not item.in_joint,
            -Decimal(item.allocated_usd),
            -Decimal(item.standalone_usd),
            item.fingerprint,
        ),
    )
    return replace(
        result,
        findings=tuple(findings),
        levers=lever_totals(findings),
        potential_usd=usd_text(shares.potential) or "0",
        joint=_scaled(result.joint, shares.joint),
    )


def _scaled(joint: Range, now: int) -> Range:
    """The interval of another joint saving: its ends move in proportion to the middle."""
    before = pico(joint.p50)
    if before == now:
        return joint

    def scale(amount: str | None) -> str | None:
        return None if amount is None or before == 0 else usd_text(pico(amount) * now // before)

    return Range(scale(joint.p10), usd_text(now) or "0", scale(joint.p90))


def findings_of(warehouse: Warehouse, request_key: int) -> list[str]:
    """Fingerprints of the newest plan's findings that show this request as an example."""
    with warehouse.session() as session:
        return [key for (key,) in session.rows("plan.findings_of_request", request_key=request_key)]
