"""Latency beside money: quantiles of first token, duration and time per output token, and how many calls know them.

A bin is 5 % wide and answered by its geometric middle, so a quantile is right within 2.5 %. Bins come from the roll-up
where it knows the dimensions of the view, else they are made of the single requests: both say the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from app.analysis.scope import column, facts_scope, filtered
from app.warehouse import rollup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.core.view import View
    from app.warehouse.store import Session

BIN_WIDTH: Final = 1.05
Metric = Literal["ttft", "duration", "tpot", "itl_p50", "itl_p99"]
_ROLLED: Final = frozenset({"feature", "model"})
_MADE: Final = "latency_bins"
_ONE_BUCKET: Final = 2**62  # microseconds: every time stands in the bucket that begins at 0


@dataclass(frozen=True, slots=True)
class Spread:
    """How a metric is distributed over the `n` calls that know it, in microseconds."""

    n: int
    p50_us: float
    p95_us: float
    p99_us: float


@dataclass(frozen=True, slots=True)
class Latency:
    """One value of the dimension.

    `calls` are answered and not of a batch: only these are timed; `metrics` lacks what none of them knows. `failed` and
    `batched` stand outside. `cost_pusd` is the known cost of `costed` of the calls, None where none is known.
    """

    name: str
    calls: int
    costed: int
    cost_pusd: int | None
    failed: int
    batched: int
    metrics: Mapping[str, Spread]

    @property
    def cost_per_call_pusd(self) -> int | None:
        """Pico-USD of one call, over those whose cost is known."""
        return None if self.cost_pusd is None or not self.costed else self.cost_pusd // self.costed


@dataclass(frozen=True, slots=True)
class Latencies:
    """By value of the dimension, most calls first; `overall` is of the whole view, its name is empty."""

    rows: tuple[Latency, ...]
    overall: Latency


@dataclass(frozen=True, slots=True)
class _Bins:
    """A relation in the columns of latency_hour, its column of the dimension, and the range to read of it."""

    relation: str
    column: str
    from_us: int
    to_us: int

    @property
    def range(self) -> dict[str, int]:
        return {"from_us": self.from_us, "to_us": self.to_us}


def latency(session: Session, view: View) -> Latencies:
    """The latency of a view by its dimension.

    Raises:
        UsageError: no such dimension.
    """
    scope = facts_scope(session, view, view.by)
    bins = _bins(session, view)
    spreads: dict[str, dict[str, Spread]] = {}
    by_name = {"bins": bins.relation, "column": bins.column}
    for value, metric, n, *places in session.rows("latency.quantiles", by_name, **bins.range):
        spreads.setdefault(str(value), {})[str(metric)] = _spread(n, places)
    rows = tuple(
        Latency(
            str(value),
            int(calls),
            int(costed),
            None if cost is None else int(cost),
            int(failed),
            int(batched),
            spreads.get(str(value), {}),
        )
        for value, calls, costed, cost, failed, batched in session.rows(
            "latency.calls", {"facts": scope.relation, "column": column(view.by)}, **scope.range
        )
    )
    whole = {
        str(metric): _spread(n, places)
        for metric, n, *places in session.rows("latency.overall", {"bins": bins.relation}, **bins.range)
    }
    return Latencies(rows, _overall(rows, whole))


def _overall(rows: tuple[Latency, ...], metrics: Mapping[str, Spread]) -> Latency:
    costs = [row.cost_pusd for row in rows if row.cost_pusd is not None]
    return Latency(
        "",
        sum(row.calls for row in rows),
        sum(row.costed for row in rows),
        sum(costs) if costs else None,
        sum(row.failed for row in rows),
        sum(row.batched for row in rows),
        metrics,
    )


def _bins(session: Session, view: View) -> _Bins:
    """The bins of a view: those of the roll-up where it has the dimensions and cuts the period, else made anew."""
    used = {view.by, *(item.dimension for item in view.filters)}
    width = rollup.bucket(session)
    edges = (view.period.from_us, view.period.to_us)
    if width is not None and used <= _ROLLED and not any(edge % width for edge in edges):
        return _Bins(filtered(session, "latency_hour", view.filters), column(view.by), *edges)
    scope = facts_scope(session, view, view.by)
    session.execute("latency.no_bins", {"into": _MADE})
    relations = {"facts": scope.relation, "into": _MADE, "name": column(view.by)}
    session.execute("rollup.latency_fill", relations, bucket_us=_ONE_BUCKET, **scope.range)
    return _Bins(_MADE, "feature", 0, 1)


def _spread(n: int, places: list[int]) -> Spread:
    p50, p95, p99 = (_middle(place) for place in places)
    return Spread(int(n), p50, p95, p99)


def _middle(bin_: int) -> float:
    """The geometric middle of a bin, microseconds."""
    return float(BIN_WIDTH ** (bin_ + 0.5))
