"""The price book at work: read anew as soon as the files behind it change, so that no service need be started again."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from app.core.errors import HalveError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from app.pricing.book import PriceBook

log = logging.getLogger(__name__)

State = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class AtWork:
    """A book, since when it prices new requests (microseconds UTC), and what is wrong with newer files, if anything."""

    book: PriceBook
    since_us: int
    problem: str = ""


@dataclass(slots=True)
class Books:
    """Hands out the book of the files as they are now.

    `load` reads them; `watched` are the files whose change makes another book. A file that cannot be used leaves the
    book before it at work, and says so. What was priced before keeps its figures: only a re-pricing changes those.
    """

    load: Callable[[], PriceBook]
    watched: Sequence[Path] = ()
    _lock: Lock = field(default_factory=Lock)
    _seen: State = ()
    _work: AtWork = field(init=False)

    def __post_init__(self) -> None:
        self._seen = self._state()
        self._work = AtWork(self.load(), _now_us())

    @classmethod
    def fixed(cls, book: PriceBook) -> Books:
        """One book for good."""
        return cls(lambda: book)

    def now(self) -> PriceBook:
        """The book that prices what comes now."""
        return self.at_work().book

    def at_work(self) -> AtWork:
        """The same with what is known of it; while another thread reads new files, the book before them."""
        if self._state() != self._seen and self._lock.acquire(blocking=False):
            try:
                self._renew()
            finally:
                self._lock.release()
        return self._work

    def newest(self) -> PriceBook:
        """The book of the files as they are now, waited for where another thread reads them."""
        with self._lock:
            if self._state() != self._seen:
                self._renew()
        return self._work.book

    def _renew(self) -> None:
        seen = self._state()
        before = self._work
        try:
            book = self.load()
        except HalveError as error:
            log.warning("The price files changed and cannot be used; %s stays at work: %s", before.book.version, error)
            self._work = AtWork(before.book, before.since_us, str(error))
        else:
            same = book.version == before.book.version
            self._work = AtWork(book, before.since_us if same else _now_us())
            if not same:
                log.info("New requests are priced with the book %s, before it %s", book.version, before.book.version)
        self._seen = seen

    def _state(self) -> State:
        return tuple(_mark(path) for path in self.watched)


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _now_us() -> int:
    return time.time_ns() // 1000
