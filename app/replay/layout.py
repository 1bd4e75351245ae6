"""Prompt layouts replayed: the stream's prompts under other orders, marks and lifetimes, split into billed classes.

`prepare` works out once what is stable in each scope's prompts and where their boundaries are, as sent and with the
stable text first. `evaluate` replays any set of plans over any later state of the stream; `apply_layout` is the same
for accepted candidates and writes the counterfactual split of every request that they touch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import polars as pl

from app.replay.breaks import SAMPLED_PARTS, STABLE_SHARE, breaks, keep
from app.replay.capture import Capture, Captures
from app.replay.plans import Marking, Plan, Prepared, ScopeFacts, SessionFacts, plan_frame
from app.replay.primitive import hits_into
from app.replay.rules import CacheRule, CacheRules, load_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from app.warehouse.store import Session


MIN_BEHIND: Final = 2.0  # parts behind the system text on average, before it is a conversation
SESSION_BREAK_US: Final = 3600 * 10**6  # after so long a pause only the system prefix, shared with others, can be read


class ScopeLike(Protocol):
    """Where a candidate acts: see app/levers/lever.py."""

    @property
    def feature(self) -> str: ...
    @property
    def template(self) -> int | None: ...
    @property
    def provider(self) -> str: ...
    @property
    def model_id(self) -> str: ...


class Candidate(Protocol):
    """What `apply_layout` reads of a lever's candidate: `params` are those of `LayoutChoice.params()`."""

    @property
    def scope(self) -> ScopeLike: ...
    @property
    def params(self) -> Mapping[str, Any]: ...


def prepare(session: Session, stream: str, rules: CacheRules | None = None) -> Prepared:
    """Make the session's layout tables from `stream`.

    Scopes without a cache rule are returned with `rule` None and get no boundaries.
    """
    known = rules or load_rules()
    session.execute("replay.layout_stream", {"stream": stream})
    scopes = tuple(_scope(row, known) for row in session.rows("replay.layout_scopes"))
    ruled = [one for one in scopes if one.rule is not None]
    frame = pl.DataFrame(
        [
            (s.scope_id, s.feature, s.template, s.provider, s.model_id, s.rule.match)
            for s in ruled
            if s.rule is not None
        ],
        schema={
            "scope_id": pl.Int64,
            "feature": pl.String,
            "template": pl.Int64,
            "provider": pl.String,
            "model_id": pl.String,
            "rule_match": pl.String,
        },
        orient="row",
    )
    keep(session, "layout_scopes", frame)
    session.execute("replay.layout_requests", {"scopes": "layout_scopes"})
    weighed = _weighed(session)
    session.execute("replay.layout_parts_weighed" if weighed else "replay.layout_parts")
    session.execute("replay.layout_prompts")
    session.execute("replay.layout_zone_parts", share=STABLE_SHARE)
    session.execute("replay.layout_sample", sample=SAMPLED_PARTS)
    session.execute("replay.layout_stable_lines", share=STABLE_SHARE)
    found = breaks(session)
    keep(session, "layout_broken", pl.DataFrame({"scope_id": list(found)}, schema={"scope_id": pl.Int64}))
    session.execute("replay.layout_heads", {"broken": "layout_broken"})
    session.execute("replay.layout_moved", {"broken": "layout_broken"})
    session.execute("replay.layout_sorted", {"reordered": "layout_reordered"})
    turns = [scope for (scope,) in session.rows("replay.layout_turns", {"broken": "layout_broken"}, parts=MIN_BEHIND)]
    keep(session, "layout_turning", pl.DataFrame({"scope_id": turns}, schema={"scope_id": pl.Int64}))
    session.execute("replay.layout_firsts")
    session.execute("replay.layout_behind", {"turns": "layout_turning"})
    session.execute("replay.layout_bounds", {"turns": "layout_turning"})
    session.execute("replay.layout_forget_parts")
    return Prepared(scopes, found, _sessions(session), frozenset(turns))


def _weighed(session: Session) -> bool:
    """Whether a fit was measured to place the tokens of some model better than the share of bytes does."""
    [(stored,)] = session.rows("replay.layout_fits")
    if not stored:
        return False
    [(models,)] = session.rows("replay.layout_fitted", {"scopes": "layout_scopes"})
    return bool(models)


def _sessions(session: Session) -> dict[int, SessionFacts]:
    session.execute("replay.session_steps")
    starts = dict(session.rows("replay.session_starts", ttl_us=SESSION_BREAK_US))
    return {
        scope: SessionFacts(steps, followers, growing, starts.get(scope, 0))
        for scope, steps, followers, growing in session.rows("replay.session_scopes")
    }


