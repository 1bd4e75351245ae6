"""One bounded step of every batch job that is due. Run again and again, by the service or by hand, it never repeats
work that is done: each step begins from what is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.batch import settlement, submission, webhook
from app.batch.finishing import finish
from app.batch.folder import alone
from app.batch.intake import split_again
from app.batch.order import shown
from app.batch.pauses import pause_us
from app.batch.provider import DAY_US, BusyError, RefusedError
from app.batch.providers import provider_named
from app.batch.states import UNSENT, of_job
from app.control import batches
from app.core.errors import HalveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.batch.desk import Desk
    from app.batch.provider import Connection, Provider
    from app.control.batches import Job, Part

ACCOUNT_PAUSE_US: Final = 300_000_000
LARGE: Final = 5_000
"""Items of a part whose results are enough for one step."""
WARN_BEFORE_US: Final = 3 * DAY_US
WARN_AFTER_FAILURES: Final = 3


@dataclass(frozen=True, slots=True)
class Advanced:
    """What one call did. `busy`: another process or thread was at it, nothing was done here."""

    jobs: int = 0
    settled: int = 0
    webhooks: int = 0
    busy: bool = False
    errors: tuple[str, ...] = ()


def advance(desk: Desk) -> Advanced:
    """Take every job that is due one step further, and send the webhooks that are due."""
    with alone(desk.folder) as mine:
        if not mine:
            return Advanced(busy=True)
        due = batches.due(desk.control, desk.now_us())
        errors = []
        settled = 0
        for job in due:
            try:
                settled += _advance_job(desk, job)
            except HalveError as error:
                # One job's trouble (its key is missing, its disk is full) is shown with it and holds up no other.
                errors.append(f"{job.label}: {error}")
                batches.update_job(desk.control, job.id, error=str(error), next_us=desk.now_us() + ACCOUNT_PAUSE_US)
        return Advanced(len(due), settled, webhook.send_due(desk), errors=tuple(errors))


def cancel(desk: Desk, job_id: str) -> Job:
    """Ask for a job to stop: what is not sent never will be, what is sent is cancelled at the provider and settled.

    Raises:
        NotFoundError: no such job.
    """
    job = batches.job(desk.control, job_id)
    if job.state != "settled" and job.cancel_us is None:
        now_us = desk.now_us()
        batches.update_job(desk.control, job_id, cancel_us=now_us, next_us=now_us)
    return batches.job(desk.control, job_id)


def _advance_job(desk: Desk, job: Job) -> bool:
    """One step; True where the job is settled now."""
    provider = provider_named(job.provider)
    if job.cancel_us is not None:
        _drop_unsent(desk, job)
    _plan_retries(desk, job)
    now_us = desk.now_us()
    parts = batches.parts(desk.control, job.id)
    live = [part for part in parts if part.state != "settled"]
    due = [part for part in live if part.next_us <= now_us or (job.cancel_us is not None and part.state == "submitted")]
    if due:
        with provider.connect(desk.account(job)) as connection:
            for part in due:
                _step(desk, provider, connection, batches.job(desk.control, job.id), part)
                if part.items >= LARGE and batches.part(desk.control, part).state == "settled":
                    # Its requests are on their way into the warehouse; the other parts follow in the next step.
                    break
        _plan_retries(desk, batches.job(desk.control, job.id))
    return _conclude(desk, provider, batches.job(desk.control, job.id))


def _step(desk: Desk, provider: Provider, connection: Connection, job: Job, part: Part) -> None:
    try:
        if part.state in UNSENT:
            submission.send(desk, provider, connection, job, part)
        elif part.state == "submitting":
            submission.resolve(desk, provider, connection, job, part)
        elif part.state == "submitted":
            settlement.poll(desk, provider, connection, job, part)
        else:
            settlement.settle(desk, provider, connection, job, part)
    except settlement.RETRIED as error:
        _try_later(desk, provider, job, part, error)


def _try_later(desk: Desk, provider: Provider, job: Job, part: Part, error: HalveError) -> None:
    now_us, failures = desk.now_us(), part.failures + 1
    gone_us = (part.ended_us or (part.submitted_us or now_us) + provider.window_us) + provider.kept_us
    gone = part.state in ("submitted", "settling") and now_us > gone_us
    # A provider that keeps no list, or knows the batch no more, will not say; whoever cancels decides not to wait.
    untold = part.state in ("submitting", "submitted") and isinstance(error, RefusedError)
    if gone or (untold and job.cancel_us is not None):
        settlement.give_up(desk, part, str(error))
        return
    why, asked_s = (error.why, error.after_s) if isinstance(error, BusyError) else ("server", None)
    pause = pause_us(failures, why, desk.jitter, asked_s=asked_s)
    batches.update_part(desk.control, part, failures=failures, error=str(error), next_us=now_us + pause)


def _drop_unsent(desk: Desk, job: Job) -> None:
    for part in batches.parts(desk.control, job.id):
        if part.state in UNSENT:
            batches.settle_part(
                desk.control,
                part,
                open_to="cancelled",
                outcome="cancelled",
                error_code="batch_cancelled",
                error="The job was cancelled before this was sent.",
                settled_us=desk.now_us(),
            )


def _plan_retries(desk: Desk, job: Job) -> None:
    """New parts for the items that ask for another attempt; where the job was cancelled they are cancelled instead."""
    waiting = batches.waiting_items(desk.control, job.id)
    if not waiting:
        return
    now_us = desk.now_us()
    made = split_again(job, waiting, batches.parts(desk.control, job.id), state="queued", next_us=now_us)
    batches.add_parts(desk.control, job.id, made)
    if job.cancel_us is not None:
        _drop_unsent(desk, job)


def _conclude(desk: Desk, provider: Provider, job: Job) -> bool:
    parts = batches.parts(desk.control, job.id)
    tally = batches.tally(desk.control, job.id)
    state = of_job([part.state for part in parts], open_items=tally.open > 0)
    if state == "settled":
        finish(desk, provider, job, parts)
        return True
    live = [part for part in parts if part.state != "settled"]
    troubled = [part for part in live if part.error is not None]
    pending = [part.ended_us + provider.kept_us for part in live if part.ended_us and not part.downloaded_us]
    batches.update_job(
        desk.control,
        job.id,
        state=state,
        error=troubled[0].error if troubled else None,
        warning=_warning(desk, provider, job, live),
        results_until_us=min(pending, default=None),
        next_us=min((part.next_us for part in live), default=desk.now_us()),
    )
    return False


def _warning(desk: Desk, provider: Provider, job: Job, live: Sequence[Part]) -> str | None:
    now_us = desk.now_us()
    for part in live:
        if part.ended_us and not part.downloaded_us:
            until_us = part.ended_us + provider.kept_us
            if part.failures >= WARN_AFTER_FAILURES or until_us - now_us < WARN_BEFORE_US:
                return (
                    f"Results of part {part.number} are ready and not downloaded yet; {provider.title} keeps them "
                    f"until {shown(until_us, job.zone)}. {part.error or ''}".strip()
                )
    if job.needed_by_us is not None:
        if now_us >= job.needed_by_us:
            return f"The results were needed by {shown(job.needed_by_us, job.zone)} and are not complete."
        if any(part.state in UNSENT for part in live) and now_us + provider.window_us > job.needed_by_us:
            return f"The results may come after {shown(job.needed_by_us, job.zone)}, when they are needed."
    return None
