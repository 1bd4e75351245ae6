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
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from app.plan.outcomes import Engine, Outcomes
    from app.plan.shares import ScopeGame

PARAMETER_DRAWS: Final = 8
KAPPA_SPREAD: Final = 0.04  # relative standard deviation of a capture rate
TOKEN_SPREAD: Final = 0.08  # of the tokens of another model
UNCERTAIN_STAGES: Final = (50, 70)


@dataclass(frozen=True, slots=True)
class Spread:
    """Intervals by fingerprint and of the joint plan; None where fewer than eight clusters speak."""

    findings: Mapping[str, Quantiles | None]
    joint: Quantiles | None
    clusters: int


def parameter_draws() -> list[Draw]:
    """Evenly spread draws of the uncertain parameters, each paired with another quantile of the other one."""
    normal = NormalDist()
    steps = [normal.inv_cdf((place + 0.5) / PARAMETER_DRAWS) for place in range(PARAMETER_DRAWS)]
    turned = [steps[(place * 3 + 1) % PARAMETER_DRAWS] for place in range(PARAMETER_DRAWS)]
    return [
        Draw(kappa=1.0 + KAPPA_SPREAD * kappa, token_ratio=1.0 + TOKEN_SPREAD * ratio)
        for kappa, ratio in zip(steps, turned, strict=True)
    ]


def spread(
    engine: Engine, outcome: Outcomes, games: Sequence[ScopeGame], choices: Sequence[int], *, seed: int
) -> Spread:
    """Quantiles of each finding alone and of the joint plan, from one set of draws."""
    frame = outcome.frame
    if frame.height == 0:
        return Spread({}, None, 0)
    group, cluster = frame["group"].to_numpy(), frame["cluster"].to_numpy()
    strata = _strata(engine)
    drawn = weights(strata, DRAWS, seed)
    factors = _factors(engine, games, choices)
    joint = _row_values(frame, {place: mask for place, mask in enumerate(choices) if mask})
    findings: dict[str, Quantiles | None] = {}
    for owner, masks in _alone(games).items():
        values = _row_values(frame, masks)
        touched = len(np.unique(cluster[values != 0]))
        draws = _draws(drawn, values, group, cluster, factors, masks)
        findings[owner] = quantiles(draws) if touched >= MIN_CLUSTERS else None
    masks = dict(enumerate(choices))
    clusters = len(strata)
    paid = sum(game.before_pusd for game in games)
    draws = _draws(drawn, joint, group, cluster, factors, masks)
    return Spread(findings, quantiles(draws, ceiling=paid) if clusters >= MIN_CLUSTERS else None, clusters)


def _strata(engine: Engine) -> NDArray[np.int64]:
    """The template (as a number) of each cluster."""
    keyed = number(engine.cells).group_by("cluster").agg(pl.first("feature", "template")).sort("cluster")
    return keyed.select(pl.struct("feature", "template").rank("dense").cast(pl.Int64).alias("stratum"))[
        "stratum"
    ].to_numpy()


def _alone(games: Sequence[ScopeGame]) -> dict[str, dict[int, int]]:
    """For each finding the scopes where it pays alone, and the mask that says so."""
    found: dict[str, dict[int, int]] = {}
    for place, game in enumerate(games):
        for player, owner in game.owners.items():
            scopes = found.setdefault(owner, {})
            if game.saved[1 << player] > 0:
                scopes[place] = 1 << player
    return found


def _row_values(frame: pl.DataFrame, masks: Mapping[int, int]) -> NDArray[np.float64]:
    """Each row's saving under the mask of its scope; 0 where the scope has none."""
    values = np.zeros(frame.height)
    group = frame["group"].to_numpy()
    for place, mask in masks.items():
        if mask:
            rows = group == place
            values[rows] = frame[f"m{mask}"].to_numpy()[rows]
    return values


def _draws(
    drawn: NDArray[np.float64],
    values: NDArray[np.float64],
    group: NDArray[np.int64],
    cluster: NDArray[np.int64],
    factors: Sequence[Mapping[tuple[int, int], float]],
    masks: Mapping[int, int],
) -> NDArray[np.float64]:
    totals = np.zeros(len(drawn))
    scopes = int(group.max()) + 1
    for place, factor in enumerate(factors):
        scale = np.array([factor.get((scope, masks.get(scope, 0)), 1.0) for scope in range(scopes)])
        by_cluster = np.bincount(cluster, weights=values * scale[group], minlength=drawn.shape[1])
        rows = slice(place, None, len(factors))
        totals[rows] = drawn[rows] @ by_cluster
    return totals


def _factors(engine: Engine, games: Sequence[ScopeGame], choices: Sequence[int]) -> list[dict[tuple[int, int], float]]:
    """How the saving of (scope, mask) moves with each parameter draw, as a factor on the central saving."""
    wanted = {mask for scopes in _alone(games).values() for mask in scopes.values()} | set(choices)
    uncertain = sorted(
        mask for mask in wanted if any(engine.players.all[p].stage in UNCERTAIN_STAGES for p in members_of(mask))
    )
    if not uncertain:
        return [{}]
    group = number(engine.cells)["group"].to_numpy()
    central = {
        mask: np.bincount(group, weights=engine.saved(mask).to_numpy(), minlength=len(games)) for mask in uncertain
    }
    found = []
    for draw in parameter_draws():
        factors: dict[tuple[int, int], float] = {}
        for mask in uncertain:
            moved = np.bincount(group, weights=engine.saved(mask, draw).to_numpy(), minlength=len(games))
            for scope in range(len(games)):
                base = central[mask][scope]
                factors[scope, mask] = float(max(moved[scope], 0.0) / base) if base > 0 else 1.0
        found.append(factors)
    return found
