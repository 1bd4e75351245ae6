"""A long table opens with its first rows: every row is on the page, in order, once, and none is folded for little."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.web.render import whole
from app.web.table import FEW_ROWS, PHONE_ROWS, Cell, Column, Deed, Table


def table(rows: int, first: int, *, stacked: bool, deeds: bool = False) -> Table:
    return Table(
        "made",
        "Made",
        (Column("n", "N", "number"),),
        tuple((Cell(number, str(number)),) for number in range(rows)),
        stacked=stacked,
        first=first,
        deeds=tuple(Deed("Do", f"Do {number}", f"/do/{number}") for number in range(rows)) if deeds else (),
    )


@given(rows=st.integers(0, 200), first=st.integers(1, 60), stacked=st.booleans(), deeds=st.booleans())
def test_folding_keeps_every_row_and_its_deed_in_order(rows: int, first: int, stacked: bool, deeds: bool) -> None:
    found = table(rows, first, stacked=stacked, deeds=deeds)
    shown = [pair for part in found.slices for pair in part.rows]
    assert [row for row, _ in shown] == list(found.rows)
    assert [deed.href if deed else None for _, deed in shown] == [f"/do/{n}" if deeds else None for n in range(rows)]
    assert all(part.rows for part in found.slices)
    assert [part.folded for part in found.slices][:1] == ([""] if rows else [])


@given(rows=st.integers(1, 200), first=st.integers(1, 60))
def test_what_unfolds_is_more_than_a_few_rows(rows: int, first: int) -> None:
    sizes = {part.folded: len(part.rows) for part in table(rows, first, stacked=True).slices}
    assert sizes.get("rest", FEW_ROWS + 1) > FEW_ROWS
    assert sizes.get("rest-small", FEW_ROWS + 1) > FEW_ROWS
    assert sizes[""] <= max(PHONE_ROWS, first) + FEW_ROWS


def test_a_long_name_breaks_at_its_joints_and_a_short_one_stays_whole() -> None:
    assert "<wbr>" in whole("projects/acme-prod/locations/europe-west4/models/preview")
    assert whole("claude-sonnet-4-5") == '<span><span class="whole">claude-sonnet-4-5</span></span>'
    assert 'class="long"' in whole("x" * 60)
    assert "<b>" not in whole("<b>" + "y" * 40)
