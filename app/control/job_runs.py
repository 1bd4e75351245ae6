"""The log of runs, and the claim: one row a (job, period, attempt), inserted before the work begins.

`running -> ok | failed`; a run whose lease is over belonged to a process that died: it becomes `interrupted`, and one
more attempt takes its place in the same transaction. A failed one is followed by further attempts, claimed like the
first. Only the holder of a run writes its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import sqlalchemy as sa

from app.control.tables import job_runs, schedules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

State = Literal["running", "ok", "failed", "interrupted"]
Cause = Literal["clock", "asked"]

INTERRUPTED: Final = "The process that ran it ended before the run did."


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run.

    Attributes:
        period: the local day of a calendar schedule, else an instant; unique with job and attempt.
        scheduled_us: when it was due; `first_us` when the first one that it catches up was.
        missed: how many earlier occurrences it stands for.
        lease_us: until when it counts as running without a sign of life.
        lines: what it said.
    """

    id: int
    job: str
    period: str
    attempt: int
    cause: Cause
    scheduled_us: int
    first_us: int
    missed: int
    late: bool
    state: State
    holder: str
    lease_us: int
    started_us: int
    ended_us: int | None
    error: str | None
    lines: str


def claim(
    engine: Engine,
    *,
    job: str,
    period: str,
    cause: Cause,
    scheduled_us: int,
    first_us: int,
    missed: int,
    late: bool,
    holder: str,
    now_us: int,
    lease_us: int,
) -> JobRun | None:
    """Claim a run and mark its schedule as covered, or its request as taken; None where somebody has it already."""
    values = {
        "job": job,
        "period": period,
        "attempt": 1,
        "cause": cause,
        "scheduled_us": scheduled_us,
        "first_us": first_us,
        "missed": missed,
        "late": late,
        "holder": holder,
        "lease_us": lease_us,
    }
    dealt_with = (
        {"asked_us": None}
        if cause == "asked"
        else {
            "covered_us": sa.case((schedules.c.covered_us < scheduled_us, scheduled_us), else_=schedules.c.covered_us)
        }
    )
    try:
        with engine.begin() as connection:
            run = _insert(connection, values, now_us)
            connection.execute(sa.update(schedules).where(schedules.c.job == job).values(**dealt_with))
    except sa.exc.IntegrityError:
        return None
    return run


def periods_done(engine: Engine, job: str, periods: Sequence[str]) -> set[str]:
    """Those of the periods that a run was claimed for."""
    query = sa.select(job_runs.c.period).where(job_runs.c.job == job, job_runs.c.period.in_(periods))
    with engine.connect() as connection:
        return set(connection.scalars(query))


def take_over(engine: Engine, dead: JobRun, *, holder: str, now_us: int, lease_us: int) -> JobRun | None:
    """Mark a run as interrupted and claim its next attempt; None where somebody else did, or it lives after all."""
    try:
        with engine.begin() as connection:
            if not _interrupt(connection, dead, now_us):
                return None
            return _insert(connection, _next_attempt(dead, holder, lease_us, late=True), now_us)
    except sa.exc.IntegrityError:
        return None


def try_again(engine: Engine, failed: JobRun, *, holder: str, now_us: int, lease_us: int, late: bool) -> JobRun | None:
    """Claim the next attempt of a run that failed; None where somebody else did."""
    try:
        with engine.begin() as connection:
            return _insert(connection, _next_attempt(failed, holder, lease_us, late=late), now_us)
    except sa.exc.IntegrityError:
        return None


def _next_attempt(run: JobRun, holder: str, lease_us: int, *, late: bool) -> dict[str, object]:
    return {
        "job": run.job,
        "period": run.period,
        "attempt": run.attempt + 1,
        "cause": run.cause,
        "scheduled_us": run.scheduled_us,
        "first_us": run.first_us,
        "missed": run.missed,
        "late": late,
        "holder": holder,
        "lease_us": lease_us,
    }


def interruptions(engine: Engine, job: str, period: str) -> int:
    """How many attempts of a run ended with their process."""
    query = sa.select(sa.func.count()).where(
        job_runs.c.job == job, job_runs.c.period == period, job_runs.c.state == "interrupted"
    )
    with engine.connect() as connection:
        return connection.scalar(query) or 0


def interrupt(engine: Engine, dead: JobRun, now_us: int) -> None:
    """Mark a run whose process died, without another attempt."""
    with engine.begin() as connection:
        _interrupt(connection, dead, now_us)


def _interrupt(connection: sa.Connection, dead: JobRun, now_us: int) -> bool:
    changed = connection.execute(
        sa.update(job_runs)
        .where(job_runs.c.id == dead.id, job_runs.c.state == "running", job_runs.c.lease_us <= now_us)
        .values(state="interrupted", ended_us=now_us, error=INTERRUPTED)
    )
    return changed.rowcount > 0


