"""What a lever is: a value holding functions, one file each, listed in the tuple `LEVERS`.

A lever works at two grains. Per request: `detect` finds candidates and `touch` marks the requests they act on, both
through named queries. Per cell (day, scope, rates): `transform` rewrites tiny Polars frames, so that every coalition
and every draw costs seconds. Dollars come only from price(before) - price(after), never from a lever.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from app.warehouse.store import Session

Grade = Literal["A", "B", "C", "D"]
Effort = Literal["very low", "low", "medium", "high", "very high"]
Risk = Literal["none", "latency", "quality", "lock-in"]

SCOPE: Final = ("feature", "template", "provider", "model_id")
"""The columns that name a scope in frames and queries, in the order of the fields of `Scope`."""


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

    `params` are the lever's own (target model, lifetime, marks), JSON-ready; `assumptions` are sentences shown with the
    figure; `evidence` are example request keys; `query` names the catalogue query that found it; `rules` name the
    provider rule rows it rests on.
    """

    lever: str
    scope: Scope
    grade: Grade
    n_requests: int
    params: Mapping[str, Any] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    evidence: tuple[int, ...] = ()
    query: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What to do, concretely: a headline, steps, and how it will be verified afterwards."""

    headline: str
    steps: tuple[str, ...]
    verify: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw of the uncertain parameters; `Draw()` is the central one. All are factors on the central value.

    `kappa` scales the cached reads of a counterfactual layout, `token_ratio` the answer tokens of another
    model.
    """

    kappa: float = 1.0
    token_ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class Lever:
    """One way to spend less.

    Attributes:
        name: slug, the same in URL, column, JSON and documentation.
        stage: place in the causal order: 10 waste, 20 exact repeats, 40 context edits, 50 model, 60 tier,
            70 cache layout, 80 output.
        detect: candidates from the analysis session's temporary relations: `stream`, one row a request of the window
            (queries/plan/stream.sql), and `model_options`, one row a (model of the stream, other model) pair
            (app/plan/options.py).
        touch: creates the temporary table `touch_<name>(request_key, candidate)` for accepted candidates, where
            `candidate` is the index in the sequence given.
        transform: cells in, cells out; only rows where `at_<name>` (the index of the candidate that touches the
            cell) is not null may change. It may set `share` (Float64, the part of the cell's requests that is still
            sent), `provider` and `model_id`, `is_batch`, and the token columns `tok_*` (Float64 sums, never null).
            A lever of stage 70 finds its replayed split of the prompt in `layout_<class>` for each input class that
            a cache changes (tok_input, tok_cache_read, tok_cache_write_*), already in tokens of the cell's model.
            All columns: app/plan/cells.py.
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


def accepted(
    candidates: Sequence[Candidate], more: Callable[[Candidate], Mapping[str, Any]] = lambda _candidate: {}
) -> pl.DataFrame:
    """What `touch` joins requests to: a row a candidate with its scope, its index as `candidate`, and what `more` adds.

    Args:
        candidates: in the order that gives them their index.
        more: further columns of a candidate, the same names for each.
    """
    rows = [
        {name: getattr(item.scope, name) for name in SCOPE} | {"candidate": index} | dict(more(item))
        for index, item in enumerate(candidates)
    ]
    schema = {"template": pl.Int64, "candidate": pl.Int64}
    return pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)
