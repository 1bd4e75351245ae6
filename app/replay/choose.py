"""Which layout, marks and lifetime of a scope's prompts cost the least, every option replayed.

Costs are compared in plain-input tokens with the multiples of the cache rule; dollars come later from the price book.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from app.replay.capture import Capture, Captures, calibrate
from app.replay.layout import (
    MIN_BEHIND_BYTES,
    SPLIT_CLASSES,
    Break,
    Plan,
    ScopeFacts,
    breaks,
    evaluate,
    prepare,
)
from app.replay.marks import best_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from app.replay.rules import CacheRule, CacheRules
    from app.warehouse.store import Session

MIN_REQUESTS: Final = 5
MIN_GAIN_SHARE: Final = 0.02  # of the scope's input cost; less is noise
DEPTH: Final = 8  # boundaries from the start that may carry a fixed mark
BEST_EFFORT_RATE: Final = 0.5  # stands in for a capture rate where a provider promises nothing
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
    billed_cost: float
    cost: float
    split: tuple[int, ...]
    capture: Capture
    broken: Break | None

    def params(self) -> dict[str, Any]:
        """What `apply_layout` and a reader need to know of it, as plain values."""
        life = self.rule.lifetime(self.lifetime)
        return {
            "action": self.action,
            "layout": self.layout,
            "lifetime": self.lifetime,
            "lifetime_s": life.seconds,
            "marks": list(self.marks),
            "mark_last": self.mark_last,
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
            "billed_input_equivalents": round(self.billed_cost),
            "planned_input_equivalents": round(self.cost),
        }


@dataclass(frozen=True, slots=True)
class NoChoice:
    """Why a scope has no layout to propose: a code, and a sentence with the numbers."""

    scope: ScopeFacts
    reason: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Advice:
    """All of what a stream's cache layouts can be told: proposals, refusals and the capture rates used."""

    choices: tuple[LayoutChoice, ...]
    refusals: tuple[NoChoice, ...]
    captures: Captures


def advise(session: Session, stream: str, rules: CacheRules | None = None) -> Advice:
    """Replay every option of every scope of `stream` and choose."""
    scopes = prepare(session, stream, rules)
    captures = _calibrated(session, scopes)
    ruled = [one for one in scopes if one.rule is not None and one.requests >= MIN_REQUESTS]
    broken = {one.scope_id: one for one in breaks(session) if one.behind_bytes >= MIN_BEHIND_BYTES}
    plans = _options(session, ruled, broken, captures)
    evaluate(session, plans, captures, "layout_options")
    splits = {
        (plan, scope): (requests, tuple(tokens))
        for plan, scope, requests, *tokens, _ in session.rows("replay.layout_summary", {"split": "layout_options"})
    }
    choices: list[LayoutChoice] = []
    refusals = [
        NoChoice(one, "no_cache_rule", f"No cache rule is known for {one.provider} {one.model_id}.")
        for one in scopes
        if one.rule is None
    ]
    by_scope: dict[int, list[Plan]] = defaultdict(list)
    for plan in plans:
        by_scope[plan.scope_id].append(plan)
    for scope in ruled:
        decided = _decide(scope, by_scope[scope.scope_id], splits, captures, broken.get(scope.scope_id))
        if isinstance(decided, LayoutChoice):
            choices.append(decided)
        elif decided is not None:
            refusals.append(decided)
    return Advice(tuple(choices), tuple(refusals), captures)


def cost_of(tokens: Sequence[int], rule: CacheRule) -> float:
    """Tokens in the order of SPLIT_CLASSES as plain-input tokens under a rule's multiples."""
    writes = {"tok_cache_write_" + life.name: life.write for life in rule.lifetimes}
    dearest = max(life.write for life in rule.lifetimes)
    weights = [
        1.0 if name == "tok_input" else rule.read if name == "tok_cache_read" else writes.get(name, dearest)
        for name in SPLIT_CLASSES
    ]
    return sum(weight * count for weight, count in zip(weights, tokens, strict=True))


def _calibrated(session: Session, scopes: Iterable[ScopeFacts]) -> Captures:
    plans = [
        Plan(
            0,
            one.scope_id,
            one.provider,
            one.model_id,
            one.rule,
            0,
            "billed" if one.rule.marked else "all",
            one.rule.lifetimes[0].name,
        )
        for one in scopes
        if one.rule is not None and (not one.rule.marked or one.write_requests + one.read_requests > 0)
    ]
    if not plans:
        return Captures({})
    evaluate(session, plans, Captures({}), "layout_as_sent")
    return calibrate(session, "layout_as_sent", "layout_scopes")


