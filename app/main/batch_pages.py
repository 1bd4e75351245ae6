"""Fills what the Batch pages and the API ask for, from the batch desk, a shelf of files and the price book."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from app import batch
from app.analysis import batch_worth
from app.analysis.batch_worth import Worth
from app.batch.answers import with_answers
from app.batch.preview import preview, spoken
from app.batch.providers import provider_named
from app.batch.shelf import Shelf
from app.control import batch_files, batches
from app.core.errors import HalveError, NotFoundError
from app.main.batches import make_desk
from app.web.batch_desk import BatchDesk, Upstream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from app.batch import Desk, JobView, Order
    from app.batch.preview import Preview
    from app.control.batch_files import ApiBatch
    from app.control.batches import Job
    from app.main.background import Background
    from app.pricing.book import PriceBook
    from app.warehouse.store import Session

FILES: Final = "batch-files"
MAX_FILE_BYTES: Final = 512_000_000
"""The largest file that is taken; jobs are cut into batches of the provider's own limits."""
PREVIEWS_KEPT: Final = 16
ENDED_KEPT: Final = 500
WORTH_KEPT_US: Final = 600_000_000


def upstreams(*, demo: bool, provider: str = "openai", base_url: str = "", key_ref: str = "") -> tuple[Upstream, ...]:
    """Where jobs can go: in the demo its own provider, else the configured one first and the other known ones.

    Raises:
        UsageError: the configured provider is none.
    """
    if demo:
        return (Upstream("demo", provider_named("demo").title),)
    first = Upstream(provider, provider_named(provider).title, base_url or None, key_ref or None)
    others = (name for name in ("openai", "anthropic") if name != provider)
    return (first, *(Upstream(name, provider_named(name).title) for name in others))


def of_service(work: Background, *, demo: bool) -> BatchDesk:
    """The desk of a running service; a job that is handed in or cancelled is looked at at once."""
    settings, runtime = work.settings, work.runtime
    given = upstreams(
        demo=demo,
        provider=settings.batch_provider,
        base_url=settings.batch_base_url,
        key_ref=settings.batch_key,
    )
    desk = make_desk(runtime.control, settings)
    return batch_desk(desk, runtime.data_dir / FILES, runtime.books.now, given, lambda: work.ask("batch"))


def batch_desk(
    desk: Desk, files: Path, book: Callable[[], PriceBook], given: tuple[Upstream, ...], soon: Callable[[], None]
) -> BatchDesk:
    """The desk for pages and API; `soon` asks for a step of `advance` now."""
    shelf = Shelf(desk.control, files, desk.now_us, MAX_FILE_BYTES)
    front = _Front(desk, shelf, book, soon)
    return BatchDesk(
        upstreams=given,
        max_bytes=MAX_FILE_BYTES,
        keep=shelf.keep,
        path=front.path,
        remove=shelf.remove,
        spoken=lambda file_id: spoken(front.path(file_id)),
        preview=front.preview,
        missing=front.missing,
        submit=front.submit,
        cancel=front.cancel,
        view=front.view,
        results=front.results,
        answers=front.answers,
        worth=front.worth,
        worth_of_feature=front.worth_of_feature,
    )


@dataclass(frozen=True, slots=True)
class _Front:
    desk: Desk
    shelf: Shelf
    book: Callable[[], PriceBook]
    soon: Callable[[], None]
    _previews: dict[tuple[str, Upstream], Preview] = field(default_factory=dict)
    _ended: dict[str, JobView] = field(default_factory=dict)
    _worth: dict[str, tuple[int, Worth]] = field(default_factory=dict)

    def path(self, file_id: str) -> Path:
        """Where the bytes of a file lie.

        Raises:
            NotFoundError: no such file.
        """
        found = self.shelf.path(batch_files.file(self.desk.control, file_id).id)
        if not found.is_file():
            raise NotFoundError(f"The bytes of the file {file_id} are gone. Hand it in again.")
        return found

    def preview(self, file_id: str, upstream: Upstream) -> Preview:
        """What a file holds. It never changes, so it is read once for a page and its twins."""
        key = (file_id, upstream)
        found = self._previews.get(key)
        if found is None:
            lines = batch.lines_of(self.path(file_id))
            found = preview(
                lines, upstream.provider, base_url=upstream.base_url, prices=self.book(), at_us=self.desk.now_us()
            )
            _keep(self._previews, key, found, PREVIEWS_KEPT)
        return found

    def missing(self, upstream: Upstream) -> str:
        """What keeps jobs from going there: a key that is not set."""
        reference = upstream.key_ref or provider_named(upstream.provider).default_key
        if reference is None:
            return ""
        try:
            self.desk.secret(reference)
        except HalveError as error:
            return str(error)
        return ""

    def submit(self, file_id: str, order: Order) -> Job:
        """Make a job of a file."""
        job = batch.submit(self.desk, batch.lines_of(self.path(file_id)), order, self.book())
        self.soon()
        return job

    def cancel(self, job_id: str) -> Job:
        """Ask a job to stop."""
        job = batch.cancel(self.desk, job_id)
        self.soon()
        return job

    def view(self, job_id: str) -> JobView:
        """A job as it stands. Counting the items of a large one takes a while, and a settled one never changes."""
        found = self._ended.get(job_id)
        if found is None:
            found = batch.view(self.desk.control, self.desk.folder, job_id)
            if found.job.state == "settled":
                _keep(self._ended, job_id, found, ENDED_KEPT)
        return found

    def results(self, job_id: str) -> Path:
        """The results of a settled job."""
        return batch.results_file(self.desk.control, self.desk.folder, job_id)

    def worth_of_feature(self, session: Session, feature: str) -> Worth:
        """What the jobs that were booked on a feature were charged and saved."""
        return batch_worth.together(self.worth(session, batches.jobs(self.desk.control, feature=feature)).values())

    def worth(self, session: Session, jobs: Sequence[Job]) -> dict[str, Worth]:
        """By job. Requests of a job that ended a while ago are added up once in a while, not for every reader."""
        now_us = self.desk.now_us()
        found = {
            job.id: kept[1]
            for job in jobs
            if (kept := self._worth.get(job.id)) is not None and now_us < kept[0] + WORTH_KEPT_US
        }
        rest = [job for job in jobs if job.id not in found]
        if rest:
            new = batch_worth.of_jobs(session, self.book(), since_us=min(job.created_us for job in rest))
            for job in rest:
                found[job.id] = new.get(job.id, Worth())
                if job.settled_us is not None and now_us > job.settled_us + WORTH_KEPT_US:
                    _keep(self._worth, job.id, (now_us, found[job.id]), ENDED_KEPT)
        return found

    def answers(self, one: ApiBatch) -> ApiBatch:
        """A batch of the API with the files of its answers."""
        return with_answers(self.shelf, one, self.results(one.id))


def _keep(held: dict[Any, Any], key: object, value: object, most: int) -> None:
    if len(held) >= most:
        held.clear()
    held[key] = value
