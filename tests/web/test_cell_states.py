"""How a bill and its requests stand to each other in a cell, in the word that pages and command give it."""

from __future__ import annotations

import pytest

from app.analysis.bill_cells import Cell, CellKey
from app.web.bill_words import state_of

CENT_PUSD = 10_000_000_000


@pytest.mark.parametrize(
    ("billed", "logged", "word"),
    [
        ((0, None), (CENT_PUSD // 10, 1_408), "only logged"),  # a tenth of a cent agrees with nothing all the same
        ((0, None), (100 * CENT_PUSD, 1_408), "only logged"),
        ((CENT_PUSD // 10, 1_000), (0, None), "only on the bill"),
        ((CENT_PUSD, None), (CENT_PUSD + 1, 1_408), "agrees"),
        ((0, None), (0, None), "agrees"),
        ((5 * CENT_PUSD, 5_000), (CENT_PUSD, 1_000), "bill higher"),
        ((CENT_PUSD, 1_000), (5 * CENT_PUSD, 5_000), "bill lower"),
    ],
)
def test_what_stands_on_one_side_alone_never_agrees(
    billed: tuple[int, int | None], logged: tuple[int, int | None], word: str
) -> None:
    cell = Cell(
        CellKey(0, "p", "", "m", "input"),
        bill_pusd=billed[0],
        bill_quantity=billed[1],
        logged_pusd=logged[0],
        logged_quantity=logged[1],
    )
    assert state_of(cell) == word
