"""Let the provider's prompt cache work: stable text first, marks and lifetimes that pay, and none where it loses.

Every option of every scope is replayed on the log's own arrival times (app/replay); the plan prices the split of the
winner. Grade B: a calibrated simulation; A where writes were billed and nothing was ever read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.levers.lever import Candidate, Change, Draw, Lever, Scope
from app.replay.breaks import keep
from app.replay.choose import advise
from app.replay.plans import SPLIT_CLASSES
from app.replay.wording import what_to_change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.replay.choice import LayoutChoice
    from app.warehouse.store import Session

NAME: Final = "prompt_caching"
_COLUMN: Final = f"at_{NAME}"
_REFUSALS: Final = {
    "feature": pl.String,
    "model_id": pl.String,
    "reason": pl.String,
    "why": pl.String,
    "needed_tokens": pl.Int64,
    "have_tokens": pl.Int64,
}


def detect(session: Session) -> list[Candidate]:
    """One candidate a scope whose cheapest replayed layout costs at least 2 % less input than what was billed."""
    advice = advise(session, "stream")
    rows = [
        (one.scope.feature, one.scope.model_id, one.reason, one.sentence, one.needed_tokens, one.have_tokens)
        for one in advice.refusals
    ]
    keep(session, "layout_refusals", pl.DataFrame(rows, schema=_REFUSALS, orient="row"))
    return [_candidate(choice) for choice in advice.choices]


def _candidate(choice: LayoutChoice) -> Candidate:
    scope, params = choice.scope, choice.params()
    never_read = choice.action == "stop" and params["billed_reads"] == 0
    return Candidate(
        lever=NAME,
        scope=Scope(scope.feature, scope.template, scope.provider, scope.model_id),
        grade="A" if never_read else "D" if choice.marking == "session" and choice.capture.assumed else "B",
        n_requests=scope.requests,
        params=params | {"finding": _finding(choice, never_read=never_read)},
        assumptions=_assumptions(choice, params),
        evidence=choice.evidence,
        query="replay.hits",
        rules=(choice.rule.id,),
    )


def _finding(choice: LayoutChoice, *, never_read: bool) -> str:
    if choice.action == "stop":
        return "cache_writes_without_reads" if never_read else "cache_costs_more_than_it_saves"
    if choice.broken is not None and choice.broken.tool_orders > 1:
        return "tools_in_changing_order"
    return "volatile_text_at_start" if choice.layout > 0 else "cache_marks"


def _assumptions(choice: LayoutChoice, params: Mapping[str, Any]) -> tuple[str, ...]:
    rule = choice.rule
    said = [
        f"Cache rule {rule.id} ({rule.state}): {rule.source}.",
        "Other traffic that is not in this log and shares the prefix could only add reads.",
    ]
    if choice.action == "stop":
        return tuple(said[:1])
    said.insert(1, choice.capture.sentence())
    said.append(
        f"Entries live {params['lifetime_s']:,} s after their last use; prefixes below {rule.min_tokens:,} tokens are "
        "not cached."
    )
    if choice.marking == "session":
        said.append("Prompts are not in the log: each step of a session is taken to extend the one before it.")
    if choice.layout > 0:
        said.append(
            "Moving the changing lines behind the stable ones does not change what the prompt asks for: review it."
        )
    return tuple(said)


def touch(session: Session, candidates: Sequence[Candidate]) -> None:
    """Marks the requests of each scope whose prompt is known; all of them where caching is switched off."""
    known = {tuple(rest): scope_id for scope_id, *rest in session.rows("replay.layout_known")}
    rows = [
        (known[key], index, int(one.params["action"] == "stop" or one.params["marking"] == "session"))
        for index, one in enumerate(candidates)
        if (key := (one.scope.feature, one.scope.template, one.scope.provider, one.scope.model_id)) in known
    ]
    schema = {"scope_id": pl.Int64, "candidate": pl.Int64, "whole": pl.Int64}
    session.register("prompt_caching_accepted", pl.DataFrame(rows, schema=schema, orient="row"))
    session.execute("levers_prompt_caching.touch", {"accepted": "prompt_caching_accepted"})
    session.unregister("prompt_caching_accepted")


def transform(cells: pl.LazyFrame, candidates: Sequence[Candidate], draw: Draw) -> pl.LazyFrame:
    """The replayed split takes the place of the billed one; reads that a draw does not capture are paid again."""
    touched = pl.col(_COLUMN).is_not_null()
    central, plain = pl.col("layout_tok_cache_read"), pl.col("layout_tok_input")
    reads = pl.min_horizontal(central * draw.kappa, central + plain)
    missed = central - reads  # below 0 where a draw captures more than the centre: then plain input shrinks
    classes = {index: _paid_again(one) for index, one in enumerate(candidates)}
    again = pl.col(_COLUMN).replace_strict(classes, default="tok_input", return_dtype=pl.String)
    after = {name: pl.col(f"layout_{name}") for name in SPLIT_CLASSES}
    for name in SPLIT_CLASSES[2:]:
        after[name] += pl.when((again == name) & (missed > 0)).then(missed).otherwise(0.0)
    after["tok_input"] += pl.when((again == "tok_input") | (missed < 0)).then(missed).otherwise(0.0)
    after["tok_cache_read"] = reads
    return cells.with_columns(
        **{name: pl.when(touched).then(value).otherwise(pl.col(name)) for name, value in after.items()}
    )


def _paid_again(candidate: Candidate) -> str:
    """The class that an uncaptured read falls into."""
    marked = candidate.params["write"] > 1.0 and candidate.params["action"] != "stop"
    return f"tok_cache_write_{candidate.params['lifetime']}" if marked else "tok_input"


def describe(candidate: Candidate) -> Change:
    """What to move, where to mark, or to stop."""
    said = what_to_change(candidate.params, candidate.scope.feature, candidate.n_requests)
    return Change(said.headline, said.steps, said.verify, said.example)


def data(session: Session) -> Mapping[str, Any]:
    """What the log lets the replay say, and why scopes got no proposal."""
    [(requests, with_prompt, with_time, with_classes, with_session)] = session.rows("levers_prompt_caching.coverage")
    found = {
        "requests": requests,
        "with_prompt": with_prompt,
        "with_time": with_time,
        "with_cache_classes": with_classes,
        "with_session": with_session,
    }
    if requests and not with_prompt:
        return found | {
            "state": "not enough data",
            "why": "No request carries its prompt, so no better order of it can be seen. Losses of caching as billed "
            "are, and sessions are replayed from their usage for marks and lifetimes.",
            "do": "Log whole requests (tools, system, messages); their text need not be kept, hashes are enough.",
        }
    refusals = session.rows("levers_prompt_caching.refusals")
    return found | {
        "state": "ok",
        "refused": [
            {
                "feature": feature,
                "model": model,
                "reason": reason,
                "why": why,
                "needed_tokens": needed,
                "have_tokens": have,
            }
            for feature, model, reason, why, needed, have in refusals
        ],
    }


LEVER: Final = Lever(
    name=NAME,
    title="Prompt caching that pays",
    stage=70,
    effort="low",
    risk="none",
    reversible=True,
    detect=detect,
    touch=touch,
    transform=transform,
    describe=describe,
    data=data,
)
