"""The end of a job: one file of results in the caller's order, the outcome, and the message to the caller."""

from __future__ import annotations

import json
import os
from array import array
from contextlib import ExitStack
from typing import TYPE_CHECKING

import msgspec

from app.batch.dialect import RAW_OBJECT, encode
from app.batch.folder import whole_file
from app.batch.intake import seq_of
from app.batch.states import outcome_of
from app.control import batches
from app.control.batches import Webhook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.batch.desk import Desk
    from app.batch.folder import JobFolder
    from app.batch.provider import Provider
    from app.control.batches import Job, Part

OPEN_FILES = 200


def finish(desk: Desk, provider: Provider, job: Job, parts: Sequence[Part]) -> None:
    """Settle a job of which every item has ended."""
    _write_results(desk, provider, job, parts)
    tally = batches.tally(desk.control, job.id)
    outcome = outcome_of(tally)
    errors = batches.top_errors(desk.control, job.id)
    told = ", ".join(f"{code} ({count})" for code, count, _ in errors) or None
    now_us = desk.now_us()
    webhook = None
    if job.webhook_url is not None:
        body = {
            "type": "batch.settled",
            "job": job.id,
            "label": job.label,
            "feature": job.feature,
            "outcome": outcome,
            "items": tally.total,
            "succeeded": tally.succeeded,
            "failed": tally.failed,
            "expired": tally.expired,
            "cancelled": tally.cancelled,
            "errors": told,
        }
        webhook = Webhook(job.id, json.dumps(body, sort_keys=True), "waiting", 0, now_us)
    batches.finish(
        desk.control, job, webhook, outcome=outcome, error=told, warning=None, settled_us=now_us, results_until_us=None
    )
    # The requests and the provider's own lines have done their work; only the answers are kept, for the caller.
    desk.files(job.id).clear()


def _write_results(desk: Desk, provider: Provider, job: Job, parts: Sequence[Part]) -> None:
    """Every item once, in the caller's order and under the caller's id; one without a result says how it ended."""
    files = desk.files(job.id)
    starts, sizes, holders = _index(files, job, parts)
    with whole_file(files.results) as stream, ExitStack() as opened:
        handles: dict[int, int] = {}
        for item in batches.all_items(desk.control, job.id):
            if holders[item.seq] == item.part:
                if item.part not in handles:
                    if len(handles) == OPEN_FILES:
                        opened.close()
                        handles.clear()
                    handles[item.part] = os.open(files.received(item.part), os.O_RDONLY)
                    opened.callback(os.close, handles[item.part])
                fields = RAW_OBJECT.decode(os.pread(handles[item.part], sizes[item.seq], starts[item.seq]))
                stream.write(encode({**fields, "custom_id": item.caller_id}) + b"\n")
            else:
                code, message = item.error_code or item.state, item.error or "This request was not answered."
                stream.write(encode(provider.dialect.absent(item.caller_id, item.state, code, message)) + b"\n")


def _index(files: JobFolder, job: Job, parts: Sequence[Part]) -> tuple[array[int], array[int], array[int]]:
    """For each item by its place: where its newest line starts, how long it is, and which part it came with."""
    starts, sizes = array("q", bytes(8 * job.items)), array("q", bytes(8 * job.items))
    holders = array("q", [-1]) * job.items
    for part in parts:
        if not files.received(part.number).is_file():
            continue
        at = 0
        with files.received(part.number).open("rb") as lines:
            for line in lines:
                seq = seq_of(part, msgspec.json.decode(RAW_OBJECT.decode(line)["custom_id"]))
                if seq is not None and seq < job.items:
                    starts[seq], sizes[seq], holders[seq] = at, len(line), part.number
                at += len(line)
    return starts, sizes, holders
