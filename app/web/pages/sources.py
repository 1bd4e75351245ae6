"""Sources: what is here and how fresh, what could not be read or priced and why, and how each source is billed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Final

from app.analysis import coverage as covered
from app.analysis import missing_prices
from app.analysis.coverage import SourceFreshness
from app.analysis.intake import added, intake, rejected_reasons, rejected_records
from app.core import view as views
from app.core.money import usd_text
from app.web import cells, lost_calls, overlapping, pulled, pushed
from app.web import format as show
from app.web.behind import unpriced_behind
from app.web.page import Content, Context, Page
from app.web.table import Cell, Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.analysis.coverage import UnpricedModel
    from app.analysis.intake import Intake
    from app.analysis.missing_prices import Reasons
    from app.web.overlapping import OverlapForm

BILLING_LABELS: Final = {
    "api": "By request",
    "subscription": "Subscription",
    "provisioned": "Provisioned capacity",
    "free": "Free",
    "unknown": "Not known",
}
DONE: Final = {
    "upload": "The log was received and is being read; this page shows what became of it.",
    "billing": "Saved. Figures that depend on it change with the next analysis.",
    "overlap": "Saved. Every sum follows it; the savings do with the next analysis.",
}
AGAIN: Final = (
    "`halve sources again` reads these once more, as after an update: files where they lie, pulled records by asking "
    "their server. What was uploaded or pushed is not kept: send it again."
)
STALE_US: Final = 36 * 3_600_000_000
FORMS_OPEN: Final = 8


@dataclass(frozen=True, slots=True)
class BillingForm:
    """Asks how a source is billed; `chosen` is what stands now."""

    source: str
    chosen: str
    options: tuple[tuple[str, str], ...]
    unknown: bool


@dataclass(frozen=True, slots=True)
class Model:
    """`billing` stands open: what nobody has said, or all of a few; `folded` holds the others."""

    billing: tuple[BillingForm, ...]
    folded: tuple[BillingForm, ...]
    overlaps: tuple[OverlapForm, ...]
    nothing_yet: bool


def build(context: Context) -> Content:
    """The Sources page: everything in the store, whatever the period."""
    session = context.session
    taken = {item.source: item for item in intake(session)}
    known = covered.freshness(session)
    sources = (*known, *_refused(known, taken))
    everything = views.View(period=views.period("all", context.view.period.zone, context.now_us))
    unpriced = covered.coverage(session, everything).unpriced
    why = missing_prices.reasons(session, everything) if unpriced else {}
    bills = _last_billed(context)
    said = DONE.get(context.keys.get("done", ""))
    forms = [_billing(item) for item in known if item.requests or item.source not in bills]
    folded = tuple(form for form in forms if not form.unknown) if len(forms) > FORMS_OPEN else ()
    return Content(
        "Sources",
        notices=(said,) if said else (),
        model=Model(
            billing=tuple(form for form in forms if form not in folded),
            folded=folded,
            overlaps=overlapping.forms(context),
            nothing_yet=not sources,
        ),
        tables=(
            _sources_table(context, sources, taken, bills),
            pulled.table(context),
            pushed.table(context, sources, taken),
            overlapping.table(context),
            _records_table(context, sources, taken),
            _unpriced_table(context, unpriced, why),
            lost_calls.table(context, everything.period),
            _reasons_table(context),
            _rejected_table(context),
        ),
    )


def _refused(known: tuple[SourceFreshness, ...], taken: Mapping[str, Intake]) -> list[SourceFreshness]:
    """Names under which files were read and nothing was taken, such as those of no known layout: they count as read."""
    here = {item.source for item in known}
    return [
        SourceFreshness(name, None, "unknown", None, 0, None, None, 0, 0, None) for name in taken if name not in here
    ]


def _billing(source: SourceFreshness) -> BillingForm:
    return BillingForm(source.source, source.billing, tuple(BILLING_LABELS.items()), source.billing == "unknown")


def _last_billed(context: Context) -> dict[str, str]:
    """The last day (ISO) on the bills of each source that holds any."""
    days: dict[str, str] = {}
    for source, _, _, _, _, last_day, *_ in context.session.rows("billed.reports"):
        days[source] = max(days.get(source, ""), last_day)
    return days


def _sources_table(
    context: Context, sources: tuple[SourceFreshness, ...], taken: Mapping[str, Intake], bills: Mapping[str, str]
) -> Table:
    everything = views.View(period=views.period("all", context.view.period.zone, context.now_us))
    cut_short = {row[0] for row in context.session.rows("billed.cut_short")}
    rows = []
    for item in sources:
        filtered = views.View(everything.period, filters=(views.Filter("is", "source", (item.source,)),))
        rows.append(
            (
                cells.text(item.source, href=context.url("/", filtered)),
                cells.text(item.format),
                _complete_to(context, item, bills.get(item.source)),
                cells.count(item.requests, href=context.url("/requests", filtered) if item.requests else ""),
                *_records(taken.get(item.source)),
                cells.count(item.undated),
                cells.count(item.requests_unpriced),
                Cell(usd_text(item.cost_pusd), show.money(item.cost_pusd)),
                _billed(item, item.source in bills, cut_short=item.source in cut_short),
            )
        )
    return Table(
        "sources",
        "What is here",
        (
            Column("source", "Source", width="mid"),
            Column("format", "Format", width="mid", minor=True),
            Column("complete_to", "Complete to", width="mid"),
            Column("requests", "Requests", "number"),
            *(replace(column, twin_only=True) for column in RECORDS),
            Column("undated", "Without a time", "number", "Requests whose log gives no time: they stand in no day"),
            Column("unpriced", "Unpriced", "number", "Requests of which a part or all has no price"),
            Column("cost_usd", "Cost", "number", leads=True),
            Column("billing", "Billed", width="tight"),
        ),
        tuple(rows),
        empty="No source yet. Upload a log below, run `halve ingest PATH`, or let Halve pull one: `halve sources add`.",
        stacked=True,
    )


def _billed(source: SourceFreshness, bill: bool, *, cut_short: bool) -> Cell:
    """How a source is billed; one that is a bill and holds no request is asked nothing."""
    if bill and not source.requests:
        return Cell(None, "a bill", note="cut short: next page not read" if cut_short else "", tone="muted")
    return Cell(source.billing, BILLING_LABELS.get(source.billing, source.billing))


def _complete_to(context: Context, source: SourceFreshness, billed: str | None) -> Cell:
    """Up to when a source has delivered: its newest request, or the last day (ISO) of its bill."""
    if source.last_us is None and billed is not None:
        return Cell(billed, show.day(date.fromisoformat(billed), year=True), note="a bill")
    if source.last_us is None:
        return Cell(
            None, show.UNKNOWN, note="nothing with a time" if source.requests else "no request yet", tone="muted"
        )
    late = context.now_us - source.last_us > STALE_US
    return Cell(
        show.iso_moment(source.last_us),
        show.moment(source.last_us, context.zone),
        note=show.ago(source.last_us, context.now_us),
        tone="worse" if late else "",
    )


RECORDS: Final = (
    Column("files", "Files", "number"),
    Column("records_read", "Records read", "number", "Lines or objects; several can belong to one request"),
    Column("records_known", "Known before", "number", "Records of a request that was already here", minor=True),
    Column(
        "records_no_request", "No request", "number", "Records that are no request: user lines, summaries", minor=True
    ),
    Column("rejected", "Rejected", "number", "Records that could not be read"),
)


def _records(counts: Intake | None) -> tuple[Cell, ...]:
    if counts is None:
        return tuple(cells.count(None) for _ in RECORDS)
    known = counts.merged + counts.updated
    return tuple(cells.count(n) for n in (counts.files, counts.read, known, counts.benign, counts.rejected))


def _records_table(context: Context, sources: tuple[SourceFreshness, ...], taken: Mapping[str, Intake]) -> Table:
    rows = []
    for item in sources:
        counts = taken.get(item.source)
        last_us = None if counts is None else counts.last_us
        rows.append((cells.text(item.source), *_records(counts), cells.moment(last_us, context.zone)))
    whole = _records(added(taken.values()) if taken else None)
    return Table(
        "records",
        "What was read",
        (Column("source", "Source", width="mid"), *RECORDS, Column("last_taken", "Last taken in", width="mid")),
        tuple(rows),
        total=(cells.text("Total"), *whole, Cell(None, "")) if len(rows) > 1 else (),
        empty="No source yet.",
        stacked=True,
    )


def _unpriced_table(context: Context, unpriced: tuple[UnpricedModel, ...], why: Reasons) -> Table:
    given = [missing_prices.reasons_of(item, why) for item in unpriced]
    return Table(
        "unpriced",
        "Models without a price",
        (
            Column("model", "Model"),
            Column("provider", "Provider"),
            Column("state", "State", twin_only=True),
            Column("reason", "What is missing", width="mid"),
            Column("requests", "Requests", "number"),
            Column("tokens", "Tokens", "number"),
        ),
        tuple(
            (
                cells.text(item.model),
                cells.text(item.provider),
                Cell(item.cost_state, item.cost_state),
                cells.text(missing_prices.in_words(reasons)),
                cells.count(item.requests, href=unpriced_behind(context, item)),
                cells.count(item.tokens),
            )
            for item, reasons in zip(unpriced, given, strict=True)
        ),
        empty="Every model has a price.",
        stacked=True,
    )


def _reasons_table(context: Context) -> Table:
    return Table(
        "reasons",
        "Why records were rejected",
        (
            Column("source", "Source"),
            Column("reason", "Reason", width="mid"),
            Column("records", "Records", "number", leads=True),
        ),
        tuple(
            (cells.text(item.source), cells.text(item.reason), cells.count(item.records))
            for item in rejected_reasons(context.session)
        ),
        empty="Nothing was rejected.",
        stacked=True,
    )


def _rejected_table(context: Context) -> Table:
    rows = rejected_records(context.session)
    return Table(
        "rejected",
        "Rejected records",
        (
            Column("file", "File"),
            Column("line", "Line", "number"),
            Column("reason", "Reason", width="mid"),
            Column("head", "Beginning of the record, secrets removed", width="wide"),
            Column("seen", "Seen", width="tight"),
        ),
        tuple(
            (
                cells.text(item.file),
                cells.count(item.line),
                cells.text(item.reason),
                Cell(item.head, item.head[:160] + ("…" if len(item.head) > 160 else ""), tone="muted"),
                cells.moment(item.seen_us, context.zone),
            )
            for item in rows
        ),
        frame_note=("The newest 100. " if len(rows) == 100 else "") + (AGAIN if rows else ""),
        empty="Nothing was rejected.",
        stacked=True,
        first=10,
    )


PAGE = Page(
    name="sources",
    path="/sources",
    twin="/sources",
    nav="Sources",
    build=build,
    keys=frozenset({"done"}),
    uses_view=False,
    kept=True,
    rests_on=lambda context: (pulled.stamp(context), pushed.stamp(context), overlapping.stamp(context)),
    section="sources",
)
