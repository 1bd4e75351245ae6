"""What a provider's account holds of us: batches, parts of unknown fate, queued tokens."""

from __future__ import annotations

import sqlalchemy as sa

from app.control.tables import batch_jobs, batch_parts


def known_batches(engine: sa.Engine, provider: str, base_url: str | None) -> frozenset[str]:
    """Every batch of an account that belongs to one of our parts."""
    query = (
        sa.select(batch_parts.c.batch_id)
        .join(batch_jobs, batch_jobs.c.id == batch_parts.c.job_id)
        .where(_account(provider, base_url), batch_parts.c.batch_id.is_not(None))
    )
    with engine.connect() as connection:
        return frozenset(connection.scalars(query))


def unresolved(engine: sa.Engine, provider: str, base_url: str | None) -> list[tuple[str, int]]:
    """Parts (job, number) of an account of which it is not known yet whether the provider took them."""
    query = (
        sa.select(batch_parts.c.job_id, batch_parts.c.number)
        .join(batch_jobs, batch_jobs.c.id == batch_parts.c.job_id)
        .where(_account(provider, base_url), batch_parts.c.state == "submitting")
    )
    with engine.connect() as connection:
        return [(row[0], row[1]) for row in connection.execute(query)]


def tokens_in_queue(engine: sa.Engine, provider: str, base_url: str | None, model: str | None) -> int:
    """Estimated prompt tokens of a model that the provider holds of us now."""
    query = (
        sa.select(sa.func.coalesce(sa.func.sum(batch_parts.c.tokens_est), 0))
        .join(batch_jobs, batch_jobs.c.id == batch_parts.c.job_id)
        .where(
            _account(provider, base_url),
            batch_parts.c.model.is_(None) if model is None else batch_parts.c.model == model,
            batch_parts.c.state.in_(("submitting", "submitted")),
        )
    )
    with engine.connect() as connection:
        return int(connection.scalar(query) or 0)


def _account(provider: str, base_url: str | None) -> sa.ColumnElement[bool]:
    address = batch_jobs.c.base_url
    return sa.and_(batch_jobs.c.provider == provider, address.is_(None) if base_url is None else address == base_url)
