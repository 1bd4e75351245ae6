"""Single requests: a sorted, bounded page of a view, and how their cost and time are distributed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from app.analysis.scope import facts_scope
from app.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.analysis.scope import Scope
    from app.core.view import View
    from app.warehouse.store import Session

SORTS = {
    "cost": "cost_pusd",
    "time": "last_us",
    "input": "tokens_in",
    "output": "tokens_out",
    "cached": "tok_cache_read",
    "duration": "duration_us",
    "ttft": "ttft_us",
}
"""What a list can be sorted by."""

MAX_PAGE = 500
MAX_OFFSET = 100_000
MAX_ROWS = 1_000_000
BLOCK_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One request as a list shows it. Tokens are sums over all input or output classes; None is unknown."""

    request_key: int
    start_us: int | None
    source: str
    provider: str
    model: str
    feature: str
    status: str
    tokens_in: int | None
    tok_cache_read: int | None
    tokens_out: int | None
    cost_pusd: int | None
    cost_state: str
    ttft_us: int | None
    duration_us: int | None


@dataclass(frozen=True, slots=True)
class Distribution:
    """Over all requests of a view: exact quantiles of cost (pico-USD), of duration and time to first token (us)."""

    requests: int
    cost_mean_pusd: int | None
    cost_p50_pusd: int | None
    cost_p95_pusd: int | None
    cost_max_pusd: int | None
    duration_p50_us: int | None
    duration_p95_us: int | None
    ttft_p50_us: int | None
    ttft_p95_us: int | None


@dataclass(frozen=True, slots=True)
class RequestPage:
    """`rows` are those from `offset` on; `total` counts all of the view."""

    rows: tuple[RequestRow, ...]
    total: int
    offset: int
    limit: int


def page(
    session: Session,
    view: View,
    *,
    sort: str = "cost",
    descending: bool = True,
    limit: int = 50,
    offset: int = 0,
    total: int | None = None,
) -> RequestPage:
    """The requests of a view, sorted; unknown values come last and ties in the order of the keys.

    `total` is how many there are, where the caller has counted them already.

    Raises:
        UsageError: no such sort, or a page out of bounds.
    """
    if sort not in SORTS:
        raise UsageError(f"{sort!r} is no order of requests. Use one of: {', '.join(SORTS)}.")
    if not (0 < limit <= MAX_PAGE and 0 <= offset <= MAX_OFFSET):
        raise UsageError(
            f"A page holds 1 to {MAX_PAGE} requests and starts at most {MAX_OFFSET} in: narrow the period or filters."
        )
    scope = facts_scope(session, view)
    if total is None:
        total = _count(session, scope)
    keys = session.rows(
        "requests.page_keys",
        {"facts": scope.relation, "sort": SORTS[sort], "direction": "DESC" if descending else "ASC"},
        limit=limit,
        offset=offset,
        **scope.range,
    )
    return RequestPage(rows_of(session, [int(key) for key, _ in keys]), total, offset, limit)


@dataclass(frozen=True, slots=True)
class Every:
    """All requests of a view: `total` of them, of which `rows` gives the first `shown` while it is read."""

    total: int
    shown: int
    rows: Iterator[RequestRow]


def every(session: Session, view: View, *, sort: str, descending: bool, most: int) -> Every:
    """The first `most` requests of a view in an order, fetched in blocks: only their keys are held at once.

    The order stands when this returns; a request that is deleted while the rows are read is left out.

    Raises:
        UsageError: no such sort, or more rows than MAX_ROWS.
    """
    if sort not in SORTS or not 0 < most <= MAX_ROWS:
        raise UsageError(f"Rows are listed by one of {', '.join(SORTS)}, 1 to {MAX_ROWS} of them.")
    scope = facts_scope(session, view)
    total = _count(session, scope)
    keys = session.frame(
        "requests.page_keys",
        {"facts": scope.relation, "sort": SORTS[sort], "direction": "DESC" if descending else "ASC"},
        limit=most,
        offset=0,
        **scope.range,
    )["request_key"]

    def rows() -> Iterator[RequestRow]:
        for start in range(0, len(keys), BLOCK_ROWS):
            yield from rows_of(session, keys[start : start + BLOCK_ROWS].to_list())

    return Every(total, len(keys), rows())


def _count(session: Session, scope: Scope) -> int:
    return int(session.rows("requests.count", {"facts": scope.relation}, **scope.range)[0][0])


def rows_of(session: Session, keys: Sequence[int]) -> tuple[RequestRow, ...]:
    """The list rows of some request keys, in the order given; unknown keys are left out."""
    if not keys:
        return ()
    session.register(
        "page_keys",
        pl.DataFrame(
            {"request_key": list(keys), "place": list(range(len(keys)))},
            schema={"request_key": pl.Int64, "place": pl.Int64},
        ),
    )
    return tuple(_row(row) for row in session.rows("requests.rows", {"keys": "page_keys"}))


def distribution(session: Session, view: View) -> Distribution:
    """How cost and time are distributed over the requests of a view."""
    scope = facts_scope(session, view)
    row = session.rows("requests.distribution", {"facts": scope.relation}, **scope.range)[0]
    return Distribution(int(row[0]), *(None if cell is None else int(cell) for cell in row[1:]))


def _row(row: tuple[Any, ...]) -> RequestRow:
    return RequestRow(*row)
