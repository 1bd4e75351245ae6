"""Reconciliation: the provider's bill beside the logged requests, day by day, and every dollar between them by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.analysis.reconciliation import reconcile
from app.analysis.residual_groups import grouped
from app.core import view as views
from app.core.money import usd_text
from app.web import cells
from app.web import format as show
from app.web.bill_words import (
    ADVICE,
    CLASS_LABELS,
    KIND_LABELS,
    classes_text,
    day_text,
    state_of,
    why,
)
from app.web.page import Content, Context, Empty, Link, Page
from app.web.table import Cell, Column, Streamed, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    from app.analysis.bill_cells import Cell as BillCell
    from app.analysis.bill_cells import CellKey
    from app.analysis.reconciliation import Reconciliation
    from app.analysis.residual_groups import ResidualGroup
    from app.web.bill_words import State
    from app.web.cells import Tone

PATH: Final = "/reconciliation"
MOST_GROUPS: Final = 25
MOST_CELLS: Final = 25
DAYS: Final = "Days are UTC, as providers cut bills."
STATE_LABELS: Final[dict[State, str]] = {
    "agrees": "Agrees",
    "bill higher": "Bill is higher",
    "bill lower": "Bill is lower",
    "only on the bill": "Only on the bill",
    "only logged": "Only logged",
    "tokens unknown": "Tokens not logged",
    "no price": "No price",
    "no usage": "No usage",
}
STATE_TONES: Final[dict[State, Tone]] = {
    "agrees": "better",
    "bill higher": "worse",
    "bill lower": "worse",
    "only on the bill": "worse",
    "only logged": "worse",
    "tokens unknown": "worse",
    "no price": "worse",
    "no usage": "muted",
}


@dataclass(frozen=True, slots=True)
class Figure:
    label: str
    value: str
    exact: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    figures: tuple[Figure, ...]
    unknown_cells: int


def build(context: Context) -> Content:
    """The reconciliation of the period; filters do not narrow it, because a bill is compared as a whole."""
    result = reconcile(context.session, context.view.period, evidenced=MOST_GROUPS)
    if result is None:
        return Content("Reconciliation", empty=_no_bill(context))
    notices = ("A bill is compared as a whole: the filters are not applied here.",) if context.view.filters else ()
    return Content(
        "Reconciliation",
        notices=notices,
        model=Model(_figures(result), result.unknown_cells),
        tables=(
            _providers_table(result),
            _kinds_table(result),
            _residuals_table(context, result),
            _cells_table(context, result),
            _reports_table(context),
            *((_asides_table(result),) if result.asides else ()),
        ),
    )


def _no_bill(context: Context) -> Empty:
    others = bool(context.session.rows("billed.any")[0][0])
    everything = views.View(views.period("all", context.view.period.zone, context.now_us))
    all_time = (Link("Show all time", context.url(PATH, everything)),) if others else ()
    if context.deps.commands.status().busy:
        return Empty(
            "No bill of this period so far" if others else "No bill so far",
            "Halve is taking in what came last. If a bill of these days is among it, it appears here by itself.",
            all_time,
        )
    if others:
        return Empty("No bill of this period", "The store holds bills of other days.", all_time)
    return Empty(
        "No bill was read yet",
        "With the provider's bill Halve shows that its total is right, and names every dollar that is not in the logs. "
        "Export usage and costs (OpenAI: Usage, Export; Anthropic: Console, Cost; AWS: Data Exports; Google Cloud: "
        "billing export; Azure: Cost details; any of them as FOCUS) and upload the file on Sources, run `halve "
        "ingest FILE`, or let Halve pull it: `halve sources kinds`.",
        (Link("Open Sources", "/sources"),),
    )


def _figures(result: Reconciliation) -> tuple[Figure, ...]:
    valued = any(item.valued for item in result.providers)
    return (
        Figure(
            "Bill",
            show.money(result.bill_pusd),
            show.exact_money(result.bill_pusd),
            "in part usage at the price book's rates" if valued else "",
        ),
        Figure("Logged", show.money(result.logged_pusd), show.exact_money(result.logged_pusd)),
        Figure(
            "Difference",
            show.money(result.difference_pusd),
            show.exact_money(result.difference_pusd),
            "bill minus requests; the reasons below add up to it",
        ),
        Figure("Reconciled", show.percent(result.share), show.percent(result.share), "of the billed dollars"),
    )


def _providers_table(result: Reconciliation) -> Table:
    return Table(
        "providers",
        "By provider",
        (
            Column("provider", "Provider", width="mid"),
            Column("first_day", "First day", width="tight", minor=True),
            Column("last_day", "Last day", width="tight", minor=True),
            Column("bill_usd", "Bill", "number"),
            Column("logged_usd", "Logged", "number"),
            Column("difference_usd", "Difference", "number", "Bill minus requests", leads=True),
            Column("reconciled_share", "Reconciled", "number", "Share of the bill for which requests stand"),
            Column("bill_is", "The bill is", width="mid"),
        ),
        tuple(
            (
                cells.text(item.provider),
                cells.text(day_text(item.first_us)),
                cells.text(day_text(item.last_us)),
                cells.money(item.bill_pusd),
                cells.money(item.logged_pusd),
                cells.money(item.bill_pusd - item.logged_pusd),
                cells.ratio(item.matched_pusd, item.usage_pusd),
                cells.text("usage, at the price book's rates" if item.valued else "what was charged"),
            )
            for item in result.providers
        ),
        stacked=True,
    )


def _kinds_table(result: Reconciliation) -> Table:
    rows = [
        (Cell(kind, KIND_LABELS[kind]), cells.money(amount), Cell(ADVICE[kind], ADVICE[kind], tone="muted"))
        for kind, amount in result.by_kind().items()
    ]
    return Table(
        "reasons",
        "What the difference is made of",
        (
            Column("reason", "Reason", width="mid"),
            Column("amount_usd", "Amount", "number", leads=True),
            Column("do", "What to do", width="wide"),
        ),
        tuple(rows),
        total=(cells.text("Bill minus requests"), cells.money(result.difference_pusd), Cell(None, "")) if rows else (),
        empty="Nothing: bill and requests agree.",
        stacked=True,
    )


def _residuals_table(context: Context, result: Reconciliation) -> Table:
    groups = _groups(result)
    left = len(groups) - MOST_GROUPS
    return Table(
        "residuals",
        "Where they differ, and why",
        (
            Column("day", "Day", width="tight"),
            Column("reason", "Reason", width="tight"),
            Column("amount_usd", "Amount", "number", "Its part of bill minus requests", leads=True),
            Column("provider", "Provider", width="tight"),
            Column("account", "Account", width="tight", twin_only=True),
            Column("model", "Model", width="mid"),
            Column("classes", "Classes", twin_only=True),
            Column("quantity", "Tokens", "number", "Bill minus requests", twin_only=True),
            Column("why", "What is known", width="wide"),
            Column("evidence", "Line of the bill", width="wide"),
        ),
        tuple(_residual_rows(context, result, groups[:MOST_GROUPS])),
        frame_note=f"The {MOST_GROUPS} largest of {len(groups)}; CSV and JSON have all of them." if left > 0 else "",
        empty="Bill and requests agree.",
        stacked=True,
        stream=_all_residuals,
    )


def _groups(result: Reconciliation) -> list[ResidualGroup]:
    return [group for group in grouped(result.named) if group.kind != "rounding"]


def _all_residuals(context: Context, most: int) -> Streamed:
    """Every named difference, for the twins."""
    result = reconcile(context.session, context.view.period)
    groups = [] if result is None else _groups(result)
    rows = iter(()) if result is None else _residual_rows(context, result, groups[:most])
    return Streamed(len(groups), min(most, len(groups)), rows)


def _residual_rows(
    context: Context, result: Reconciliation, groups: Sequence[ResidualGroup]
) -> Iterator[tuple[Cell, ...]]:
    names = result.names_of(item.key for group in groups for item in group.items)
    return (_residual_row(context, group, result, names) for group in groups)


def _residual_row(
    context: Context, group: ResidualGroup, result: Reconciliation, names: dict[CellKey, set[str]]
) -> tuple[Cell, ...]:
    lines = result.evidence_of(group)
    where = f"{lines[0].file}:{lines[0].line}" if lines else None
    item = lines[0].line_item if lines else None
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    logged = sorted(set().union(*(names.get(one.key, set()) for one in group.items)))
    model = group.model or "all models"
    account = f"account {group.account}" if group.account else ""
    note = ", ".join(part for part in (classes_text(group), account) if part)
    return (
        cells.text(day_text(group.at_us)),
        Cell(group.kind, KIND_LABELS[group.kind], tone="muted" if group.kind == "credit or fee" else "worse"),
        Cell(usd_text(group.amount_pusd), show.money(group.amount_pusd)),
        cells.text(group.provider),
        Cell(group.account or None, group.account or "all"),
        Cell(group.model or None, model, href=_requests(context, group.at_us, logged), note=note),
        Cell(", ".join(group.classes), classes_text(group)),
        cells.count(group.quantity),
        Cell(why(group, result), why(group, result)),
        Cell(where, "none" if where is None else where.rpartition("/")[2], note=f"{item or ''}{more}".strip()),
    )


def _requests(context: Context, at_us: int, models: list[str]) -> str:
    """The logged requests of a day's models; empty where none was logged."""
    if not models:
        return ""
    day = day_text(at_us)
    period = views.period(f"{day}..{day}", context.view.period.zone, context.now_us)
    return context.url("/requests", views.View(period, filters=(views.Filter("is", "model", tuple(models)),)))


