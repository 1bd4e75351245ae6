"""Batch jobs, their parts and their items: states in bulk, never one object an item.

The machine that moves them is `app.batch`; this module stores and reads. Bodies and results lie on disk beside it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from app.control.tables import batch_items, batch_jobs, batch_parts, batch_webhooks
from app.core.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

State = Literal["queued", "scheduled", "submitting", "submitted", "settling", "settled", "waiting_for_quota"]
Outcome = Literal["completed", "partly", "expired", "failed", "cancelled"]
ItemState = Literal["queued", "submitted", "succeeded", "failed", "expired", "cancelled"]

CHUNK: Final = 5_000
NEVER_US: Final = 9_000_000_000_000_000_000


@dataclass(frozen=True, slots=True)
class Job:
    """One file of work as its caller handed it in. Times are microseconds UTC; `tokens_est` counts prompt tokens."""

    id: str
    provider: str
    label: str
    zone: str
    created_us: int
    start_us: int
    state: State
    items: int
    bytes: int
    tokens_est: int
    max_attempts: int
    next_us: int
    base_url: str | None = None
    key_ref: str | None = None
    feature: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    needed_by_us: int | None = None
    outcome: Outcome | None = None
    error: str | None = None
    warning: str | None = None
    estimate: Mapping[str, Any] | None = None
    queued_tokens: int | None = None
    webhook_url: str | None = None
    webhook_key_ref: str | None = None
    cancel_us: int | None = None
    settled_us: int | None = None
    results_until_us: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a job that one batch of the provider carries."""

    job_id: str
    number: int
    endpoint: str
    attempt: int
    state: State
    items: int
    bytes: int
    tokens_est: int
    mark: str
    next_us: int
    model: str | None = None
    outcome: Outcome | None = None
    error: str | None = None
    batch_id: str | None = None
    sure: bool = True
    not_ours: Sequence[str] = ()
    intent_us: int | None = None
    looked_us: int | None = None
    submitted_us: int | None = None
    ended_us: int | None = None
    ended_reason: str | None = None
    expires_us: int | None = None
    downloaded_us: int | None = None
    settled_us: int | None = None
    done: int | None = None
    failures: int = 0


class Item(NamedTuple):
    """One request of a job: where its body lies in the job's file of items and where it stands."""

    seq: int
    caller_id: str
    part: int
    position: int
    state: ItemState
    attempts: int
    byte_from: int
    byte_size: int
    tokens_est: int
    http_status: int | None = None
    error_code: str | None = None
    error: str | None = None


class ItemOutcome(NamedTuple):
    """What came of one item in one attempt; `queued` asks for another attempt."""

    seq: int
    state: ItemState
    http_status: int | None = None
    error_code: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many items stand where; `total` is the sum of the others."""

    total: int
    succeeded: int
    failed: int
    expired: int
    cancelled: int
    open: int


@dataclass(frozen=True, slots=True)
class Webhook:
    """A message about a settled job on its way to the caller."""

    job_id: str
    body: str
    state: Literal["waiting", "sent", "failed"]
    attempts: int
    next_us: int
    sent_us: int | None = None
    error: str | None = None


_JSON: Final = ("tags", "estimate", "not_ours")


def add(engine: sa.Engine, job: Job, parts: Sequence[Part], items: Iterable[Item]) -> None:
    """Store a job with its parts and items, all or nothing."""
    with engine.begin() as connection:
        connection.execute(sa.insert(batch_jobs).values(**_values(job)))
        connection.execute(sa.insert(batch_parts), [_values(part) for part in parts])
        _insert_items(connection, job.id, items)


def _insert_items(connection: sa.Connection, job_id: str, items: Iterable[Item]) -> None:
    statement = sa.insert(batch_items)
    chunk: list[dict[str, Any]] = []
    for item in items:
        chunk.append({"job_id": job_id, **item._asdict()})
        if len(chunk) == CHUNK:
            connection.execute(statement, chunk)
            chunk = []
    if chunk:
        connection.execute(statement, chunk)


def _values(record: Job | Part) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in record.__dataclass_fields__}
    return _encoded(values)


def _encoded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Column values; what is a structure in Python is JSON text in the store."""
    encoded = dict(values)
    for name in _JSON:
        if encoded.get(name) is not None:
            value = encoded[name]
            encoded[name] = json.dumps(dict(value) if hasattr(value, "keys") else list(value), sort_keys=True)
    return encoded


def _decoded(row: sa.Row[Any]) -> dict[str, Any]:
    values = dict(row._mapping)  # noqa: SLF001  SQLAlchemy's public accessor of a row's columns
    for name in _JSON:
        if name in values:
            given = values[name]
            values[name] = (() if name == "not_ours" else None) if given is None else json.loads(given)
    return values


