"""Latency beside money: quantiles of time to first token, time per output token and duration, from the bins.

A bin is 5 % wide and answered by its geometric middle, so a quantile is right within 2.5 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from app.analysis.scope import column
from app.core.errors import UsageError

if TYPE_CHECKING:
    from app.core.view import View
    from app.warehouse.store import Session

BIN_WIDTH = 1.05
_DIMENSIONS = ("feature", "model")


@dataclass(frozen=True, slots=True)
class Latency:
    """A metric of one value of a dimension over successful, interactive requests, in microseconds."""

    name: str
    metric: str
    n: int
    p50_us: float
    p95_us: float
    p99_us: float


def latency(session: Session, view: View, *, by: Literal["feature", "model"] = "feature") -> tuple[Latency, ...]:
    """Quantiles by feature or model in the view's period; of its filters only those on the same dimension count.

    Raises:
        UsageError: another dimension.
    """
    if by not in _DIMENSIONS:
        raise UsageError(f"Latency is kept by feature and model, not by {by!r}.")
    rows = session.rows(
        "latency.quantiles",
        {"column": column(by)},
        from_us=view.period.from_us,
        to_us=view.period.to_us,
    )
    wanted = [item for item in view.filters if item.dimension == by]
    return tuple(
        Latency(str(name), str(metric), int(n), _middle(p50), _middle(p95), _middle(p99))
        for name, metric, n, p50, p95, p99 in rows
        if all((name in item.values) == (item.op == "is") for item in wanted)
    )


def _middle(bin_: int) -> float:
    """The geometric middle of a bin, microseconds."""
    return float(BIN_WIDTH ** (bin_ + 0.5))
