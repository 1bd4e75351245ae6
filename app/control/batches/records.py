"""What is stored of batch work: jobs, their parts and items, and the messages about their ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

State = Literal["queued", "scheduled", "submitting", "submitted", "settling", "settled", "waiting_for_quota"]
Outcome = Literal["completed", "partly", "expired", "failed", "cancelled"]
ItemState = Literal["queued", "submitted", "succeeded", "failed", "expired", "cancelled"]
CHUNK: Final = 5_000
NEVER_US: Final = 9_000_000_000_000_000_000


@dataclass(frozen=True, slots=True)
class Job:
    """One file of work as its caller handed it in. Times are microseconds UTC; `tokens_est` counts prompt tokens."""

    id: str
    provider: str
    label: str
    zone: str
    created_us: int
    start_us: int
    state: State
    items: int
    bytes: int
    tokens_est: int
    max_attempts: int
    next_us: int
    base_url: str | None = None
    key_ref: str | None = None
    feature: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    needed_by_us: int | None = None
    outcome: Outcome | None = None
    error: str | None = None
    warning: str | None = None
    estimate: Mapping[str, Any] | None = None
    queued_tokens: int | None = None
    webhook_url: str | None = None
    webhook_key_ref: str | None = None
    cancel_us: int | None = None
    settled_us: int | None = None
    results_until_us: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a job that one batch of the provider carries."""

    job_id: str
    number: int
    endpoint: str
    attempt: int
    state: State
    items: int
    bytes: int
    tokens_est: int
    mark: str
    next_us: int
    model: str | None = None
    outcome: Outcome | None = None
    error: str | None = None
    batch_id: str | None = None
    sure: bool = True
    not_ours: Sequence[str] = ()
    intent_us: int | None = None
    looked_us: int | None = None
    submitted_us: int | None = None
    ended_us: int | None = None
    ended_reason: str | None = None
    expires_us: int | None = None
    downloaded_us: int | None = None
    settled_us: int | None = None
    done: int | None = None
    failures: int = 0


class Item(NamedTuple):
    """One request of a job: where its body lies in the job's file of items and where it stands."""

    seq: int
    caller_id: str
    part: int
    position: int
    state: ItemState
    attempts: int
    byte_from: int
    byte_size: int
    tokens_est: int
    http_status: int | None = None
    error_code: str | None = None
    error: str | None = None


class ItemOutcome(NamedTuple):
    """What came of one item in one attempt; `queued` asks for another attempt."""

    seq: int
    state: ItemState
    http_status: int | None = None
    error_code: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many items stand where; `total` is the sum of the others."""

    total: int
    succeeded: int
    failed: int
    expired: int
    cancelled: int
    open: int


@dataclass(frozen=True, slots=True)
class Webhook:
    """A message about a settled job on its way to the caller."""

    job_id: str
    body: str
    state: Literal["waiting", "sent", "failed"]
    attempts: int
    next_us: int
    sent_us: int | None = None
    error: str | None = None
