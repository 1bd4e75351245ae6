"""Messages about settled jobs on their way to the callers."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from app.control.batches.records import Webhook
from app.control.tables import batch_webhooks


def due_webhooks(engine: sa.Engine, now_us: int) -> list[Webhook]:
    """Messages whose time has come."""
    query = sa.select(batch_webhooks).where(batch_webhooks.c.state == "waiting", batch_webhooks.c.next_us <= now_us)
    with engine.connect() as connection:
        return [Webhook(**row._mapping) for row in connection.execute(query)]  # noqa: SLF001  as above


def webhook_of(engine: sa.Engine, job_id: str) -> Webhook | None:
    """The message of a job, where one was asked for and the job is settled."""
    query = sa.select(batch_webhooks).where(batch_webhooks.c.job_id == job_id)
    with engine.connect() as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else Webhook(**row._mapping)  # noqa: SLF001  as above


def update_webhook(engine: sa.Engine, job_id: str, **changes: Any) -> None:
    """Change columns of a message."""
    with engine.begin() as connection:
        connection.execute(sa.update(batch_webhooks).where(batch_webhooks.c.job_id == job_id).values(**changes))
