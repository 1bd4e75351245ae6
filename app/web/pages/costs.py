"""Costs: at list, at contract and as reported, where they differ and why, and every version that costs ever had."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from app.analysis.bill_share import from_bills, requests_on_bills
from app.analysis.claims import disagreements, side_by_side
from app.analysis.figures import known_sum
from app.core.money import usd_text
from app.warehouse import ledger
from app.web import cells
from app.web import format as show
from app.web.frame import nothing_to_see
from app.web.page import Content, Context, Empty, Page
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.analysis.claims import Disagreement, SideBySide
    from app.warehouse.ledger import Version

PATH: Final = "/costs"
SHOWN: Final = 100
STATES: Final = {"whole": "Done", "left": "Given up", None: "Not finished"}


@dataclass(frozen=True, slots=True)
class Model:
    """How many requests have a report, how many of those can be compared, how many differ, and by how much.

    `compared` have a whole figure of ours; `alone` have none; `partly` lack a part of it, or were not billed.
    """

    reports: int
    compared: int
    alone: int
    partly: int
    differing: int
    difference: str
    unfinished: int | None
    download: str
    on_bills: str


def build(context: Context) -> Content:
    """The Costs page of a view; the versions are those of everything."""
    session = context.session
    found = side_by_side(session, context.view)
    versions = ledger.versions(session)
    if not found and not versions:
        title, text, links = nothing_to_see(context, PATH)
        return Content("Costs", empty=Empty(title, text, links))
    told = disagreements(session, context.view)
    difference = sum(item.reported_pusd - item.cost_pusd for item in told)
    under_way = next((item.version for item in versions if item.ending is None), None)
    return Content(
        "Costs",
        model=Model(
            reports=sum(item.reports for item in found),
            compared=sum(item.compared for item in found),
            alone=sum(item.reports - item.both for item in found),
            partly=sum(item.both - item.compared for item in found),
            differing=sum(item.requests for item in told),
            difference=str(cells.delta(difference).text),
            unfinished=under_way,
            download=_download(context),
            on_bills=_on_bills(context),
        ),
        tables=(_side_table(context, found), _claims_table(context, told), _versions_table(context, versions)),
    )


def _on_bills(context: Context) -> str:
    """What Spend counts more than the requests here: days and accounts that bills alone tell of; empty for none."""
    cost = from_bills(context.session, context.view)
    if cost is None:
        return ""
    counted = requests_on_bills(context.session, context.view)
    requests = f" and {show.plural(counted, 'request')}" if counted else ""
    return f"Spend counts {show.money(cost)}{requests} more, which only bills tell of"


def _download(context: Context) -> str:
    """The address of the FOCUS rows of the view's period; empty where there are none to have, or a filter is on."""
    if context.view.filters or context.deps.commands.export_focus is None:
        return ""
    return f"/export/focus.csv?{urlencode({'period': context.view.period.name})}"


def _side_table(context: Context, found: Sequence[SideBySide]) -> Table:
    left = len(found) - SHOWN
    return Table(
        "side",
        "List, contract and reported, side by side",
        (
            Column("model", "Model", width="mid"),
            Column("source", "Source", width="mid"),
            Column("provider", "Provider", twin_only=True),
            Column("requests", "Requests", "number"),
            Column("list_usd", "At list prices", "number", "What the provider's public prices give"),
            Column(
                "cost_usd",
                "At contract",
                "number",
                "Our figure: your own terms where there are any, else list",
                leads=True,
            ),
            Column("reports", "Reports", "number", "Requests whose source reported a cost", minor=True),
            Column("reported_usd", "Reported", "number", "The sum of those reports", minor=True),
            Column("same_cost_usd", "Ours of these", "number", "Our figure of the requests that have both", minor=True),
            Column("same_difference_usd", "Reported − ours", "number", "In dollars, of the requests that have both"),
            Column(
                "differing", "Reports off", "number", "Requests whose report differs by more than 1 % and $0.000001"
            ),
        ),
        tuple(_side_row(context, item) for item in found[:SHOWN]),
        total=_side_total(found),
        frame_note=f"The {SHOWN} most expensive of {len(found)}." if left > 0 else "",
        stacked=True,
    )


def _side_row(context: Context, item: SideBySide) -> tuple[Cell, ...]:
    listed = context.with_filter("model", item.model_id)
    narrowed = replace(context, view=listed).with_filter("source", item.source)
    return (
        cells.text(item.model_id),
        cells.text(item.source),
        cells.text(item.provider),
        cells.count(item.requests, href=context.url("/requests", narrowed)),
        cells.money(item.list_pusd),
        cells.money(item.cost_pusd),
        cells.count(item.reports),
        cells.money(item.reported_pusd),
        cells.money(item.both_cost_pusd),
        _difference(item.both_reported_pusd, item.both_cost_pusd),
        cells.count(item.differing),
    )


