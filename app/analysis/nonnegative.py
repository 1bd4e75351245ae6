"""Least squares without negative coefficients, for a few columns.

The active-set method of C. L. Lawson and R. J. Hanson, Solving Least Squares Problems (1974), chapter 23.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOLERANCE: Final = 1e-10


def solve(matrix: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """The x >= 0 with the smallest |matrix @ x - wanted|.

    `matrix` has one row an observation and one column a coefficient. A column of zeros gets the coefficient 0.
    """
    norms = np.linalg.norm(matrix, axis=0)
    used = norms > 0
    scaled = matrix[:, used] / norms[used]
    solution = np.zeros(matrix.shape[1])
    solution[used] = _active_set(scaled, wanted) / norms[used]
    return solution


def _active_set(matrix: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    columns = matrix.shape[1]
    passive = np.zeros(columns, dtype=bool)
    solution = np.zeros(columns)
    enough = _TOLERANCE * max(1.0, float(np.linalg.norm(wanted)))
    for _ in range(10 * columns):  # it ends after far fewer; rounding must not make it turn forever
        slope = matrix.T @ (wanted - matrix @ solution)
        slope[passive] = -np.inf
        if passive.all() or slope.max() <= enough:
            break
        passive[int(slope.argmax())] = True
        trial = _free(matrix, wanted, passive)
        while trial[passive].min() <= 0:
            falling = passive & (trial <= 0)
            step = float((solution[falling] / (solution[falling] - trial[falling])).min())
            solution += step * (trial - solution)
            leaving = falling & (solution <= _TOLERANCE)
            if not leaving.any():
                leaving = falling
            passive &= ~leaving
            solution[~passive] = 0.0
            if not passive.any():
                return solution
            trial = _free(matrix, wanted, passive)
        solution = trial
    return solution


def _free(matrix: NDArray[np.float64], wanted: NDArray[np.float64], passive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Least squares over the passive columns alone; the others stay 0."""
    solution = np.zeros(matrix.shape[1])
    solution[passive] = np.linalg.lstsq(matrix[:, passive], wanted, rcond=None)[0]
    return solution
