"""The period that Spend is compared with, why there is none, and what moved since."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from app.analysis import spend
from app.analysis.comparison import DAY_US, comparable
from app.analysis.movers import movers
from app.core.money import usd_text
from app.core.view import period as named_period
from app.core.view import previous
from app.web import cells
from app.web import format as show
from app.web.frame import DIMENSION_LABELS
from app.web.page import Context, Link
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from app.analysis.movers import Move
    from app.core.view import Period

COMPARABLE_DAYS: Final = (91, 28, 14, 7)


def period_before(context: Context) -> tuple[Period | None, str]:
    """The period to compare with, or why there is none."""
    view = context.view
    if view.compare == "off":
        return None, ""
    extent = spend.extent(context.session)
    if extent is None or view.period.name == "all":
        return None, "All time has nothing before it to compare with."
    before = comparable(context.session, view.period, context.now_us)
    if before is None:
        since = _beginning(context, extent[0])
        return None, f"No comparison: the store begins on {since}, later than the period before."
    return before, ""


def _beginning(context: Context, first_us: int) -> str:
    """When the store begins: a moment, or a day where only a bill knows it."""
    if spend.begins_with_bill(context.session):
        return show.day(datetime.fromtimestamp(first_us // 1_000_000, UTC).date(), year=True)
    return show.moment(first_us, context.zone)


def shorter(context: Context) -> Link | None:
    """The longest period that ends now and has a whole period before it in the store."""
    extent = spend.extent(context.session)
    for days in COMPARABLE_DAYS if extent is not None else ():
        period = named_period(f"{days}d", context.view.period.zone, context.now_us)
        before = previous(period, context.now_us)
        if extent is not None and extent[0] <= before.from_us + DAY_US and extent[1] >= period.from_us:
            view = replace(context.view, period=period)
            return Link(f"Compare the last {days} days with the {days} before", context.url("/", view))
    return None


def sentence(context: Context, before: Period | None, why_not: str) -> str:
    """What the changes on the page are measured against, or why there are none."""
    if before is None:
        return why_not
    first = show.moment(before.from_us, context.zone)
    return f"Compared with {first} to {show.moment(before.to_us, context.zone)}, the same stretch before."


def moved_table(context: Context, before: Period) -> Table:
    """What moved since the period before: by volume, mix, rate, new and gone."""
    found = movers(context.session, context.view, before)
    label = DIMENSION_LABELS[found.dimension]
    shown = found.rows[:12]
    left = len(found.rows) - len(shown)
    return Table(
        "moved",
        "What moved",
        (
            Column("name", label, width="mid"),
            Column("before_usd", "Before", "number"),
            Column("now_usd", "Now", "number"),
            Column("change_usd", "Change", "number", leads=True),
            Column("volume_usd", "Volume", "number", "More or fewer requests in all", minor=True),
            Column("mix_usd", "Mix", "number", f"Other shares of each {label.lower()} and model", minor=True),
            Column("rate_usd", "Rate", "number", "Another cost for each request: prices, tokens, caching", minor=True),
            Column("new_usd", "New", "number", "Only in this period", minor=True),
            Column("gone_usd", "Gone", "number", "Only in the period before", minor=True),
        ),
        tuple(_move_row(_value(context, found.dimension, move), move) for move in shown),
        total=_move_row(cells.text("Total"), found.total),
        frame_note=f"The {len(shown)} largest changes of {len(found.rows)}." if left > 0 else "",
        empty="Nothing moved.",
        stacked=True,
    )


def _value(context: Context, dimension: str, move: Move) -> Cell:
    """A value with what it was spent on now; one that is gone has nothing to show."""
    href = "" if not move.now_pusd else context.url("/requests", context.with_filter(dimension, move.name))
    return cells.text(move.name, href=href)


def _move_row(name: Cell, move: Move) -> tuple[Cell, ...]:
    parts = (move.volume, move.mix, move.rate, move.new, move.gone)
    return (
        name,
        cells.money(move.before_pusd),
        Cell(usd_text(move.now_pusd), show.money(move.now_pusd)),
        cells.delta(move.change),
        *(cells.delta(part) for part in parts),
    )
