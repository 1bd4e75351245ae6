"""Spend: how much, more than before, on what, and why it moved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from app.analysis import coverage as covered
from app.analysis import spend
from app.analysis.bill_share import from_bills, valued_from_bills
from app.analysis.comparison import DAY_US, comparable
from app.analysis.days import EVERYTHING
from app.analysis.movers import movers
from app.analysis.reconciled_share import reconciled_share
from app.charts.daily import DayPoint, stacked_days
from app.charts.theme import Series as Drawn
from app.core.money import usd, usd_text
from app.core.view import period as named_period
from app.core.view import previous
from app.web import cells, plans
from app.web import format as show
from app.web.frame import DIMENSION_LABELS, nothing_to_see
from app.web.page import Content, Context, Empty, Link, Page, unknown_value
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from app.analysis.coverage import Coverage
    from app.analysis.figures import Figures
    from app.analysis.movers import Move
    from app.analysis.spend import Ranking, Series
    from app.charts.chart import Chart
    from app.core.view import Period

PATH = "/"
TOP_ROWS = 100
TOP_SERIES = 6
COMPARABLE_DAYS = (91, 28, 14, 7)
OTHER = "other"
UNASSIGNED = "unassigned"

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
class Gap:
    """A share that the figures do not cover, and where to see it."""

    label: str
    value: str
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class UnitChoice:
    label: str
    href: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What the newest plan would save, in a line."""

    saving: str
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Model:
    figures: tuple[Figure, ...]
    found: Found | None
    compared_with: str
    comparable: Link | None
    gaps: tuple[Gap, ...]
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
    before, why_not = _before(context)
    earlier = spend.totals(session, view, period=before) if before else None
    series = spend.daily(session, view, top=TOP_SERIES)
    coverage = covered.coverage(session, view)
    asked = context.keys.get("unit", "usd")
    unit = "tokens" if asked == "tokens" else "usd"
    undated = spend.undated(session, view)
    moved = (_moved_table(context, before),) if before is not None else ()
    return Content(
        "Spend",
        unusable=() if asked == unit else (unknown_value("unit", asked, ("usd", "tokens")),),
        model=Model(
            figures=_figures(ranking.total, earlier, _left_out(context, undated)),
            found=_found(context),
            compared_with=_compared_with(context, before, why_not),
            comparable=_comparable(context) if why_not else None,
            gaps=(*_gaps(context, coverage), *_undated_gaps(context, undated), *_bill_gaps(context)),
            units=(
                UnitChoice("Dollars", context.url(PATH), unit == "usd"),
                UnitChoice("Tokens", context.url(PATH, keys={"unit": "tokens"}), unit == "tokens"),
            ),
            by=DIMENSION_LABELS[view.by].lower(),
            basis=covered.basis(session, view),
            costs=context.url("/costs"),
        ),
        tables=(_by_table(context, ranking, series, unit), _day_table(context, series), *moved),
        charts=daily_chart(series, context.zone, context.now_us),
        figures=ranking.total,
    )


def _before(context: Context) -> tuple[Period | None, str]:
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


def _comparable(context: Context) -> Link | None:
    """The longest period that ends now and has a whole period before it in the store."""
    extent = spend.extent(context.session)
    for days in COMPARABLE_DAYS if extent is not None else ():
        period = named_period(f"{days}d", context.view.period.zone, context.now_us)
        before = previous(period, context.now_us)
        if extent is not None and extent[0] <= before.from_us + DAY_US and extent[1] >= period.from_us:
            shorter = replace(context.view, period=period)
            return Link(f"Compare the last {days} days with the {days} before", context.url(PATH, shorter))
    return None


def _compared_with(context: Context, before: Period | None, why_not: str) -> str:
    if before is None:
        return why_not
    first = show.moment(before.from_us, context.zone)
    return f"Compared with {first} to {show.moment(before.to_us, context.zone)}, the same stretch before."


def _left_out(context: Context, undated: Figures) -> str:
    """What the count of requests lacks: those without a time, in every period but the whole."""
    if not undated.requests or context.view.period.name == EVERYTHING:
        return ""
    return f"{show.plural(undated.requests, 'request')} without a time not included"


