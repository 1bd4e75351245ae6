"""The words of cache layouts: scopes with their facts, and plans: one way each to lay out and mark the prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.replay.breaks import Break
    from app.replay.capture import Captures
    from app.replay.rules import CacheRule

Marking = Literal["all", "marks", "billed", "session", "session billed"]
MIN_FOLLOWERS: Final = 20
MIN_GROWING: Final = 0.85
SPLIT_CLASSES: Final = (
    "tok_input",
    "tok_cache_read",
    "tok_cache_write_5m",
    "tok_cache_write_30m",
    "tok_cache_write_1h",
    "tok_cache_write_12h",
)


@dataclass(frozen=True, slots=True)
class ScopeFacts:
    """A scope of the stream: sums of its billed token classes, and the cache rule of its model (None: none known)."""

    scope_id: int
    feature: str
    template: int | None
    provider: str
    model_id: str
    requests: int
    prompt_tokens: int
    tokens: tuple[int, ...]  # in the order of SPLIT_CLASSES
    read_requests: int
    write_requests: int
    last_us: int
    rule: CacheRule | None


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to lay out and mark the prompts of a scope on one model.

    Attributes:
        layout: 0 as sent, 1 stable text first, 2 the same with the changing text in the newest message.
        marking: all (any prefix counts), marks (`marks` and `mark_last`), billed (what the billed classes imply); for
            requests without fingerprints session (all of a prompt is marked) and session billed (as it was).
        marks: ordinals of part ends, from 1.
        lifetime: name of the rule's lifetime.
        start_tokens: read at once where a session starts (marking session).
        at_once: entries are readable at once, as if requests that start together were sent one after the other.
    """

    plan: int
    scope_id: int
    provider: str
    model_id: str
    rule: CacheRule
    layout: int
    marking: Marking
    lifetime: str
    marks: tuple[int, ...] = ()
    mark_last: bool = False
    start_tokens: int = 0
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Requests of a scope that only their session tells of: how many, how many follow another, how many of these have a
    prompt that grew; tokens that are read at once where a session starts.
    """

    steps: int
    followers: int
    growing: int
    start_tokens: int

    @property
    def extends(self) -> bool:
        """Whether steps plausibly extend the step before: at least 20 follow another, 85 % of them longer."""
        return self.followers >= MIN_FOLLOWERS and self.growing >= MIN_GROWING * self.followers


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `prepare` found: the scopes, largest first; by scope id where their prompts break, and the sessions; the
    broken scopes that are conversations.
    """

    scopes: tuple[ScopeFacts, ...]
    breaks: Mapping[int, Break]
    sessions: Mapping[int, SessionFacts]
    turns: frozenset[int]


def plan_frame(plans: Sequence[Plan], captures: Captures) -> pl.DataFrame:
    """The relation `plans` of replay.layout_probes, replay.layout_split and replay.session_split."""
    rows = []
    for one in plans:
        life = one.rule.lifetime(one.lifetime)
        rows.append(
            (
                one.plan,
                one.scope_id,
                one.provider,
                one.model_id,
                one.layout,
                one.marking,
                int(one.mark_last),
                one.rule.granularity,
                one.rule.min_tokens,
                one.rule.lookback,
                life.us,
                max(3600 * 10**6, life.us),
                round(one.rule.ready_s * 1e6),
                captures.of(one.provider, one.model_id, one.rule.match).rate,
                life.name,
                one.start_tokens,
                int(one.at_once),
            )
        )
    schema = {
        "plan": pl.Int64,
        "scope_id": pl.Int64,
        "provider": pl.String,
        "model_id": pl.String,
        "layout": pl.Int64,
        "marking": pl.String,
        "mark_last": pl.Int64,
        "granularity": pl.Int64,
        "min_tokens": pl.Int64,
        "lookback": pl.Int64,
        "ttl_us": pl.Int64,
        "long_ttl_us": pl.Int64,
        "ready_us": pl.Int64,
        "read_rate": pl.Float64,
        "write_class": pl.String,
        "start_tokens": pl.Int64,
        "at_once": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
