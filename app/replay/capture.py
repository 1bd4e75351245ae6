"""Capture rates (kappa): how much of what a replay predicts the provider really billed as cached.

A rate is billed cache reads / replayed reads of the layout as sent, by provider, model and account, with an interval
from resampling days. Where nothing can be compared a stated assumption stands in, and says so.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.replay.rules import Match
    from app.warehouse.store import Session

MIN_REPLAYED_TOKENS: Final = 20_000
MIN_REQUESTS: Final = 20
_DRAWS: Final = 200


@dataclass(frozen=True, slots=True)
class Capture:
    """One capture rate, 0 to 1, with its 10th and 90th percentile; `requests` 0 is an assumption."""

    rate: float
    p10: float
    p90: float
    requests: int

    @property
    def assumed(self) -> bool:
        return self.requests == 0

    def sentence(self) -> str:
        if self.assumed:
            return (
                f"Capture rate {self.rate:.2f} assumed ({self.p10:.2f} to {self.p90:.2f}): no billed cache reads to "
                "compare the replay with."
            )
        return (
            f"Capture rate {self.rate:.3f} ({self.p10:.3f} to {self.p90:.3f}): billed over replayed cache reads of "
            f"{self.requests:,} requests."
        )


# Where nothing can be compared. Marked caches behave as documented (0.995 measured on agent logs), automatic ones lose
# some hits to routing between machines, best-effort ones promise nothing.
ASSUMED: Final[dict[Match, Capture]] = {
    "breakpoint": Capture(0.98, 0.90, 1.0, 0),
    "prefix_tokens": Capture(0.95, 0.80, 1.0, 0),
    "best_effort": Capture(0.50, 0.20, 0.90, 0),
}


@dataclass(frozen=True, slots=True)
class CaptureDay:
    """Reads of one day: what was billed and what the replay predicts, in tokens."""

    provider: str
    model_id: str
    account: str
    day: object
    requests: int
    billed: int
    replayed: int


@dataclass(frozen=True, slots=True)
class Captures:
    """Rates by (provider, model, account), by (provider, model) and by provider; the narrowest known one holds."""

    rates: dict[tuple[str, ...], Capture]

    def of(self, provider: str, model_id: str, match: Match, account: str | None = None) -> Capture:
        """The rate to use; the assumption for the kind of cache where nothing could be compared."""
        keys: tuple[tuple[str, ...], ...] = ((provider, model_id), (provider,))
        if account is not None:
            keys = ((provider, model_id, account), *keys)
        return next((self.rates[key] for key in keys if key in self.rates), ASSUMED[match])

    def frame(self) -> pl.DataFrame:
        """Rates that an account has of its own: (provider, model_id, account, rate)."""
        rows = [(*key, capture.rate) for key, capture in self.rates.items() if len(key) == 3]
        schema = {"provider": pl.String, "model_id": pl.String, "account": pl.String, "rate": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row")


def calibrate(session: Session, split: str, scopes: str, seed: int = 0) -> Captures:
    """Capture rates from `split` (replay.layout_split of the layout as sent) and the relation of its scopes."""
    rows = session.rows("replay.capture_days", {"split": split, "scopes": scopes})
    return captures_of([CaptureDay(*row) for row in rows], seed)


def captures_of(days: Iterable[CaptureDay], seed: int = 0) -> Captures:
    """Rates at every grain that has at least 20 requests and 20,000 replayed tokens."""
    groups: dict[tuple[str, ...], list[CaptureDay]] = defaultdict(list)
    for day in days:
        for key in ((day.provider, day.model_id, day.account), (day.provider, day.model_id), (day.provider,)):
            groups[key].append(day)
    enough = {
        key: _capture(members, seed)
        for key, members in groups.items()
        if sum(one.replayed for one in members) >= MIN_REPLAYED_TOKENS
        and sum(one.requests for one in members) >= MIN_REQUESTS
    }
    return Captures(enough)


def _capture(days: Sequence[CaptureDay], seed: int) -> Capture:
    """The ratio of sums, capped at 1, and its percentiles over resampled days (one day: no spread known, +-5 %)."""
    rate = _ratio(days)
    requests = sum(one.requests for one in days)
    by_day: dict[object, list[CaptureDay]] = defaultdict(list)
    for one in days:
        by_day[one.day].append(one)
    clusters = list(by_day.values())
    if len(clusters) < 2:
        return Capture(rate, max(rate - 0.05, 0.0), min(rate + 0.05, 1.0), requests)
    random = Random(seed)  # noqa: S311 - resampling, not secrets
    drawn = sorted(
        _ratio([one for cluster in random.choices(clusters, k=len(clusters)) for one in cluster]) for _ in range(_DRAWS)
    )
    return Capture(rate, drawn[_DRAWS // 10], drawn[-1 - _DRAWS // 10], requests)


def _ratio(days: Sequence[CaptureDay]) -> float:
    return min(sum(one.billed for one in days) / sum(one.replayed for one in days), 1.0)
