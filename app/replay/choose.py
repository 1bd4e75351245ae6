"""Advice on the cache layouts of a stream: calibrate, replay every option of every scope, choose, show evidence."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import polars as pl

from app.replay.breaks import keep
from app.replay.capture import Captures, calibrate
from app.replay.choice import LayoutChoice, NoChoice, Splits, decide
from app.replay.layout import evaluate, prepare
from app.replay.options import options
from app.replay.plans import Plan, Prepared, ScopeFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from app.replay.breaks import Break
    from app.replay.rules import CacheRules
    from app.warehouse.store import Session

EXAMPLES: Final = 20
OPTIONS_AT_ONCE: Final = 3


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
    plans = options(session, ruled, prepared, captures)
    splits = _splits(session, plans, captures)
    by_scope: dict[int, list[Plan]] = defaultdict(list)
    for plan in plans:
        by_scope[plan.scope_id].append(plan)
    decided = [(one, decide(one, by_scope[one.scope_id], splits, captures, broken.get(one.scope_id))) for one in ruled]
    choices = [(choice, plan) for _, found in decided if found is not None for choice, plan in (found,)]
    refusals = [
        NoChoice(one, "no_cache_rule", f"No cache rule is known for {one.provider} {one.model_id}.")
        for one in scopes
        if one.rule is None
    ]
    refusals += _refusals(session, [one for one, found in decided if found is None], broken)
    return Advice(_with_evidence(session, choices, captures), tuple(refusals), captures)


def _splits(session: Session, plans: Sequence[Plan], captures: Captures) -> Splits:
    """Sums of every plan, a few options of each scope at a time: memory is bounded by them, not by all options."""
    rounds: dict[int, list[Plan]] = defaultdict(list)
    taken: dict[int, int] = defaultdict(int)
    for plan in plans:
        rounds[taken[plan.scope_id] // OPTIONS_AT_ONCE].append(plan)
        taken[plan.scope_id] += 1
    found: Splits = {}
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
