"""Findings and their life: open, in progress, done, dismissed; every change leaves an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import sqlalchemy as sa

from app.control.tables import finding_events, findings
from app.core.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

Status = Literal["open", "in_progress", "done", "dismissed"]
STATUSES: Final = ("open", "in_progress", "done", "dismissed")


@dataclass(frozen=True, slots=True)
class FindingState:
    """What people decided about a finding. `until_us` ends a dismissal by itself."""

    fingerprint: str
    lever: str
    scope: str
    status: Status
    reason: str | None
    until_us: int | None
    owner: str | None
    first_seen_us: int
    last_seen_us: int


@dataclass(frozen=True, slots=True)
class FindingEvent:
    """One line of a finding's history: who (`analysis` or a person) did what, when (microseconds UTC)."""

    fingerprint: str
    at_us: int
    actor: str
    event: str
    detail: str | None


def note_seen(engine: sa.Engine, seen: Iterable[tuple[str, str, str]], now_us: int) -> None:
    """Record that an analysis found these (fingerprint, lever, scope); known ones keep their status."""
    rows = {fingerprint: (lever, scope) for fingerprint, lever, scope in seen}
    with engine.begin() as connection:
        known = set(connection.scalars(sa.select(findings.c.fingerprint)))
        again = [key for key in rows if key in known]
        new = [key for key in rows if key not in known]
        if again:
            connection.execute(
                sa.update(findings).where(findings.c.fingerprint == sa.bindparam("key")).values(last_seen_us=now_us),
                [{"key": key} for key in again],
            )
        if new:
            connection.execute(
                sa.insert(findings),
                [
                    {
                        "fingerprint": key,
                        "lever": rows[key][0],
                        "scope": rows[key][1],
                        "status": "open",
                        "first_seen_us": now_us,
                        "last_seen_us": now_us,
                    }
                    for key in new
                ],
            )
            connection.execute(
                sa.insert(finding_events),
                [{"fingerprint": key, "at_us": now_us, "actor": "analysis", "event": "found"} for key in new],
            )


def states(engine: sa.Engine, now_us: int) -> dict[str, FindingState]:
    """All findings ever seen, by fingerprint; a dismissal whose time is over reads as open."""
    with engine.connect() as connection:
        rows = connection.execute(sa.select(findings)).all()
    return {row.fingerprint: _state(row, now_us) for row in rows}


def _state(row: sa.Row[tuple[object, ...]], now_us: int) -> FindingState:
    values = dict(row._mapping)  # noqa: SLF001  SQLAlchemy's public accessor of a row's columns
    if values["status"] == "dismissed" and values["until_us"] is not None and values["until_us"] <= now_us:
        values |= {"status": "open", "reason": None, "until_us": None}
    return FindingState(**values)


def set_status(
    engine: sa.Engine,
    fingerprint: str,
    status: Status,
    *,
    now_us: int,
    actor: str = "user",
    reason: str | None = None,
    until_us: int | None = None,
) -> None:
    """Move a finding to a status. A dismissal needs a reason and may end at `until_us`.

    Raises:
        UsageError: an unknown status, or a dismissal without a reason.
        NotFoundError: no such finding.
    """
    if status not in STATUSES:
        raise UsageError(f"{status!r} is no status of a finding; use one of {', '.join(STATUSES)}.")
    if status == "dismissed" and not (reason or "").strip():
        raise UsageError("Say why the finding is dismissed: the reason is kept with it.")
    dismissed = status == "dismissed"
    with engine.begin() as connection:
        changed = connection.execute(
            sa.update(findings)
            .where(findings.c.fingerprint == fingerprint)
            .values(status=status, reason=reason if dismissed else None, until_us=until_us if dismissed else None)
        )
        if changed.rowcount == 0:
            raise NotFoundError(f"No finding has the fingerprint {fingerprint!r}.")
        _record(connection, fingerprint, now_us, actor, status, reason)


def set_owner(engine: sa.Engine, fingerprint: str, owner: str | None, *, now_us: int, actor: str = "user") -> None:
    """Name who takes care of a finding.

    Raises:
        NotFoundError: no such finding.
    """
    with engine.begin() as connection:
        changed = connection.execute(
            sa.update(findings).where(findings.c.fingerprint == fingerprint).values(owner=owner)
        )
        if changed.rowcount == 0:
            raise NotFoundError(f"No finding has the fingerprint {fingerprint!r}.")
        _record(connection, fingerprint, now_us, actor, "owner", owner)


def _record(
    connection: sa.Connection, fingerprint: str, now_us: int, actor: str, event: str, detail: str | None
) -> None:
    connection.execute(
        sa.insert(finding_events).values(fingerprint=fingerprint, at_us=now_us, actor=actor, event=event, detail=detail)
    )


def events(engine: sa.Engine, fingerprint: str) -> list[FindingEvent]:
    """What happened to a finding, oldest first."""
    columns = finding_events.c
    query = (
        sa.select(columns.fingerprint, columns.at_us, columns.actor, columns.event, columns.detail)
        .where(columns.fingerprint == fingerprint)
        .order_by(columns.id)
    )
    with engine.connect() as connection:
        return [FindingEvent(*row) for row in connection.execute(query)]
