"""The items of jobs, in bulk: inserted, read and settled in chunks, and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from app.control.batches.records import CHUNK, Item, ItemOutcome, Part, Tally
from app.control.tables import batch_items, batch_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def insert_items(connection: sa.Connection, job_id: str, items: Iterable[Item]) -> None:
    """Store the items of a new job, in chunks of one transaction."""
    statement = sa.insert(batch_items)
    chunk: list[dict[str, Any]] = []
    for item in items:
        chunk.append({"job_id": job_id, **item._asdict()})
        if len(chunk) == CHUNK:
            connection.execute(statement, chunk)
            chunk = []
    if chunk:
        connection.execute(statement, chunk)


def open_items_of(part: Part) -> sa.ColumnElement[bool]:
    """The condition: items of a part of which nothing has come yet."""
    return sa.and_(
        batch_items.c.job_id == part.job_id,
        batch_items.c.part == part.number,
        batch_items.c.state.in_(("queued", "submitted")),
    )


def record_outcomes(engine: sa.Engine, job_id: str, outcomes: Iterable[ItemOutcome]) -> None:
    """Store what came of items, in chunks; the same again changes nothing."""
    statement = (
        sa.update(batch_items)
        .where(batch_items.c.job_id == job_id, batch_items.c.seq == sa.bindparam("of_seq"))
        .values(
            state=sa.bindparam("to_state"),
            http_status=sa.bindparam("to_http"),
            error_code=sa.bindparam("to_code"),
            error=sa.bindparam("to_error"),
        )
    )
    chunk: list[dict[str, Any]] = []

    def flush() -> None:
        if chunk:
            with engine.begin() as connection:
                connection.execute(statement, chunk)
            chunk.clear()

    for one in outcomes:
        chunk.append(
            {
                "of_seq": one.seq,
                "to_state": one.state,
                "to_http": one.http_status,
                "to_code": None if one.error_code is None else one.error_code[:200],
                "to_error": None if one.error is None else one.error[:500],
            }
        )
        if len(chunk) == CHUNK:
            flush()
    flush()


def waiting_items(engine: sa.Engine, job_id: str) -> list[Item]:
    """Items that ask for another attempt: queued, in a part that is settled. In the order of sending."""
    query = (
        sa.select(*_item_columns())
        .join(
            batch_parts,
            sa.and_(batch_parts.c.job_id == batch_items.c.job_id, batch_parts.c.number == batch_items.c.part),
        )
        .where(batch_items.c.job_id == job_id, batch_items.c.state == "queued", batch_parts.c.state == "settled")
        .order_by(batch_items.c.position)
    )
    with engine.connect() as connection:
        return [Item(*row) for row in connection.execute(query)]


def items_of_part(engine: sa.Engine, part: Part) -> Iterator[Item]:
    """The items that a part holds, in the order of sending, read in chunks."""
    yield from _items(engine, part.job_id, batch_items.c.position, batch_items.c.part == part.number)


def all_items(engine: sa.Engine, job_id: str) -> Iterator[Item]:
    """Every item of a job in the caller's order, read in chunks."""
    yield from _items(engine, job_id, batch_items.c.seq)


def _items(engine: sa.Engine, job_id: str, order: sa.Column[Any], *where: sa.ColumnElement[bool]) -> Iterator[Item]:
    last = -1
    while True:
        query = (
            sa.select(*_item_columns())
            .where(batch_items.c.job_id == job_id, order > last, *where)
            .order_by(order)
            .limit(CHUNK)
        )
        with engine.connect() as connection:
            rows = [Item(*row) for row in connection.execute(query)]
        yield from rows
        if len(rows) < CHUNK:
            return
        last = getattr(rows[-1], order.name)


def _item_columns() -> list[sa.Column[Any]]:
    return [batch_items.c[name] for name in Item._fields]


def tally(engine: sa.Engine, job_id: str) -> Tally:
    """How many items of a job stand where."""
    query = sa.select(batch_items.c.state, sa.func.count()).where(batch_items.c.job_id == job_id).group_by("state")
    with engine.connect() as connection:
        counts: dict[str, int] = {row[0]: row[1] for row in connection.execute(query)}
    ended = {name: counts.get(name, 0) for name in ("succeeded", "failed", "expired", "cancelled")}
    total = sum(counts.values())
    return Tally(total=total, open=total - sum(ended.values()), **ended)


def top_errors(engine: sa.Engine, job_id: str, limit: int = 5) -> list[tuple[str, int, str]]:
    """The commonest errors of items that ended badly: (code, how many, one message), most first."""
    count = sa.func.count().label("n")
    code = sa.func.coalesce(batch_items.c.error_code, batch_items.c.state).label("code")
    query = (
        sa.select(code, count, sa.func.coalesce(sa.func.min(batch_items.c.error), ""))
        .where(batch_items.c.job_id == job_id, batch_items.c.state.in_(("failed", "expired", "cancelled")))
        .group_by(code)
        .order_by(count.desc(), code)
        .limit(limit)
    )
    with engine.connect() as connection:
        return [(row[0], row[1], row[2]) for row in connection.execute(query)]
