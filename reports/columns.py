"""Rows of text as columns for a terminal: as wide as what stands in them, wide characters counted as two cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

GAP: Final = "  "
LONGEST: Final = 28


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text filled up to `width` cells of a terminal, never cut."""
    room = " " * (width - cell_len(text))
    return room + text if right else text + room


def aligned(
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[int] = (),
    longest: int = LONGEST,
    below: Sequence[Sequence[str]] | None = None,
) -> Iterator[str]:
    """One line a row, columns in `right` flush right; all rows have as many cells as the first, the heading.

    A first cell wider than `longest` stands on a line of its own above the rest of its row, so that one long name
    does not push every column out of the window. Nothing is cut: names are what other commands take. `below` holds
    for each row the lines that follow it.
    """
    widths = [max((cell_len(row[place]) for row in rows), default=0) for place in range(len(rows[0]))]
    widths[0] = max((size for row in rows if (size := cell_len(row[0])) <= longest), default=0)
    for row, after in zip(rows, below if below is not None else [()] * len(rows), strict=True):
        first, rest = row[0], row
        if cell_len(first) > longest:
            yield first
            rest = ("", *row[1:])
        line = (padded(text, widths[place], right=place in right) for place, text in enumerate(rest))
        yield GAP.join(line).rstrip()
        yield from after
