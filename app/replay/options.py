"""The layouts, marks and lifetimes that are worth a replay, by scope: few, and the best ones are among them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.replay.layout import replay
from app.replay.marks import best_marks
from app.replay.plans import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.replay.capture import Captures
    from app.replay.plans import Prepared, ScopeFacts
    from app.warehouse.store import Session

MIN_REQUESTS: Final = 5
DEPTH: Final = 8  # boundaries from the start that may carry a fixed mark


def options(session: Session, scopes: Sequence[ScopeFacts], prepared: Prepared, captures: Captures) -> list[Plan]:
    """All options of all scopes, numbered; scopes of fewer than five requests get none."""
    plans: list[Plan] = []
    marked: list[Plan] = []
    for scope in scopes:
        rule = scope.rule
        if rule is None or scope.requests < MIN_REQUESTS:
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
        layouts = [0]
        if scope.scope_id in prepared.breaks:
            layouts += [1, 2] if scope.scope_id in prepared.turns else [1]
        for layout in layouts:
            for life in rule.lifetimes:
                plan = Plan(0, scope.scope_id, scope.provider, scope.model_id, rule, layout, "marks", life.name)
                if rule.marked:
                    marked.append(plan)
                elif layout > 0 and life is rule.lifetimes[0]:
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
