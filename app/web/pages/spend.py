"""Spend: how much, more than before, on what, and why it moved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.analysis import coverage as covered
from app.analysis import spend
from app.analysis.bill_share import requests_on_bills
from app.analysis.days import EVERYTHING
from app.web import cells, spend_before, spend_gaps, spend_plan
from app.web import format as show
from app.web.frame import DIMENSION_LABELS, nothing_to_see
from app.web.page import Content, Context, Empty, Link, Page, unknown_value
from app.web.spend_days import OTHER, TOP_SERIES, daily_chart, day_table, drawn
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from app.analysis.figures import Figures
    from app.analysis.spend import Ranking, Series

PATH = "/"
TOP_ROWS = 100
# label, token classes, cost part
PARTS = (
    ("input", "Input", ("tok_input", "tok_input_audio", "tok_input_image"), "input_pusd"),
    ("cache_read", "Cached", ("tok_cache_read", "tok_cache_read_audio"), "cache_read_pusd"),
    (
        "cache_write",
        "Written",
        ("tok_cache_write_5m", "tok_cache_write_30m", "tok_cache_write_1h", "tok_cache_write_12h"),
        "cache_write_pusd",
    ),
    ("output", "Output", ("tok_output", "tok_output_audio", "tok_output_image"), "output_pusd"),
    ("reasoning", "Reasoning", ("tok_reasoning",), "reasoning_pusd"),
    ("other", "Other", (), "other_pusd"),
)
PART_HELP = {
    "input": "Prompt at full price",
    "cache_read": "Prompt read from a provider's cache",
    "cache_write": "Prompt written to a provider's cache",
    "output": "Answer",
    "reasoning": "Hidden reasoning; where a provider does not split it, it is inside Output",
    "other": "Searches, calls and fees",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One headline figure; `exact` is its full value for who hovers."""

    label: str
    value: str
    exact: str
    change: show.Change | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class UnitChoice:
    label: str
    href: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Model:
    figures: tuple[Figure, ...]
    found: spend_plan.Banner | None
    compared_with: str
    comparable: Link | None
    gaps: tuple[spend_gaps.Gap, ...]
    units: tuple[UnitChoice, ...]
    by: str
    basis: str
    costs: str


def build(context: Context) -> Content:
    """The Spend page of a view."""
    view, session = context.view, context.session
    ranking = spend.ranking(session, view, top=TOP_ROWS)
    if ranking.total.nothing:
        title, text, links = nothing_to_see(context, PATH)
        return Content("Spend", empty=Empty(title, text, links))
    before, why_not = spend_before.period_before(context)
    earlier = spend.totals(session, view, period=before) if before else None
    series = spend.daily(session, view, top=TOP_SERIES)
    coverage = covered.coverage(session, view)
    asked = context.keys.get("unit", "usd")
    unit = "tokens" if asked == "tokens" else "usd"
    undated = spend.undated(session, view)
    moved = (spend_before.moved_table(context, before),) if before is not None else ()
    return Content(
        "Spend",
        unusable=() if asked == unit else (unknown_value("unit", asked, ("usd", "tokens")),),
        model=Model(
            figures=_figures(ranking.total, earlier, _counted(context, undated)),
            found=spend_plan.banner(context),
            compared_with=spend_before.sentence(context, before, why_not),
            comparable=spend_before.shorter(context) if why_not else None,
            gaps=spend_gaps.gaps(context, coverage, undated),
            units=(
                UnitChoice("Dollars", context.url(PATH), unit == "usd"),
                UnitChoice("Tokens", context.url(PATH, keys={"unit": "tokens"}), unit == "tokens"),
            ),
            by=DIMENSION_LABELS[view.by].lower(),
            basis=covered.basis(session, view),
            costs=context.url("/costs"),
        ),
        tables=(_by_table(context, ranking, series, unit), day_table(context, series), *moved),
        charts=daily_chart(series, context.zone, context.now_us),
        figures=ranking.total,
    )


def _counted(context: Context, undated: Figures) -> str:
    """What the count of requests holds that no list shows, and what it lacks: without a time, but for all time."""
    said = []
    if billed := requests_on_bills(context.session, context.view):
        said.append(f"{show.count(billed)} of them counted by a bill alone")
    if undated.requests and context.view.period.name != EVERYTHING:
        said.append(f"{show.plural(undated.requests, 'request')} without a time not included")
    return "; ".join(said)


