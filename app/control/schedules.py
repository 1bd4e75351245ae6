"""When each job runs, as rows; runs that somebody asked for; the lease that makes one scheduler the leader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from app.control.tables import leases, schedules
from app.core.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Engine


@dataclass(frozen=True, slots=True)
class Schedule:
    """One job's schedule.

    Attributes:
        rule: text as `app.jobs.rule` reads it; its times are local to `zone`.
        chosen: somebody set it; otherwise it follows the default.
        anchor_us: intervals are counted from here.
        covered_us: everything due up to here was run or left out for good.
        asked_us: when somebody asked for a run that did not begin yet.
    """

    job: str
    rule: str
    zone: str
    enabled: bool
    chosen: bool
    anchor_us: int
    covered_us: int
    asked_us: int | None


def ensure(engine: Engine, defaults: Iterable[tuple[str, str]], *, zone: str, now_us: int) -> None:
    """Add the schedules of new jobs (job, rule), and bring those that nobody set to the default of today.

    A new schedule begins now: what would have been due before is not missed. One that follows a new default still
    catches up what was due while no process ran.
    """
    with engine.begin() as connection:
        known = {row.job: row for row in connection.execute(sa.select(schedules))}
        for job, rule in defaults:
            standing = known.get(job)
            if standing is None:
                connection.execute(
                    sa.insert(schedules).values(
                        job=job,
                        rule=rule,
                        zone=zone,
                        enabled=True,
                        chosen=False,
                        anchor_us=now_us,
                        covered_us=now_us,
                    )
                )
            elif not standing.chosen and (standing.rule, standing.zone) != (rule, zone):
                connection.execute(sa.update(schedules).where(schedules.c.job == job).values(rule=rule, zone=zone))


def all_schedules(engine: Engine) -> list[Schedule]:
    """Every schedule, by job."""
    with engine.connect() as connection:
        return [Schedule(*row) for row in connection.execute(sa.select(schedules).order_by(schedules.c.job))]


def change(engine: Engine, job: str, *, rule: str, zone: str, enabled: bool, now_us: int) -> None:
    """Set a schedule. It begins now: nothing from before the change is caught up.

    Raises:
        NotFoundError: no such job.
    """
    _update(engine, job, rule=rule, zone=zone, enabled=enabled, chosen=True, anchor_us=now_us, covered_us=now_us)


def ask(engine: Engine, job: str, now_us: int) -> None:
    """Ask for a run as soon as its turn comes; a second call before it began changes nothing.

    Raises:
        NotFoundError: no such job.
    """
    _update(engine, job, asked_us=sa.func.coalesce(schedules.c.asked_us, now_us))


def cover(engine: Engine, job: str, until_us: int) -> None:
    """Note that everything due up to an instant is dealt with."""
    with engine.begin() as connection:
        connection.execute(
            sa.update(schedules)
            .where(schedules.c.job == job, schedules.c.covered_us < until_us)
            .values(covered_us=until_us)
        )


def _update(engine: Engine, job: str, **values: object) -> None:
    with engine.begin() as connection:
        if connection.execute(sa.update(schedules).where(schedules.c.job == job).values(**values)).rowcount == 0:
            raise NotFoundError(f"No job is named {job[:64]!r}. The page Jobs lists them.")


def hold_lease(engine: Engine, name: str, holder: str, *, now_us: int, until_us: int) -> bool:
    """Take or renew a lease; whether this holder has it now. A lease that is over is free."""
    free = sa.or_(leases.c.holder == holder, leases.c.until_us <= now_us)
    try:
        with engine.begin() as connection:
            taken = connection.execute(
                sa.update(leases).where(leases.c.name == name, free).values(holder=holder, until_us=until_us)
            )
            if taken.rowcount:
                return True
            if connection.scalar(sa.select(leases.c.name).where(leases.c.name == name)) is not None:
                return False
            connection.execute(sa.insert(leases).values(name=name, holder=holder, until_us=until_us))
    except sa.exc.IntegrityError:
        return False
    return True


def release_lease(engine: Engine, name: str, holder: str) -> None:
    """Give a lease back, so that the next one need not wait for its end."""
    with engine.begin() as connection:
        connection.execute(sa.delete(leases).where(leases.c.name == name, leases.c.holder == holder))
