"""A report as plain text that is complete on its own: how much, more than before, why, what to do."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from app.web.render import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.web.table import Cell, Column, Table
    from reports.document import Deed, Document, Section

WIDTH: Final = 76
NAME_MAX: Final = 30


def text(document: Document, origin: str) -> str:
    """The whole report, at most WIDTH characters a line where words allow it; links are full addresses."""
    return "\n".join(_lines(document, origin)) + "\n"


def _lines(document: Document, origin: str) -> Iterator[str]:
    yield from _wrapped(document.title)
    yield "=" * min(WIDTH, len(document.title))
    for warning in document.warnings:
        yield ""
        yield from _wrapped(f"Note: {warning}")
    yield ""
    for sentence in document.lead:
        yield from _wrapped(sentence)
    if document.figures:
        yield ""
    for figure in document.figures:
        change = "" if figure.change is None else f"  {figure.change.text}"
        yield f"{figure.label + ':':<18}{figure.value:>12}{change}"
    for section in document.sections:
        yield ""
        yield ""
        yield from _section(section, origin)
    yield ""
    yield "-- "
    for note in document.notes:
        yield from _wrapped(note)
    yield f"{document.link.text}: {origin}{document.link.href}"


def _section(section: Section, origin: str) -> Iterator[str]:
    yield section.title
    yield "-" * len(section.title)
    for sentence in section.sentences:
        yield from _wrapped(sentence)
    for chart in section.charts:
        yield from _wrapped(chart.summary)
    if section.table is not None:
        yield ""
        yield from _table(section.table)
    for number, deed in enumerate(section.deeds, 1):
        yield ""
        yield from _deed(number, deed, origin)
    if section.link is not None:
        yield ""
        yield f"{section.link.text}: {origin}{section.link.href}"


def _deed(number: int, deed: Deed, origin: str) -> Iterator[str]:
    lead = f"{number}. "
    indent = " " * len(lead)
    yield from _wrapped(f"{lead}{deed.what}: {deed.worth}", indent)
    yield from _wrapped(f"{indent}{deed.where}; {deed.grade}; owner: {deed.owner}", indent)
    if deed.step:
        yield from _wrapped(f"{indent}First: {deed.step}", indent)
    yield f"{indent}{origin}{deed.href}"


def _table(table: Table) -> Iterator[str]:
    """Aligned columns with a rule above the total."""
    rows = [*table.rows, *((table.total,) if table.total else ())]
    grid = [[_clipped(column, column.label) for column in table.columns]]
    grid += [
        [_clipped(column, _cell_text(cell)) for column, cell in zip(table.columns, row, strict=True)] for row in rows
    ]
    widths = [max(map(len, places)) for places in zip(*grid, strict=True)]
    for number, line in enumerate(grid):
        if table.total and number == len(grid) - 1:
            yield "-" * (sum(widths) + 2 * (len(widths) - 1))
        yield "  ".join(
            cell.rjust(width) if column.kind == "number" else cell.ljust(width)
            for cell, width, column in zip(line, widths, table.columns, strict=True)
        ).rstrip()


def _cell_text(cell: Cell) -> str:
    return f"{cell.text} {cell.note}".strip()


def _clipped(column: Column, value: str) -> str:
    plain = _plain(value)
    return plain if column.kind == "number" or len(plain) <= NAME_MAX else plain[: NAME_MAX - 1] + "…"


def _plain(value: str) -> str:
    """One line of visible characters: names come from logs."""
    return " ".join(visible(value).split())


def _wrapped(value: str, indent: str = "") -> list[str]:
    lead = value[: len(value) - len(value.lstrip())]
    return textwrap.wrap(
        _plain(value),
        WIDTH,
        initial_indent=lead,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
