"""Batch jobs: the desk that moves them, filled with the data folder, the keys, the guard and the ingest; and commands.

With the service up, commands leave their jobs in the control store and the service advances them. Without it,
`halve batch advance` takes one step.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import httpx2

from app import batch
from app.batch.folder import whole_file
from app.batch.provider import Account
from app.batch.providers import provider_named
from app.control import batches as control_batches
from app.control.database import migrate, open_control
from app.core.errors import UnavailableError, UsageError
from app.main.guarded_http import guarded_client
from app.main.refresh import attribute_and_sum, now_us
from app.main.runtime import demand_store, load_book, opened
from app.main.service_calls import service_client
from ingest.connectors.outbound import guard
from ingest.connectors.secret_reference import read_secret
from ingest.inbox import take_inbox
from ingest.pipeline import write_shards
from ingest.shard import waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from sqlalchemy import Engine

    from app.control.batches import Job
    from app.settings import Settings

FOLDER = "batches"
WAIT_S = 2.0


def make_desk(control: Engine, settings: Settings, *, clock: Callable[[], int] = now_us) -> batch.Desk:
    """The desk of the data folder; see `app.batch.Desk`."""
    folder = settings.data_dir / FOLDER
    named = frozenset(settings.allow_hosts.split())

    def account(job: Job) -> Account:
        provider = provider_named(job.provider)
        # A provider's own host was chosen with the provider; any other address has to be allowed by name.
        own = frozenset({provider.default_host} if provider.default_host and job.base_url is None else ())
        return Account(
            base_url=job.base_url,
            key=read_secret(job.key_ref) if job.key_ref else "",
            http=lambda: guarded_client(guard(named | own)),
            folder=folder / "demo-provider",
            now_us=clock,
        )

    def post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
        with guarded_client(guard(named)) as client:
            try:
                return client.post(url, content=body, headers=dict(headers)).status_code
            except httpx2.HTTPError as error:
                raise UnavailableError(f"{httpx2.URL(url).host} gave no answer: {type(error).__name__}.") from error

    return batch.Desk(
        control=control,
        folder=folder,
        account=account,
        sink=lambda lines, origin: into_inbox(lines, origin, settings),
        post=post,
        secret=read_secret,
        now_us=clock,
    )


def into_inbox(lines: Iterable[bytes], origin: batch.Origin, settings: Settings) -> None:
    """Result lines become shards in the inbox; whoever holds the warehouse merges them by their keys."""
    path = settings.data_dir / FOLDER / origin.job / f"part-{origin.part:04}.charged.jsonl"
    with whole_file(path) as stream:
        for line in lines:
            stream.write(line + b"\n")
    if path.stat().st_size:
        # In this process: two workers of their own would hold more memory than the service itself.
        write_shards(
            [path],
            settings.data_dir,
            source=origin.source,
            format_name=origin.format,
            billing=origin.billing,
            text=settings.text,
            workers=0,
        )
    path.unlink()


@contextmanager
def _desk(settings: Settings) -> Iterator[batch.Desk]:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    control = open_control(settings.data_dir)
    try:
        migrate(control)
        yield make_desk(control, settings)
    finally:
        control.dispose()


def submit(
    file: Path,
    settings: Settings,
    *,
    order: batch.Order,
    at: str | None = None,
    needed_by: str | None = None,
) -> dict[str, Any]:
    """Take a file in as a job; `at` and `needed_by` are times in the order's zone.

    Raises:
        RefusedLinesError: lines are wrong. UsageError: the order is wrong.
    """
    if not file.is_file():
        raise UsageError(f"There is no file {file}.")
    timed = with_times(order, at=at, needed_by=needed_by, now_us=now_us())
    reference = order.key_ref or provider_named(order.provider).default_key
    if reference is not None:
        read_secret(reference)
    with _desk(settings) as desk:
        job = batch.submit(desk, batch.lines_of(file), timed, load_book(settings))
        return document(desk, job.id)


def with_times(order: batch.Order, *, at: str | None, needed_by: str | None, now_us: int) -> batch.Order:
    """The order with the moments that its caller named as times of its zone."""
    start_us = now_us if at is None else batch.moment_us(at, order.zone, now_us)
    needed_us = None if needed_by is None else batch.moment_us(needed_by, order.zone, start_us)
    return replace(order, start_us=start_us, needed_by_us=needed_us)


def listed(settings: Settings) -> list[dict[str, Any]]:
    """Every job, newest first."""
    demand_store(settings)
    with _desk(settings) as desk:
        return [document(desk, job.id) for job in control_batches.jobs(desk.control)]


def shown(settings: Settings, job_id: str) -> dict[str, Any]:
    """One job with its parts."""
    demand_store(settings)
    with _desk(settings) as desk:
        view = batch.view(desk.control, desk.folder, job_id)
        return {**document(desk, job_id), "parts": [asdict(part) for part in view.parts]}


def cancelled(settings: Settings, job_id: str) -> dict[str, Any]:
    """Ask for a job to stop."""
    demand_store(settings)
    with _desk(settings) as desk:
        batch.cancel(desk, job_id)
        return document(desk, job_id)


def results(settings: Settings, job_id: str, *, wait: bool) -> Path:
    """The file of a job's results; with `wait` it is waited for, and advanced where no service does.

    Raises:
        ConflictError: it is not settled yet. NotFoundError: no such job.
    """
    demand_store(settings)
    with _desk(settings) as desk:
        while wait and control_batches.job(desk.control, job_id).state != "settled":
            if not _served(settings):
                _step(desk, settings)
            time.sleep(WAIT_S)
        return batch.results_file(desk.control, desk.folder, job_id)


def advanced(settings: Settings) -> dict[str, Any]:
    """One step of everything that is due, by hand."""
    demand_store(settings)
    with _desk(settings) as desk:
        return _step(desk, settings)


def _step(desk: batch.Desk, settings: Settings) -> dict[str, Any]:
    found = batch.advance(desk)
    if not _served(settings) and waiting(settings.data_dir):
        with opened(settings) as runtime:
            take_inbox(runtime.warehouse, runtime.pricer, runtime.data_dir)
            attribute_and_sum(runtime, settings.zone)
    return asdict(found)


def _served(settings: Settings) -> bool:
    """Whether a service runs on the data folder; it then advances the jobs and takes the inbox in."""
    with service_client(settings) as client:
        return client is not None


def document(desk: batch.Desk, job_id: str) -> dict[str, Any]:
    """A job as JSON values: times in microseconds UTC, money as decimal USD text, counts that add up."""
    view = batch.view(desk.control, desk.folder, job_id)
    job = view.job
    return {
        "id": job.id,
        "label": job.label,
        "provider": job.provider,
        "feature": job.feature,
        "status": view.status,
        "outcome": job.outcome,
        "submitted": view.counts.total,
        "succeeded": view.counts.succeeded,
        "failed": view.counts.failed,
        "expired": view.counts.expired,
        "cancelled": view.counts.cancelled,
        "open": view.counts.open,
        "to_retry": view.to_retry,
        "top_errors": [f"{code} ({count})" for code, count, _ in view.top_errors],
        "zone": job.zone,
        "created_us": job.created_us,
        "start_us": job.start_us,
        "needed_by_us": job.needed_by_us,
        "settled_us": job.settled_us,
        "results_until_us": job.results_until_us,
        "error": job.error,
        "warning": job.warning,
        "estimate": None if job.estimate is None else dict(job.estimate),
        "results": None if view.results is None else str(view.results),
    }