def replay(session: Session, plans: Sequence[Plan], captures: Captures) -> None:
    """Replay `plans` side by side over the stream taken in last; leaves `layout_hits` (the answer of replay.hits)."""
    keep(session, "layout_plans", plan_frame(plans, captures))
    marks = [(one.plan, one.scope_id, ordinal) for one in plans for ordinal in one.marks]
    schema = {"plan": pl.Int64, "scope_id": pl.Int64, "ordinal": pl.Int64}
    keep(session, "layout_marks", pl.DataFrame(marks, schema=schema, orient="row"))
    session.execute("replay.layout_billed")
    session.execute("replay.layout_probes", {"plans": "layout_plans", "marks": "layout_marks"})
    session.execute("replay.layout_events")
    hits_into(session, "layout_events", "layout_hits")


def evaluate(session: Session, plans: Sequence[Plan], captures: Captures, into: str) -> None:
    """Replay `plans` and write the table `into` of replay.layout_split: how each request would be billed under them."""
    replay(session, plans, captures)
    keep(session, "layout_capture", captures.frame())
    relations = {"plans": "layout_plans", "capture": "layout_capture", "into": into}
    session.execute("replay.layout_split", relations | {"hits": "layout_hits"})
    session.execute("replay.layout_forget")
    if any(one.marking in ("session", "session billed") for one in plans):
        session.execute("replay.session_steps")
        session.execute("replay.session_split", relations)


def apply_layout(
    session: Session,
    stream: str,
    into: str,
    candidates: Iterable[Candidate],
    rules: CacheRules | None = None,
    kappa: Captures | None = None,
) -> None:
    """Write the temporary table `into`(request_key, *SPLIT_CLASSES): the split of every request that the candidates
    touch, under their layouts, replayed over the requests that stand in `stream`.

    Candidates are those of the lever `prompt_caching`, by scope before any change of model; a request whose model
    changed is replayed under the rule of its new model, or left out where none is known. Tokens are text tokens, in
    the new model's by the stream's `token_ratio`. Without `kappa` each candidate's own capture rate holds.
    """
    known = rules or load_rules()
    if session.rows("replay.layout_standing")[0][0] < 3:
        prepare(session, stream, known)
    session.execute("replay.layout_stream", {"stream": stream})
    wanted = {_scope_key(one): one for one in candidates}
    scoped = {
        scope_id: wanted[key]
        for scope_id, *key_parts in session.rows("replay.layout_known")
        if (key := tuple(key_parts)) in wanted
    }
    plans = []
    stopped = []
    rates: dict[tuple[str, ...], Capture] = {}
    for scope_id, provider, model_id, last_us in session.rows("replay.layout_pairs"):
        params = scoped[scope_id].params if scope_id in scoped else None
        rule = known.at(provider, model_id, last_us)
        if params is None or rule is None:
            continue
        if params["action"] == "stop":
            stopped.append(scope_id)
            continue
        plans.append(
            Plan(
                plan=0,
                scope_id=scope_id,
                provider=provider,
                model_id=model_id,
                rule=rule,
                layout=params["layout"],
                marking=_marking(params["marking"], rule),
                lifetime=params["lifetime"],
                marks=tuple(params["marks"]),
                mark_last=params["mark_last"],
                start_tokens=params["start_tokens"],
            )
        )
        rates[(provider, model_id)] = Capture(params["kappa"], params["kappa_p10"], params["kappa_p90"], 0)
    evaluate(session, plans, kappa or Captures(rates), "layout_applied")
    frame = pl.DataFrame({"scope_id": sorted(set(stopped))}, schema={"scope_id": pl.Int64})
    keep(session, "layout_stopped", frame)
    session.execute(
        "replay.layout_apply",
        {"split": "layout_applied", "stopped": "layout_stopped", "into": into},
    )


def _scope(row: tuple[Any, ...], rules: CacheRules) -> ScopeFacts:
    scope_id, feature, template, provider, model_id, requests, prompt_tokens, *rest = row
    *tokens, reads, writes, last_us = rest
    rule = rules.at(provider, model_id, last_us)
    return ScopeFacts(
        scope_id,
        feature,
        template,
        provider,
        model_id,
        requests,
        prompt_tokens,
        tuple(tokens),
        reads,
        writes,
        last_us,
        rule,
    )


def _marking(wanted: Marking, rule: CacheRule) -> Marking:
    """The marking of a candidate on the model that its requests have now."""
    if not rule.marked:
        return "all"
    return "marks" if wanted == "all" else wanted


def _scope_key(candidate: Candidate) -> tuple[str, int | None, str, str]:
    scope = candidate.scope
    return scope.feature, scope.template, scope.provider, scope.model_id
