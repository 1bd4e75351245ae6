"""Following a batch to its end and settling it once, from whatever results exist."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from app.batch.intake import split_again
from app.batch.pauses import pause_us
from app.batch.provider import HOUR_US, BusyError, RefusedError, TornError
from app.batch.receiving import NotOursError, download, judge, may_retry, origin_of
from app.batch.states import check_move
from app.control import batches
from app.control.batches import ItemOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.batch.desk import Desk
    from app.batch.provider import Connection, Problem, Provider, Standing
    from app.control.batches import Item, ItemState, Job, Outcome, Part

YOUNG_US: Final = 5_000_000
TORN_FOR_US: Final = 6 * HOUR_US
"""How long a download that is cut off is tried again before the readable lines are taken as all there is."""
TORN: Final = "torn"
QUOTA: Final = re.compile(r"(enqueued|queued?).{0,40}(limit|quota)|token_limit|too_many_tasks", re.IGNORECASE)
LIMIT: Final = re.compile(r"limit\D{0,20}([0-9][0-9,_]{2,})", re.IGNORECASE)
NO_RESULT: Final = "no_result"


def poll(desk: Desk, provider: Provider, connection: Connection, job: Job, part: Part) -> None:
    """Ask where a batch stands; settle it at once where it has ended."""
    standing = _standing(connection, part)
    now_us = desk.now_us()
    if standing.ended is None:
        if job.cancel_us is not None and part.sure:
            _ask_to_stop(connection, standing)
        batches.update_part(
            desk.control,
            part,
            done=standing.done,
            expires_us=standing.expires_us,
            failures=0,
            error=None,
            next_us=now_us + _until_next_look_us(desk, now_us - (part.submitted_us or now_us)),
        )
        return
    check_move(part.state, "settling")
    changes: dict[str, Any] = {
        "done": standing.done,
        "ended_us": standing.ended_us or now_us,
        "ended_reason": standing.ended,
        "failures": 0,
    }
    batches.update_part(desk.control, part, state="settling", next_us=now_us, **changes)
    settle(desk, provider, connection, job, replace(part, state="settling", **changes), standing)


def _standing(connection: Connection, part: Part) -> Standing:
    """Where the batch of a part stands; an answer about another batch says nothing about this one."""
    standing = connection.poll(part.batch_id or "")
    if standing.batch_id != part.batch_id:
        raise BusyError(f"Asked for batch {part.batch_id}, the answer was about {standing.batch_id}.")
    return standing


def _until_next_look_us(desk: Desk, age_us: int) -> int:
    """A young batch is looked at often, an old one every `poll_us`: small ones are done in seconds."""
    return min(desk.poll_us, max(YOUNG_US, age_us // 4))


def settle(
    desk: Desk, provider: Provider, connection: Connection, job: Job, part: Part, standing: Standing | None = None
) -> None:
    """Bring the results of an ended batch home, charge them, and say what came of every item."""
    if not desk.files(job.id).received(part.number).is_file():
        standing = standing or _standing(connection, part)
        if standing.ended == "failed" and not standing.files:
            _whole_batch_failed(desk, job, part, standing.problems)
            return
        try:
            part = _fetch(desk, connection, part, standing)
        except NotOursError as error:
            check_move(part.state, "submitting")
            batches.update_part(
                desk.control,
                part,
                items_to="queued",
                state="submitting",
                not_ours=[*part.not_ours, part.batch_id or ""],
                batch_id=None,
                sure=True,
                looked_us=None,
                error=str(error),
                next_us=desk.now_us(),
            )
            return
    _charge_and_record(desk, provider, job, part)


def give_up(desk: Desk, part: Part, why: str) -> None:
    """Settle a part whose batch or results are out of reach for good; nothing of it is sent again."""
    message = f"{why} It is given up: the provider may have charged for it, and its results are out of reach."
    batches.settle_part(
        desk.control,
        part,
        open_to="failed",
        outcome="failed",
        error=message,
        error_code="results_lost",
        settled_us=desk.now_us(),
    )


def _fetch(desk: Desk, connection: Connection, part: Part, standing: Standing) -> Part:
    now_us = desk.now_us()
    patient = now_us < (part.ended_us or now_us) + TORN_FOR_US
    whole = download(desk, connection, part, standing, patient=patient)
    reason = part.ended_reason if whole else TORN
    batches.update_part(desk.control, part, ended_reason=reason, downloaded_us=desk.now_us(), failures=0, error=None)
    return replace(part, ended_reason=reason)


def _charge_and_record(desk: Desk, provider: Provider, job: Job, part: Part) -> None:
    """Everything here may run again after a crash: the sink merges by key, the outcomes are the same."""
    items = {item.seq: item for item in batches.items_of_part(desk.control, part)}
    outcomes: list[ItemOutcome] = []
    desk.sink(judge(desk, provider, job, part, items, outcomes), origin_of(provider, job, part))
    told = {one.seq for one in outcomes}
    outcomes += _without_result(desk, job, part, (item for seq, item in items.items() if seq not in told))
    batches.record_outcomes(desk.control, job.id, outcomes)
    check_move(part.state, "settled")
    batches.settle_part(desk.control, part, outcome=_outcome(outcomes), settled_us=desk.now_us(), error=None)


def _without_result(desk: Desk, job: Job, part: Part, items: Iterable[Item]) -> Iterable[ItemOutcome]:
    """Items of which the provider says nothing, by how their batch ended."""
    endings: dict[str, tuple[ItemState, str, str]] = {
        "expired": ("expired", "batch_expired", "The batch expired before this request ran."),
        "cancelled": ("cancelled", "batch_cancelled", "The batch was cancelled before this request ran."),
    }
    state, code, message = endings.get(
        part.ended_reason or "", ("failed", NO_RESULT, "The provider gave no readable result for this request.")
    )
    for item in items:
        # Where lines could not be read, this item may be one of them: answered and paid, so never asked for again.
        again = state != "cancelled" and part.ended_reason != TORN and may_retry(job, item.attempts, desk.now_us())
        yield ItemOutcome(item.seq, "queued" if again else state, None, code, message)


def _outcome(outcomes: Iterable[ItemOutcome]) -> Outcome:
    """What came of one sending; items that are sent again count as failed in it."""
    states = {one.state for one in outcomes}
    if states == {"succeeded"}:
        return "completed"
    if "cancelled" in states:
        return "cancelled"
    if "succeeded" in states:
        return "partly"
    return "expired" if states == {"expired"} else "failed"


def _whole_batch_failed(desk: Desk, job: Job, part: Part, problems: tuple[Problem, ...]) -> None:
    """A batch that was refused as a whole, with nothing charged: a full queue, bad lines, or something for good."""
    named = "; ".join(f"{one.code}: {one.message}" for one in problems[:3]) or "the provider gave no reason"
    if any(QUOTA.search(f"{one.code} {one.message}") for one in problems):
        _wait_for_quota(desk, job, part, problems, named)
        return
    items = list(batches.items_of_part(desk.control, part))
    bad = {one.line: one for one in problems if one.line is not None}
    only_lines = bad and len(bad) == len(problems) and len(bad) < len(items)
    outcomes = []
    for place, item in enumerate(items, 1):
        one = bad.get(place) if only_lines else problems[0] if problems else None
        if only_lines and one is None and may_retry(job, item.attempts, desk.now_us()):
            outcomes.append(ItemOutcome(item.seq, "queued"))
        else:
            code, message = (one.code, one.message) if one is not None else ("batch_failed", named)
            outcomes.append(ItemOutcome(item.seq, "failed", None, code, message))
    batches.record_outcomes(desk.control, job.id, outcomes)
    check_move(part.state, "settled")
    batches.settle_part(desk.control, part, outcome="failed", error=named, settled_us=desk.now_us())


def _wait_for_quota(desk: Desk, job: Job, part: Part, problems: tuple[Problem, ...], named: str) -> None:
    """The same requests later and in smaller parts: it is no defect of the data."""
    stated = next((int(re.sub(r"\D", "", hit[1])) for one in problems if (hit := LIMIT.search(one.message))), None)
    limit = max(1, min(part.tokens_est // 2, stated or part.tokens_est))
    batches.update_job(desk.control, job.id, queued_tokens=limit)
    check_move(part.state, "settled")
    batches.settle_part(desk.control, part, open_to="queued", outcome="failed", error=named, settled_us=desk.now_us())
    next_us = desk.now_us() + pause_us(part.attempt, "quota", desk.jitter)
    smaller = replace(job, queued_tokens=limit)
    waiting = batches.waiting_items(desk.control, job.id)
    made = split_again(
        smaller, waiting, batches.parts(desk.control, job.id), state="waiting_for_quota", next_us=next_us
    )
    batches.add_parts(desk.control, job.id, made)


def _ask_to_stop(connection: Connection, standing: Standing) -> None:
    try:
        connection.cancel(standing.batch_id)
    except RefusedError:
        # It is stopping or has ended by itself; the next look says which.
        return


RETRIED = (BusyError, RefusedError, TornError)
"""What a step towards the results may meet and try again later: even a refusal there does not make paid work void."""
