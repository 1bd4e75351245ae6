"""Pulls LiteLLM's spend log, `GET /spend/logs/v2`, in slices of time that are read until nothing new turns up.

The proxy filters by the start of a call and writes a row after its end, in batches: rows appear late and pages shift
while they are read. So each pull begins an overlap before the last one ended, a slice is read again until its rows
agree with the proxy's own count or a whole pass adds nothing, and the merge by request id makes reading twice harmless.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from app.core.errors import InputError, UnavailableError, UsageError
from app.core.hashing import hash64
from ingest.connectors.connector import MINUTE_US, Batch, Connector, Errand, Option, whole_number
from ingest.connectors.polite import (
    Patience,
    PoliteClient,
    RefusedError,
    TooLargeError,
    UnreadableError,
    bearer,
    fewer_may_do,
    host_of,
)
from ingest.connectors.secret_reference import read_secret

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ingest.connectors.outbound import Guard

PATH: Final = "/spend/logs/v2"
FORMAT: Final = "litellm_spend_logs"
MAX_PAGE_SIZE: Final = 1000
OLD_MAX_PAGE_SIZE: Final = 100  # of proxies before the limit was raised; they answer 422 above it
MIN_OVERLAP_US: Final = 10 * 60 * 1_000_000
MAX_PASSES: Final = 6
MAX_SLICE_ROWS: Final = 1_000_000  # no proxy starts more calls in a second
_SECOND: Final = 1_000_000
_DAY: Final = 86_400 * _SECOND


@dataclass(frozen=True, slots=True)
class Options:
    """A LiteLLM source.

    Attributes:
        base_url: the proxy, https://host[:port][/prefix].
        token: reference to a key that may read all spend logs, `env:NAME` or `file:PATH`.
        since_us: where the first pull begins, microseconds UTC.
        overlap_us: how far before the end of the last pull the next one begins; longer than the longest call plus the
            proxy's write delay, at least ten minutes.
        page_size: rows asked for at once; lowered by itself where the proxy allows less or rows are large.
        slice_rows: a slice with more rows is cut in time, which bounds memory and the depth of paging.
    """

    base_url: str
    token: str
    since_us: int
    overlap_us: int = 30 * 60 * _SECOND
    page_size: int = 500
    slice_rows: int = 5_000  # proxies count to 10,000

    def __post_init__(self) -> None:
        if self.overlap_us < MIN_OVERLAP_US:
            raise UsageError("The overlap of a LiteLLM source is at least ten minutes: rows are written late.")
        if not 1 <= self.page_size <= MAX_PAGE_SIZE:
            raise UsageError(f"A page of a LiteLLM source has 1 to {MAX_PAGE_SIZE} rows.")
        if self.slice_rows < 1:
            raise UsageError("A slice of a LiteLLM source has at least one row.")


@dataclass(frozen=True, slots=True)
class Cursor:
    """All calls that started before `through_us` have been read, but for late rows within the overlap."""

    through_us: int


def pull(
    options: Options, cursor: Cursor | None, now_us: int, *, guard: Guard, patience: Patience | None = None
) -> Iterator[tuple[list[bytes], Cursor]]:
    """Rows as JSON lines, at most a page at a time, each batch with the cursor to store once the batch is stored.

    Every slice ends with a batch, perhaps empty, that moves the cursor. A pull that stops anywhere is resumed from the
    last stored cursor; rows may then come again, with the same `request_id`.

    Raises:
        UsageError: the secret cannot be read.
        ForbiddenError: the host is not allowed, or the token is refused.
        InputError: the proxy answers with another layout, or has no such path.
        UnavailableError: the proxy cannot be reached, stays busy, or a finished slice keeps changing.
    """
    first_us = options.since_us if cursor is None else cursor.through_us - options.overlap_us
    reached = Cursor(first_us) if cursor is None else cursor
    with PoliteClient(options.base_url, bearer(read_secret(options.token)), guard, patience or Patience()) as client:
        reader = _Reader(client, options.page_size, options.slice_rows)
        start, stop, width = _floor(first_us), _floor(now_us) + _SECOND, _DAY
        while start < stop:
            end = min(start + width, stop)
            first = reader.page(start, end, 1)
            if reader.too_many(first) and end - start > _SECOND:
                width = max(_SECOND, _floor((end - start) // 2))
                continue
            settled = end <= now_us - options.overlap_us
            for lines in reader.rows(start, end, first, settled=settled):
                yield lines, reached
            reached = Cursor(max(reached.through_us, min(end, now_us)))
            yield [], reached
            start = end
            if 4 * (first.total or 0) <= options.slice_rows:
                width = min(_DAY, 2 * width)


class _Page(msgspec.Struct):
    """What the proxy answers; newer versions say when they stopped counting."""

    data: list[msgspec.Raw]
    total: int | None = None
    total_pages: int | None = None
    total_is_capped: bool = False


class _Identity(msgspec.Struct):
    request_id: str


@dataclass(slots=True)
class _Reader:
    """Reads slices; remembers the page size that the proxy accepts."""

    client: PoliteClient
    page_size: int
    slice_rows: int
    seen: set[str | int] = field(default_factory=set)

    def too_many(self, page: _Page) -> bool:
        return page.total_is_capped or (page.total or 0) > self.slice_rows

    def page(self, start_us: int, end_us: int, number: int) -> _Page:
        """One page; asks for fewer rows where the proxy refuses the size or the answer is too large."""
        while True:
            params: dict[str, str | int] = {
                "start_date": _text(start_us),
                "end_date": _text(end_us),
                "page": number,
                "page_size": self.page_size,
                "sort_by": "startTime",
                "sort_order": "asc",  # new rows then move the last pages only
            }
            try:
                return self.client.get(PATH, params, _decode)
            except (TooLargeError, RefusedError) as error:
                if not fewer_may_do(error, self.page_size):
                    raise
                refused = isinstance(error, RefusedError) and error.status == 422
                self.page_size = min(self.page_size // 2, OLD_MAX_PAGE_SIZE if refused else self.page_size)
            if number > 1:
                raise _OtherPagesError

    def rows(self, start_us: int, end_us: int, first: _Page, *, settled: bool) -> Iterator[list[bytes]]:
        """The slice's rows, each once: passes over its pages until they agree with the count or add nothing.

        A slice that is not `settled` still grows and is read again by the next pull, so it may be left unfinished.
        """
        self.seen.clear()
        page: _Page | None = first
        for _ in range(MAX_PASSES):
            before, totals, capped = len(self.seen), set[int | None](), False
            try:
                for answer in self._pages(start_us, end_us, page):
                    totals.add(answer.total)
                    capped = capped or answer.total_is_capped
                    if lines := self._fresh(answer):
                        yield lines
            except _OtherPagesError:
                page = None
                continue
            page = None
            counted = next(iter(totals)) if len(totals) == 1 and not capped else None
            if (counted is not None and len(self.seen) >= counted) or len(self.seen) == before:
                return
        if settled:
            raise UnavailableError(
                f"The rows from {_text(start_us)} to {_text(end_us)} UTC kept changing over {MAX_PASSES} passes. The "
                "next pull reads them again."
            )

    def _pages(self, start_us: int, end_us: int, first: _Page | None) -> Iterator[_Page]:
        number = 1
        page = first or self.page(start_us, end_us, number)
        while True:
            yield page
            if not self._more(page, number):
                return
            if number * self.page_size > MAX_SLICE_ROWS:
                raise InputError(f"The proxy's pages do not end ({_text(start_us)} UTC, page {number}).")
            number += 1
            page = self.page(start_us, end_us, number)

    def _more(self, page: _Page, number: int) -> bool:
        """Whether pages follow; a proxy that stopped counting also says too few pages."""
        if page.total_pages is None or page.total_is_capped:
            return len(page.data) >= self.page_size
        return number < page.total_pages and bool(page.data)

    def _fresh(self, page: _Page) -> list[bytes]:
        lines = []
        for raw in page.data:
            line = bytes(raw)
            name = _name(line)
            if name not in self.seen:
                self.seen.add(name)
                lines.append(msgspec.json.format(line, indent=-1) if b"\n" in line else line)
        return lines


class _OtherPagesError(Exception):
    """The page size changed on the way, so page numbers mean something else: the pass begins again."""


def _decode(body: bytes) -> _Page:
    try:
        return msgspec.json.decode(body, type=_Page)
    except msgspec.ValidationError as error:
        raise InputError(
            f"The proxy answers {PATH} in another layout ({error}). Halve reads an object with a list `data`. Update "
            "the proxy, or export its table LiteLLM_SpendLogs to a file and ingest that."
        ) from error
    except msgspec.DecodeError as error:
        raise UnreadableError(str(error)) from error


def _name(line: bytes) -> str | int:
    """A row's own id, or the hash of a row that has none."""
    try:
        return msgspec.json.decode(line, type=_Identity).request_id
    except msgspec.DecodeError:
        return hash64(line)