def _insert(connection: sa.Connection, values: Mapping[str, object], now_us: int) -> JobRun:
    made = sa.insert(job_runs).values(**values, state="running", started_us=now_us, lines="").returning(job_runs)
    return JobRun(*connection.execute(made).one())


def abandoned(engine: Engine, now_us: int) -> list[JobRun]:
    """Runs without a sign of life, oldest first."""
    query = (
        sa.select(job_runs).where(job_runs.c.state == "running", job_runs.c.lease_us <= now_us).order_by(job_runs.c.id)
    )
    with engine.connect() as connection:
        return [JobRun(*row) for row in connection.execute(query)]


def renew(engine: Engine, number: int, holder: str, *, lease_us: int, lines: str) -> None:
    """A sign of life, and what the run has said so far."""
    with engine.begin() as connection:
        connection.execute(
            sa.update(job_runs)
            .where(job_runs.c.id == number, job_runs.c.holder == holder, job_runs.c.state == "running")
            .values(lease_us=lease_us, lines=lines)
        )


def finish(
    engine: Engine,
    number: int,
    holder: str,
    *,
    state: Literal["ok", "failed"],
    error: str | None,
    lines: str,
    now_us: int,
) -> bool:
    """Note the end of a run; False where it was taken for dead meanwhile and is somebody else's."""
    with engine.begin() as connection:
        changed = connection.execute(
            sa.update(job_runs)
            .where(job_runs.c.id == number, job_runs.c.holder == holder, job_runs.c.state == "running")
            .values(state=state, error=error, lines=lines, ended_us=now_us)
        )
    return changed.rowcount > 0


def newest(engine: Engine, *, job: str | None = None, limit: int = 100) -> list[JobRun]:
    """The newest runs, of one job or of all, newest first."""
    query = sa.select(job_runs).order_by(job_runs.c.id.desc()).limit(limit)
    if job is not None:
        query = query.where(job_runs.c.job == job)
    with engine.connect() as connection:
        return [JobRun(*row) for row in connection.execute(query)]


def newest_of_each(engine: Engine, limit: int) -> list[JobRun]:
    """The newest runs of every job, up to `limit` of each, newest first."""
    place = sa.func.row_number().over(partition_by=job_runs.c.job, order_by=job_runs.c.id.desc())
    ranked = sa.select(job_runs.c.id, place.label("place")).subquery()
    chosen = sa.select(ranked.c.id).where(ranked.c.place <= limit)
    query = sa.select(job_runs).where(job_runs.c.id.in_(chosen)).order_by(job_runs.c.id.desc())
    with engine.connect() as connection:
        return [JobRun(*row) for row in connection.execute(query)]


def last_of_each(engine: Engine) -> dict[str, JobRun]:
    """The newest run of each job."""
    newest_ids = sa.select(sa.func.max(job_runs.c.id)).group_by(job_runs.c.job)
    with engine.connect() as connection:
        rows = connection.execute(sa.select(job_runs).where(job_runs.c.id.in_(newest_ids)))
        return {row.job: JobRun(*row) for row in rows}


def not_made_good(engine: Engine) -> dict[str, JobRun]:
    """By job the newest run of the clock where it failed and nothing that ran since did the work."""
    newest_ids = sa.select(sa.func.max(job_runs.c.id)).where(job_runs.c.cause == "clock").group_by(job_runs.c.job)
    later = job_runs.alias()
    done = sa.exists().where(later.c.job == job_runs.c.job, later.c.id > job_runs.c.id, later.c.state == "ok")
    query = sa.select(job_runs).where(job_runs.c.state == "failed", job_runs.c.id.in_(newest_ids), ~done)
    with engine.connect() as connection:
        return {row.job: JobRun(*row) for row in connection.execute(query)}


def prune(engine: Engine, *, before_us: int, keep: int) -> int:
    """Forget ended runs from before an instant, and those beyond the newest `keep` of a job; returns how many.

    The newest run of each job always stays.
    """
    place = sa.func.row_number().over(partition_by=job_runs.c.job, order_by=job_runs.c.id.desc())
    ranked = sa.select(job_runs.c.id, job_runs.c.state, job_runs.c.started_us, place.label("place")).subquery()
    old = sa.select(ranked.c.id).where(
        ranked.c.state != "running",
        ranked.c.place > 1,
        sa.or_(ranked.c.place > keep, ranked.c.started_us < before_us),
    )
    with engine.begin() as connection:
        return connection.execute(sa.delete(job_runs).where(job_runs.c.id.in_(old))).rowcount
