"""The sources that applications push to: which key opens each, when something last came, and up to when it is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.control import api_keys
from app.web import cells
from app.web import format as show
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from app.analysis.coverage import SourceFreshness
    from app.analysis.intake import Intake
    from app.control.api_keys import ApiKey
    from app.web.page import Context


def stamp(context: Context) -> Hashable:
    """Changes whenever a key does; what came changes the store itself."""
    return tuple((key.id, key.revoked_us) for key in _keys(context))


def table(context: Context, sources: Sequence[SourceFreshness], taken: Mapping[str, Intake]) -> Table:
    """One row a living key that may push; empty where none was made."""
    here = {item.source: item for item in sources}
    rows = []
    for key in _keys(context):
        name = key.source or ""
        counts, item = taken.get(name), here.get(name)
        last_us = None if counts is None else counts.last_us
        rows.append(
            (
                cells.text(name),
                cells.text(key.name),
                Cell(
                    show.iso_moment(last_us),
                    "Nothing came yet" if last_us is None else show.ago(last_us, context.now_us),
                    tone="worse" if last_us is None else "",
                ),
                cells.moment(None if item is None else item.last_us, context.zone),
                cells.count(None if counts is None else counts.read),
                cells.count(None if counts is None else counts.rejected),
                cells.moment(key.created_us, context.zone),
            )
        )
    return Table(
        "pushed",
        "What is pushed",
        (
            Column("source", "Source", width="mid"),
            Column("key", "Key", width="mid"),
            Column("last_came", "Last came in", width="tight"),
            Column("complete_to", "Complete to"),
            Column("records", "Records", "number", "Spans, log records and lines; those that are no call count too"),
            Column("rejected", "Rejected", "number", "Records that could not be read"),
            Column("key_made", "Key made", twin_only=True),
        ),
        tuple(rows),
        empty="No key may push. `halve keys create NAME --scope ingest --source SOURCE` makes one.",
        stacked=True,
    )


def _keys(context: Context) -> list[ApiKey]:
    made = api_keys.all_keys(context.deps.control)
    living = [key for key in made if key.scope == "ingest" and key.revoked_us is None]
    return sorted(living, key=lambda key: (key.source or "", key.name))
