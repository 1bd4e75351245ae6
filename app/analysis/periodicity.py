"""Is a stream of requests a schedule? The densest stretch of the local day, and the Rayleigh test's verdict.

Rayleigh is the right test for event times; a daily job shows as the share of the day's densest ten minutes (about 0.9
for a nightly job, 0.04 for people), or of the densest three hours where a long job drags on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BINS_A_DAY: Final = 144
MIN_DAYS: Final = 3
NIGHTLY_10M: Final = 0.5
NIGHTLY_3H: Final = 0.8
P_VALUE: Final = 1e-6
SMOOTH_FROM_S: Final = 7_200  # from here on a human day itself is uneven within a cycle
DENSE_TENTH: Final = 0.3


@dataclass(frozen=True, slots=True)
class DayShape:
    """Shares of requests in the densest ten minutes and three hours of the day, and when those hours begin."""

    share_10m: float
    share_3h: float
    begins_minute: int


@dataclass(frozen=True, slots=True)
class Cycle:
    """A period with the Rayleigh statistic of burst starts; `p_value` is corrected for the number of periods."""

    period_s: int
    bursts: int
    r: float
    p_value: float
    densest: float

    def scheduled(self) -> bool:
        """True where chance cannot explain the rhythm; long cycles also need a dense tenth of the cycle."""
        return self.p_value < P_VALUE and (self.period_s < SMOOTH_FROM_S or self.densest >= DENSE_TENTH)


def day_shape(bins: Mapping[int, int]) -> DayShape:
    """The shape of a day from counts by ten-minute bin (0 is midnight); stretches may cross midnight."""
    counts = np.zeros(BINS_A_DAY)
    for place, number in bins.items():
        counts[place] = number
    total = counts.sum()
    if total == 0:
        return DayShape(0.0, 0.0, 0)
    width = 18
    rolled = np.concatenate((counts, counts[: width - 1]))
    sums = np.convolve(rolled, np.ones(width), mode="valid")
    begin = int(sums.argmax())
    share = float(sums[begin] / total)
    while counts[begin % BINS_A_DAY] == 0:
        begin += 1
    return DayShape(float(counts.max() / total), share, begin % BINS_A_DAY * 10)


def is_daily_job(shape: DayShape, days: int) -> bool:
    """True for a job of the same hours every day; a log of fewer than three days cannot tell."""
    return days >= MIN_DAYS and (shape.share_10m >= NIGHTLY_10M or shape.share_3h >= NIGHTLY_3H)


def rhythm(cycles: Sequence[Cycle]) -> Cycle | None:
    """The strongest scheduled cycle, or None."""
    scheduled = [cycle for cycle in cycles if cycle.scheduled()]
    return max(scheduled, key=lambda cycle: cycle.bursts * cycle.r**2, default=None)
