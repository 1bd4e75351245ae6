"""Sending parts: the intent is stored first, and after a lost answer the provider's list is searched before anything
is sent again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.batch.dialect import RAW_OBJECT
from app.batch.folder import whole_file
from app.batch.intake import safe_id
from app.batch.pauses import pause_us
from app.batch.provider import BusyError, Mark, RefusedError, UnclearError
from app.batch.states import check_move
from app.control import batches

if TYPE_CHECKING:
    from app.batch.desk import Desk
    from app.batch.provider import Connection, Provider, Standing
    from app.control.batches import Job, Part, State

ASK_AGAIN_US = 30_000_000


def send(desk: Desk, provider: Provider, connection: Connection, job: Job, part: Part) -> None:
    """Send a part that is certain not to be at the provider, unless its turn has not come."""
    control, now_us = desk.control, desk.now_us()
    if not _fits_in_queue(desk, job, part):
        _move(
            desk,
            part,
            "waiting_for_quota",
            next_us=now_us + desk.poll_us,
            error="The account's queue is full of our own parts; this one follows when they are done.",
        )
        return
    others = batches.unresolved(control, job.provider, job.base_url)
    if not provider.marks and others:
        # Its batches carry no mark of ours: two lost answers at once could not be told apart.
        batches.update_part(control, part, next_us=now_us + min(ASK_AGAIN_US, desk.poll_us))
        return
    path = desk.files(job.id).sent(part.number)
    _write(desk, provider, job, part)
    check_move(part.state, "submitting")
    batches.update_part(control, part, state="submitting", intent_us=now_us, looked_us=None, next_us=now_us, error=None)
    try:
        standing = connection.submit(path, mark_of(part, now_us))
    except RefusedError as error:
        _refused(desk, part, error)
    except BusyError as error:
        failures = part.failures + 1
        batches.update_part(
            control,
            part,
            state="waiting_for_quota" if error.why == "quota" else "queued",
            failures=failures,
            error=str(error),
            next_us=desk.now_us() + pause_us(failures, error.why, desk.jitter, asked_s=error.after_s),
        )
    except UnclearError as error:
        looked_us = desk.now_us()
        batches.update_part(control, part, looked_us=looked_us, error=str(error), next_us=looked_us)
    else:
        accept(desk, part, standing, sure=True)
    path.unlink(missing_ok=True)


def resolve(desk: Desk, provider: Provider, connection: Connection, job: Job, part: Part) -> None:
    """Find out whether a part whose answer got lost is at the provider; only if it is not, it may be sent again.

    The list is searched from now on for as long as a new batch may be missing from it: a request that was still on
    its way when this process last died may have been accepted since.
    """
    control, now_us = desk.control, desk.now_us()
    found = connection.find(mark_of(part, part.intent_us or now_us))
    others = batches.known_batches(control, job.provider, job.base_url)
    ours = [one for one in found if one.batch_id not in others and one.batch_id not in part.not_ours]
    if ours:
        accept(desk, part, ours[0], sure=provider.marks)
        if provider.marks:
            for twin in ours[1:]:
                _stop_twin(connection, twin)
        return
    listing_us = provider.listing_us if desk.listing_us is None else desk.listing_us
    looked_us = now_us if part.looked_us is None else part.looked_us
    if now_us < looked_us + listing_us:
        batches.update_part(
            control, part, looked_us=looked_us, next_us=min(looked_us + listing_us, now_us + ASK_AGAIN_US)
        )
        return
    failures = part.failures + 1
    _move(desk, part, "queued", failures=failures, next_us=now_us + pause_us(failures, "server", desk.jitter))


def accept(desk: Desk, part: Part, standing: Standing, *, sure: bool) -> None:
    """The provider has the part: link its batch. `sure` is false where only time and size say that it is ours."""
    now_us = desk.now_us()
    check_move("submitting", "submitted")
    batches.update_part(
        desk.control,
        part,
        items_to="submitted",
        state="submitted",
        batch_id=standing.batch_id,
        sure=sure,
        submitted_us=standing.created_us or now_us,
        expires_us=standing.expires_us,
        done=standing.done,
        failures=0,
        error=None,
        looked_us=None,
        next_us=now_us + min(desk.poll_us, 5_000_000),
    )


def mark_of(part: Part, since_us: int) -> Mark:
    """By what the provider's batch of a part is known again."""
    return Mark(
        job=part.job_id,
        part=part.number,
        fingerprint=part.mark,
        items=part.items,
        since_us=since_us,
        endpoint=part.endpoint,
    )


def _fits_in_queue(desk: Desk, job: Job, part: Part) -> bool:
    if job.queued_tokens is None:
        return True
    held = batches.tokens_in_queue(desk.control, job.provider, job.base_url, part.model)
    return held == 0 or held + part.tokens_est <= job.queued_tokens


def _write(desk: Desk, provider: Provider, job: Job, part: Part) -> None:
    files = desk.files(job.id)
    with files.items.open("rb") as items, whole_file(files.sent(part.number)) as stream:
        for item in batches.items_of_part(desk.control, part):
            items.seek(item.byte_from)
            fields = RAW_OBJECT.decode(items.read(item.byte_size))
            stream.write(provider.dialect.sent(fields, safe_id(part, item.seq)) + b"\n")


def _refused(desk: Desk, part: Part, error: RefusedError) -> None:
    batches.settle_part(
        desk.control,
        part,
        open_to="failed",
        outcome="failed",
        error=str(error),
        error_code=error.code or "refused",
        settled_us=desk.now_us(),
    )


def _stop_twin(connection: Connection, twin: Standing) -> None:
    try:
        connection.cancel(twin.batch_id)
    except (RefusedError, BusyError):
        # It has ended or cannot be reached; what it did is seen in the provider's bill.
        return


def _move(desk: Desk, part: Part, to: State, **changes: Any) -> None:
    if part.state != to:
        check_move(part.state, to)
    batches.update_part(desk.control, part, state=to, **changes)
