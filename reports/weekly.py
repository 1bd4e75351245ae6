"""The weekly savings report: what a week cost, more than before or less, why, what to do, and how true the figures are.

Sums come from the functions of the Spend page with the same period, so that report and page agree to the cent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.analysis import coverage as covered
from app.analysis import spend
from app.analysis.bill_share import without_rate
from app.analysis.comparison import comparable
from app.analysis.lost_usage import bounds, lost_usage
from app.analysis.missing_prices import in_words, rate_helps, reasons, reasons_of
from app.analysis.movers import Movers, movers
from app.analysis.reconciled_share import reconciled_share
from app.core import view as views
from app.core.view import View
from app.web import format as show
from app.web.page import Link
from app.web.plans import Scale
from reports import budgets as budget_lines
from reports import lateness, savings, spending
from reports.document import Document, Figure, Section, clipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal
    from zoneinfo import ZoneInfo

    from app.analysis.budgets import BudgetLine, Standing
    from app.analysis.coverage import Coverage
    from app.analysis.figures import Figures
    from app.analysis.missing_prices import Reasons
    from app.core.view import Period
    from app.plan.result import PlanResult
    from app.warehouse.store import Session
    from reports.lateness import Late
    from reports.savings import Applied, BatchLine
    from reports.weeks import Week

REPORT: Final = "weekly"
TOP_LATE: Final = 5
BASES: Final = {
    "paid": "Dollars are what was paid at contract prices.",
    "mixed": "Dollars are part paid, part list-price value of sources that are not billed by the request.",
    "list-price value": "Dollars are list-price value, not a bill: no source is known to be billed by the request.",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that the report of a week is made of."""

    week: Week
    zone: ZoneInfo
    view: View
    now: Figures
    before: Figures | None
    earlier: Period | None
    moved: Movers | None
    late: tuple[Late, ...]
    newest_us: int
    basis: str
    undated: Figures
    foreign: tuple[tuple[str, Decimal], ...]


def build(
    session: Session,
    week: Week,
    *,
    plan: PlanResult | None = None,
    applied: Sequence[Applied] = (),
    batches: Sequence[BatchLine] = (),
    month: Standing | None = None,
    budgets: Sequence[BudgetLine] = (),
    late_by: str = "",
    now_us: int,
) -> Document:
    """The document of a week from the store as it is now.

    `month` is where the calendar month of now stands. `late_by` says why the report itself comes late, empty where it
    does not.
    """
    facts = _facts(session, week, now_us)
    if facts.now.nothing:
        return _silent(facts, late_by)
    parts = (
        spending.moved_section(facts.view, facts.moved),
        spending.spend_section(session, facts.view, facts.zone, now_us),
        None if plan is None else savings.what_to_do(plan),
        savings.measured(applied, plan, facts.zone),
        savings.batches(batches),
        budget_lines.section(month, budgets, facts.zone.key, now_us),
        _truth_section(session, facts, now_us),
    )
    files = [spending.features_file(session, facts.view, facts.moved)]
    if plan is not None and savings.open_findings(plan):
        files.append(savings.findings_file(plan))
    return Document(
        report=REPORT,
        period=week.name,
        days=_days(week),
        subject=_subject(facts, plan),
        title=_title(facts),
        lead=_lead(facts, plan),
        warnings=tuple(text for text in (late_by, *_late_sentences(facts, now_us)) if text),
        figures=_figures(facts),
        sections=tuple(part for part in parts if part is not None),
        files=tuple(files),
        notes=(
            BASES[facts.basis],
            f"Days are cut in {facts.zone.key}; the week runs from Monday to Sunday.",
            "Amounts are rounded, so a sum may look a cent off; the attached CSV files carry every digit.",
            *(() if plan is None else (f"Savings: {Scale(plan).factor} Price book {plan.price_book}.",)),
        ),
        link=spending.page(facts.view),
    )


def _facts(session: Session, week: Week, now_us: int) -> Facts:
    view = View(week.period)
    earlier = comparable(session, week.period, now_us)
    return Facts(
        week=week,
        zone=views.zone_info(week.period.zone),
        view=view,
        now=spend.totals(session, view),
        before=None if earlier is None else spend.totals(session, view, period=earlier),
        earlier=earlier,
        moved=None if earlier is None else movers(session, view, earlier),
        late=lateness.late_sources(session, week.period, now_us),
        newest_us=lateness.newest_request_us(session, now_us),
        basis=covered.basis(session, view),
        undated=spend.undated(session, view),
        foreign=without_rate(session, view),
    )


