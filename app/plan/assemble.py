"""From priced games to the result that people read: figures, order, sentences. No dollar is computed here."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from app.core.money import usd_text
from app.plan.intervals import MIN_CLUSTERS
from app.plan.result import Finding, LeverTotal, PlanResult, Range
from app.plan.shares import Shares, share_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.levers.lever import Candidate, Lever
    from app.plan.evidence import ClassMove
    from app.plan.intervals import Quantiles
    from app.plan.outcomes import Players
    from app.plan.result import Evidence
    from app.plan.shares import ScopeGame
    from app.plan.spread import Spread
    from app.plan.window import Window

MIN_DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its identity across analyses."""

    lever: Lever
    candidate: Candidate
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Priced:
    """One finding's own facts: what its requests cost, the classes that moved, example requests."""

    found: Found
    requests: int
    before_pusd: int
    moves: Sequence[ClassMove]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything the result is made of."""

    window: Window
    days: int
    players: Players
    games: tuple[ScopeGame, ...]
    spread: Spread
    priced: tuple[Priced, ...]
    dismissed: frozenset[str]
    below_floor: int = 0


def assemble(
    analysis: Analysis, said: dict[str, dict[str, Any]], *, run_id: int, computed_us: int, book: str
) -> PlanResult:
    """The result of an analysis. Findings: joint ones by share, then grade D by stand-alone, then dismissed ones."""
    shares = share_out(analysis.games, analysis.players.joint, analysis.dismissed)
    findings = sorted(
        (_finding(item, analysis, shares) for item in analysis.priced),
        key=lambda item: (
            item.status == "dismissed",
            not item.in_joint,
            -Decimal(item.allocated_usd),
            -Decimal(item.standalone_usd),
            item.fingerprint,
        ),
    )
    factor, notes = _monthly(analysis)
    return PlanResult(
        run_id=run_id,
        computed_us=computed_us,
        from_us=analysis.window.from_us,
        to_us=analysis.window.to_us,
        zone=analysis.window.zone,
        basis=analysis.window.basis,
        price_book=analysis.window.price_book or book,
        requests=analysis.window.requests,
        unpriced_requests=analysis.window.unpriced,
        left_out_requests=analysis.window.left_out,
        before_usd=_usd(analysis.window.cost_pusd),
        joint=_range(shares.joint, analysis.spread.joint),
        potential_usd=_usd(shares.potential),
        clusters=analysis.spread.clusters,
        days=str(analysis.days),
        per_30_days=factor,
        findings=tuple(findings),
        levers=lever_totals(findings),
        levers_data=said,
        notes=notes,
    )


def _usd(pusd: int) -> str:
    text = usd_text(pusd)
    assert text is not None
    return text


def _range(central: int, spread: Quantiles | None) -> Range:
    """The central estimate with the spread of its draws around it: one number for one thing, so shares add up to it."""
    if spread is None:
        return Range(None, _usd(central), None)
    return Range(_usd(min(spread.p10, central)), _usd(central), _usd(max(spread.p90, central)))


def _counted(number: int, one: str, many: str) -> str:
    """A number with what its things do: `1 request has`, `2 requests have`."""
    return f"{number:,} {one if number == 1 else many}"


def _monthly(analysis: Analysis) -> tuple[str | None, tuple[str, ...]]:
    """The factor to 30 days, or None with the reason; and what else the reader must know about the window."""
    window, notes = analysis.window, []
    if window.left_out:
        left_out = _counted(window.left_out, "request is", "requests are")
        notes.append(
            f"{left_out} left out, of sources that are not billed by the request: saving there frees capacity, not "
            "dollars."
        )
    if window.basis != "paid":
        notes.append("No source here is billed by the request: figures are list-price value, not money that was paid.")
    if window.untimed:
        notes.append(f"{_counted(window.untimed, 'request carries', 'requests carry')} no time: outside every window.")
    if window.unpriced:
        notes.append(f"{_counted(window.unpriced, 'request has', 'requests have')} no price: nothing is claimed there.")
    if analysis.below_floor:
        small = _counted(analysis.below_floor, "more candidate saves", "more candidates save")
        notes.append(f"{small} less than $1 per 30 days, or less than 0.1 % of what their requests cost: not shown.")
    factor = None
    if analysis.spread.clusters < MIN_CLUSTERS:
        speak = _counted(
            analysis.spread.clusters, "cluster (local day x template) speaks", "clusters (local day x template) speak"
        )
        notes.append(f"Only {speak}, fewer than {MIN_CLUSTERS}: no interval and no monthly figure. Analyse more days.")
    elif analysis.days < MIN_DAYS:
        covered = _counted(analysis.days, "local day", "local days")
        notes.append(f"The log covers {covered}, fewer than {MIN_DAYS}: no monthly figure.")
    else:
        factor = format((Decimal(30) / Decimal(analysis.days)).quantize(Decimal("0.000001")).normalize(), "f")
    return factor, tuple(notes)


def _finding(item: Priced, analysis: Analysis, shares: Shares) -> Finding:
    candidate, lever, key = item.found.candidate, item.found.lever, item.found.fingerprint
    change = lever.describe(candidate)
    alone, dismissed = shares.standalone[key], key in analysis.dismissed
    return Finding(
        fingerprint=key,
        lever=lever.name,
        title=lever.title,
        stage=lever.stage,
        feature=candidate.scope.feature,
        template=candidate.scope.template,
        provider=candidate.scope.provider,
        model_id=candidate.scope.model_id,
        scope=candidate.scope.text(),
        grade=candidate.grade,
        in_joint=candidate.grade != "D" and not dismissed,
        requests=item.requests,
        before_usd=_usd(item.before_pusd),
        standalone_usd=_usd(alone),
        last_in_usd=_usd(shares.last_in[key]),
        allocated_usd=_usd(shares.allocated[key]),
        standalone=_range(alone, analysis.spread.findings.get(key)),
        effort=lever.effort,
        risk=lever.risk,
        reversible=lever.reversible,
        headline=change.headline,
        steps=change.steps,
        verify=change.verify,
        example=change.example,
        arithmetic=_arithmetic(item, alone, shares),
        assumptions=candidate.assumptions,
        rules=candidate.rules,
        query=candidate.query,
        evidence=item.evidence,
        params=dict(candidate.params),
        status="dismissed" if dismissed else "open",
    )


def _money(pusd: float) -> str:
    dollars = pusd / 1e12
    return f"${dollars:,.2f}" if abs(dollars) >= 1 or dollars == 0 else f"${dollars:.6f}"


_CLASS_WORDS: Final = {
    "tok_input": "uncached input",
    "tok_cache_read": "cached input read",
    "tok_cache_write_5m": "5-minute cache writes",
    "tok_cache_write_30m": "30-minute cache writes",
    "tok_cache_write_1h": "1-hour cache writes",
    "tok_cache_write_12h": "12-hour cache writes",
    "tok_input_audio": "audio input",
    "tok_cache_read_audio": "cached audio input",
    "tok_input_image": "image input",
    "tok_output": "output",
    "tok_reasoning": "reasoning",
    "tok_output_audio": "audio output",
    "tok_output_image": "image output",
}


def _arithmetic(item: Priced, alone: int, shares: Shares) -> tuple[str, ...]:
    key, after = item.found.fingerprint, item.before_pusd - alone
    share = f" ({alone / item.before_pusd:.1%})" if item.before_pusd else ""
    lines = [f"{_counted(item.requests, 'request costs', 'requests cost')} {_money(item.before_pusd)} in this window."]
    lines += [
        f"{_CLASS_WORDS[move.name]}: {move.before:,.0f} tokens ({_money(move.before_pusd)}) become "
        f"{move.after:,.0f} tokens ({_money(move.after_pusd)})."
        for move in item.moves
    ]
    lines.append(f"{_money(item.before_pusd)} - {_money(after)} = {_money(alone)} saved{share} if only this is done.")
    if item.found.candidate.grade == "D":
        lines.append(
            f"On top of the plan it would add {_money(shares.last_in[key])}. Without evidence it is not in the total."
        )
    else:
        lines.append(
            f"When the rest of the plan is done it still saves {_money(shares.last_in[key])}; "
            f"its share of the joint saving is {_money(shares.allocated[key])}."
        )
    return tuple(lines)


def lever_totals(findings: Sequence[Finding]) -> tuple[LeverTotal, ...]:
    """The joint findings added up by lever, in causal order: the steps of the waterfall."""
    by_lever: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.in_joint:
            by_lever.setdefault(finding.lever, []).append(finding)
    return tuple(
        LeverTotal(
            lever=name,
            title=members[0].title,
            stage=members[0].stage,
            findings=len(members),
            standalone_usd=_added(item.standalone_usd for item in members),
            last_in_usd=_added(item.last_in_usd for item in members),
            allocated_usd=_added(item.allocated_usd for item in members),
        )
        for name, members in sorted(by_lever.items(), key=lambda entry: (entry[1][0].stage, entry[0]))
    )


def _added(amounts: Any) -> str:
    return format(sum((Decimal(amount) for amount in amounts), Decimal(0)), "f")
