"""What the Batch pages and the OpenAI-compatible API can set in motion: callables that the composition root fills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from app.analysis.batch_worth import Worth
    from app.batch import JobView, Order
    from app.batch.preview import Preview
    from app.control.batch_files import ApiBatch, BatchFile
    from app.control.batches import Job
    from app.warehouse.store import Session


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where jobs go: a provider and, where another server speaks its protocol, that one's address.

    `key_ref` names the key as env:NAME or file:PATH; None is the provider's own default.
    """

    provider: str
    title: str
    base_url: str | None = None
    key_ref: str | None = None


@dataclass(frozen=True, slots=True)
class BatchDesk:
    """Deeds and questions by name. Each raises an error of app.core.errors whose text a page or the API shows.

    Attributes:
        upstreams: where jobs can go; the first is the API's.
        max_bytes: the largest file that is taken.
        keep: (file name, stream) stores a file that is handed in.
        path: (file id) where its bytes lie.
        remove: (file id) forgets a file.
        spoken: (file id) the provider whose lines it holds, None where that cannot be told.
        preview: (file id, upstream) what it holds, what is wrong with it, what it would cost now.
        missing: (upstream) what must be set before anything can be sent there; empty where nothing is missing.
        submit: (file id, order) makes a job of a file.
        cancel: (job id) asks a job to stop.
        view: (job id) where it stands.
        results: (job id) the file of its results.
        answers: (batch of the API) the same with the files of its answers, once its job is settled.
        worth: (session, jobs) what each was charged and saved, by job id.
        worth_of_feature: (session, feature) the same of the jobs that are booked on a feature, together.
    """

    upstreams: tuple[Upstream, ...]
    max_bytes: int
    keep: Callable[[str, BinaryIO], BatchFile]
    path: Callable[[str], Path]
    remove: Callable[[str], None]
    spoken: Callable[[str], str | None]
    preview: Callable[[str, Upstream], Preview]
    missing: Callable[[Upstream], str]
    submit: Callable[[str, Order], Job]
    cancel: Callable[[str], Job]
    view: Callable[[str], JobView]
    results: Callable[[str], Path]
    answers: Callable[[ApiBatch], ApiBatch]
    worth: Callable[[Session, Sequence[Job]], Mapping[str, Worth]]
    worth_of_feature: Callable[[Session, str], Worth]

    def upstream(self, provider: str | None) -> Upstream:
        """The upstream of a provider, the first one where that is none of them."""
        return next((one for one in self.upstreams if one.provider == provider), self.upstreams[0])
