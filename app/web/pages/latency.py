"""Latency: how long answers take beside what they cost, by feature, model or anything else, and for how many calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from app.analysis.latency import latency
from app.core import view as views
from app.web import cells
from app.web import format as show
from app.web.facts import Fact
from app.web.frame import DIMENSION_LABELS, nothing_to_see
from app.web.page import Content, Context, Empty, Page
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from app.analysis.latency import Latencies, Latency, Spread

PATH: Final = "/latency"
TOP_ROWS: Final = 100
STREAMED: Final = ("itl_p50", "itl_p99")


@dataclass(frozen=True, slots=True)
class Model:
    facts: tuple[Fact, ...]
    note: str
    untimed: bool


def build(context: Context) -> Content:
    """The Latency page of a view."""
    found = latency(context.session, context.view)
    if not found.rows:
        title, text, links = nothing_to_see(context, PATH)
        return Content("Latency", empty=Empty(title, text, links))
    return Content(
        "Latency",
        model=Model(_facts(found.overall), _note(found.overall), not found.overall.metrics),
        tables=(_table(context, found),),
    )


def _facts(overall: Latency) -> tuple[Fact, ...]:
    first, whole, token = (overall.metrics.get(name) for name in ("ttft", "duration", "tpot"))
    return (
        Fact("Calls answered", show.count(overall.calls)),
        Fact("Of them timed", _timed(overall, whole)),
        Fact("First token, median", show.duration(first.p50_us if first else None)),
        Fact("First token, p95", show.duration(first.p95_us if first else None)),
        Fact("Duration, median", show.duration(whole.p50_us if whole else None)),
        Fact("Duration, p95", show.duration(whole.p95_us if whole else None)),
        Fact("Per token, median", show.duration(token.p50_us if token else None)),
        Fact("Cost per call", show.unit_money(overall.cost_per_call_pusd)),
    )


def _note(overall: Latency) -> str:
    """What is in no quantile, and how exact those are."""
    outside = [
        *((f"{show.plural(overall.failed, 'failed call')}",) if overall.failed else ()),
        *((f"{show.plural(overall.batched, 'call')} of batches",) if overall.batched else ()),
    ]
    verb = "is" if overall.failed + overall.batched == 1 else "are"
    left_out = f"{' and '.join(outside)} {verb} not in these figures. " if outside else ""
    if not overall.metrics:
        return left_out.rstrip()
    return f"{left_out}Quantiles are right within 2.5 %. Only streamed calls have a first token."


def _timed(item: Latency, spread: Spread | None) -> str:
    known = 0 if spread is None else spread.n
    return "all" if known == item.calls and known else f"{show.count(known)} of {show.count(item.calls)}"


def _table(context: Context, found: Latencies) -> Table:
    label = DIMENSION_LABELS[context.view.by]
    streamed = any(name in found.overall.metrics for name in STREAMED)
    left = len(found.rows) - TOP_ROWS
    return Table(
        "by",
        f"Latency by {label.lower()}",
        (
            Column("name", label, width="mid"),
            Column("calls", "Calls", "number", "Answered, and not of a batch"),
            Column("failed", "Failed", "number", twin_only=True),
            Column("batched", "Of batches", "number", twin_only=True),
            Column("duration_calls", "Timed", "number", "Calls whose log gives their duration", width="label"),
            Column("ttft_calls", "With a first token", "number", twin_only=True),
            Column("tpot_calls", "With a time per token", "number", twin_only=True),
            Column("ttft_p50_us", "TTFT p50", "number", "Time to first token: waiting, then reading the prompt"),
            Column("ttft_p95_us", "TTFT p95", "number"),
            Column("ttft_p99_us", "TTFT p99", "number", minor=True),
            Column("duration_p50_us", "Duration p50", "number"),
            Column("duration_p95_us", "Duration p95", "number"),
            Column("duration_p99_us", "Duration p99", "number", minor=True),
            Column("tpot_p50_us", "Token p50", "number", "Time per output token after the first"),
            Column("tpot_p95_us", "Token p95", "number", minor=True),
            Column(
                "itl_p50_us", "Gap p50", "number", "Median over calls of their median gap", "", not streamed, minor=True
            ),
            Column(
                "itl_p99_us", "Gap p99", "number", "Median over calls of their 99th gap", "", not streamed, minor=True
            ),
            Column("cost_per_call_usd", "Cost per call", "number", "Of the calls whose cost is known"),
        ),
        tuple(_row(context, item, _name(context, item.name)) for item in found.rows[:TOP_ROWS]),
        total=_row(context, found.overall, cells.text("All calls")),
        frame_note=f"The {TOP_ROWS} with most calls of {len(found.rows)}." if left > 0 else "",
        stacked=True,
    )


def _name(context: Context, name: str) -> Cell:
    """A value that leads one step down: feature to model, anything else to feature, at last to the requests."""
    steps = [step for step in ("feature", "model") if step != context.view.by and not context.filtered_to(step)]
    narrowed = context.with_filter(context.view.by, name)
    return cells.text(name, href=context.url(PATH, replace(narrowed, by=steps[0])) if steps else _listed(context, name))


def _listed(context: Context, name: str) -> str:
    """The calls of one value, the slowest first."""
    chosen = context.with_filter(context.view.by, name)
    for dimension, value in (("status", "ok"), ("is_batch", "false")):
        chosen = views.with_filter(chosen, dimension, value) if dimension != context.view.by else chosen
    return context.url("/requests", chosen, {"sort": "-duration"})


def _row(context: Context, item: Latency, name: Cell) -> tuple[Cell, ...]:
    first, whole, token, gap, worst = (
        item.metrics.get(metric) for metric in ("ttft", "duration", "tpot", "itl_p50", "itl_p99")
    )
    listed = _listed(context, item.name) if item.name and item.calls else ""
    streams = f"first token {show.count(first.n)}" if first is not None and first.n != (whole.n if whole else 0) else ""
    return (
        name,
        cells.count(item.calls, href=listed),
        cells.count(item.failed),
        cells.count(item.batched),
        Cell(whole.n if whole else 0, _timed(item, whole), note=streams, tone="" if whole else "muted"),
        cells.count(first.n if first else 0),
        cells.count(token.n if token else 0),
        *_quantiles(first),
        *_quantiles(whole),
        *_quantiles(token)[:2],
        _quantiles(gap)[0],
        _quantiles(worst)[0],
        cells.unit_money(item.cost_per_call_pusd),
    )


def _quantiles(spread: Spread | None) -> tuple[Cell, Cell, Cell]:
    if spread is None:
        return (cells.duration(None), cells.duration(None), cells.duration(None))
    p50, p95, p99 = (cells.duration(round(value)) for value in (spread.p50_us, spread.p95_us, spread.p99_us))
    return (p50, p95, p99)


PAGE = Page(
    name="latency",
    path=PATH,
    twin=PATH,
    nav="Latency",
    build=build,
    kept=True,
    section="latency",
)
