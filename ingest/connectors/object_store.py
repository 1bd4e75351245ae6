"""Objects of a bucket as log files: those changed since, oldest first, each version once.

Names need not sort by time, so a listing is compared with what was read: everything that changed before the newest
object read, less an overlap, is done; within the overlap the objects read are remembered by name and version. A store
dates a large upload by its beginning and shows it at its end, which is what the overlap is for. What cannot be read,
for its size or because it lies in an archive, is remembered too, named by each pull and tried again by the next.
"""

from __future__ import annotations

import errno
import heapq
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import msgspec

from app.core.errors import InputError, UnavailableError, UsageError
from app.core.hashing import hash64
from ingest.connectors.connector import MINUTE_US, Batch, Errand, Option, whole_number
from ingest.connectors.files import Found, pattern_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

T = TypeVar("T")
log = logging.getLogger(__name__)

OVERLAP_MINUTES: Final = 60
ROUND: Final = 20_000  # objects held in memory at once; more are listed again
BATCH_OBJECTS: Final = 1_000
BATCH_BYTES: Final = 64 * 1024 * 1024
MAX_OBJECT_BYTES: Final = 8 * 1024**3
MOST_LEFT: Final = 1_000  # objects that could not be read and are remembered
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ShutError(Exception):
    """The store keeps an object in an archive, from which it must be restored first."""


@dataclass(frozen=True, slots=True, order=True)
class Listed:
    """One object as a listing shows it; `version` changes with its content (an etag or a generation)."""

    modified_us: int
    key: str
    size: int
    version: str

    def identity(self) -> int:
        """What tells this version of this object from every other."""
        return hash64(f"{self.key}\0{self.version}".encode())


class Store(Protocol):
    """One bucket."""

    def listed(self, prefix: str, start: str) -> Iterator[list[Listed]]:
        """The objects under a prefix, page by page; a `start` leaves out keys that sort before it."""
        ...

    def fetch(self, one: Listed, to: Path) -> bool:
        """Write an object into a new file; False where it is gone."""
        ...


class Position(msgspec.Struct):
    """Where a source stands.

    Attributes:
        seen_us: what changed before has been read, but for the overlap.
        recent: what has been read of the overlap: identity -> time of change.
        marks: (newest change, last key) of what was read at once, within the overlap.
        first_key: where keys sort by time, nothing up to this key can be new.
        left: what could not be read: identity -> name.
    """

    seen_us: int
    recent: dict[str, int]
    marks: list[tuple[int, str]] = []
    first_key: str = ""
    left: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a source's objects lie, and how to look for them."""

    scheme: str
    bucket: str
    prefix: str
    only: str
    ordered: bool
    overlap_us: int

    @classmethod
    def of(cls, given: Mapping[str, Any], *schemes: str) -> Place:
        """From the options `url` (scheme://bucket/prefix), `only`, `ordered` and `overlap_minutes`.

        Raises:
            UsageError: one of them cannot be used.
        """
        scheme, mark, rest = str(given["url"]).partition("://")
        bucket, _, prefix = rest.partition("/")
        if scheme not in schemes or not mark or not bucket or "@" in bucket:
            raise UsageError(f"A bucket is given as {schemes[0]}://BUCKET[/PREFIX], not as {scheme}://.")
        ordered = str(given.get("ordered", "no"))
        if ordered not in ("yes", "no"):
            raise UsageError(f"The option ordered is yes or no, not {ordered!r}.")
        overlap = whole_number(given, "overlap_minutes", OVERLAP_MINUTES, 1, 7 * 24 * 60) * MINUTE_US
        return cls(scheme, bucket, prefix, str(given.get("only", "")), ordered == "yes", overlap)


OPTIONS: Final = (
    Option("only", "a glob of the keys to read, as '**/*.jsonl.gz'; every key where it is not given"),
    Option("ordered", "yes where keys sort by time: then older ones are not even listed again"),
    Option("overlap_minutes", f"how far back each pull looks for objects that came late, {OVERLAP_MINUTES}"),
)


def pull_objects(errand: Errand, store: Store, place: Place) -> Iterator[Batch]:
    """The objects that are new, some at a time.

    Raises:
        InputError: some objects cannot be read; the others were. UnavailableError: one changed while it was read, or
            the disk is full.
    """
    begin = Position(errand.since_us + place.overlap_us, {})
    reader = _Reader(errand, store, place, begin if errand.held is None else msgspec.convert(errand.held, Position))
    while True:
        chosen = reader.choose()
        yield from reader.batches(chosen)
        if len(chosen) < ROUND:
            break
    yield reader.standing(errand.now_us)
    if reader.at.left:
        first = next(iter(reader.at.left.values()))
        raise InputError(
            f"{len(reader.at.left)} objects are above {MAX_OBJECT_BYTES >> 30} GiB or lie in an archive, and were not "
            f"read, first {first}. Cut or restore them, or leave them out with the option only; all others were read."
        )


