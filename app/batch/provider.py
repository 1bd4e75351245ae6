"""What a batch provider is: its limits and habits as data, and a connection whose functions speak its protocol."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from app.core.errors import InputError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    import httpx2

    from app.batch.dialect import Dialect

EndedReason = Literal["completed", "failed", "expired", "cancelled"]

HOUR_US: Final = 3_600_000_000
DAY_US: Final = 24 * HOUR_US


class RefusedError(InputError):
    """The provider said no for good (a 4xx): asking again changes nothing."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class BusyError(UnavailableError):
    """It is certain that nothing was accepted, and later it may be.

    Attributes:
        why: `server` for 5xx and broken connections, `throttled` for 429, `quota` where the account's limit is used up.
        after_s: the pause that the provider asked for.
    """

    def __init__(
        self, message: str, why: Literal["server", "throttled", "quota"] = "server", after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.why: Final = why
        self.after_s: Final = after_s


class UnclearError(UnavailableError):
    """The connection broke or the server failed after the request went out: it may have been accepted."""


class TornError(UnavailableError):
    """A result line that is no JSON: the download was cut off."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one batch may hold. `bytes` is that of the whole input; `one_model` where a batch has one model only."""

    rows: int
    bytes: int
    one_model: bool


@dataclass(frozen=True, slots=True)
class Account:
    """Whose batches: the key is for use at once and is never stored.

    Attributes:
        base_url: another address that speaks the provider's protocol; None is the provider's own.
        http: opens the client that every call goes through; it decides which hosts may be called.
        folder: where a provider without a network keeps its batches.
        now_us: the clock.
    """

    base_url: str | None
    key: str = field(repr=False)
    http: Callable[[], httpx2.Client]
    folder: Path
    now_us: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Mark:
    """By what a batch of ours is known again: the fingerprint in its metadata, or its size and time."""

    job: str
    part: int
    fingerprint: str
    items: int
    since_us: int
    endpoint: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a provider refused a whole batch; `line` is 1-based in the file that was sent."""

    code: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a batch stands at the provider. `ended` None: it still works.

    `files` are the provider's handles of the results; missing ones are left out, whatever way they are missing.
    """

    batch_id: str
    ended: EndedReason | None
    done: int | None = None
    created_us: int | None = None
    ended_us: int | None = None
    expires_us: int | None = None
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Connection:
    """One open account. Every function may raise BusyError (ask again later) or RefusedError (do not).

    Attributes:
        submit: sends a file of request lines and makes a batch of it; raises UnclearError where the answer got lost.
        find: batches in the provider's list that carry the mark, the oldest first.
        poll: where a batch stands.
        results: every result line of an ended batch, raw and in any order.
        cancel: asks the provider to stop; what is finished stays charged.
    """

    submit: Callable[[Path, Mark], Standing]
    find: Callable[[Mark], list[Standing]]
    poll: Callable[[str], Standing]
    results: Callable[[Standing], Iterator[bytes]]
    cancel: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Provider:
    """A plug-in: one provider of batches.

    Attributes:
        name: as named on the command line and in prices.
        window_us: how long it may take at most, from acceptance on.
        kept_us: how long it keeps results after a batch has ended.
        listing_us: how long a new batch may be missing from its list.
        marks: whether its batches carry our fingerprint; else they are known by time and size, proved by their ids.
        default_key: the reference of the key where none is named; None where it needs no key.
        default_host: the host that it calls by itself.
        billing: how what it answers is billed, as for any source.
    """

    name: str
    title: str
    dialect: Dialect
    limits: Limits
    window_us: int
    kept_us: int
    listing_us: int
    marks: bool
    default_key: str | None
    default_host: str | None
    connect: Callable[[Account], AbstractContextManager[Connection]]
    billing: str = "api"


def byte_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    r"""The lines of a byte stream, ended by "\n" alone: text inside JSON may hold any other separator."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line.strip():
                yield line
    if rest.strip():
        yield rest