def _days(week: Week) -> str:
    return show.day_span(week.first, week.last)


def _noun(facts: Facts) -> str:
    return "LLM use at list price" if facts.basis == "list-price value" else "LLM spend"


def _rise(facts: Facts) -> str:
    """`+12.0%` or `+$0.30`; empty where nothing can be compared."""
    if facts.before is None or facts.now.cost_pusd is None or facts.before.cost_pusd is None:
        return ""
    change = show.change(facts.now.cost_pusd, facts.before.cost_pusd, dollars=True)
    return change.text.partition("(")[2].rstrip(")") or change.text


def _subject(facts: Facts, plan: PlanResult | None) -> str:
    rise = _rise(facts)
    text = f"{_noun(facts)} {_days(facts.week)}: {show.short_money(facts.now.cost_pusd)}{f' ({rise})' if rise else ''}"
    if plan is not None and savings.proven(plan):
        scale = Scale(plan)
        text += f", {scale.headline(plan.joint.p50)} {scale.unit} can be saved"
    if facts.late:
        first = facts.late[0]
        others = f" and {len(facts.late) - 1} more" if len(facts.late) > 1 else ""
        text += f" - incomplete: {clipped(first.source, 40)}{others} ends {show.moment(first.last_us, facts.zone)}"
    return text


def _title(facts: Facts) -> str:
    return f"{_noun(facts)} {_days(facts.week)}: {show.money(facts.now.cost_pusd)}"


def _lead(facts: Facts, plan: PlanResult | None) -> tuple[str, ...]:
    sentences = []
    if facts.before is None:
        sentences.append("The store does not reach back to the week before, so there is nothing to compare with.")
    else:
        sentences.append(_compared(facts))
    if facts.now.requests_unpriced:
        sentences.append(
            f"{show.plural(facts.now.requests_unpriced, 'request')} without a whole price: what they lack is not "
            "in the sum."
        )
    sentences += _undated_sentences(facts)
    if facts.now.bill_pusd:
        sentences.append(
            f"{show.money(facts.now.bill_pusd)} of it comes from bills alone: no request of those days and accounts "
            "was logged. The cost per request is of logged requests where there are any."
        )
    sentences += _foreign_sentences(facts)
    if plan is None:
        sentences.append("No analysis has run yet, so this report names no savings.")
    return tuple(sentences)


def _undated_sentences(facts: Facts) -> list[str]:
    """What no week can hold: requests whose log gives no time."""
    undated = facts.undated
    if not undated.requests:
        return []
    unpriced = f", {undated.requests_unpriced:,} of them without a price" if undated.requests_unpriced else ""
    return [
        f"{show.plural(undated.requests, 'request')} without a time stand in no week and are not in the sum "
        f"({show.money(undated.cost_pusd)}{unpriced})."
    ]


def _foreign_sentences(facts: Facts) -> list[str]:
    """What bills of the week charge in a currency that nobody gave a rate for."""
    if not facts.foreign:
        return []
    amounts = " and ".join(show.native_money(cost, currency) for currency, cost in facts.foreign)
    return [
        f"Bills charge {amounts} besides, for which there is no exchange rate: it is not in the sum until your price "
        "file names the rate."
    ]


def _compared(facts: Facts) -> str:
    assert facts.before is not None
    assert facts.earlier is not None
    change = show.change(facts.now.cost_pusd, facts.before.cost_pusd, dollars=True)
    if change.tone == "flat":
        return "That is the same as in the week before."
    if change.tone == "unknown":
        return "It cannot be compared with the week before, because one of the two has no price."
    word = "more" if change.arrow == "▲" else "less"
    whole = facts.earlier.to_us == facts.week.period.from_us
    stretch = "the week before" if whole else "the same stretch of the week before"
    amount = change.text.replace("+", "").replace(show.MINUS, "")
    return f"That is {amount} {word} than {stretch} ({show.money(facts.before.cost_pusd)})."


