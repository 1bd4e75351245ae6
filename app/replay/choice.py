"""The decision for one scope: which of the replayed layouts costs the least, and what is said of it.

Costs are compared in plain-input tokens with the multiples of the cache rule; dollars come later from the price book.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from app.replay.plans import SPLIT_CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.replay.breaks import Break
    from app.replay.capture import Capture, Captures
    from app.replay.plans import Marking, Plan, ScopeFacts
    from app.replay.rules import CacheRule

MIN_GAIN_SHARE: Final = 0.02  # of the scope's input cost; less is noise
SIMPLER_WITHIN: Final = 0.005  # of the scope's input cost: the simpler of two options that are this close is proposed
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
            "lifetime_longer": life.name != self.rule.lifetimes[0].name,
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
        "tool_orders": found.tool_orders,
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


Splits = dict[tuple[int, int], tuple[int, tuple[int, ...]]]  # (plan, scope) -> requests, tokens of SPLIT_CLASSES


def cost_of(tokens: Sequence[int], rule: CacheRule) -> float:
    """Tokens in the order of SPLIT_CLASSES as plain-input tokens under a rule's multiples."""
    writes = {"tok_cache_write_" + life.name: life.write for life in rule.lifetimes}
    dearest = max(life.write for life in rule.lifetimes)
    weights = [
        1.0 if name == "tok_input" else rule.read if name == "tok_cache_read" else writes.get(name, dearest)
        for name in SPLIT_CLASSES
    ]
    return sum(weight * count for weight, count in zip(weights, tokens, strict=True))


def decide(
    scope: ScopeFacts,
    plans: Sequence[Plan],
    splits: Mapping[tuple[int, int], tuple[int, tuple[int, ...]]],
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
            broken=broken if plan is not None and plan.layout > 0 else None,
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
