"""The parts of a report that speak of spend: what moved, where it went, and the exact rows behind both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.analysis import spend
from app.analysis.figures import Figures
from app.analysis.movers import Move
from app.core import view as views
from app.core.money import usd_text
from app.web import cells
from app.web import format as show
from app.web.page import Link
from app.web.spend_days import daily_chart
from app.web.table import Cell, Column, Table
from reports.document import Section, clipped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zoneinfo import ZoneInfo

    from app.analysis.movers import Movers
    from app.core.view import View
    from app.warehouse.store import Session

TOP_MOVES: Final = 6
TOP_FEATURES: Final = 8
MAX_FEATURES: Final = 5_000
FACTORS: Final = (
    ("volume", "volume", "more or fewer requests in all"),
    ("mix", "mix", "other shares of features and models"),
    ("rate", "rate", "another cost for each request: prices, tokens, caching"),
    ("new", "new", "features and models of this week only"),
    ("gone", "gone", "features and models of the week before only"),
)
NAME_MAX: Final = 80
NOTHING: Final = Figures(0, cost_pusd=0)


def moved_section(view: View, found: Movers | None) -> Section | None:
    """Why spend changed: the parts of the whole change, and the features that moved most; they add up exactly."""
    if found is None or not any(move.change for move in found.rows):
        return None
    total = found.total
    parts = [
        f"{_delta(part)} from {word} ({meaning})" for key, word, meaning in FACTORS if (part := getattr(total, key))
    ]
    told = [factor for factor in FACTORS if any(getattr(move, factor[0]) for move in found.rows)]
    keys = tuple(key for key, _, _ in told)
    shown, rest = found.rows[:TOP_MOVES], found.rows[TOP_MOVES:]
    rows = [_move_row(_name(view, move.name), move, keys) for move in shown]
    if rest:
        rows.append(_move_row(cells.text(f"other ({len(rest)})"), _added(rest), keys))
    columns = (
        Column("name", "Feature"),
        Column("now_usd", "This week", "number"),
        Column("change_usd", "Change", "number"),
        *(Column(f"{key}_usd", word.capitalize(), "number", meaning) for key, word, meaning in told),
    )
    return Section(
        "Why it moved",
        sentences=(f"Spend changed by {_delta(total.change)}: {', '.join(parts)}.",),
        table=Table("moved", "What moved", columns, tuple(rows), total=_move_row(cells.text("Total"), total, keys)),
        wide_only=frozenset(f"{key}_usd" for key in keys),
    )


def _move_row(name: Cell, move: Move, keys: Sequence[str]) -> tuple[Cell, ...]:
    parts = (cells.delta(getattr(move, key)) for key in keys)
    return name, cells.money(move.now_pusd), cells.delta(move.change), *parts


def _added(moves: Sequence[Move]) -> Move:
    keys = ("before_pusd", "now_pusd", "volume", "mix", "rate", "new", "gone")
    return Move("", *(sum(getattr(move, key) for move in moves) for key in keys))


def _delta(pusd: int) -> str:
    return f"{'+' if pusd > 0 else show.MINUS}{show.money(abs(pusd))}"


def _feature(view: View, name: str) -> str:
    return f"/?{views.query(replace(views.with_filter(view, 'feature', name), by='model'))}"


def spend_section(session: Session, view: View, zone: ZoneInfo, now_us: int) -> Section:
    """A week's days as a chart, and its features by size."""
    ranking = spend.ranking(session, view, top=TOP_FEATURES)
    rows = [_feature_row(_name(view, row.name), row.figures, ranking.total) for row in ranking.rows]
    if ranking.other is not None:
        rows.append(_feature_row(cells.text(f"other ({ranking.other_n})"), ranking.other, ranking.total))
    return Section(
        "Where it went",
        charts=daily_chart(spend.daily(session, view), zone, now_us),
        table=Table(
            "features",
            "Spend by feature",
            FEATURE_COLUMNS,
            tuple(rows),
            total=_feature_row(cells.text("Total"), ranking.total, ranking.total),
        ),
        link=page(view),
    )


FEATURE_COLUMNS: Final = (
    Column("name", "Feature"),
    Column("cost_usd", "Cost", "number"),
    Column("share", "Share", "number"),
    Column("requests", "Requests", "number"),
    Column("cost_per_request_usd", "Per request", "number"),
)


def _feature_row(name: Cell, figures: Figures, total: Figures) -> tuple[Cell, ...]:
    return (
        name,
        Cell(usd_text(figures.cost_pusd), show.money(figures.cost_pusd)),
        cells.ratio(figures.cost_pusd, total.cost_pusd),
        cells.count(figures.requests),
        cells.unit_money(figures.cost_per_request_pusd),
    )


def features_file(session: Session, view: View, found: Movers | None) -> Table:
    """Features with their exact cost and what moved it, at most MAX_FEATURES and one row of the others.

    Unknown is empty: no price, or no week before.
    """
    moves = {} if found is None else {move.name: move for move in found.rows}
    ranking = spend.ranking(session, view, top=MAX_FEATURES)
    ranked = {row.name: row.figures for row in ranking.rows}
    gone = [name for name in moves if name not in ranked] if ranking.other is None else []
    rows = [_file_row(name, ranked.get(name, NOTHING), moves.pop(name, None)) for name in (*ranked, *gone)]
    if ranking.other is not None:
        rows.append(_file_row(f"other ({ranking.other_n})", ranking.other, _added(list(moves.values()))))
    columns = (
        Column("feature", "Feature"),
        Column("requests", "Requests", "number"),
        *(Column(f"{key}_usd", key, "number") for key in ("cost", "before", "change", *(key for key, _, _ in FACTORS))),
    )
    return Table("spend", "Spend by feature", columns, tuple(rows))


def _file_row(name: str, figures: Figures, move: Move | None) -> tuple[Cell, ...]:
    keys = ("before_pusd", "change", *(key for key, _, _ in FACTORS))
    return (
        cells.text(name),
        cells.count(figures.requests),
        cells.money(figures.cost_pusd),
        *(cells.money(None if move is None else getattr(move, key)) for key in keys),
    )


def _name(view: View, name: str) -> Cell:
    """A feature that leads to the page of its week; names come from logs and may be of any length."""
    linked = len(name) <= views.MAX_VALUE_CHARS
    return Cell(name, clipped(name, NAME_MAX), href=_feature(view, name) if linked else "")


def page(view: View) -> Link:
    """The Spend page with the same figures."""
    return Link("Open this week on the Spend page", f"/?{views.query(view)}")