def _late_sentences(facts: Facts, now_us: int) -> tuple[str, ...]:
    sentences = [
        f"{clipped(item.source, 80)} has delivered nothing since {show.moment(item.last_us, facts.zone)}: what came "
        "later is not in these figures."
        for item in facts.late[:TOP_LATE]
    ]
    if len(facts.late) > TOP_LATE:
        sentences.append(f"{len(facts.late) - TOP_LATE} more sources are late: the Sources page names them.")
    if now_us < facts.week.period.to_us:
        sentences.append(f"The week is not over: figures up to {show.moment(facts.newest_us, facts.zone)}.")
    return tuple(sentences)


def _figures(facts: Facts) -> tuple[Figure, ...]:
    now, before = facts.now, facts.before

    def moved(value: int | None, old: int | None, *, dollars: bool, good: bool) -> show.Change | None:
        return None if before is None else show.change(value, old, dollars=dollars, good="down" if good else "none")

    unit, old_unit = now.cost_per_request_pusd, before.cost_per_request_pusd if before else None
    return (
        Figure(
            "Spend",
            show.money(now.cost_pusd),
            moved(now.cost_pusd, before.cost_pusd if before else None, dollars=True, good=True),
        ),
        Figure(
            "Requests",
            show.count(now.requests),
            moved(now.requests, before.requests if before else None, dollars=False, good=False),
        ),
        Figure("Cost per request", show.unit_money(unit), moved(unit, old_unit, dollars=True, good=True)),
        Figure("Tokens priced", show.percent(now.priced_share)),
    )


def _without_a_cost(cover: Coverage, known: Reasons) -> Iterator[str]:
    """Which models lack a rate, and which something that no rate can give: the usage, the time, the model's name."""
    given = [(clipped(item.model, 80), reasons_of(item, known)) for item in cover.unpriced]
    lacking = list(dict.fromkeys(model for model, why in given if rate_helps(why)))
    others = list(dict.fromkeys(f"{model} ({in_words(why)})" for model, why in given if not rate_helps(why)))
    for words, named in (
        ("A price is missing for", lacking),
        ("Calls without a cost that no price would help:", others),
    ):
        if named:
            more = f" and {len(named) - 5} more" if len(named) > 5 else ""
            yield f"{words} {', '.join(named[:5])}{more}."


def _truth_section(session: Session, facts: Facts, now_us: int) -> Section:
    cover = covered.coverage(session, facts.view)
    complete = lateness.complete_to(session, facts.late, facts.week.period, now_us)
    sentences = [
        f"Complete to {show.moment(complete, facts.zone)}.",
        f"{show.percent(cover.priced_share)} of tokens have a price; "
        f"{show.percent(cover.untagged_share)} of {'spend has' if cover.cost_pusd else 'requests have'} no tag or rule "
        f"that names {'its' if cover.cost_pusd else 'their'} feature.",
    ]
    reconciled = reconciled_share(session, facts.week.period)
    if reconciled is not None:
        sentences.append(f"Requests stand for {show.percent(reconciled)} of what the provider's bill charges.")
    sentences += _without_a_cost(cover, reasons(session, facts.view))
    calls, most, without = bounds(lost_usage(session, facts.view.period))
    if calls:
        sentences.append(
            f"{show.plural(calls, 'call')} failed or cut off without usage: between $0.00 and {show.money(most)} "
            "beside the sum."
        )
    if without:
        sentences.append(f"What {show.plural(without, 'more call' if calls else 'failed call')} cost is unknown.")
    return Section("How true is this", sentences=tuple(sentences), link=Link("Open Sources", "/sources"))


def _silent(facts: Facts, late_by: str) -> Document:
    """The report of a week without a single request: that is the news."""
    days = _days(facts.week)
    return Document(
        report=REPORT,
        period=facts.week.name,
        days=days,
        subject=f"LLM spend {days}: no logs arrived",
        title=f"No request was logged {days}",
        lead=(
            "Halve holds no request of this week. Either nothing was asked, or the logs do not arrive: the Sources "
            "page says when each source delivered last.",
            *_undated_sentences(facts),
            *_foreign_sentences(facts),
        ),
        warnings=(late_by,) if late_by else (),
        figures=(),
        sections=(),
        files=(),
        notes=(f"Days are cut in {facts.zone.key}; the week runs from Monday to Sunday.",),
        link=Link("Open Sources", "/sources"),
    )
