"""Which layout, marks and lifetime of a scope's prompts cost the least, every option replayed.

Costs are compared in plain-input tokens with the multiples of the cache rule; dollars come later from the price book.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl

from app.replay.breaks import keep
from app.replay.capture import Capture, Captures, calibrate
from app.replay.layout import (
    SPLIT_CLASSES,
    Marking,
    Plan,
    Prepared,
    ScopeFacts,
    evaluate,
    prepare,
    replay,
)
from app.replay.marks import best_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from app.replay.breaks import Break
    from app.replay.rules import CacheRule, CacheRules
    from app.warehouse.store import Session

MIN_REQUESTS: Final = 5
MIN_GAIN_SHARE: Final = 0.02  # of the scope's input cost; less is noise
EXAMPLES: Final = 20
OPTIONS_AT_ONCE: Final = 3
SIMPLER_WITHIN: Final = 0.005  # of the scope's input cost: the simpler of two options that are this close is proposed
DEPTH: Final = 8  # boundaries from the start that may carry a fixed mark
Action = Literal["reorder", "mark", "reorder and mark", "stop"]


@dataclass(frozen=True, slots=True)
class LayoutChoice:
    """The best layout of a scope. Costs are plain-input tokens; `split` is in the order of SPLIT_CLASSES."""

    scope: ScopeFacts
    rule: CacheRule
    action: Action
    layout: int
    lifetime: str
    marks: tuple[int, ...]
    mark_last: bool
    marking: Marking
    start_tokens: int
    billed_cost: float
    cost: float
    split: tuple[int, ...]
    capture: Capture
    broken: Break | None
    typical_gap_s: float | None = None
    fan_out_tokens: int = 0
    evidence: tuple[int, ...] = ()

    def params(self) -> dict[str, Any]:
        """What `apply_layout` and a reader need to know of it, as plain values."""
        life = self.rule.lifetime(self.lifetime)
        mean = self.scope.prompt_tokens / self.scope.requests
        return {
            "action": self.action,
            "layout": self.layout,
            "lifetime": self.lifetime,
            "lifetime_s": life.seconds,
            "marking": self.marking,
            "marks": list(self.marks),
            "mark_last": self.mark_last,
            "start_tokens": self.start_tokens,
            "rule": self.rule.id,
            "rule_state": self.rule.state,
            "rule_source": self.rule.source,
            "min_tokens": self.rule.min_tokens,
            "write": life.write,
            "read": self.rule.read,
            "kappa": self.capture.rate,
            "kappa_p10": self.capture.p10,
            "kappa_p90": self.capture.p90,
            "kappa_assumed": self.capture.assumed,
            "tokens_per_request": round(mean),
            "billed_read_share": round(self.scope.tokens[1] / max(sum(self.scope.tokens), 1), 4),
            "planned_read_share": round(self.split[1] / max(sum(self.split), 1), 4),
            "billed_writes": sum(self.scope.tokens[2:]),
            "billed_reads": self.scope.tokens[1],
            "typical_gap_s": self.typical_gap_s,
            "fan_out_tokens": self.fan_out_tokens,
            "mark_name": self.rule.mark,
            "breaker": None if self.broken is None else _breaker(self.broken, mean),
            "billed_input_equivalents": round(self.billed_cost),
            "planned_input_equivalents": round(self.cost),
        }


def _breaker(found: Break, tokens: float) -> dict[str, Any]:
    """Where a prompt parts, in tokens of its mean size, and what was seen there."""
    a_byte = tokens / found.prompt_bytes
    seen = found.difference
    return {
        "line": found.line,
        "line_hash": found.line_hash,
        "kind": found.kind,
        "chars": None if seen is None else seen.chars,
        "examples": [] if seen is None else [seen.first, seen.second],
        "tokens_before": round(found.bytes_before * a_byte),
        "stable_tokens": round(found.stable_bytes * a_byte),
        "stable_tokens_behind": round(found.behind_bytes * a_byte),
    }


@dataclass(frozen=True, slots=True)
class NoChoice:
    """Why a scope has no layout to propose: a code, and a sentence with the numbers."""

    scope: ScopeFacts
    reason: Literal["no_cache_rule", "prefix_below_model_minimum"]
    sentence: str
    needed_tokens: int | None = None
    have_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """All of what a stream's cache layouts can be told: proposals, refusals and the capture rates used."""

    choices: tuple[LayoutChoice, ...]
    refusals: tuple[NoChoice, ...]
    captures: Captures


