"""What stands on every page around its content: navigation, the filter bar, freshness, zone, priced share, progress."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from app.analysis import coverage as covered
from app.analysis import overlap, spend
from app.analysis.bill_share import without_rate
from app.control import overlaps
from app.core import view as views
from app.core.view import DIMENSIONS, PERIODS, View, local_date
from app.web import format as show
from app.web.page import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.analysis.coverage import Reach
    from app.core.view import Filter
    from app.web.commands import Progress
    from app.web.page import Content, Context, Page

PERIOD_LABELS: Final = {
    "today": "Today",
    "7d": "Last 7 days",
    "14d": "Last 14 days",
    "28d": "Last 28 days",
    "30d": "Last 30 days",
    "91d": "Last 91 days",
    "mtd": "Month to date",
    "12mo": "Last 12 months",
    "ytd": "Year to date",
    "all": "All time",
}
DIMENSION_LABELS: Final = {
    "feature": "Feature",
    "team": "Team",
    "environment": "Environment",
    "provider": "Provider",
    "model": "Model",
    "account": "Account",
    "api_key": "API key",
    "user": "User",
    "service_tier": "Service tier",
    "is_batch": "Batch",
    "source": "Source",
    "status": "Status",
    "template": "Template",
    "cost_state": "Price state",
}
COMPARE_LABELS: Final = {"prev": "Period before", "off": "Nothing"}


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter in force; `href` removes it."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class NavItem:
    label: str
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class Controls:
    """The filter bar: a plain GET form."""

    action: str
    periods: tuple[Option, ...]
    compares: tuple[Option, ...]
    groups: tuple[Option, ...]
    dimensions: tuple[Option, ...]
    hidden: tuple[tuple[str, str], ...]
    chips: tuple[Chip, ...]
    clear: str
    days: str
    first_day: str
    last_day: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the figures rest on.

    Attributes:
        complete_to: up to when every live source has delivered, empty before the first request; `slowest` names the
            source that ends there.
        newest: the newest request of any source; empty where it is the same.
        silent: sources that sent nothing for a week.
        held: how many requests wait in no sum until somebody says which of two sources counts; empty for none.
        priced, unpriced: share of tokens and number of requests, over `days`; empty where there is none.
    """

    complete_to: str
    slowest: str
    newest: str
    silent: str
    held: str
    priced: str
    unpriced: str
    days: str


@dataclass(frozen=True, slots=True)
class Frame:
    nav: tuple[NavItem, ...]
    controls: Controls | None
    around: Surroundings
    zone: str
    progress: Progress
    progress_share: int | None
    finished: bool
    here: str
    notices: tuple[str, ...]
    demo: bool
    signed_in: bool


def surroundings(context: Context, page: Page, content: Content) -> Surroundings:
    """How far the logs go and how much of what the page is about has a price, over one named period."""
    found = covered.reach_of(context.session, context.now_us)
    known = content.figures
    share, without = (
        (known.priced_share, known.requests_unpriced)
        if known is not None
        else covered.priced(context.session, _shown_view(context, page))
    )
    days = period_text(context) if page.uses_view and context.view.period.name != "all" else "the whole store"
    held = overlap.waiting(context.session, overlaps.decisions(context.deps.control))
    behind = found is not None and found.complete_us < found.newest_us
    return Surroundings(
        complete_to=_reach(context, found, some=share is not None or without > 0),
        slowest=found.slowest if found is not None and behind else "",
        newest=show.moment(found.newest_us, context.zone) if found is not None and behind else "",
        silent="" if found is None else ", ".join(found.silent),
        held=show.plural(held, "request") if held else "",
        priced=show.percent(share) if share is not None or without else "",
        unpriced=f"{show.plural(without, 'request')} without a price" if without else "",
        days=days,
    )


def _reach(context: Context, found: Reach | None, *, some: bool) -> str:
    """Up to when the logs go: unknown where no request has a time, empty where there is no request."""
    if found is not None:
        return show.moment(found.complete_us, context.zone)
    return show.UNKNOWN if some else ""


def frame(
    context: Context,
    page: Page,
    content: Content,
    around: Surroundings,
    pages: Sequence[Page],
    notices: tuple[str, ...],
) -> Frame:
    """Everything around the content of `page`."""
    progress = context.deps.commands.status()
    counted = progress.done is not None and progress.total
    return Frame(
        nav=tuple(
            NavItem(item.nav, context.url(item.path), (page.section or page.name) == item.name)
            for item in pages
            if item.nav
        ),
        controls=controls(context, page) if page.uses_view else None,
        around=around,
        zone=context.view.period.zone,
        progress=progress,
        progress_share=round(100 * (progress.done or 0) / (progress.total or 1)) if counted else None,
        finished=context.polled,
        here=context.url(page.path.format_map(dict(context.path)), keys=context.keys),
        notices=(*notices, *(item.text for item in content.unusable), *content.notices),
        demo=context.deps.demo,
        signed_in=not context.deps.no_access_control,
    )


