"""The window of an analysis: local days without a clock library in the store, the basis, and the `stream` relation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from app.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.plan.result import Basis
    from app.warehouse.store import Session

QUARTER_US = 900_000_000
DAY_US = 96 * QUARTER_US
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Window:
    """What was loaded: half-open, microseconds UTC; how many requests stand outside the basis or have no time."""

    from_us: int
    to_us: int
    zone: str
    basis: Basis
    requests: int
    unpriced: int
    left_out: int
    untimed: int
    cost_pusd: int
    first_us: int | None
    last_us: int | None
    price_book: str


def offsets(quarters: Iterable[int], zone: str) -> pl.DataFrame:
    """The offset of a zone in each quarter of an hour since 1970 (no zone changes inside one): (quarter, offset_us).

    Raises:
        UsageError: no such zone.
    """
    try:
        named = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UsageError(f"{zone!r} is no time zone. Use a name such as Europe/Berlin or UTC.") from error
    rows = [(quarter, _offset_us(quarter * QUARTER_US, named)) for quarter in quarters]
    return pl.DataFrame(rows, schema={"quarter": pl.Int64, "offset_us": pl.Int64}, orient="row")


def _offset_us(at_us: int, zone: ZoneInfo) -> int:
    local = (_EPOCH + timedelta(microseconds=at_us)).astimezone(zone)
    offset = local.utcoffset()
    assert offset is not None
    return offset // timedelta(microseconds=1)


def load(session: Session, from_us: int, to_us: int, zone: str) -> Window:
    """Create the temporary relation `stream` of the window; see the query `plan.stream` for its columns.

    Where something was paid per token the stream holds only that; else it holds everything at list-price value.
    """
    quarters = [quarter for (quarter,) in session.rows("plan.quarters", from_us=from_us, to_us=to_us)]
    session.register("zone_offsets", offsets(quarters, zone))
    [(paid, other, untimed)] = session.rows("plan.basis", from_us=from_us, to_us=to_us)
    session.execute("plan.stream_scope", from_us=from_us, to_us=to_us, paid_only=paid > 0)
    session.execute("plan.stream")
    session.execute("plan.drop", {"rows_of": "stream_scope"})
    [(requests, unpriced, cost, first_us, last_us, book)] = session.rows("plan.totals", from_us=from_us, to_us=to_us)
    return Window(
        from_us=from_us,
        to_us=to_us,
        zone=zone,
        basis="paid" if paid else "list-price value",
        requests=requests,
        unpriced=unpriced,
        left_out=int(other) if paid else 0,
        untimed=int(untimed),
        cost_pusd=int(cost or 0),
        first_us=first_us,
        last_us=last_us,
        price_book=book or "",
    )