def advise(session: Session, stream: str, rules: CacheRules | None = None) -> Advice:
    """Replay every option of every scope of `stream` and choose."""
    prepared = prepare(session, stream, rules)
    scopes, broken = prepared.scopes, prepared.breaks
    captures = _calibrated(session, prepared)
    ruled = [one for one in scopes if one.rule is not None]
    plans = _options(session, [one for one in ruled if one.requests >= MIN_REQUESTS], prepared, captures)
    splits = _splits(session, plans, captures)
    by_scope: dict[int, list[Plan]] = defaultdict(list)
    for plan in plans:
        by_scope[plan.scope_id].append(plan)
    decided = [(one, _decide(one, by_scope[one.scope_id], splits, captures, broken.get(one.scope_id))) for one in ruled]
    choices = [(choice, plan) for _, found in decided if found is not None for choice, plan in (found,)]
    refusals = [
        NoChoice(one, "no_cache_rule", f"No cache rule is known for {one.provider} {one.model_id}.")
        for one in scopes
        if one.rule is None
    ]
    refusals += _refusals(session, [one for one, found in decided if found is None], broken)
    return Advice(_with_evidence(session, choices, captures), tuple(refusals), captures)


_Splits = dict[tuple[int, int], tuple[int, tuple[int, ...]]]  # (plan, scope) -> requests, tokens of SPLIT_CLASSES