def _figures(now: Figures, before: Figures | None, counted: str) -> tuple[Figure, ...]:
    per_request = now.cost_per_request_pusd
    tokens = None if now.tokens_per_request is None else round(now.tokens_per_request)
    earlier_tokens = None if before is None or before.tokens_per_request is None else round(before.tokens_per_request)

    def moved(value: int | None, old: int | None, *, dollars: bool, good: bool) -> show.Change | None:
        if before is None:
            return None
        return show.change(value, old, dollars=dollars, good="down" if good else "none")

    unpriced = f"{show.plural(now.requests_unpriced, 'request')} without a price not included" * (
        now.requests_unpriced > 0
    )
    return (
        Figure(
            "Spend",
            show.money(now.cost_pusd),
            show.exact_money(now.cost_pusd),
            moved(now.cost_pusd, before.cost_pusd if before else None, dollars=True, good=True),
            unpriced,
        ),
        Figure(
            "Requests",
            show.count(now.requests),
            show.count(now.requests),
            moved(now.requests, before.requests if before else None, dollars=False, good=False),
            counted,
        ),
        Figure(
            "Cost per request",
            show.unit_money(per_request),
            show.exact_money(per_request),
            moved(per_request, before.cost_per_request_pusd if before else None, dollars=True, good=True),
        ),
        Figure(
            "Tokens per request",
            show.count(tokens),
            show.count(now.tokens_all),
            moved(tokens, earlier_tokens, dollars=False, good=True),
        ),
    )


def _by_table(context: Context, ranking: Ranking, series: Series, unit: str) -> Table:
    lines = drawn(series)
    colours = {item.name: item.colour for item in lines}
    others = OTHER if any(item.colour == OTHER for item in lines) else None
    label = DIMENSION_LABELS[ranking.dimension]
    columns = (
        Column("name", label, width="mid"),
        Column("cost_usd", "Cost", "number", leads=True),
        Column("share", "Share", "number"),
        *(
            Column(f"{key}_{'usd' if unit == 'usd' else 'tokens'}", name, "number", PART_HELP[key], minor=True)
            for key, name, classes, _ in _parts(ranking.total, unit)
        ),
        Column("requests", "Requests", "number"),
        Column("cost_per_request_usd", "Per request", "number"),
        Column("tokens_per_request", "Tokens / req.", "number"),
    )
    rows = [
        _figures_row(
            _name_cell(context, ranking.dimension, row.name, colours.get(row.name, others)),
            row.figures,
            ranking.total,
            unit,
            context,
        )
        for row in ranking.rows
    ]
    if ranking.other is not None:
        name = cells.text(f"{OTHER} ({ranking.other_n})")
        rows.append(_figures_row(name, ranking.other, ranking.total, unit, context))
    note = f"The {len(ranking.rows)} largest of {len(ranking.rows) + ranking.other_n}." if ranking.other_n else ""
    return Table(
        "by",
        f"Spend by {label.lower()}",
        columns,
        tuple(rows),
        total=_figures_row(cells.text("Total"), ranking.total, ranking.total, unit, context),
        frame_note=note,
        stacked=True,
    )


def _parts(total: Figures, unit: str) -> tuple[tuple[str, str, tuple[str, ...], str], ...]:
    """The cost parts that a table shows: searches and fees only where there are any, and only in dollars."""
    return tuple(part for part in PARTS if part[2] or (unit == "usd" and total.parts.get(part[3])))


def _name_cell(context: Context, dimension: str, name: str, colour: int | str | None) -> Cell:
    """A value that leads one step down: feature to model, anything else to feature, at last to the requests."""
    steps = [step for step in ("feature", "model") if step != dimension and not context.filtered_to(step)]
    narrowed = context.with_filter(dimension, name)
    href = context.url(PATH, replace(narrowed, by=steps[0])) if steps else context.url("/requests", narrowed)
    return Cell(name, name, href=href, swatch="" if colour is None else f"c-{colour}")


def _figures_row(name: Cell, figures: Figures, total: Figures, unit: str, context: Context) -> tuple[Cell, ...]:
    if unit == "usd":
        parts = [cells.money(figures.parts.get(part)) for _, _, _, part in _parts(total, unit)]
    else:
        parts = [
            cells.tokens(_known_sum([figures.tokens.get(item) for item in classes]))
            for _, _, classes, _ in _parts(total, unit)
        ]
    per_request = None if figures.tokens_per_request is None else round(figures.tokens_per_request)
    listed = context.url("/requests", context.with_filter(context.view.by, str(name.value))) if name.href else ""
    return (
        name,
        cells.money(figures.cost_pusd),
        cells.ratio(figures.cost_pusd, total.cost_pusd),
        *parts,
        cells.count(figures.requests, href=listed),
        cells.unit_money(figures.cost_per_request_pusd),
        cells.count(per_request),
    )


def _known_sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


PAGE = Page(
    name="spend",
    path=PATH,
    twin="/spend",
    nav="Spend",
    build=build,
    keys=frozenset({"unit"}),
    kept=True,
    section="spend",
)