def _shown_view(context: Context, page: Page) -> View:
    """The view of a page, or everything where the page shows more than a period."""
    return context.view if page.uses_view else View(views.period("all", context.view.period.zone, context.now_us))


def controls(context: Context, page: Page) -> Controls:
    """The filter bar of a view; what it does not offer as a field travels along hidden."""
    view = context.view
    path = page.path.format_map(dict(context.path))
    first, last = shown_days(context)
    named = view.period.name if view.period.name in PERIODS else "custom"
    options = [Option(name, PERIOD_LABELS[name], name == named) for name in PERIODS]
    if named == "custom":
        options.append(Option(view.period.name, period_text(context), chosen=True))
    hidden = [pair for pair in views.pairs(view) if pair[0] == "f"]
    hidden += [(key, value) for key, value in context.keys.items() if key != "page"]
    return Controls(
        action=path,
        periods=tuple(options),
        compares=tuple(Option(name, label, name == view.compare) for name, label in COMPARE_LABELS.items()),
        groups=tuple(Option(name, DIMENSION_LABELS[name], name == view.by) for name in DIMENSIONS),
        dimensions=tuple(Option(name, DIMENSION_LABELS[name], name == view.by) for name in DIMENSIONS),
        hidden=tuple(hidden),
        chips=tuple(Chip(filter_text(item), context.url(path, context.without_filter(item))) for item in view.filters),
        clear=context.url(path, replace(view, filters=())),
        days=period_text(context),
        first_day=first,
        last_day=last,
    )


def filter_text(condition: Filter) -> str:
    """A filter in words: `Model is gpt-5 or gpt-5-mini`."""
    word = "is" if condition.op == "is" else "is not"
    return f"{DIMENSION_LABELS[condition.dimension]} {word} {' or '.join(condition.values)}"


def shown_days(context: Context) -> tuple[str, str]:
    """First and last day of the view for date fields, ISO."""
    period = context.view.period
    first_us = period.from_us
    if period.name == "all":
        extent = spend.extent(context.session)
        first_us = extent[0] if extent else context.now_us
    return local_date(first_us, context.zone).isoformat(), local_date(period.to_us - 1, context.zone).isoformat()


def period_text(context: Context) -> str:
    """The days of the view in words: `3–30 Nov 2026`."""
    period = context.view.period
    if period.name == "all":
        return "everything in the store"
    return show.day_span(local_date(period.from_us, context.zone), local_date(period.to_us - 1, context.zone))


def nothing_to_see(context: Context, path: str) -> tuple[str, str, tuple[Link, ...]]:
    """Why a view holds no request (title, text, ways out): no source yet, no data in the range, all filtered."""
    extent = spend.extent(context.session)
    everything = View(period=views.period("all", context.view.period.zone, context.now_us))
    if extent is None and spend.totals(context.session, everything).nothing:
        if context.deps.commands.status().busy:
            return ("The first logs are being read", "The figures appear here by themselves.", ())
        return (
            "No logs yet",
            "Halve has not read any log. Upload one on the Sources page, or run `halve ingest PATH` with the path of "
            "your logs; the figures appear here by themselves.",
            (Link("Open Sources", "/sources"),),
        )
    if context.view.filters and not spend.totals(context.session, replace(context.view, filters=())).nothing:
        return (
            "Everything is filtered away",
            "There are requests in this period, but none that meets all of the filters.",
            (Link("Clear the filters", context.url(path, replace(context.view, filters=()))),),
        )
    undated = spend.undated(context.session, context.view).requests
    timeless = (
        f"{show.plural(undated, 'request')} without a time {'is' if undated == 1 else 'are'} in no period but all time."
    )
    others = "The store holds requests of other days." if extent is not None else ""
    amounts = " and ".join(show.native_money(cost, name) for name, cost in without_rate(context.session, context.view))
    foreign = f"Bills charge {amounts}, for which there is no exchange rate: name it in your price file."
    parts = (others, timeless if undated else "", foreign if amounts else "")
    text = " ".join(part for part in parts if part)
    return "No requests in this period", text, _ways_out(context, path, extent)


def _ways_out(context: Context, path: str, extent: tuple[int, int] | None) -> tuple[Link, ...]:
    zone_name = context.view.period.zone
    links = []
    if extent is not None:
        last = local_date(extent[1], context.zone)
        month = views.period(f"{last:%Y-%m}", zone_name, context.now_us)
        links.append(Link(f"Show {last:%B %Y}, the last month with data", context.url(path, View(period=month))))
    everything = views.period("all", zone_name, context.now_us)
    return (*links, Link("Show all time", context.url(path, replace(context.view, period=everything))))