def _floor(us: int) -> int:
    return us - us % _SECOND


def _text(us: int) -> str:
    """The proxy's own form of a time, UTC, whole seconds."""
    return f"{datetime.fromtimestamp(us // _SECOND, UTC):%Y-%m-%d %H:%M:%S}"


def _options(given: Mapping[str, Any], since_us: int = 0) -> Options:
    # Sources that were added before every kind called its key `key` have a `token`.
    key = str(given.get("key") or given["token"])
    overlap = whole_number(given, "overlap_minutes", 30, 10, 7 * 24 * 60) * MINUTE_US
    host_of(str(given["url"]))
    return Options(str(given["url"]), key, since_us, overlap, whole_number(given, "limit", 500, 1, MAX_PAGE_SIZE))


def _pull(errand: Errand) -> Iterator[Batch]:
    options = _options(errand.options, errand.since_us)
    cursor = None if errand.held is None else Cursor(int(errand.held["through_us"]))
    for lines, reached in pull(options, cursor, errand.now_us, guard=errand.guard, patience=errand.patience):
        complete = min(reached.through_us, errand.now_us - options.overlap_us)
        yield Batch({"through_us": reached.through_us}, lines, fresh_us=reached.through_us, complete_us=complete)


CONNECTOR: Final = Connector(
    name="litellm",
    reads="The spend log of a LiteLLM proxy, request by request.",
    options=(
        Option("url", "address of the proxy", required=True),
        Option("key", "a key that may read all spend logs", required=True, secret=True),
        Option("limit", f"rows asked for at once, 500, at most {MAX_PAGE_SIZE}"),
        Option("overlap_minutes", "how far back each pull looks for late rows, 30"),
    ),
    pull=_pull,
    check=_options,
    hosts=lambda options: [host_of(str(options["url"]))],
    format=FORMAT,
)