def _splits(session: Session, plans: Sequence[Plan], captures: Captures) -> _Splits:
    """Sums of every plan, a few options of each scope at a time: memory is bounded by them, not by all options."""
    rounds: dict[int, list[Plan]] = defaultdict(list)
    taken: dict[int, int] = defaultdict(int)
    for plan in plans:
        rounds[taken[plan.scope_id] // OPTIONS_AT_ONCE].append(plan)
        taken[plan.scope_id] += 1
    found: _Splits = {}
    for members in rounds.values():
        evaluate(session, members, captures, "layout_options")
        for plan, scope, requests, *tokens, _ in session.rows("replay.layout_summary", {"split": "layout_options"}):
            found[(plan, scope)] = (requests, tuple(tokens))
    return found


def _wanted(session: Session, scopes: Iterable[int]) -> dict[str, str]:
    keep(session, "layout_wanted", pl.DataFrame({"scope_id": list(scopes)}, schema={"scope_id": pl.Int64}))
    return {"wanted": "layout_wanted"}


def _with_evidence(
    session: Session, found: Sequence[tuple[LayoutChoice, Plan | None]], captures: Captures
) -> tuple[LayoutChoice, ...]:
    """The choices with example requests and, where caching loses, the usual pause between requests."""
    examples: dict[int, list[int]] = defaultdict(list)
    chosen = [plan for _, plan in found if plan is not None]
    fan_out: dict[int, int] = {}
    if chosen:
        fan_out = _fan_out(session, chosen, captures)
        for scope, key in session.rows("replay.layout_evidence", {"split": "layout_options"}, most=EXAMPLES):
            examples[scope].append(key)
    wanted = _wanted(session, [choice.scope.scope_id for choice, plan in found if plan is None])
    for scope, key in session.rows("replay.layout_writers", wanted, most=EXAMPLES):
        examples[scope].append(key)
    gaps = {scope: typical / 1e6 for scope, _, typical in session.rows("replay.layout_gaps", wanted)}
    return tuple(
        replace(
            choice,
            evidence=tuple(examples[choice.scope.scope_id]),
            typical_gap_s=gaps.get(choice.scope.scope_id),
            fan_out_tokens=fan_out.get(choice.scope.scope_id, 0),
        )
        for choice, _ in found
    )


def _fan_out(session: Session, chosen: Sequence[Plan], captures: Captures) -> dict[int, int]:
    """Tokens that are not read only because requests start before the first answer of their prefix begins, by scope.

    Leaves the chosen plans' split in `layout_options`.
    """
    reads: list[dict[int, int]] = []
    for at_once in (True, False):
        evaluate(session, [replace(plan, at_once=at_once) for plan in chosen], captures, "layout_options")
        rows = session.rows("replay.layout_summary", {"split": "layout_options"})
        reads.append({scope: tokens[1] for _, scope, _, *tokens, _ in rows})
    return {scope: max(most - reads[1].get(scope, 0), 0) for scope, most in reads[0].items()}


def _refusals(session: Session, scopes: Sequence[ScopeFacts], broken: Mapping[int, Break]) -> list[NoChoice]:
    """Scopes whose shared prefix, rewritten or not, is shorter than the model caches."""
    shares = dict(session.rows("replay.layout_shared", _wanted(session, [one.scope_id for one in scopes])))
    found = []
    for scope in scopes:
        rule, share = scope.rule, shares.get(scope.scope_id, 0.0)
        cut = broken.get(scope.scope_id)
        if cut is not None:
            share = max(share, (cut.bytes_before + cut.stable_bytes) / cut.prompt_bytes)
        have = share * scope.prompt_tokens / scope.requests
        if rule is not None and 0 < have < rule.min_tokens:
            said = (
                f"{scope.model_id} caches prefixes from {rule.min_tokens:,} tokens on (rule {rule.id}); the prompts "
                f"share {have:,.0f}."
            )
            found.append(NoChoice(scope, "prefix_below_model_minimum", said, rule.min_tokens, round(have)))
    return found


def cost_of(tokens: Sequence[int], rule: CacheRule) -> float:
    """Tokens in the order of SPLIT_CLASSES as plain-input tokens under a rule's multiples."""
    writes = {"tok_cache_write_" + life.name: life.write for life in rule.lifetimes}
    dearest = max(life.write for life in rule.lifetimes)
    weights = [
        1.0 if name == "tok_input" else rule.read if name == "tok_cache_read" else writes.get(name, dearest)
        for name in SPLIT_CLASSES
    ]
    return sum(weight * count for weight, count in zip(weights, tokens, strict=True))


def _calibrated(session: Session, prepared: Prepared) -> Captures:
    """Capture rates of the layout as sent; sessions stand in where prompts are unknown."""
    plans = []
    for one in prepared.scopes:
        rule = one.rule
        if rule is None or (rule.marked and one.write_requests + one.read_requests == 0):
            continue
        sent = Plan(0, one.scope_id, one.provider, one.model_id, rule, 0, "all", rule.lifetimes[0].name)
        plans.append(replace(sent, marking="billed") if rule.marked else sent)
        known = prepared.sessions.get(one.scope_id)
        if known is not None:
            plans.append(replace(sent, plan=1, marking="session billed", start_tokens=known.start_tokens))
    if not plans:
        return Captures({})
    evaluate(session, plans, Captures({}), "layout_as_sent")
    return calibrate(session, "layout_as_sent", "layout_scopes")


def _options(
    session: Session,
    scopes: Sequence[ScopeFacts],
    prepared: Prepared,
    captures: Captures,
) -> list[Plan]:
    plans: list[Plan] = []
    marked: list[Plan] = []
    for scope in scopes:
        rule = scope.rule
        if rule is None:
            continue
        known = prepared.sessions.get(scope.scope_id)
        if known is not None and known.extends:
            plans += [
                Plan(
                    0,
                    scope.scope_id,
                    scope.provider,
                    scope.model_id,
                    rule,
                    0,
                    "session",
                    life.name,
                    mark_last=True,
                    start_tokens=known.start_tokens,
                )
                for life in rule.lifetimes
            ]
        layouts = (0, 1) if scope.scope_id in prepared.breaks else (0,)
        for layout in layouts:
            for life in rule.lifetimes:
                plan = Plan(0, scope.scope_id, scope.provider, scope.model_id, rule, layout, "marks", life.name)
                if rule.marked:
                    marked.append(plan)
                elif layout == 1 and life is rule.lifetimes[0]:
                    plans.append(replace(plan, marking="all"))
    plans += _marked_options(session, marked, captures)
    return [replace(plan, plan=number) for number, plan in enumerate(plans)]


def _marked_options(session: Session, marked: Sequence[Plan], captures: Captures) -> list[Plan]:
    """For each layout and lifetime: the best fixed marks, the same with a mark at the end, and that mark alone."""
    if not marked:
        return []
    probes = [replace(plan, plan=number, marks=tuple(range(1, DEPTH + 1))) for number, plan in enumerate(marked)]
    replay(session, probes, captures)
    rows = session.rows("replay.layout_ordinals", {"hits": "layout_hits", "plans": "layout_plans"})
    session.execute("replay.layout_forget")
    curves: dict[int, list[_Point]] = defaultdict(list)
    for number, _, ordinal, requests, tokens, hits in rows:
        curves[number].append((ordinal, float(tokens), requests and hits / requests))
    options: list[Plan] = []
    for probe in probes:
        fixed = {(), _head(curves[probe.plan]), _best(curves[probe.plan], probe)}
        for marks in sorted(fixed):
            options.append(replace(probe, marks=marks, mark_last=True))
            if marks:
                options.append(replace(probe, marks=marks))
    return options


_Point = tuple[int, float, float]  # ordinal of a boundary, mean tokens up to it, share of requests that read it


def _head(curve: Sequence[_Point]) -> tuple[int, ...]:
    """The deepest boundary that is read about as often as any: the end of what all requests share."""
    most = max((share for _, _, share in curve), default=0.0)
    shared = [ordinal for ordinal, _, share in curve if share > 0 and share >= 0.98 * most]
    return (max(shared),) if shared else ()


def _best(curve: Sequence[_Point], probe: Plan) -> tuple[int, ...]:
    """The marks of the exact programme, one kept for the end of the prompt."""
    points = sorted((point for point in curve if point[2] > 0), key=lambda point: point[1])
    shares = {probe.lifetime: [share for _, _, share in points]}
    choice = best_marks([tokens for _, tokens, _ in points], shares, probe.rule, probe.rule.max_marks - 1)
    return tuple(sorted(points[mark.index][0] for mark in choice.marks))


def _decide(
    scope: ScopeFacts,
    plans: Sequence[Plan],
    splits: _Splits,
    captures: Captures,
    broken: Break | None,
) -> tuple[LayoutChoice, Plan | None] | None:
    """The cheapest option with the plan that was replayed for it (none: switch caching off), if it gains enough."""
    rule = scope.rule
    assert rule is not None
    billed = cost_of(scope.tokens, rule)
    capture = captures.of(scope.provider, scope.model_id, rule.match)
    found: list[tuple[LayoutChoice, Plan | None]] = []

    def offer(action: Action, plan: Plan | None, cost: float, split: tuple[int, ...]) -> None:
        choice = LayoutChoice(
            scope=scope,
            rule=rule,
            action=action,
            layout=0 if plan is None else plan.layout,
            lifetime=rule.lifetimes[0].name if plan is None else plan.lifetime,
            marks=() if plan is None else plan.marks,
            mark_last=plan is not None and plan.mark_last,
            marking="marks" if plan is None else plan.marking,
            start_tokens=0 if plan is None else plan.start_tokens,
            billed_cost=billed,
            cost=cost,
            split=split,
            capture=capture,
            broken=broken if plan is not None and plan.layout == 1 else None,
        )
        found.append((choice, plan))

    for plan in plans:
        requests, split = splits.get((plan.plan, scope.scope_id), (0, ()))
        if requests >= scope.requests * 0.5 and requests > 0:
            outside = max(scope.prompt_tokens - sum(split), 0) / max(scope.prompt_tokens, 1)
            action: Action = "mark" if plan.layout == 0 else "reorder and mark" if rule.marked else "reorder"
            offer(action, plan, cost_of(split, rule) + outside * billed, split)
    written = sum(scope.tokens[2:])
    if written > 0:
        total = sum(scope.tokens)
        offer("stop", None, float(total), (total, 0, 0, 0, 0, 0))
    least = min((choice.cost for choice, _ in found), default=billed)
    if billed - least < MIN_GAIN_SHARE * billed:
        return None
    near = [one for one in found if one[0].cost <= least + SIMPLER_WITHIN * billed]
    return min(near, key=lambda one: (_effort(one[0]), one[0].cost))


def _effort(choice: LayoutChoice) -> tuple[int, int, int]:
    """How much there is to change: the prompt's order, then the lifetime, then marks."""
    longer = choice.lifetime != choice.rule.lifetimes[0].name
    return choice.layout, int(longer), len(choice.marks) + int(choice.mark_last)
