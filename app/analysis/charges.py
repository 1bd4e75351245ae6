"""Costs cut into charges: one row an hour or day, model, token class and price row, for whoever takes them elsewhere.

Lines of a request add up to its cost, so charges add up to what Spend shows of the same time, to the pico-dollar.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from app.analysis.days import bucket_for, local_days
from app.warehouse import rollup
from app.warehouse.priced import price_at_list

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.warehouse.store import Session

_NOW: Final = "export_now"
_REQUESTS: Final = "export_requests"
_LINES: Final = "export_lines"
_LISTED: Final = "export_listed"
_LISTED_LINES: Final = "export_listed_lines"
_SOME: Final = "export_some"
_AT_LIST: Final = "export_at_list"
_IMAGES: Final = "export_images"
_FITTING: Final = "export_fitting"
_TABLES: Final = (_NOW, _REQUESTS, _LINES, _LISTED, _LISTED_LINES, _SOME, _AT_LIST, _IMAGES, _FITTING)
TIMES: Final = ("start_time", "first_token_time", "end_time")
ROWS_OF_A_FRAME: Final = 50_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export: requests that start in [from_us, to_us), 0 with those that have no time; days cut in `zone`.

    `as_of` is a version of the cost ledger, None for the figures of now.
    """

    from_us: int
    to_us: int
    zone: str
    as_of: int | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A local day [from_us, to_us) with requests in it; `dated` is False for those that have no time."""

    from_us: int
    to_us: int
    dated: bool
    requests: int


def spans(session: Session, wanted: Wanted, *, bills: bool) -> list[Span]:
    """The days that hold any of the wanted requests, those without a time first; `bills`: also days of bills alone."""
    # a zone may begin its days inside a bucket of the roll-ups, which are cut for another one
    width = min(rollup.bucket(session) or rollup.HOUR_US, bucket_for(wanted.zone))
    held = [
        (int(at_us), int(requests))
        for at_us, requests in session.rows(
            "export.buckets", from_us=wanted.from_us, to_us=wanted.to_us, bucket_us=width, bills=bills
        )
    ]
    undated = [Span(0, 1, dated=False, requests=requests) for at_us, requests in held if at_us == 0]
    dated = [(max(at_us, wanted.from_us), requests) for at_us, requests in held if at_us > 0]
    if not dated:
        return undated
    found = []
    place = 0
    for day in local_days(dated[0][0], dated[-1][0] + 1, wanted.zone):
        requests = 0
        while place < len(dated) and dated[place][0] < day.to_us:
            requests += dated[place][1]
            place += 1
        if requests:
            found.append(_clipped(day.from_us, day.to_us, requests, wanted))
    return [*undated, *found]


def _clipped(from_us: int, to_us: int, requests: int, wanted: Wanted) -> Span:
    return Span(max(from_us, wanted.from_us, 1), min(to_us, wanted.to_us), dated=True, requests=requests)


def charges(session: Session, span: Span, wanted: Wanted, *, hourly: bool) -> pl.DataFrame:
    """The charges of a span, days that only a bill knows included: the columns of `export.charges`; unknown is NULL."""
    _take(session, span, wanted)
    session.execute("export.add_bills", {"into": _REQUESTS}, from_us=span.from_us, to_us=span.to_us)
    _list_prices(session)
    session.execute("export.classes", {"figures": _REQUESTS, "into": _LINES})
    session.execute("export.classes", {"figures": _LISTED, "into": _LISTED_LINES})
    found = session.frame(
        "export.charges",
        {"lines": _LINES, "listed": _LISTED_LINES, "requests": _REQUESTS},
        from_us=span.from_us,
        hourly=hourly and span.dated,
    )
    _drop(session)
    return found


def request_rows(session: Session, span: Span, wanted: Wanted) -> Iterator[pl.DataFrame]:
    """The requests of a span in frames of bounded size: the columns of `export.request_rows`."""
    _take(session, span, wanted)
    pieces = max(1, -(-span.requests // ROWS_OF_A_FRAME))
    for piece in range(pieces):
        frame = session.frame("export.request_rows", {"requests": _REQUESTS}, piece=piece, pieces=pieces)
        yield frame.with_columns(pl.col(name).dt.replace_time_zone("UTC") for name in TIMES)
    _drop(session)


def _take(session: Session, span: Span, wanted: Wanted) -> None:
    """The requests of a span with the wanted figures, as a temporary table."""
    into = _REQUESTS if wanted.as_of is None else _NOW
    session.execute("export.requests", {"into": into}, from_us=span.from_us, to_us=span.to_us)
    if wanted.as_of is not None:
        session.execute("ledger.images", {"requests": _NOW, "into": _IMAGES}, version=wanted.as_of)
        session.execute("ledger.same_call", {"images": _IMAGES, "into": _FITTING})
        session.execute("export.as_of", {"requests": _NOW, "images": _FITTING, "into": _REQUESTS})


def _list_prices(session: Session) -> None:
    """What the requests cost at list, part by part, where a book's own terms made them cost something else."""
    session.execute("export.no_listed", {"into": _LISTED})
    for book, by_account in session.rows("export.list_books", {"requests": _REQUESTS}):
        session.execute("export.other_than_list", {"requests": _REQUESTS, "into": _SOME}, book=book)
        price_at_list(session, _SOME, book, _AT_LIST, by_account=by_account)
        session.execute("export.add_listed", {"requests": _SOME, "priced": _AT_LIST, "into": _LISTED})


def _drop(session: Session) -> None:
    for name in _TABLES:
        session.execute("pricing.drop", {"table": name})