@dataclass(slots=True)
class _Reader:
    errand: Errand
    store: Store
    place: Place
    at: Position
    tried: set[str] = field(default_factory=set)  # what this pull could not read
    there: set[str] = field(default_factory=set)  # what the last listing showed of what was left

    def choose(self) -> list[Listed]:
        """The objects to read, oldest first; of very many the first ROUND."""
        return heapq.nsmallest(ROUND, self._new())

    def _new(self) -> Iterator[Listed]:
        floor = self.at.seen_us - self.place.overlap_us
        matches = pattern_of(self.place.only) if self.place.only else None
        self.there.clear()
        start = self.at.first_key if self.place.ordered else ""
        for page in self.store.listed(self.place.prefix, start):
            for one in page:
                name = str(one.identity())
                left = name in self.at.left
                if one.size == 0 or (one.modified_us < floor and not left) or name in self.at.recent:
                    continue
                if matches is not None and not matches(one.key):
                    continue
                if left:
                    self.there.add(name)
                if name in self.tried:
                    continue
                if one.size > MAX_OBJECT_BYTES:
                    self._leave(one)
                    continue
                yield one

    def _leave(self, one: Listed) -> None:
        name = str(one.identity())
        self.tried.add(name)
        if len(self.at.left) < MOST_LEFT:
            self.at.left[name] = self._name(one)
            self.there.add(name)

    def batches(self, chosen: Sequence[Listed]) -> Iterator[Batch]:
        """Fetch objects and hand them over, BATCH_OBJECTS or about BATCH_BYTES at a time."""
        waiting: list[tuple[Listed, Found]] = []
        for one in chosen:
            found = self._fetch(one)
            if found is None:
                continue
            waiting.append((one, found))
            if len(waiting) >= BATCH_OBJECTS or sum(item.size for item, _ in waiting) >= BATCH_BYTES:
                yield self._batch(waiting)
                waiting = []
        if waiting:
            yield self._batch(waiting)

    def standing(self, now_us: int) -> Batch:
        """Where the source stands once everything that was listed is read; what is gone is no more missed."""
        if not self.at.first_key or not self.place.ordered:
            self.at.left = {name: shown for name, shown in self.at.left.items() if name in self.there}
        return Batch(msgspec.to_builtins(self.at), fresh_us=now_us, complete_us=now_us - self.place.overlap_us)

    def _fetch(self, one: Listed) -> Found | None:
        ending = "".join(mark if mark.isalnum() or mark in "._-" else "_" for mark in one.key.rpartition("/")[2])
        path = self.errand.scratch / f"{hash64(one.key.encode()) & (2**64 - 1):016x}-{ending[-100:]}"
        try:
            if not self.store.fetch(one, path):
                log.info("%s was deleted before it was read", self._name(one))
                return None
        except ShutError:
            self._leave(one)
            return None
        if path.stat().st_size != one.size:
            path.unlink()
            raise UnavailableError(
                f"{self._name(one)} changed while it was read, or broke off. The next pull reads it again."
            )
        return Found(self._name(one), path)

    def _batch(self, read: list[tuple[Listed, Found]]) -> Batch:
        self.at.recent.update((str(one.identity()), one.modified_us) for one, _ in read)
        for one, _ in read:
            self.at.left.pop(str(one.identity()), None)
        # A clock that ran ahead for a while must not hide what comes after it was set right.
        newest_us = min(read[-1][0].modified_us, self.errand.now_us)
        self.at.seen_us = max(self.at.seen_us, newest_us)
        self.at.marks.append((newest_us, max(one.key for one, _ in read)))
        floor = self.at.seen_us - self.place.overlap_us
        self.at.recent = {name: us for name, us in self.at.recent.items() if us >= floor}
        self.at.first_key = max([self.at.first_key, *(key for us, key in self.at.marks if us < floor)])
        self.at.marks = [mark for mark in self.at.marks if mark[0] >= floor]
        position = msgspec.to_builtins(self.at)
        return Batch(position, files=[found for _, found in read], fresh_us=self.at.seen_us, complete_us=floor)

    def _name(self, one: Listed) -> str:
        return f"{self.place.scheme}://{self.place.bucket}/{one.key}"


def pages(
    host: str,
    ask: Callable[[str], T],
    objects: Callable[[T], list[Listed]],
    following: Callable[[T], str | None],
) -> Iterator[list[Listed]]:
    """The objects of a listing, page by page: `ask` takes the mark of a page, empty for the first.

    Raises:
        InputError: a page has another layout, and an empty bucket would look the same; or marks lead in a circle.
    """
    mark = ""
    given: set[str] = set()
    while True:
        page = _understood(host, lambda mark=mark: ask(mark))  # type: ignore[misc]
        yield _understood(host, lambda page=page: objects(page))  # type: ignore[misc]
        mark = _understood(host, lambda page=page: following(page)) or ""  # type: ignore[misc]
        if not mark:
            return
        if mark in given:
            raise InputError(f"The pages of the listing of {host} do not end: they lead in a circle.")
        given.add(mark)


def fetched(files: Any, path: str, to: Path) -> bool:
    """Write an object of a file system of fsspec into a new file; False where it is gone."""
    try:
        files.get_file(path, str(to))
    except FileNotFoundError:
        return False
    return True


def _understood(host: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{host} answers a listing in another layout ({type(error).__name__}: {error}). Nothing of it was taken; "
            "what came before is stored. Check the address, and that it is a store of this kind."
        ) from error


def patiently(errand: Errand, host: str, work: Callable[[], Any], retried: tuple[type[Exception], ...]) -> Any:
    """Do it, and again after a pause where the store is away or busy.

    Raises:
        UnavailableError: it stays so.
    """
    last: Exception | None = None
    for attempt in range(errand.patience.attempts):
        try:
            return work()
        except retried as error:
            if isinstance(error, OSError) and error.errno in FULL:
                raise UnavailableError(
                    f"The data folder has no room for what comes from {host}: {error.strerror}. Make room; the next "
                    "pull begins at the same place."
                ) from error
            last = error
        if attempt + 1 < errand.patience.attempts:
            pause = errand.patience.pause_s(attempt, None, None)
            log.info("%s: %s, next attempt in %.1f s", host, type(last).__name__, pause)
            errand.patience.sleep(pause)
    raise UnavailableError(
        f"{host} gave no answer, {errand.patience.attempts} times in a row: {type(last).__name__}. Nothing is lost: "
        "the next pull begins at the same place."
    ) from last
