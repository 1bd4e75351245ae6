"""What moving batch jobs needs of the world, handed in by the composition root as plain callables."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.batch.folder import JobFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from sqlalchemy import Engine

    from app.batch.provider import Account
    from app.control.batches import Job


@dataclass(frozen=True, slots=True)
class Origin:
    """Where result lines come from: the job and part, the ingest format that reads them, the source and its billing."""

    job: str
    part: int
    format: str
    source: str
    billing: str


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything that `advance` works with.

    Attributes:
        control: the store of decisions, migrated.
        folder: `data/batches`.
        account: opens the account of a job: reads its key, decides which hosts may be called.
        sink: takes result lines into the warehouse; called again with the same lines it changes nothing.
        post: sends a webhook (address, body, headers) and returns the HTTP status; raises HalveError where no answer
            came or the host is not allowed.
        secret: reads a secret's reference.
        now_us: the clock.
        jitter: a number from 0 to 1.
        poll_us: how often a batch at work is asked for.
        listing_us: how long a new batch may be missing from the provider's list; None is the provider's own figure.
    """

    control: Engine
    folder: Path
    account: Callable[[Job], Account]
    sink: Callable[[Iterable[bytes], Origin], None]
    post: Callable[[str, bytes, Mapping[str, str]], int]
    secret: Callable[[str], str]
    now_us: Callable[[], int]
    jitter: Callable[[], float] = random.random
    poll_us: int = 60_000_000
    listing_us: int | None = None

    def files(self, job_id: str) -> JobFolder:
        """The folder of a job."""
        return JobFolder(self.folder / job_id)


SOURCE: Final = "batch-{provider}"
"""Name of the source under which a provider's batch requests are kept."""
