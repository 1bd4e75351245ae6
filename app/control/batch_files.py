"""Files handed in for batches, and the batches that the API made of them: what only its callers ask for.

The bytes lie on disk; the work itself is a job of `app.control.batches` with the same id.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import sqlalchemy as sa

from app.control.tables import api_batches, batch_files
from app.core.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Purpose = Literal["batch", "batch_output"]
Order = Literal["asc", "desc"]


@dataclass(frozen=True, slots=True)
class BatchFile:
    """One file: requests of a caller (`batch`) or answers for one (`batch_output`). Times are microseconds UTC."""

    id: str
    purpose: Purpose
    name: str
    bytes: int
    created_us: int
    expires_us: int


@dataclass(frozen=True, slots=True)
class ApiBatch:
    """A batch as its caller asked for it. With `errors` the file was refused and no job has this id."""

    id: str
    input_file_id: str
    endpoint: str
    completion_window: str
    created_us: int
    notes: Mapping[str, str] | None = None
    errors: Sequence[Mapping[str, Any]] | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None


_JSON: Final = ("notes", "errors")


def add_file(engine: sa.Engine, file: BatchFile) -> None:
    """Store what is known of a file whose bytes are safe on disk; the same file again changes nothing."""
    values = {name: getattr(file, name) for name in file.__dataclass_fields__}
    with engine.begin() as connection:
        known = sa.select(batch_files.c.id).where(batch_files.c.id == file.id)
        if connection.scalar(known) is None:
            connection.execute(sa.insert(batch_files).values(**values))


def file(engine: sa.Engine, file_id: str) -> BatchFile:
    """One file.

    Raises:
        NotFoundError: no such file.
    """
    with engine.connect() as connection:
        row = connection.execute(sa.select(batch_files).where(batch_files.c.id == file_id)).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no file {file_id[:80]!r}. It was never here, was deleted, or has expired.")
    return BatchFile(**row._mapping)  # noqa: SLF001  SQLAlchemy's public accessor of a row's columns


def files(
    engine: sa.Engine, *, purpose: str | None, after: str | None, limit: int, order: Order = "desc"
) -> list[BatchFile]:
    """Files by the time they came, at most `limit` of those that follow the file `after`."""
    query = _following(batch_files, engine, after, order)
    if purpose is not None:
        query = query.where(batch_files.c.purpose == purpose)
    with engine.connect() as connection:
        return [BatchFile(**row._mapping) for row in connection.execute(query.limit(limit))]  # noqa: SLF001  as above


def remove_file(engine: sa.Engine, file_id: str) -> None:
    """Forget a file; an unknown one is no error."""
    with engine.begin() as connection:
        connection.execute(sa.delete(batch_files).where(batch_files.c.id == file_id))


def expired(engine: sa.Engine, now_us: int) -> list[str]:
    """Files whose time is over."""
    with engine.connect() as connection:
        return list(connection.scalars(sa.select(batch_files.c.id).where(batch_files.c.expires_us <= now_us)))


def add_batch(engine: sa.Engine, batch: ApiBatch) -> None:
    """Store a batch as it was asked for."""
    values = {name: getattr(batch, name) for name in batch.__dataclass_fields__}
    for name in _JSON:
        values[name] = None if values[name] is None else json.dumps(values[name])
    with engine.begin() as connection:
        connection.execute(sa.insert(api_batches).values(**values))


def set_results(engine: sa.Engine, batch_id: str, output_file_id: str | None, error_file_id: str | None) -> None:
    """Name the files that hold the answers of a batch."""
    with engine.begin() as connection:
        connection.execute(
            sa.update(api_batches)
            .where(api_batches.c.id == batch_id)
            .values(output_file_id=output_file_id, error_file_id=error_file_id)
        )


def batch(engine: sa.Engine, batch_id: str) -> ApiBatch:
    """One batch.

    Raises:
        NotFoundError: the API made no such batch.
    """
    with engine.connect() as connection:
        row = connection.execute(sa.select(api_batches).where(api_batches.c.id == batch_id)).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no batch {batch_id[:80]!r}.")
    return _batch(row)


def batches(engine: sa.Engine, *, after: str | None, limit: int) -> list[ApiBatch]:
    """Batches of the API, the newest first, at most `limit` of those that follow the batch `after`."""
    query = _following(api_batches, engine, after, "desc")
    with engine.connect() as connection:
        return [_batch(row) for row in connection.execute(query.limit(limit))]


def _batch(row: sa.Row[Any]) -> ApiBatch:
    values = dict(row._mapping)  # noqa: SLF001  as above
    for name in _JSON:
        values[name] = None if values[name] is None else json.loads(values[name])
    return ApiBatch(**values)


def _following(table: sa.Table, engine: sa.Engine, after: str | None, order: Order) -> sa.Select[Any]:
    """Rows of a table by (created_us, id) in an order, from behind the row `after` on; none behind an unknown one."""
    place = sa.tuple_(table.c.created_us, table.c.id)
    query = sa.select(table).order_by(
        *(c.asc() if order == "asc" else c.desc() for c in (table.c.created_us, table.c.id))
    )
    if after is None:
        return query
    with engine.connect() as connection:
        at = connection.scalar(sa.select(table.c.created_us).where(table.c.id == after))
    if at is None:
        return query.where(sa.false())
    here = sa.tuple_(sa.literal(at), sa.literal(after))
    return query.where(place > here if order == "asc" else place < here)
