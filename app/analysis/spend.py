"""Where the money went: totals, a daily series, a ranking. Every view of one period adds up to the same total.

Answers come from the roll-up in milliseconds; keys, users, status and templates from the facts of the period.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from app.analysis.days import EVERYTHING, HOUR_US, Day, local_days
from app.analysis.figures import Figures, added, figures_of, known_sum
from app.analysis.scope import column, spend_scope
from app.core.errors import UsageError
from app.core.view import Period, View, latest_us

if TYPE_CHECKING:
    from app.analysis.scope import Scope
    from app.warehouse.store import Session

Measure = Literal["cost", "requests", "tokens"]
Order = Literal["cost", "requests", "tokens", "name"]


_MEASURE_AT = {"cost": 4, "requests": 5, "tokens": 6}
_NEVER: Final = 2**62


@dataclass(frozen=True, slots=True)
class RankRow:
    """One value of a dimension ('unassigned' where there is none) and its sums."""

    name: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class Ranking:
    """The values of a dimension by size; `other` folds the rest, so that rows and other add up to `total`.

    `other_n` is how many values the rest holds, 0 where nothing was cut.
    """

    dimension: str
    rows: tuple[RankRow, ...]
    other: Figures | None
    other_n: int
    total: Figures


@dataclass(frozen=True, slots=True)
class SeriesGroup:
    """One line of a daily series: pico-USD (or counts) a day.

    None is unknown: requests, but none of them has a price; or a day before anything in the store.
    `name` is None for the folded rest.
    """

    name: str | None
    values: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """A measure a local day by the values of a dimension; groups add up to `totals`.

    `undated` is the sum over requests without a time: in the period "all" only, and in no day.
    """

    dimension: str
    measure: Measure
    days: tuple[Day, ...]
    groups: tuple[SeriesGroup, ...]
    other_n: int
    totals: tuple[int | None, ...]
    undated: int | None


def whole_period(session: Session, zone: str) -> Period:
    """The period "all": everything in the warehouse, requests without a time included."""
    rows = session.rows("spend.extent")
    last = rows[0][1] if rows else None
    return Period(EVERYTHING, 0, int(last) + 1 if last is not None else 1, zone)


def extent(session: Session) -> tuple[int, int] | None:
    """First and last start of a request, or day of a bill, in microseconds UTC; None where nothing has a time."""
    rows = session.once("spend.extent", lambda: session.rows("spend.extent"))
    return None if not rows or rows[0][0] is None else (int(rows[0][0]), int(rows[0][1]))


def begins_with_bill(session: Session) -> bool:
    """Whether the store begins with a day that only a bill knows: its first moment is then a day and no time."""
    found, requests = extent(session), request_extent(session)
    return found is not None and (requests is None or found[0] < requests[0])


def request_extent(session: Session, now_us: int | None = None) -> tuple[int, int] | None:
    """First and last start of a request alone in microseconds UTC: what can be analysed call by call.

    With `now_us`, calls dated after it count only where there are no others: one wrong time must not move a window.
    """
    rows = session.rows("spend.request_extent", before_us=_NEVER if now_us is None else latest_us(now_us))
    return None if not rows or rows[0][0] is None else (int(rows[0][0]), int(rows[0][1]))


def totals(session: Session, view: View, *, period: Period | None = None) -> Figures:
    """The sums over everything the view shows; `period` asks the same of another time (the one before)."""
    scope = spend_scope(session, view, "source", period=period)
    rows = session.rows("spend.ranking", _ordered(scope, "source", "cost"), top=0, **scope.range)
    return figures_of(rows[0][2:]) if rows else Figures(0)


def undated(session: Session, view: View) -> Figures:
    """The sums over what a view would show if it had a time: it stands at 0, in the whole and in no day."""
    return totals(session, view, period=Period("undated", 0, HOUR_US, "UTC"))


def ranking(session: Session, view: View, *, by: str | None = None, top: int = 1000, order: Order = "cost") -> Ranking:
    """The values of a dimension (`view.by` unless given) with their sums, the largest first."""
    dimension = by or view.by
    scope = spend_scope(session, view, dimension)
    rows = session.rows("spend.ranking", _ordered(scope, dimension, order), top=top, **scope.range)
    ranked = tuple(RankRow(str(row[0]), figures_of(row[2:])) for row in rows if row[0] is not None)
    rest = next((figures_of(row[2:]) for row in rows if row[0] is None), None)
    other_n = next((int(row[1]) for row in rows if row[0] is None), 0)
    return Ranking(
        dimension,
        ranked,
        rest,
        other_n,
        added([*(row.figures for row in ranked), *([] if rest is None else [rest])]),
    )


def daily(session: Session, view: View, *, by: str | None = None, top: int = 6, measure: Measure = "cost") -> Series:
    """The measure a local day of the view's period, for the `top` largest values of a dimension and the rest.

    Each line is without gaps: 0 where nothing was asked, None where nothing that was asked has a price, and None for
    days that end before the store begins: what was spent then is not known.
    """
    dimension = by or view.by
    period, reach = view.period, extent(session)
    if period.name == EVERYTHING and reach is not None:
        period = replace(period, from_us=reach[0], to_us=reach[1] + 1)
    days = local_days(period.from_us, period.to_us, period.zone)
    session.register("series_days", _days_frame(days))
    scope = spend_scope(session, view, dimension)
    rows = session.rows("spend.series", {"facts": scope.relation, "column": column(dimension)}, top=top, **scope.range)
    silent = [None if reach is None or day.to_us <= reach[0] else 0 for day in days]
    lines: dict[tuple[int, str | None], list[int | None]] = {}
    known: list[list[int | None]] = [[] for _ in days]
    timeless: list[int | None] = []
    for row in rows:
        value = None if row[_MEASURE_AT[measure]] is None else int(row[_MEASURE_AT[measure]])
        line = lines.setdefault((int(row[0]), row[1]), [*silent])
        if row[3] is None:
            timeless.append(value)
        else:
            line[row[3]] = value
            known[row[3]].append(value)
    groups = tuple(SeriesGroup(name, tuple(line)) for (_, name), line in sorted(lines.items(), key=lambda i: i[0][0]))
    other_n = max((int(row[2]) for row in rows if row[1] is None), default=0)
    sums = tuple(known_sum(cell) if cell else none for cell, none in zip(known, silent, strict=True))
    return Series(dimension, measure, days, groups, other_n, sums, known_sum(timeless))


def _days_frame(days: tuple[Day, ...]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "day": list(range(len(days))),
            "day_from_us": [day.from_us for day in days],
            "day_to_us": [day.to_us for day in days],
        },
        schema={"day": pl.Int64, "day_from_us": pl.Int64, "day_to_us": pl.Int64},
    )


_ORDERS = {
    "cost": ("cost_pusd", "DESC"),
    "requests": ("requests", "DESC"),
    "tokens": ("tokens_all", "DESC"),
    "name": ("name", "ASC"),
}


def _ordered(scope: Scope, dimension: str, order: str) -> dict[str, str]:
    """The relations of spend.ranking."""
    if order not in _ORDERS:
        raise UsageError(f"{order!r} is no order of a ranking. Use one of: {', '.join(_ORDERS)}.")
    key, direction = _ORDERS[order]
    return {"facts": scope.relation, "column": column(dimension), "order": key, "direction": direction}


def price_book(session: Session) -> str | None:
    """The price book that priced most requests; None where nothing is priced."""
    rows = session.rows("spend.price_book")
    return str(rows[0][0]) if rows else None