def _cells_table(context: Context, result: Reconciliation) -> Table:
    ordered = result.largest(MOST_CELLS)
    whole = result.table.rows.height
    left = whole - len(ordered)
    some = f", {len(ordered)} of {whole}; CSV and JSON have all of them"
    return Table(
        "cells",
        "Bill and requests, day by day",
        (
            Column("day", "Day", width="tight"),
            Column("provider", "Provider", width="tight"),
            Column("account", "Account", width="tight", minor=True),
            Column("model", "Model", width="mid"),
            Column("class", "Class", width="tight"),
            Column("bill_usd", "Bill", "number"),
            Column("logged_usd", "Logged", "number"),
            Column("difference_usd", "Difference", "number", leads=True),
            Column("bill_quantity", "Billed tokens", "number", minor=True),
            Column("logged_quantity", "Logged tokens", "number", minor=True),
            Column("state", "State", width="tight"),
        ),
        tuple(_cell_row(context, cell) for cell in ordered),
        frame_note=f"The largest differences{some}. {DAYS}" if left > 0 else f"The largest differences first. {DAYS}",
        stacked=True,
        stream=_all_cells,
    )


def _all_cells(context: Context, most: int) -> Streamed:
    """Every cell, for the twins."""
    result = reconcile(context.session, context.view.period)
    shown = [] if result is None else result.largest(most)
    whole = 0 if result is None else result.table.rows.height
    return Streamed(whole, len(shown), (_cell_row(context, cell) for cell in shown))


