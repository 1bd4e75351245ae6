"""Requests: the end of every drill-down, one row an attempt, sorted and paged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.analysis import requests
from app.web import cells
from app.web import format as show
from app.web.facts import Fact
from app.web.frame import nothing_to_see
from app.web.page import Content, Context, Empty, Link, Page, unknown_value
from app.web.table import Cell, Column, Streamed, Table

if TYPE_CHECKING:
    from app.analysis.requests import Distribution, RequestPage, RequestRow
    from app.web.page import Unusable

PATH = "/requests"
PAGE_SIZE = 50
STATUS_TONE = {"ok": "", "error": "worse", "timeout": "worse", "aborted": "muted"}


@dataclass(frozen=True, slots=True)
class SortLink:
    """Where a column's heading leads; `direction` is the order in force (ascending, descending) or empty."""

    href: str
    direction: str


@dataclass(frozen=True, slots=True)
class Model:
    facts: tuple[Fact, ...]
    sorts: dict[str, SortLink]
    shown: str
    earlier: str
    later: str


def build(context: Context) -> Content:
    """A page of single requests."""
    sort, descending = _sort(context.keys.get("sort", ""))
    number = _page_number(context.keys.get("page", ""))
    spread = requests.distribution(context.session, context.view)
    found = requests.page(
        context.session,
        context.view,
        sort=sort,
        descending=descending,
        limit=PAGE_SIZE,
        offset=(number - 1) * PAGE_SIZE,
        total=spread.requests,
    )
    notices = _unusable(context, number)
    context = context.without_keys({item.key for item in notices})
    if not found.rows:
        title, text, links = _past_the_end(context, spread) if spread.requests else nothing_to_see(context, PATH)
        return Content("Requests", empty=Empty(title, text, links), unusable=notices)
    return Content(
        "Requests",
        unusable=notices,
        model=Model(
            facts=_facts(spread),
            sorts=_sort_links(context, sort, descending=descending),
            shown=f"{show.count(found.offset + 1)}–{show.count(found.offset + len(found.rows))} "
            f"of {show.count(found.total)}",
            earlier=_page_url(context, number - 1) if number > 1 else "",
            later=_page_url(context, number + 1) if _has_more(found) else "",
        ),
        tables=(_table(context, found, sort),),
    )


def _unusable(context: Context, number: int) -> tuple[Unusable, ...]:
    """What of the page's own keys could not be used."""
    found = []
    sort, page = context.keys.get("sort", ""), context.keys.get("page", "")
    if sort.removeprefix("-") not in requests.SORTS and sort:
        found.append(unknown_value("sort", sort, (f"{name} and -{name}" for name in requests.SORTS)))
    if page and page != str(number):
        last = requests.MAX_OFFSET // PAGE_SIZE + 1
        found.append(unknown_value("page", page, (f"whole numbers from 1 to {show.count(last)}",)))
    return tuple(found)


def _past_the_end(context: Context, spread: Distribution) -> tuple[str, str, tuple[Link, ...]]:
    text = (
        f"The list has {show.plural(spread.requests, 'request')}, {PAGE_SIZE} on a page; this page begins behind them."
    )
    return "The list ends before this page", text, (Link("Show the first page", _page_url(context, 1)),)


def _every_row(context: Context, most: int) -> Streamed:
    """All rows of the view for the twins, in the order of the page."""
    sort, descending = _sort(context.keys.get("sort", ""))
    every = requests.every(context.session, context.view, sort=sort, descending=descending, most=most)
    return Streamed(every.total, every.shown, (_row(context, row) for row in every.rows))


def _sort(text: str) -> tuple[str, bool]:
    """`cost` is ascending, `-cost` descending; what is no order falls back to the dearest first."""
    name = text.removeprefix("-")
    return (name, text.startswith("-")) if name in requests.SORTS else ("cost", True)


def _page_number(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 1
    return min(max(1, number), requests.MAX_OFFSET // PAGE_SIZE + 1)


def _has_more(found: RequestPage) -> bool:
    after = found.offset + PAGE_SIZE
    return after < found.total and after <= requests.MAX_OFFSET


def _page_url(context: Context, number: int) -> str:
    keys = {key: value for key, value in context.keys.items() if key != "page"}
    return context.url(PATH, keys=keys | ({"page": str(number)} if number > 1 else {}))


def _sort_links(context: Context, sort: str, *, descending: bool) -> dict[str, SortLink]:
    links = {}
    for name in requests.SORTS:
        in_force = name == sort
        wanted = name if in_force and descending else f"-{name}"
        keys = {} if wanted == "-cost" else {"sort": wanted}
        direction = ("descending" if descending else "ascending") if in_force else ""
        links[name] = SortLink(context.url(PATH, keys=keys), direction)
    return links


def _facts(spread: Distribution) -> tuple[Fact, ...]:
    return (
        Fact("Requests", show.count(spread.requests)),
        Fact("Mean cost", show.unit_money(spread.cost_mean_pusd)),
        Fact("Median cost", show.unit_money(spread.cost_p50_pusd)),
        Fact("95th percentile", show.unit_money(spread.cost_p95_pusd)),
        Fact("Dearest", show.unit_money(spread.cost_max_pusd)),
        Fact("Time to first token, median", show.duration(spread.ttft_p50_us)),
        Fact("Duration, median", show.duration(spread.duration_p50_us)),
        Fact("Duration, 95th percentile", show.duration(spread.duration_p95_us)),
    )


def _table(context: Context, found: RequestPage, sort: str) -> Table:
    return Table(
        "requests",
        "Requests",
        (
            Column("key", "Request", width="tight"),
            Column("start", "Start", sort="time", width="tight"),
            Column("feature", "Feature", width="mid"),
            Column("model", "Model", width="mid", leads=True),
            Column("status", "Status", width="tight"),
            Column("tokens_in", "Input", "number", "All prompt tokens, cached ones included", sort="input"),
            Column(
                "tokens_cached", "Cached", "number", "Of them read from a cache", sort="cached", minor=sort != "cached"
            ),
            Column("tokens_out", "Output", "number", sort="output"),
            Column("ttft_us", "First token", "number", sort="ttft", minor=sort != "ttft"),
            Column("duration_us", "Duration", "number", sort="duration", minor=sort != "duration"),
            Column("cost_usd", "Cost", "number", sort="cost", leads=True),
        ),
        tuple(_row(context, row) for row in found.rows),
        stacked=True,
        stream=_every_row,
        first=PAGE_SIZE,
    )


def _row(context: Context, row: RequestRow) -> tuple[Cell, ...]:
    key = show.key_text(row.request_key)
    partly = {"partly": "+ unpriced", "unpriced": "unpriced", "not_billed": "not billed"}.get(row.cost_state, "")
    tone = STATUS_TONE.get(row.status, "")
    return (
        Cell(key, key[:8], href=context.url(f"{PATH}/{key}")),
        cells.moment(row.start_us, context.zone),
        cells.text(row.feature),
        cells.text(row.model),
        Cell(row.status, row.status, tone="worse" if tone == "worse" else "muted" if tone == "muted" else ""),
        cells.count(row.tokens_in),
        cells.count(row.tok_cache_read),
        cells.count(row.tokens_out),
        cells.duration(row.ttft_us),
        cells.duration(row.duration_us),
        cells.unit_money(row.cost_pusd, note=partly),
    )


PAGE = Page(
    name="requests",
    path=PATH,
    twin="/requests",
    nav="Requests",
    build=build,
    keys=frozenset({"sort", "page"}),
    kept=True,
    section="requests",
)