def _options(
    session: Session,
    scopes: Sequence[ScopeFacts],
    broken: Mapping[int, Break],
    captures: Captures,
) -> list[Plan]:
    plans: list[Plan] = []
    marked: list[Plan] = []
    for scope in scopes:
        rule = scope.rule
        if rule is None:
            continue
        layouts = (0, 1) if scope.scope_id in broken else (0,)
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
    evaluate(session, probes, captures, "layout_probes")
    rows = session.rows("replay.layout_ordinals", {"hits": "layout_hits", "plans": "layout_plans"})
    curves: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
    size = {plan.plan: 0 for plan in probes}
    for number, _, ordinal, requests, tokens, hits in rows:
        size[number] = max(size[number], requests)
        curves[number].append((ordinal, float(tokens), requests and hits / requests))
    options: list[Plan] = []
    for probe in probes:
        curve = [point for point in curves[probe.plan] if point[2] > 0]
        curve.sort(key=lambda point: point[1])
        shares = {probe.lifetime: [point[2] for point in curve]}
        tokens = [point[1] for point in curve]
        fixed = tuple(
            sorted(
                curve[mark.index][0] for mark in best_marks(tokens, shares, probe.rule, probe.rule.max_marks - 1).marks
            )
        )
        if fixed:
            options.append(replace(probe, marks=fixed))
            options.append(replace(probe, marks=fixed, mark_last=True))
        options.append(replace(probe, marks=(), mark_last=True))
    return options


def _decide(
    scope: ScopeFacts,
    plans: Sequence[Plan],
    splits: Mapping[tuple[int, int], tuple[int, tuple[int, ...]]],
    captures: Captures,
    broken: Break | None,
) -> LayoutChoice | NoChoice | None:
    rule = scope.rule
    assert rule is not None
    billed = cost_of(scope.tokens, rule)
    capture = captures.of(scope.provider, scope.model_id)
    found: list[LayoutChoice] = []

    def choice(action: Action, plan: Plan | None, cost: float, split: tuple[int, ...]) -> LayoutChoice:
        return LayoutChoice(
            scope=scope,
            rule=rule,
            action=action,
            layout=0 if plan is None else plan.layout,
            lifetime=rule.lifetimes[0].name if plan is None else plan.lifetime,
            marks=() if plan is None else plan.marks,
            mark_last=plan is not None and plan.mark_last,
            billed_cost=billed,
            cost=cost,
            split=split,
            capture=capture,
            broken=broken if plan is not None and plan.layout == 1 else None,
        )

    for plan in plans:
        requests, split = splits.get((plan.plan, scope.scope_id), (0, ()))
        if requests >= scope.requests * 0.5 and requests > 0:
            outside = max(scope.prompt_tokens - sum(split), 0) / max(scope.prompt_tokens, 1)
            action: Action = "mark" if plan.layout == 0 else "reorder and mark" if rule.marked else "reorder"
            found.append(choice(action, plan, cost_of(split, rule) + outside * billed, split))
    written = sum(scope.tokens[2:])
    if written > 0:
        total = sum(scope.tokens)
        found.append(choice("stop", None, float(total), (total, 0, 0, 0, 0, 0)))
    best = min(found, key=lambda one: (one.cost, one.layout, len(one.marks)), default=None)
    if best is not None and billed - best.cost >= MIN_GAIN_SHARE * billed:
        return best
    return _refusal(scope, rule, broken)


def _refusal(scope: ScopeFacts, rule: CacheRule, broken: Break | None) -> NoChoice | None:
    """Why nothing is proposed, where there is a reason that a reader can act on."""
    mean = scope.prompt_tokens / scope.requests
    stable = mean if broken is None else mean * (broken.bytes_before + broken.stable_bytes) / broken.prompt_bytes
    if stable < rule.min_tokens:
        return NoChoice(
            scope,
            "prefix_below_model_minimum",
            f"{scope.model_id} caches prefixes of at least {rule.min_tokens:,} tokens (rule {rule.id}); the prompts "
            f"have {stable:,.0f} tokens that could be shared.",
        )
    return None
