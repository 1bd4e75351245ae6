"""Jobs: stored with all they hold, found, changed, and ended with the message to their caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from app.control.batches.columns import decoded, encoded, values_of
from app.control.batches.item_store import insert_items
from app.control.batches.records import NEVER_US, Item, Job, Part, Webhook
from app.control.tables import batch_jobs, batch_parts, batch_webhooks
from app.core.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def add(engine: sa.Engine, job: Job, parts: Sequence[Part], items: Iterable[Item]) -> None:
    """Store a job with its parts and items, all or nothing."""
    with engine.begin() as connection:
        connection.execute(sa.insert(batch_jobs).values(**values_of(job)))
        connection.execute(sa.insert(batch_parts), [values_of(part) for part in parts])
        insert_items(connection, job.id, items)


def job(engine: sa.Engine, job_id: str) -> Job:
    """One job.

    Raises:
        NotFoundError: no such job.
    """
    with engine.connect() as connection:
        row = connection.execute(sa.select(batch_jobs).where(batch_jobs.c.id == job_id)).one_or_none()
    if row is None:
        raise NotFoundError(f"No batch job is named {job_id!r}. `halve batch list` names them.")
    return Job(**decoded(row))


def jobs(
    engine: sa.Engine, *, feature: str | None = None, since_us: int | None = None, limit: int | None = None
) -> list[Job]:
    """Jobs, newest first; `since_us` keeps those created or settled after it."""
    query = sa.select(batch_jobs).order_by(batch_jobs.c.created_us.desc(), batch_jobs.c.id)
    if feature is not None:
        query = query.where(batch_jobs.c.feature == feature)
    if since_us is not None:
        query = query.where(sa.or_(batch_jobs.c.created_us >= since_us, batch_jobs.c.settled_us >= since_us))
    if limit is not None:
        query = query.limit(limit)
    with engine.connect() as connection:
        return [Job(**decoded(row)) for row in connection.execute(query)]


def due(engine: sa.Engine, now_us: int) -> list[Job]:
    """Jobs that are not settled and have a step due, the longest waiting first."""
    query = (
        sa.select(batch_jobs)
        .where(batch_jobs.c.state != "settled", batch_jobs.c.next_us <= now_us)
        .order_by(batch_jobs.c.next_us, batch_jobs.c.id)
    )
    with engine.connect() as connection:
        return [Job(**decoded(row)) for row in connection.execute(query)]


def update_job(engine: sa.Engine, job_id: str, **changes: Any) -> None:
    """Change columns of a job."""
    with engine.begin() as connection:
        connection.execute(sa.update(batch_jobs).where(batch_jobs.c.id == job_id).values(**encoded(changes)))


def finish(engine: sa.Engine, job: Job, webhook: Webhook | None, **changes: Any) -> None:
    """Settle a job and, in the same transaction, put the message for its caller into the outbox."""
    with engine.begin() as connection:
        connection.execute(
            sa.update(batch_jobs)
            .where(batch_jobs.c.id == job.id)
            .values(state="settled", next_us=NEVER_US, **encoded(changes))
        )
        if webhook is not None:
            connection.execute(
                sa.insert(batch_webhooks).values(
                    **{name: getattr(webhook, name) for name in webhook.__dataclass_fields__}
                )
            )
