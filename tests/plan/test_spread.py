"""The bootstrap: clusters are drawn whole, in their own template, and an interval stays within what was paid."""

from __future__ import annotations

import numpy as np

from app.plan.intervals import DRAWS, quantiles, weights
from app.plan.spread import PARAMETER_DRAWS, parameter_draws


def test_every_draw_takes_as_many_clusters_as_there_are():
    drawn = weights(12, np.random.default_rng(1))
    assert drawn.shape == (DRAWS, 12)
    assert set(drawn.sum(axis=1)) == {12.0}


def test_an_interval_never_promises_a_loss_nor_more_than_was_paid():
    found = quantiles(np.linspace(-50.0, 500.0, 100), ceiling=300)
    assert (found.p10, found.p90) == (5, 300)
    assert quantiles(np.full(100, -5.0)).p10 == 0


def test_days_that_are_alike_give_a_narrow_interval_and_uneven_ones_a_wide_one():
    drawn = weights(30, np.random.default_rng(2))
    even = quantiles(drawn @ np.full(30, 100.0))
    uneven = quantiles(drawn @ np.array([10.0, 190.0] * 15))
    assert even.p10 == even.p90 == 3000
    assert uneven.p90 - uneven.p10 > 500


def test_parameter_draws_are_centred_and_do_not_move_together():
    draws = parameter_draws(0.05)
    kappas, ratios = [draw.kappa for draw in draws], [draw.token_ratio for draw in draws]
    assert len(draws) == PARAMETER_DRAWS
    assert np.isclose(np.mean(kappas), 1.0)
    assert abs(np.corrcoef(kappas, ratios)[0, 1]) < 0.5
