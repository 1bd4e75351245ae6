"""Intervals by cluster bootstrap: the local days of each template are drawn again, together for all findings.

Requests of one day and template share causes, so they are drawn as a whole (a naive bootstrap over requests gives
intervals that are far too narrow). Fewer than eight clusters say nothing about spread: then there is no interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_CLUSTERS: Final = 8
DRAWS: Final = 400
QUANTILES: Final = (0.1, 0.5, 0.9)


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The 10th, 50th and 90th percentile of an amount in pico-USD."""

    p10: int
    p50: int
    p90: int


def weights(clusters: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """How often each cluster of one template is drawn, (DRAWS, clusters): as many as there are, with replacement."""
    drawn = generator.multinomial(clusters, np.full(clusters, 1.0 / clusters), size=DRAWS)
    return drawn.astype(np.float64)


def quantiles(values: NDArray[np.float64], *, ceiling: int | None = None) -> Quantiles:
    """P10, P50 and P90 of draws in whole pico-USD, never below nothing and never above `ceiling` (what was paid)."""
    p10, p50, p90 = (round(float(value)) for value in np.quantile(values, QUANTILES))
    top = max(p90, 0) if ceiling is None else ceiling
    return Quantiles(*(min(max(value, 0), top) for value in (p10, p50, p90)))
