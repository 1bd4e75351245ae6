"""The parts of jobs, each with the items that one batch of the provider carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from app.control.batches.columns import decoded, encoded, values_of
from app.control.batches.item_store import open_items_of
from app.control.batches.records import CHUNK, NEVER_US, ItemState, Part
from app.control.tables import batch_items, batch_parts

if TYPE_CHECKING:
    from collections.abc import Sequence


def parts(engine: sa.Engine, job_id: str) -> list[Part]:
    """The parts of a job in the order of their numbers, earlier attempts included."""
    query = sa.select(batch_parts).where(batch_parts.c.job_id == job_id).order_by(batch_parts.c.number)
    with engine.connect() as connection:
        return [Part(**decoded(row)) for row in connection.execute(query)]


def part(engine: sa.Engine, known: Part) -> Part:
    """A part as it stands now."""
    query = sa.select(batch_parts).where(batch_parts.c.job_id == known.job_id, batch_parts.c.number == known.number)
    with engine.connect() as connection:
        return Part(**decoded(connection.execute(query).one()))


def update_part(engine: sa.Engine, part: Part, *, items_to: ItemState | None = None, **changes: Any) -> None:
    """Change columns of a part and, in the same transaction, the state of the items that it holds still open.

    `items_to="submitted"` counts one more attempt for each of them.
    """
    with engine.begin() as connection:
        connection.execute(
            sa.update(batch_parts)
            .where(batch_parts.c.job_id == part.job_id, batch_parts.c.number == part.number)
            .values(**encoded(changes))
        )
        if items_to is not None:
            counted = 1 if items_to == "submitted" else 0
            connection.execute(
                sa.update(batch_items)
                .where(open_items_of(part))
                .values(state=items_to, attempts=batch_items.c.attempts + counted)
            )


def settle_part(engine: sa.Engine, part: Part, *, open_to: ItemState | None = None, **changes: Any) -> None:
    """Settle a part; the items that it holds still open go to `open_to` in the same transaction."""
    with engine.begin() as connection:
        if open_to is not None:
            connection.execute(
                sa.update(batch_items)
                .where(open_items_of(part))
                .values(state=open_to, error_code=changes.get("error_code"), error=changes.get("error"))
            )
        connection.execute(
            sa.update(batch_parts)
            .where(batch_parts.c.job_id == part.job_id, batch_parts.c.number == part.number)
            .values(
                state="settled",
                next_us=NEVER_US,
                **encoded({name: value for name, value in changes.items() if name != "error_code"}),
            )
        )


def add_parts(engine: sa.Engine, job_id: str, split: Sequence[tuple[Part, Sequence[int]]]) -> None:
    """Store further parts, each with the `seq` of the items that move into it, all or nothing."""
    statement = (
        sa.update(batch_items)
        .where(batch_items.c.job_id == job_id, batch_items.c.seq == sa.bindparam("of_seq"))
        .values(part=sa.bindparam("to_part"))
    )
    with engine.begin() as connection:
        for part, moved in split:
            connection.execute(sa.insert(batch_parts).values(**values_of(part)))
            for start in range(0, len(moved), CHUNK):
                rows = [{"of_seq": seq, "to_part": part.number} for seq in moved[start : start + CHUNK]]
                connection.execute(statement, rows)
