"""Rows of text as columns for a terminal: as wide as what stands in them, wide characters counted as two cells.

A table that is wider than the terminal is folded: each row becomes a name and below it its named values.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

GAP: Final = "  "
LONGEST: Final = 28


FOLDED: Final = "    "
BETWEEN: Final = " · "


def terminal_width() -> int:
    """The columns of the terminal, or of the variable COLUMNS; 0 where there is neither, and nothing need fit."""
    return shutil.get_terminal_size((0, 0)).columns


def wrapped(text: str, *, indent: str = FOLDED, width: int | None = None) -> Iterator[str]:
    """A sentence in lines of at most `width` cells (those of the terminal unless given), the later ones indented."""
    room = terminal_width() if width is None else width
    first, *others = text.lstrip().split(" ")
    line = text[: len(text) - len(text.lstrip())] + first
    for word in others:
        longer = f"{line} {word}"
        if room and cell_len(longer) > room:
            yield line
            longer = indent + word
        line = longer
    yield line


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
    names: int = 1,
    width: int | None = None,
) -> Iterator[str]:
    """One line a row, columns in `right` flush right; all rows have as many cells as the first, the heading.

    A first cell wider than `longest` stands on a line of its own above the rest of its row, so that one long name
    does not push every column out of the window. Nothing is cut: names are what other commands take. `below` holds
    for each row the lines that follow it.

    Where that is wider than `width` (that of the terminal unless given; 0 for any), the rows are folded: the first
    `names` cells on a line, the others below with the names of their columns.
    """
    room = terminal_width() if width is None else width
    after = below if below is not None else [()] * len(rows)
    lines = list(_grid(rows, right, longest, after))
    told = {line for lines_below in after for line in lines_below}
    if not room or all(cell_len(line) <= room or line in told for line in lines):
        yield from lines
        return
    for row, lines_below in zip(rows[1:], after[1:], strict=True):
        yield from _folded(rows[0], row, names, room)
        yield from lines_below


def _grid(
    rows: Sequence[Sequence[str]], right: Collection[int], longest: int, below: Sequence[Sequence[str]]
) -> Iterator[str]:
    widths = [max((cell_len(row[place]) for row in rows), default=0) for place in range(len(rows[0]))]
    widths[0] = max((size for row in rows if (size := cell_len(row[0])) <= longest), default=0)
    for row, after in zip(rows, below, strict=True):
        first, rest = row[0], row
        if cell_len(first) > longest:
            yield first
            rest = ("", *row[1:])
        line = (padded(text, widths[place], right=place in right) for place, text in enumerate(rest))
        yield GAP.join(line).rstrip()
        yield from after


def _folded(heading: Sequence[str], row: Sequence[str], names: int, room: int) -> Iterator[str]:
    """A row as its name and, below it, what its other cells say; only a word that is wider than the room sticks out."""
    yield GAP.join(text for text in row[:names] if text)
    line = ""
    for name, text in zip(heading[names:], row[names:], strict=True):
        pair = f"{name} {text}".strip() if text else ""
        longer = f"{line}{BETWEEN}{pair}" if line else pair
        if pair and line and cell_len(FOLDED + longer) > room:
            yield from wrapped(FOLDED + line, indent=FOLDED + "  ", width=room)
            longer = pair
        line = longer if pair else line
    if line:
        yield from wrapped(FOLDED + line, indent=FOLDED + "  ", width=room)