def _side_total(found: Sequence[SideBySide]) -> tuple[Cell, ...]:
    both_reported = known_sum(item.both_reported_pusd for item in found)
    both_cost = known_sum(item.both_cost_pusd for item in found)
    return (
        cells.text("Total"),
        cells.text(""),
        cells.text(""),
        cells.count(sum(item.requests for item in found)),
        cells.money(known_sum(item.list_pusd for item in found)),
        cells.money(known_sum(item.cost_pusd for item in found)),
        cells.count(sum(item.reports for item in found)),
        cells.money(known_sum(item.reported_pusd for item in found)),
        cells.money(both_cost),
        _difference(both_reported, both_cost),
        cells.count(sum(item.differing for item in found)),
    )


def _difference(reported: int | None, ours: int | None) -> Cell:
    """Report minus ours, without a tone: neither of the two is the bill."""
    if reported is None or ours is None:
        return cells.money(None)
    return replace(cells.delta(reported - ours), tone="" if reported != ours else "muted")


def _claims_table(context: Context, told: Sequence[Disagreement]) -> Table:
    left = len(told) - SHOWN
    return Table(
        "claims",
        "Where a report differs from our figure",
        (
            Column("model", "Model", width="mid"),
            Column("source", "Source", width="mid"),
            Column("provider", "Provider", twin_only=True),
            Column("requests", "Requests", "number"),
            Column("reported_usd", "Reported", "number"),
            Column("cost_usd", "Ours", "number"),
            Column("difference_usd", "Reported − ours", "number"),
            Column("reason", "Reason", twin_only=True),
            Column("why", "Likely reason", width="wide"),
            Column("example", "Example", width="tight"),
        ),
        tuple(_claim_row(context, item) for item in told[:SHOWN]),
        frame_note=f"The {SHOWN} largest of {len(told)}." if left > 0 else "",
        empty="No report differs from our figure by more than 1 % and $0.000001.",
        stacked=True,
    )


def _claim_row(context: Context, item: Disagreement) -> tuple[Cell, ...]:
    key = show.key_text(item.example)
    return (
        cells.text(item.model_id),
        cells.text(item.source),
        cells.text(item.provider),
        cells.count(item.requests),
        cells.money(item.reported_pusd),
        cells.money(item.cost_pusd),
        _difference(item.reported_pusd, item.cost_pusd),
        cells.text(item.reason),
        cells.text(item.said),
        Cell(key, "open", href=context.url(f"/requests/{key}")),
    )


def _versions_table(context: Context, versions: Sequence[Version]) -> Table:
    return Table(
        "versions",
        "Versions of the costs",
        (
            Column("version", "Version", "number"),
            Column("started", "Begun", width="tight"),
            Column("state", "State", width="tight"),
            Column("what", "What", width="wide"),
            Column("who", "By", width="tight"),
            Column("changed", "Changed", "number", "Requests whose figures it changed"),
            Column("before_usd", "Before", "number", "The known cost of all requests it looked at"),
            Column("after_usd", "After", "number"),
            Column("difference_usd", "Difference", "number"),
        ),
        tuple(
            (
                cells.count(item.version),
                cells.moment(item.started_us, context.zone),
                Cell(item.ending or "unfinished", STATES.get(item.ending, str(item.ending))),
                cells.text(_what(item), note=item.order.why),
                cells.text(item.order.who or None),
                cells.count(item.did.changed),
                Cell(usd_text(item.did.known_before_pusd), show.money(item.did.known_before_pusd)),
                Cell(usd_text(item.did.known_after_pusd), show.money(item.did.known_after_pusd)),
                replace(cells.delta(item.did.after_pusd - item.did.before_pusd), tone=""),
            )
            for item in versions[:SHOWN]
        ),
        frame_note=f"The newest {SHOWN} of {len(versions)}." if len(versions) > SHOWN else "",
        empty="Nothing was priced anew yet: every cost is what its request was priced at when it was taken in.",
        stacked=True,
    )


def _what(item: Version) -> str:
    if item.order.kind == "rollback":
        return f"Back to version {item.order.restores}"
    file = "" if item.order.prices is None else f" with {item.order.prices.rpartition('/')[2]}"
    return f"Price book {item.order.price_book}{file}"


PAGE = Page(
    name="costs",
    path=PATH,
    twin=PATH,
    nav="",
    build=build,
    kept=True,
    section="prices",
)