def job(engine: sa.Engine, job_id: str) -> Job:
    """One job.

    Raises:
        NotFoundError: no such job.
    """
    with engine.connect() as connection:
        row = connection.execute(sa.select(batch_jobs).where(batch_jobs.c.id == job_id)).one_or_none()
    if row is None:
        raise NotFoundError(f"No batch job is named {job_id!r}. `halve batch list` names them.")
    return Job(**_decoded(row))


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
        return [Job(**_decoded(row)) for row in connection.execute(query)]


def due(engine: sa.Engine, now_us: int) -> list[Job]:
    """Jobs that are not settled and have a step due, the longest waiting first."""
    query = (
        sa.select(batch_jobs)
        .where(batch_jobs.c.state != "settled", batch_jobs.c.next_us <= now_us)
        .order_by(batch_jobs.c.next_us, batch_jobs.c.id)
    )
    with engine.connect() as connection:
        return [Job(**_decoded(row)) for row in connection.execute(query)]


def parts(engine: sa.Engine, job_id: str) -> list[Part]:
    """The parts of a job in the order of their numbers, earlier attempts included."""
    query = sa.select(batch_parts).where(batch_parts.c.job_id == job_id).order_by(batch_parts.c.number)
    with engine.connect() as connection:
        return [Part(**_decoded(row)) for row in connection.execute(query)]


def part(engine: sa.Engine, known: Part) -> Part:
    """A part as it stands now."""
    query = sa.select(batch_parts).where(batch_parts.c.job_id == known.job_id, batch_parts.c.number == known.number)
    with engine.connect() as connection:
        return Part(**_decoded(connection.execute(query).one()))


def update_job(engine: sa.Engine, job_id: str, **changes: Any) -> None:
    """Change columns of a job."""
    with engine.begin() as connection:
        connection.execute(sa.update(batch_jobs).where(batch_jobs.c.id == job_id).values(**_encoded(changes)))


def update_part(engine: sa.Engine, part: Part, *, items_to: ItemState | None = None, **changes: Any) -> None:
    """Change columns of a part and, in the same transaction, the state of the items that it holds still open.

    `items_to="submitted"` counts one more attempt for each of them.
    """
    with engine.begin() as connection:
        connection.execute(
            sa.update(batch_parts)
            .where(batch_parts.c.job_id == part.job_id, batch_parts.c.number == part.number)
            .values(**_encoded(changes))
        )
        if items_to is not None:
            counted = 1 if items_to == "submitted" else 0
            connection.execute(
                sa.update(batch_items)
                .where(_open_items_of(part))
                .values(state=items_to, attempts=batch_items.c.attempts + counted)
            )


def _open_items_of(part: Part) -> sa.ColumnElement[bool]:
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


def settle_part(engine: sa.Engine, part: Part, *, open_to: ItemState | None = None, **changes: Any) -> None:
    """Settle a part; the items that it holds still open go to `open_to` in the same transaction."""
    with engine.begin() as connection:
        if open_to is not None:
            connection.execute(
                sa.update(batch_items)
                .where(_open_items_of(part))
                .values(state=open_to, error_code=changes.get("error_code"), error=changes.get("error"))
            )
        connection.execute(
            sa.update(batch_parts)
            .where(batch_parts.c.job_id == part.job_id, batch_parts.c.number == part.number)
            .values(
                state="settled",
                next_us=NEVER_US,
                **_encoded({name: value for name, value in changes.items() if name != "error_code"}),
            )
        )


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


def add_parts(engine: sa.Engine, job_id: str, split: Sequence[tuple[Part, Sequence[int]]]) -> None:
    """Store further parts, each with the `seq` of the items that move into it, all or nothing."""
    statement = (
        sa.update(batch_items)
        .where(batch_items.c.job_id == job_id, batch_items.c.seq == sa.bindparam("of_seq"))
        .values(part=sa.bindparam("to_part"))
    )
    with engine.begin() as connection:
        for part, moved in split:
            connection.execute(sa.insert(batch_parts).values(**_values(part)))
            for start in range(0, len(moved), CHUNK):
                rows = [{"of_seq": seq, "to_part": part.number} for seq in moved[start : start + CHUNK]]
                connection.execute(statement, rows)


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


def finish(engine: sa.Engine, job: Job, webhook: Webhook | None, **changes: Any) -> None:
    """Settle a job and, in the same transaction, put the message for its caller into the outbox."""
    with engine.begin() as connection:
        connection.execute(
            sa.update(batch_jobs)
            .where(batch_jobs.c.id == job.id)
            .values(state="settled", next_us=NEVER_US, **_encoded(changes))
        )
        if webhook is not None:
            connection.execute(
                sa.insert(batch_webhooks).values(
                    **{name: getattr(webhook, name) for name in webhook.__dataclass_fields__}
                )
            )


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
