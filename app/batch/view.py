"""A job as people and machines see it: where it stands, how many items ended how, what went wrong most often."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from app.batch.folder import JobFolder
from app.control import batches
from app.core.errors import ConflictError, NotFoundError

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Engine

    from app.control.batches import Job, Part, State, Tally

Status = Literal["results_pending"]
QUOTA: Final = "waiting_for_quota"


@dataclass(frozen=True, slots=True)
class JobView:
    """A job with what is counted from its items.

    Attributes:
        status: the job's state, but `results_pending` while results wait at the provider that are not stored here.
        counts: submitted items = succeeded + failed + expired + cancelled + open.
        done: items that the provider says it has worked off, for progress; never taken as succeeded.
        to_retry: of the failed, those that will be sent again; they are open anew once they are.
        top_errors: (code, how many, one message), most first.
        results: the file of results, once the job is settled.
    """

    job: Job
    status: State | Status
    counts: Tally
    done: int
    to_retry: int
    top_errors: tuple[tuple[str, int, str], ...]
    parts: tuple[Part, ...]
    results: Path | None


def view(engine: Engine, folder: Path, job_id: str) -> JobView:
    """A job as it stands now; `folder` is `data/batches`.

    Raises:
        NotFoundError: no such job.
    """
    job = batches.job(engine, job_id)
    parts = batches.parts(engine, job_id)
    tally = batches.tally(engine, job_id)
    live = [part for part in parts if part.state != "settled"]
    pending = any(part.ended_us and not part.downloaded_us for part in live)
    ended = tally.total - tally.open
    # A part that waits for quota was refused as a whole: its items did not fail.
    to_retry = sum(
        part.items for part in live if part.attempt > 1 and part.submitted_us is None and part.state != QUOTA
    )
    return JobView(
        job=job,
        status="results_pending" if pending else job.state,
        counts=replace(tally, failed=tally.failed + to_retry, open=tally.open - to_retry),
        done=min(tally.total, ended + sum(part.done or 0 for part in live)),
        to_retry=to_retry,
        top_errors=tuple(batches.top_errors(engine, job_id)),
        parts=tuple(parts),
        results=JobFolder(folder / job_id).results if job.state == "settled" else None,
    )


def results_file(engine: Engine, folder: Path, job_id: str) -> Path:
    """The results of a settled job: one line an item in the caller's order.

    Raises:
        NotFoundError: no such job, or its results are no longer kept. ConflictError: it is not settled yet.
    """
    job = batches.job(engine, job_id)
    if job.state != "settled":
        raise ConflictError(f"The batch job {job_id} is {job.state}: its results are not complete yet. Wait for it.")
    path = JobFolder(folder / job_id).results
    if not path.is_file():
        raise NotFoundError(f"The results of the batch job {job_id} are no longer kept. What it cost is.")
    return path