def _figures(now: Figures, before: Figures | None, left_out: str) -> tuple[Figure, ...]:
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
            left_out,
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


def _found(context: Context) -> Found | None:
    plan = plans.current(context)
    if plan is None:
        return None
    scale = plans.Scale(plan)
    open_now = sum(item.status == "open" and item.in_joint for item in plan.findings)
    return Found(
        scale.headline(plan.joint.p50),
        f"could be saved {scale.unit}: {show.share(Decimal(plan.joint.p50), Decimal(plan.before_usd))} of the "
        f"{show.money(plan.before_usd)} of the plan's own window, {scale.window} "
        f"({show.plural(open_now, 'open finding')} in the plan, each dollar counted once)",
        context.url("/savings"),
    )


def _gaps(context: Context, coverage: Coverage) -> tuple[Gap, ...]:
    unassigned = context.with_filter("feature", UNASSIGNED, by="model")
    unpriced_share = None if coverage.priced_share is None else 1 - coverage.priced_share
    return (
        Gap(
            "Untagged",
            show.percent(coverage.untagged_share),
            f"{show.money(coverage.untagged_pusd)} of spend has no tag or rule that names its feature.",
            context.url(PATH, unassigned),
        ),
        Gap(
            "Unpriced",
            show.percent(unpriced_share),
            f"Share of tokens without a price, in {show.plural(len(coverage.unpriced), 'model')}.",
            context.url("/sources"),
        ),
    )


def _undated_gaps(context: Context, undated: Figures) -> tuple[Gap, ...]:
    """What has no time: it is in no day, and in the sums of the whole only."""
    if not undated.requests:
        return ()
    whole = context.view.period.name == EVERYTHING
    where = "in these sums and in no day" if whole else "in no day, and so in none of these figures"
    unpriced = f"; {undated.requests_unpriced:,} of them without a price" if undated.requests_unpriced else ""
    text = f"Requests whose log gives no time, {show.money(undated.cost_pusd)}{unpriced}. They are {where}."
    everything = named_period(EVERYTHING, context.view.period.zone, context.now_us)
    href = "/sources" if whole else context.url(PATH, replace(context.view, period=everything))
    return (Gap("Without a time", show.count(undated.requests), text, href),)


def _bill_gaps(context: Context) -> tuple[Gap, ...]:
    """What bills say of the period: how far requests stand for them, and what of Spend stands on a bill alone."""
    gaps = []
    share = reconciled_share(context.session, context.view.period)
    if share is not None:
        text = "Share of the billed dollars for which no requests of the same account, model and day stand."
        gaps.append(Gap("Not reconciled", show.percent(1 - share), text, context.url("/reconciliation")))
    billed = from_bills(context.session, context.view)
    if billed is not None:
        text = "Spend of days and accounts of which there is a bill and no request; it is marked unassigned."
        gaps.append(Gap("From the bill", show.money(billed), text, context.url("/reconciliation")))
    valued = valued_from_bills(context.session, context.view)
    if valued is not None:
        text = "Usage on a bill that does not say its cost yet, at the price book's rates."
        gaps.append(Gap("Not on the bill yet", show.money(valued), text, context.url("/reconciliation")))
    return tuple(gaps)


