"""What a lever is: a value holding functions, one file each, listed in the tuple `LEVERS`.

A lever works at two grains. Per request: `detect` finds candidates and `touch` marks the requests they act on, both
through named queries. Per cell (day, scope, rates): `transform` rewrites tiny Polars frames, so that every coalition
and every draw costs seconds. Dollars come only from price(before) - price(after), never from a lever.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from app.warehouse.store import Session

Grade = Literal["A", "B", "C", "D"]
Effort = Literal["very low", "low", "medium", "high", "very high"]
Risk = Literal["none", "latency", "quality", "lock-in"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a candidate acts. At most one candidate of a lever per scope, so shares add up exactly."""

    feature: str
    template: int | None
    provider: str
    model_id: str

    def text(self) -> str:
        template = "" if self.template is None else f" template={self.template & 0xFFFFFFFFFFFFFFFF:016x}"
        return f"feature={self.feature} model={self.model_id}{template}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a lever proposes for a scope; priced only by the plan.

    `params` are the lever's own (target model, lifetime, marks); `assumptions` are sentences shown with the figure;
    `evidence` are example request keys.
    """

    lever: str
    scope: Scope
    grade: Grade
    n_requests: int
    params: Mapping[str, Any] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What to do, concretely: a headline, steps, and how it will be verified afterwards."""

    headline: str
    steps: tuple[str, ...]
    verify: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw of the uncertain parameters; `Draw()` is the central one."""

    kappa: float = 1.0
    token_ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class Lever:
    """One way to spend less.

    Attributes:
        name: slug, the same in URL, column, JSON and documentation.
        stage: place in the causal order: 10 waste, 20 exact repeats, 40 context edits, 50 model, 60 tier,
            70 cache layout, 80 output.
        detect: candidates from the analysis session's temporary relation `stream` (see app/plan/stream.sql).
        touch: creates the temporary table `touch_<name>(request_key, candidate)` for accepted candidates, where
            `candidate` is the index in the sequence given.
        transform: cells in, cells out (columns: app/plan/cells); only rows with this lever's touched bit change.
        describe: what to change.
        data: what the lever could and could not say about this log ("levers_data").
    """

    name: str
    title: str
    stage: int
    effort: Effort
    risk: Risk
    reversible: bool
    detect: Callable[[Session], Sequence[Candidate]]
    touch: Callable[[Session, Sequence[Candidate]], None]
    transform: Callable[[pl.LazyFrame, Sequence[Candidate], Draw], pl.LazyFrame]
    describe: Callable[[Candidate], Change]
    data: Callable[[Session], Mapping[str, Any]]
