"""Results on their way in: downloaded whole, judged line by line by their ids, handed to the warehouse once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from app.batch.desk import SOURCE, Origin
from app.batch.dialect import OBJECT, RAW_OBJECT, encode
from app.batch.folder import whole_file
from app.batch.intake import seq_of
from app.batch.provider import TornError
from app.control.batches import ItemOutcome
from app.core.errors import HalveError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from app.batch.desk import Desk
    from app.batch.provider import Connection, Provider, Standing
    from app.control.batches import Item, Job, Part


class NotOursError(HalveError):
    """The results carry other ids: the batch that was taken for this part is somebody else's."""


def download(desk: Desk, connection: Connection, part: Part, standing: Standing, *, patient: bool) -> bool:
    """Bring the result lines of a batch to disk as they are; returns whether every line could be read.

    A line that is no JSON, or fewer lines than the provider counts as done, means a download that was cut off: an item
    without a line would be bought again. TornError while `patient`, else what is not there is left out.

    Raises:
        TornError, NotOursError; BusyError and RefusedError of the provider.
    """
    seen: set[int] = set()
    whole = True
    with whole_file(desk.files(part.job_id).received(part.number)) as stream:
        for line in connection.results(standing):
            try:
                fields = RAW_OBJECT.decode(line)
                sent_id = msgspec.json.decode(fields["custom_id"])
            except (msgspec.DecodeError, UnicodeDecodeError, KeyError) as error:
                if patient:
                    raise TornError(
                        f"A result line of batch {standing.batch_id} is cut off. It is downloaded again."
                    ) from error
                whole = False
                continue
            seq = seq_of(part, sent_id)
            if seq is None and not part.sure and not seen:
                raise NotOursError(f"Batch {standing.batch_id} is not of this job: its results carry other ids.")
            if seq is not None and seq not in seen:
                seen.add(seq)
                stream.write(line + b"\n")
        if len(seen) < (standing.done or 0):
            if patient:
                told = f"Batch {standing.batch_id} has {standing.done} results and {len(seen)} came."
                raise TornError(f"{told} They are downloaded again.")
            whole = False
    return whole


def judge(
    desk: Desk, provider: Provider, job: Job, part: Part, items: Mapping[int, Item], outcomes: list[ItemOutcome]
) -> Iterator[bytes]:
    """The result lines as the warehouse is to read them; what came of each item is added to `outcomes` on the way."""
    files = desk.files(job.id)
    logged = _logged(job, part)
    with files.received(part.number).open("rb") as lines, files.items.open("rb") as bodies:
        for line in lines:
            fields = OBJECT.decode(line)
            seq = seq_of(part, fields["custom_id"])
            item = None if seq is None else items.get(seq)
            if item is None:
                continue
            verdict = provider.dialect.verdict(fields)
            again = verdict.again and may_retry(job, item.attempts, desk.now_us())
            outcomes.append(
                ItemOutcome(
                    item.seq, "queued" if again else verdict.state, verdict.http_status, verdict.code, verdict.message
                )
            )
            bodies.seek(item.byte_from)
            asked = provider.dialect.body(RAW_OBJECT.decode(bodies.read(item.byte_size)))
            known = {
                **logged,
                "id": fields["custom_id"],
                "attempt": item.attempts,
                "tags": {**logged["tags"], "custom_id": item.caller_id},
            }
            yield encode({**RAW_OBJECT.decode(line), "request": asked, "logged": known})


def may_retry(job: Job, attempts: int, now_us: int) -> bool:
    """Whether an item that was sent `attempts` times may be sent once more."""
    in_time = job.needed_by_us is None or now_us < job.needed_by_us
    return attempts < job.max_attempts and job.cancel_us is None and in_time


def origin_of(provider: Provider, job: Job, part: Part) -> Origin:
    """Where the lines of a part come from."""
    source = SOURCE.format(provider=provider.name)
    return Origin(job.id, part.number, provider.dialect.results_format, source, provider.billing)


def _logged(job: Job, part: Part) -> dict[str, Any]:
    """What the batch knows beside the provider's own line; `timestamp` counts where that names no time."""
    handed_us = part.submitted_us or part.intent_us or job.created_us
    tags = {**job.tags, "batch_job": job.id, "batch_label": job.label}
    if job.feature is not None:
        tags["feature"] = job.feature
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=handed_us)
    return {"timestamp": at.isoformat(), "tags": tags}
