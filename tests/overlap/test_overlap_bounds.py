"""From where on two sources count as telling of the same calls: five calls, and more than a fifth, beyond chance."""

from __future__ import annotations

import pytest

from app.analysis.overlap import Overlap


@pytest.mark.parametrize(
    ("calls", "twins", "chance", "double"),
    [
        ((5, 100), 5, 0.0, True),
        ((5, 100), 4, 0.0, False),  # four calls prove nothing
        ((24, 100), 5, 0.0, True),
        ((25, 100), 5, 0.0, False),  # exactly a fifth of the one with fewer calls
        ((100, 24), 5, 0.0, True),
        ((20, 20), 6, 1.0, True),
        ((20, 20), 5, 0.5, False),  # four and a half beyond chance
        ((100, 100), 60, 40.0, False),  # a fifth beyond chance, however many there are
        ((100, 100), 61, 40.0, True),
        ((50, 50), 10, 30.0, False),
    ],
)
def test_where_two_sources_must_not_add_up(calls: tuple[int, int], twins: int, chance: float, double: bool) -> None:
    assert Overlap("a", "b", 0, 1, *calls, twins, chance).is_double == double
