"""Reports of usage and cost in buckets of a day, as the administration APIs of OpenAI and Anthropic page them.

Each page goes on as the provider wrote it. Providers correct the last days for a while, so each pull begins a week
before the last one ended; a day that comes again replaces what was known of it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from app.core.errors import InputError
from ingest.connectors.answers import decoder, line_of
from ingest.connectors.connector import DAY_US, Batch, Errand
from ingest.connectors.polite import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ingest.connectors.polite import PoliteClient

log = logging.getLogger(__name__)

OVERLAP_US: Final = 7 * DAY_US
SETTLED_US: Final = 2 * DAY_US  # after that a day's usage hardly changes any more
MAX_PAGES: Final = 1_000


@dataclass(frozen=True, slots=True)
class Report:
    """One paged report; an `optional` one may be missing at the provider."""

    path: str
    params: Mapping[str, str | int | list[str]] = field(default_factory=dict)
    optional: bool = False


class Position(msgspec.Struct, frozen=True):
    """When each report was last read to its end, by path."""

    through_us: dict[str, int]


class _Bucket(msgspec.Struct):
    results: list[msgspec.Raw]


class _Page(msgspec.Struct):
    data: list[_Bucket]
    has_more: bool
    next_page: str | None = None


def pull_reports(
    errand: Errand,
    client: PoliteClient,
    reports: tuple[Report, ...],
    start: Callable[[int], dict[str, str | int]],
    payer: str | None = None,
) -> Iterator[Batch]:
    """The pages of each report that hold anything; `start` gives the parameters of a first day (microseconds UTC).

    `payer` is the organisation whose bill it is: it is written on each page, where the pages do not say it themselves.

    Raises:
        ForbiddenError, UnavailableError, InputError: as the client does, and for another layout.
    """
    held = Position({}) if errand.held is None else msgspec.convert(errand.held, Position)
    through = dict(held.through_us)
    for report in reports:
        last = through.get(report.path)
        begin = errand.since_us if last is None else last - OVERLAP_US
        try:
            for body in _pages(client, report, start(begin - begin % DAY_US)):
                yield _batch(through, [body if payer is None else _of_payer(body, payer)], reports, errand)
        except RefusedError as error:
            if not report.optional or error.status != 404:
                raise
            log.info("%s has no report %s; it is left out", client.base_url, report.path)
        through[report.path] = errand.now_us
        yield _batch(through, [], reports, errand)


def _of_payer(page: bytes, payer: str) -> bytes:
    fields = msgspec.json.decode(page, type=dict[str, msgspec.Raw])
    return msgspec.json.encode({"organization_id": payer, **fields})


def _batch(through: dict[str, int], lines: list[bytes], reports: tuple[Report, ...], errand: Errand) -> Batch:
    reached = [through.get(report.path) for report in reports]
    fresh = None if None in reached else min(us for us in reached if us is not None)
    settled = None if fresh is None else min(fresh, errand.now_us - SETTLED_US)
    return Batch({"through_us": dict(through)}, lines, fresh_us=fresh, complete_us=settled)


def _pages(client: PoliteClient, report: Report, begin: dict[str, str | int]) -> Iterator[bytes]:
    bodies: dict[str, bytes] = {}
    decode = decoder(_Page, report.path)

    def keep(body: bytes) -> _Page:
        bodies["last"] = body
        return decode(body)

    page: str | None = None
    given: set[str] = set()
    for _ in range(MAX_PAGES):
        params = {**report.params, **begin, **({} if page is None else {"page": page})}
        answer = client.get(report.path, params, keep)
        if any(bucket.results for bucket in answer.data):
            yield line_of(bodies["last"])
        if not answer.has_more:
            return
        if answer.next_page is None or answer.next_page in given:
            raise InputError(f"{report.path} says that more follows and not where. Nothing after that was read.")
        page = answer.next_page
        given.add(page)
    raise InputError(f"The pages of {report.path} do not end.")