def _cell_row(context: Context, cell: BillCell) -> tuple[Cell, ...]:
    key, state = cell.key, state_of(cell)
    last = day_text(key.at_us if cell.last_us is None else cell.last_us)
    day = day_text(key.at_us)
    return (
        Cell(day, day, note="" if last == day else f"to {last}"),
        cells.text(key.provider),
        Cell(key.account or None, key.account or "all"),
        Cell(key.model or None, key.model or "all", href=_requests(context, key.at_us, sorted(cell.names))),
        Cell(key.usage_class, CLASS_LABELS.get(key.usage_class, key.usage_class)),
        cells.money(cell.bill_pusd),
        cells.money(cell.known_logged_pusd),
        cells.money(cell.difference),
        cells.tokens(cell.bill_quantity),
        cells.tokens(cell.logged_quantity),
        Cell(state, STATE_LABELS[state], tone=STATE_TONES[state]),
    )


def _reports_table(context: Context) -> Table:
    rows = context.session.rows("billed.reports")
    return Table(
        "bills",
        "Bills that were read",
        (
            Column("source", "Source", width="mid"),
            Column("report", "Report", width="mid", minor=True),
            Column("provider", "Provider", width="tight"),
            Column("first_day", "First day", width="tight"),
            Column("last_day", "Last day", width="tight"),
            Column("lines", "Lines", "number", minor=True),
            Column("amount", "Amount", "number", "In its own currency, services that are no models included"),
            Column("currency", "Currency", width="tight"),
            Column("written", "Newest file of", width="tight", minor=True),
        ),
        tuple(
            (
                cells.text(source),
                cells.text(report),
                cells.text(provider),
                cells.text(first_day),
                cells.text(last_day),
                cells.count(lines),
                Cell(None, "usage only", tone="muted") if cost is None else _native(cost),
                Cell(currency, currency or ""),
                cells.moment(written_us, context.zone),
            )
            for source, report, provider, currency, first_day, last_day, lines, cost, _, written_us in rows
        ),
        frame_note="Whatever the period. A newer export of the same days takes the place of an older one.",
        stacked=True,
    )


def _native(cost: Decimal) -> Cell:
    return Cell(f"{cost.normalize():f}", f"{cost:,.2f}")


def _asides_table(result: Reconciliation) -> Table:
    return Table(
        "not_compared",
        "Not compared",
        (
            Column("what", "What", width="mid"),
            Column("name", "Of", width="mid"),
            Column("amount_usd", "Amount", "number"),
            Column("native", "Native amount", "number"),
        ),
        tuple(
            (
                cells.text(item.what.capitalize()),
                cells.text(item.name),
                cells.money(item.pusd) if item.pusd is not None else Cell(None, show.UNKNOWN, tone="muted"),
                Cell(item.native, item.native or ""),
            )
            for item in result.asides
        ),
        stacked=True,
    )


PAGE = Page(
    name="reconciliation",
    path=PATH,
    twin=PATH,
    nav="",
    build=build,
    kept=True,
    section="sources",
)
