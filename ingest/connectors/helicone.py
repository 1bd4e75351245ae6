"""Pulls Helicone's requests, `POST /v1/request/query-clickhouse`, oldest first, each page from the end of the last one.

Offsets into a table that grows would slip, so a page is asked for by time: from the time of the last row on, and rows
of that very time which came before are passed over. Only where a whole page has one time is an offset used within it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.core.errors import InputError
from ingest.connectors.answers import decoder, instant_us, named, rfc3339
from ingest.connectors.connector import MINUTE_US, Batch, Connector, Errand, Option, whole_number
from ingest.connectors.polite import PoliteClient, RefusedError, TooLargeError, bearer, fewer_may_do, host_of
from ingest.connectors.secret_reference import read_secret

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATH: Final = "/v1/request/query-clickhouse"
HOST: Final = "https://api.helicone.ai"
OVERLAP_MINUTES: Final = 30
MAX_LIMIT: Final = 1000
MAX_BARREN: Final = 20  # pages in a row without a new row; rows that arrive shift few


@dataclass(frozen=True, slots=True)
class Options:
    """A Helicone organisation: its API and its key as a reference."""

    url: str
    key: str
    limit: int
    overlap_us: int

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """The options as they are stored.

        Raises:
            UsageError, InputError: one of them cannot be used.
        """
        url = str(given.get("url", HOST))
        host_of(url)
        overlap = whole_number(given, "overlap_minutes", OVERLAP_MINUTES, 10, 7 * 24 * 60)
        return cls(url, str(given["key"]), whole_number(given, "limit", 500, 1, MAX_LIMIT), overlap * MINUTE_US)


class Position(msgspec.Struct, frozen=True):
    """What began before `through_us` has been read, but for late rows within the overlap."""

    through_us: int


class _Answer(msgspec.Struct):
    data: list[msgspec.Raw] | None = None
    error: str | None = None


class _When(msgspec.Struct):
    request_created_at: str


def pull(errand: Errand) -> Iterator[Batch]:
    """Requests as JSON lines, at most a page at a time.

    Raises:
        UsageError: the secret cannot be read. ForbiddenError: the host is not allowed or the key is refused.
        InputError: another layout or order, or no such path. UnavailableError: the server cannot be reached.
    """
    options = Options.of(errand.options)
    held = None if errand.held is None else msgspec.convert(errand.held, Position)
    through = errand.since_us if held is None else held.through_us
    start = through if held is None else through - options.overlap_us
    with PoliteClient(options.url, bearer(read_secret(options.key)), errand.guard, errand.patience) as client:
        reader = _Reader(client, options.limit, errand.now_us)
        for lines, reached_us in reader.pages(start):
            through = max(through, min(reached_us, errand.now_us))
            complete = min(through, errand.now_us - options.overlap_us)
            yield Batch({"through_us": through}, lines, fresh_us=through, complete_us=complete)


@dataclass(slots=True)
class _Reader:
    client: PoliteClient
    limit: int
    until_us: int
    seen: set[str] = field(default_factory=set)  # ids of the rows at the time that the next page begins with

    def pages(self, start_us: int) -> Iterator[tuple[list[bytes], int]]:
        """(new lines, time up to which everything is read) of each page."""
        at_us, offset, barren = start_us, 0, 0
        while True:
            rows, more = self._page(at_us, offset)
            last_us = self._order(rows, at_us)
            lines = [line for name, line, _ in rows if name not in self.seen]
            if not more:
                yield lines, self.until_us
                return
            barren = 0 if lines else barren + 1
            if barren > MAX_BARREN:
                raise InputError(f"The pages of {PATH} do not end: {barren} of them gave what was given before.")
            yield lines, last_us
            at_last = {name for name, _, when in rows if when >= last_us}
            if last_us > at_us:
                at_us, offset, self.seen = last_us, 0, at_last
            else:
                offset, self.seen = offset + len(rows), self.seen | at_last

    def _page(self, at_us: int, offset: int) -> tuple[list[tuple[str, bytes, int]], bool]:
        """((id, line, time to the millisecond) of each row, whether more follow)."""
        while True:
            asked = {"gte": rfc3339(at_us)}, {"lte": rfc3339(self.until_us)}
            left, right = ({"request_response_rmt": {"request_created_at": one}} for one in asked)
            query = {
                "filter": {"left": left, "operator": "and", "right": right},
                "limit": self.limit,
                "offset": offset,
                "sort": {"created_at": "asc"},
            }
            try:
                answer = self.client.ask("POST", PATH, {}, msgspec.json.encode(query), _DECODE)
            except (TooLargeError, RefusedError) as error:
                if not fewer_may_do(error, self.limit):
                    raise
                self.limit = max(1, self.limit // 2)
                continue
            if answer.data is None:
                raise InputError(f"{PATH} answers without rows: {(answer.error or 'no reason given')[:200]}")
            return [_row(bytes(raw)) for raw in answer.data], len(answer.data) >= self.limit

    def _order(self, rows: list[tuple[str, bytes, int]], at_us: int) -> int:
        """The time of the last row."""
        last = at_us - at_us % 1000
        for _, _, when in rows:
            if when < last:
                raise InputError(f"{PATH} gives rows in another order than by time, so that pages would lose some.")
            last = when
        return last


_DECODE: Final = decoder(_Answer, PATH)


def _row(raw: bytes) -> tuple[str, bytes, int]:
    name, line = named(raw, "request_id")
    try:
        when = instant_us(msgspec.json.decode(line, type=_When).request_created_at)
    except msgspec.DecodeError:
        when = None
    if when is None:
        raise InputError(f"{PATH} gives a row without a readable request_created_at, by which Halve pages.")
    return name, line, when - when % 1000


CONNECTOR: Final = Connector(
    name="helicone",
    reads="The requests of a Helicone organisation.",
    options=(
        Option("key", "an API key that may read requests", required=True, secret=True),
        Option("url", f"address of the API, {HOST}; for the EU https://eu.api.helicone.ai"),
        Option("limit", f"requests asked for at once, 500, at most {MAX_LIMIT}"),
        Option("overlap_minutes", f"how far back each pull looks for late rows, {OVERLAP_MINUTES}"),
    ),
    pull=pull,
    check=Options.of,
    hosts=lambda options: [host_of(str(options.get("url", HOST)))],
)
