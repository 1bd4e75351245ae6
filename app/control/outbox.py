"""Mails to send: one row a report, period, recipient and occasion; claimed before sending, never sent twice by design.

`queued -> sending -> sent | archived | failed`; a try that failed goes back to `queued` with a later `next_try_us`. A
claim is a lease: a sender that died leaves its row to the next one when the lease is over. Only a crash between the
server's acceptance and the commit of `sent` can repeat a mail, and it then carries the same Message-ID.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import sqlalchemy as sa

from app.control.tables import outbox
from app.core.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

State = Literal["queued", "sending", "sent", "archived", "failed"]

MINUTE_US: Final = 60_000_000
LEASE_US: Final = 10 * MINUTE_US
"""Longer than any sender may take with one mail: its time-outs are shorter."""
BACK_OFF_US: Final = (1 * MINUTE_US, 5 * MINUTE_US, 30 * MINUTE_US, 120 * MINUTE_US, 480 * MINUTE_US)
LATE_US: Final = 60 * MINUTE_US
SCHEDULED: Final = "schedule"


@dataclass(frozen=True, slots=True)
class Letter:
    """One mail to one recipient.

    Attributes:
        period: what the report is about, such as `2026-W47`.
        occasion: `schedule`, or the moment at which somebody asked for it.
        message_id: made when the row was made, so that every try carries the same one.
        due_us: when the schedule wanted it; None where it was asked for.
        next_try_us: not before this moment.
        lease_us: until when a sender holds it.
        done_us: when it was sent or archived.
        error: what went wrong in the last try.
    """

    id: int
    report: str
    period: str
    recipient: str
    occasion: str
    message_id: str
    state: State
    attempts: int
    created_us: int
    due_us: int | None
    next_try_us: int
    lease_us: int | None
    done_us: int | None
    subject: str | None
    error: str | None

    @property
    def is_late(self) -> bool:
        """Whether the schedule wanted it more than LATE_US before it was made."""
        return self.due_us is not None and self.created_us - self.due_us > LATE_US


def add(
    engine: Engine,
    recipients: Mapping[str, str],
    *,
    report: str,
    period: str,
    now_us: int,
    occasion: str = SCHEDULED,
    due_us: int | None = None,
) -> int:
    """Queue a mail for each recipient (address to Message-ID), all or none; how many were new.

    A mail that is there already stays as it is, whatever became of it.
    """
    try:
        with engine.begin() as connection:
            return queue(
                connection, recipients, report=report, period=period, now_us=now_us, occasion=occasion, due_us=due_us
            )
    except sa.exc.IntegrityError:
        return 0  # another process queued the same mails between the question and the answer


def queue(
    connection: sa.Connection,
    recipients: Mapping[str, str],
    *,
    report: str,
    period: str,
    now_us: int,
    occasion: str,
    due_us: int | None,
) -> int:
    """As `add`, inside a transaction of the caller: the mails stand or fall with what caused them."""
    same = (outbox.c.report == report, outbox.c.period == period, outbox.c.occasion == occasion)
    values = {
        "report": report,
        "period": period,
        "occasion": occasion,
        "state": "queued",
        "attempts": 0,
        "created_us": now_us,
        "due_us": due_us,
        "next_try_us": now_us,
    }
    known = set(connection.scalars(sa.select(outbox.c.recipient).where(*same)))
    new = [
        {**values, "recipient": recipient, "message_id": message_id}
        for recipient, message_id in recipients.items()
        if recipient not in known
    ]
    if new:
        connection.execute(sa.insert(outbox), new)
    return len(new)


def claim(engine: Engine, now_us: int) -> Letter | None:
    """The next mail that is due, held by this caller alone for LEASE_US; None where nothing is due."""
    due = _due(now_us)
    with engine.connect() as connection:
        waiting = connection.scalars(sa.select(outbox.c.id).where(due).order_by(outbox.c.id)).all()
    for number in waiting:
        with engine.begin() as connection:
            taken = connection.execute(
                sa.update(outbox)
                .where(outbox.c.id == number, due)
                .values(state="sending", lease_us=now_us + LEASE_US, attempts=outbox.c.attempts + 1)
            )
        if taken.rowcount:
            return one(engine, number)
    return None


def _due(now_us: int) -> sa.ColumnElement[bool]:
    return sa.or_(
        sa.and_(outbox.c.state == "queued", outbox.c.next_try_us <= now_us),
        sa.and_(outbox.c.state == "sending", outbox.c.lease_us <= now_us),
    )


def done(engine: Engine, letter: Letter, state: Literal["sent", "archived"], *, subject: str, now_us: int) -> None:
    """The mail is out, or lies in the archive because no mail server is set."""
    _finish(engine, letter, state=state, subject=subject, done_us=now_us, lease_us=None, error=None)


def missed(engine: Engine, letter: Letter, error: str, *, subject: str | None, final: bool, now_us: int) -> None:
    """A try failed: again after a pause that grows, or for good where `final` or every pause is used up."""
    over = final or letter.attempts > len(BACK_OFF_US)
    pause = 0 if over else BACK_OFF_US[letter.attempts - 1]
    _finish(
        engine,
        letter,
        state="failed" if over else "queued",
        subject=subject,
        next_try_us=now_us + pause,
        lease_us=None,
        error=error,
    )


def _finish(engine: Engine, letter: Letter, **values: object) -> None:
    """Only the holder of the claim writes its outcome: a lease that was lost meanwhile is somebody else's."""
    with engine.begin() as connection:
        connection.execute(
            sa.update(outbox)
            .where(
                outbox.c.id == letter.id,
                outbox.c.state == "sending",
                outbox.c.attempts == letter.attempts,
            )
            .values(**values)
        )


def waiting(engine: Engine, now_us: int) -> bool:
    """Whether a mail could be claimed now: a cheap look."""
    with engine.connect() as connection:
        return bool(connection.scalar(sa.select(sa.exists().where(_due(now_us)))))


def one(engine: Engine, number: int) -> Letter:
    """A mail by its number.

    Raises:
        NotFoundError: no such mail.
    """
    with engine.connect() as connection:
        row = connection.execute(sa.select(outbox).where(outbox.c.id == number)).one_or_none()
    if row is None:
        raise NotFoundError(f"No mail of the archive has the number {number}.")
    return Letter(*row)


def newest(engine: Engine, limit: int = 100) -> list[Letter]:
    """The archive, newest first."""
    with engine.connect() as connection:
        rows = connection.execute(sa.select(outbox).order_by(outbox.c.id.desc()).limit(limit)).all()
    return [Letter(*row) for row in rows]


def last_period(engine: Engine, report: str) -> str | None:
    """The newest period that the schedule has covered; periods sort as text."""
    query = sa.select(sa.func.max(outbox.c.period)).where(outbox.c.report == report, outbox.c.occasion == SCHEDULED)
    with engine.connect() as connection:
        found: str | None = connection.scalar(query)
    return found


def of_report(engine: Engine, report: str, occasions: Sequence[str]) -> list[Letter]:
    """The mails of a report on some occasions, oldest first."""
    query = sa.select(outbox).where(outbox.c.report == report, outbox.c.occasion.in_(occasions)).order_by(outbox.c.id)
    with engine.connect() as connection:
        return [Letter(*row) for row in connection.execute(query)]