def _by_table(context: Context, ranking: Ranking, series: Series, unit: str) -> Table:
    colours = {item.name: item.colour for item in _drawn(series)}
    label = DIMENSION_LABELS[ranking.dimension]
    columns = (
        Column("name", label, width="mid"),
        Column("cost_usd", "Cost", "number"),
        Column("share", "Share", "number"),
        *(
            Column(f"{key}_{'usd' if unit == 'usd' else 'tokens'}", name, "number", PART_HELP[key])
            for key, name, classes, _ in _parts(ranking.total, unit)
        ),
        Column("requests", "Requests", "number"),
        Column("cost_per_request_usd", "Per request", "number"),
        Column("tokens_per_request", "Tokens / req.", "number"),
    )
    rows = [
        _figures_row(
            _name_cell(context, ranking.dimension, row.name, colours.get(row.name)),
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
    note = f"Top {len(ranking.rows)} of {len(ranking.rows) + ranking.other_n} shown." if ranking.other_n else ""
    return Table(
        "by",
        f"Spend by {label.lower()}",
        columns,
        tuple(rows),
        total=_figures_row(cells.text("Total"), ranking.total, ranking.total, unit, context),
        frame_note=note,
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


def _drawn(series: Series) -> list[Drawn]:
    """Names and colours of the lines: places in the palette by size, greys for what is left over or not assigned."""
    drawn: list[Drawn] = []
    places = 0
    for group in series.groups:
        if group.name is None:
            drawn.append(Drawn(f"{OTHER} ({series.other_n})", "other"))
        elif group.name == UNASSIGNED:
            drawn.append(Drawn(group.name, "unassigned"))
        else:
            drawn.append(Drawn(group.name, places))
            places += 1
    return drawn


def _day_table(context: Context, series: Series) -> Table:
    names = [item.name for item in _drawn(series)]
    several_years = bool(series.days) and series.days[0].date.year != series.days[-1].date.year
    rows = []
    for place, day in enumerate(series.days):
        unfinished = day.from_us <= context.now_us < day.to_us
        shown = Cell(
            day.date.isoformat(), show.day(day.date, year=several_years), note="unfinished" if unfinished else ""
        )
        amounts = [cells.money(group.values[place]) for group in series.groups]
        rows.append((shown, *amounts, cells.money(series.totals[place])))
    return Table(
        "daily",
        f"Spend a day by {DIMENSION_LABELS[series.dimension].lower()}",
        (
            Column("day", "Day", width="tight"),
            *(Column(f"cost_usd: {name}", name, "number") for name in names),
            Column("total_usd", "Total", "number"),
        ),
        tuple(rows),
    )


def daily_chart(series: Series, zone: ZoneInfo, now_us: int) -> tuple[Chart, ...]:
    """Stacked bars a local day; none where nothing in the series has a price."""
    drawn = _drawn(series)
    points = [
        DayPoint(
            day=day.date,
            series=item.name,
            amount_usd=float(usd(value)),
            label=show.money(value),
            unfinished=day.from_us <= now_us < day.to_us,
        )
        for item, group in zip(drawn, series.groups, strict=True)
        for day, value in zip(series.days, group.values, strict=True)
        if value
    ]
    if not points:
        return ()
    days = [day.date for day in series.days]
    known = [(total, day.date) for total, day in zip(series.totals, series.days, strict=True) if total is not None]
    highest, when = max(known)
    label = DIMENSION_LABELS[series.dimension].lower()
    summary = f"The highest day is {show.day(when, year=True)} with {show.money(highest)}; days are cut in {zone.key}."
    return (stacked_days("daily", f"Spend a day by {label}", summary, drawn, days, points),)


def _moved_table(context: Context, before: Period) -> Table:
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
            Column("change_usd", "Change", "number"),
            Column("volume_usd", "Volume", "number", "More or fewer requests in all"),
            Column("mix_usd", "Mix", "number", f"Other shares of each {label.lower()} and model"),
            Column("rate_usd", "Rate", "number", "Another cost for each request: prices, tokens, caching"),
            Column("new_usd", "New", "number", "Only in this period"),
            Column("gone_usd", "Gone", "number", "Only in the period before"),
        ),
        tuple(_move_row(cells.text(move.name), move) for move in shown),
        total=_move_row(cells.text("Total"), found.total),
        frame_note=f"The {len(shown)} largest changes of {len(found.rows)}." if left > 0 else "",
        empty="Nothing moved.",
    )


def _move_row(name: Cell, move: Move) -> tuple[Cell, ...]:
    parts = (move.volume, move.mix, move.rate, move.new, move.gone)
    return (
        name,
        cells.money(move.before_pusd),
        Cell(usd_text(move.now_pusd), show.money(move.now_pusd)),
        cells.delta(move.change),
        *(cells.delta(part) for part in parts),
    )


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
