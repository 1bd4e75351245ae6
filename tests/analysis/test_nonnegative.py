"""Least squares without negative coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from app.analysis.nonnegative import solve


def test_an_exact_mixture_is_found_again() -> None:
    rng = np.random.default_rng(4)
    matrix = rng.uniform(0, 100, (40, 5))
    right = np.array([0.25, 0.0, 1.5, 0.0, 3.0])
    assert solve(matrix, matrix @ right) == pytest.approx(right, abs=1e-9)


def test_a_column_that_would_be_negative_is_left_out_and_the_rest_fitted_anew() -> None:
    # By hand: free least squares gives (-0.5, 1.5); with the first at 0 the second is (1*1 + 2*3) / (1 + 4).
    matrix = np.array([[1.0, 1.0], [1.0, 2.0]])
    assert solve(matrix, np.array([1.0, 2.5])) == pytest.approx([0.0, 1.2])
    assert solve(-matrix, np.array([1.0, 2.5])) == pytest.approx([0.0, 0.0])


def test_columns_that_say_nothing_get_nothing() -> None:
    matrix = np.array([[0.0, 2.0], [0.0, 4.0]])
    assert solve(matrix, np.array([1.0, 2.0])) == pytest.approx([0.0, 0.5])


def test_equal_columns_share_one_answer() -> None:
    matrix = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    answer = solve(matrix, np.array([2.0, 4.0, 6.0]))
    assert (answer >= 0).all()
    assert answer.sum() == pytest.approx(2.0)


@given(
    arrays(np.float64, (12, 4), elements=st.floats(0, 1000, width=32)),
    arrays(np.float64, 12, elements=st.floats(-1000, 1000, width=32)),
)
def test_no_small_step_makes_it_better(matrix: np.ndarray, wanted: np.ndarray) -> None:
    answer = solve(matrix, wanted)
    assert (answer >= 0).all()
    best = float(np.sum((matrix @ answer - wanted) ** 2))
    allowed = 1e-6 * (1 + float(wanted @ wanted))
    for column in range(4):
        for step in (1e-3, -1e-3, 0.1, -0.1):
            moved = answer.copy()
            moved[column] = max(0.0, moved[column] + step)
            assert float(np.sum((matrix @ moved - wanted) ** 2)) >= best - allowed
