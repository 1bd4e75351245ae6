"""The spread of every figure: clusters drawn again together with the uncertain parameters, the joint plan included."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from app.levers.lever import Draw
from app.plan.game import players as members_of
from app.plan.intervals import DRAWS, MIN_CLUSTERS, Quantiles, quantiles, weights
from app.plan.outcomes import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from app.plan.outcomes import Engine, Outcomes
    from app.plan.shares import ScopeGame

PARAMETER_DRAWS: Final = 8
TOKEN_SPREAD: Final = 0.08  # relative standard deviation of how much another model answers
UNCERTAIN_STAGES: Final = (50, 70)

_Factors = list[dict[tuple[int, int], float]]
_Scope = tuple[int, pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Spread:
    """Intervals by fingerprint and of the joint plan; None where fewer than eight clusters speak."""

    findings: Mapping[str, Quantiles | None]
    joint: Quantiles | None
    clusters: int


def kappa_spread(engine: Engine) -> float:
    """The relative standard deviation of the capture rates in use, from their own 10th and 90th percentiles."""
    held = [candidate.params for item in engine.accepted for candidate in item.candidates]
    widths = [
        (params["kappa_p90"] - params["kappa_p10"]) / (2 * NormalDist().inv_cdf(0.9)) / params["kappa"]
        for params in held
        if params.get("kappa")
    ]
    return sum(widths) / len(widths) if widths else 0.0


def parameter_draws(kappa_width: float) -> list[Draw]:
    """Evenly spread draws of the uncertain parameters, each paired with another quantile of the other one."""
    normal = NormalDist()
    steps = [normal.inv_cdf((place + 0.5) / PARAMETER_DRAWS) for place in range(PARAMETER_DRAWS)]
    turned = [steps[(place * 3 + 1) % PARAMETER_DRAWS] for place in range(PARAMETER_DRAWS)]
    return [
        Draw(kappa=1.0 + kappa_width * kappa, token_ratio=1.0 + TOKEN_SPREAD * ratio)
        for kappa, ratio in zip(steps, turned, strict=True)
    ]


def spread(
    engine: Engine, outcome: Outcomes, games: Sequence[ScopeGame], choices: Sequence[int], *, seed: int
) -> Spread:
    """Quantiles of each finding alone and of the joint plan, from one set of draws.

    `choices` holds, by scope, the coalition that the joint plan applies there.
    """
    factors = _factors(engine, games, choices)
    generator = np.random.default_rng(seed)
    joint = np.zeros(DRAWS)
    alone: dict[str, NDArray[np.float64]] = {}
    touched: dict[str, int] = {}
    clusters = 0
    for days, scopes in _templates(engine, outcome):
        drawn = weights(days, generator)
        clusters += days
        for scope, rows in scopes:
            joint += _draws(drawn, rows, factors, scope, choices[scope])
            for player, owner in games[scope].owners.items():
                mask = 1 << player if games[scope].saved[1 << player] > 0 else 0
                alone[owner] = alone.get(owner, 0.0) + _draws(drawn, rows, factors, scope, mask)
                touched[owner] = touched.get(owner, 0) + (rows.filter(pl.col(f"m{mask}") != 0).height if mask else 0)
    paid = sum(game.before_pusd for game in games)
    return Spread(
        {owner: quantiles(draws) if touched[owner] >= MIN_CLUSTERS else None for owner, draws in alone.items()},
        quantiles(joint, ceiling=paid) if clusters >= MIN_CLUSTERS else None,
        clusters,
    )


def _templates(engine: Engine, outcome: Outcomes) -> Iterator[tuple[int, list[_Scope]]]:
    """For each template its number of clusters and its scopes, whose rows carry `day`, the cluster's place in it."""
    keyed = number(engine.cells).select("group", "cluster", "feature", "template").unique(maintain_order=True)
    placed = keyed.with_columns(day=pl.col("cluster").rank("dense").over("feature", "template").cast(pl.Int64) - 1)
    frame = outcome.frame.join(placed, on=["group", "cluster"], how="left", maintain_order="left")
    for _, rows in frame.group_by("feature", "template", maintain_order=True):
        scopes = [(int(str(key[0])), part) for key, part in rows.group_by("group", maintain_order=True)]
        yield rows["day"].n_unique(), scopes


def _draws(
    drawn: NDArray[np.float64], rows: pl.DataFrame, factors: _Factors, scope: int, mask: int
) -> NDArray[np.float64]:
    """A scope's saving under a coalition in every draw."""
    if mask == 0:
        return np.zeros(DRAWS)
    by_day = np.bincount(rows["day"].to_numpy(), weights=rows[f"m{mask}"].to_numpy(), minlength=drawn.shape[1])
    scale = np.array([factor.get((scope, mask), 1.0) for factor in factors])
    totals: NDArray[np.float64] = (drawn @ by_day) * np.resize(scale, DRAWS)
    return totals


def _factors(engine: Engine, games: Sequence[ScopeGame], choices: Sequence[int]) -> _Factors:
    """How the saving of (scope, mask) moves with each parameter draw, as a factor on the central saving."""
    alone = {1 << player for game in games for player in game.owners if game.saved[1 << player] > 0}
    uncertain = sorted(
        mask
        for mask in alone | set(choices)
        if any(engine.players.all[place].stage in UNCERTAIN_STAGES for place in members_of(mask))
    )
    if not uncertain:
        return [{}]
    group = number(engine.cells)["group"].to_numpy()

    def by_scope(mask: int, draw: Draw | None) -> NDArray[np.float64]:
        saved = engine.saved(mask, draw).to_numpy()
        return np.asarray(np.bincount(group, weights=saved, minlength=len(games)), dtype=np.float64)

    central = {mask: by_scope(mask, None) for mask in uncertain}
    found: _Factors = []
    for draw in parameter_draws(kappa_spread(engine)):
        factors: dict[tuple[int, int], float] = {}
        for mask in uncertain:
            moved, base = by_scope(mask, draw), central[mask]
            factors |= {
                (scope, mask): float(max(moved[scope], 0.0) / base[scope]) if base[scope] > 0 else 1.0
                for scope in range(len(games))
            }
        found.append(factors)
    return found
