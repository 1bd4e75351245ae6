"""The sources that the service pulls by itself: how fresh and how complete each is, and what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.control import sources
from app.web import cells
from app.web import format as show
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from collections.abc import Hashable

    from app.control.sources import CursorState
    from app.web.page import Context

STATES: Final = {"never": "Not pulled yet", "running": "Being pulled", "ok": "Up to date", "failed": "Failed"}


def stamp(context: Context) -> Hashable:
    """Changes whenever the table does."""
    at = [(one.kind, sources.cursor(context.deps.control, one.name)) for one in _named(context)]
    return tuple(
        (kind, where.source, where.state, where.error, where.last_run_us, where.fresh_us, where.records)
        for kind, where in at
    )


def table(context: Context) -> Table:
    """One row a source that was added; empty where none was."""
    rows = []
    for source in _named(context):
        at = sources.cursor(context.deps.control, source.name)
        rows.append(
            (
                cells.text(source.name, note="" if source.kind == source.name else source.kind),
                cells.text(source.kind),
                Cell(at.state, STATES[at.state], note=at.error or "", tone="worse" if at.state == "failed" else ""),
                cells.moment(at.fresh_us, context.zone),
                cells.moment(at.complete_us, context.zone),
                cells.count(at.records),
                _last_run(at, context),
                cells.text(at.error),
            )
        )
    return Table(
        "pulled",
        "What is pulled",
        (
            Column("source", "Source", width="mid"),
            Column("kind", "Kind", twin_only=True),
            Column("state", "State", width="wide"),
            Column("fresh_until", "Asked up to", help="What began before has been asked for; late rows may follow"),
            Column("complete_until", "Complete up to", help="As before, and late rows have had their time"),
            Column("records", "Records", "number", "Handed over so far; what is read again to be safe counts again"),
            Column("last_run", "Last run", width="tight"),
            Column("error", "Error", twin_only=True),
        ),
        tuple(rows),
        empty="No source is pulled. `halve sources add` adds one.",
        stacked=True,
    )


def _named(context: Context) -> list[sources.Source]:
    return sources.all_sources(context.deps.control)


def _last_run(at: CursorState, context: Context) -> Cell:
    return Cell(show.iso_moment(at.last_run_us), show.ago(at.last_run_us, context.now_us))
