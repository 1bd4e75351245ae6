"""What the figures of Spend do not cover, and where to see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.analysis.bill_share import from_bills, valued_from_bills, without_rate
from app.analysis.days import EVERYTHING
from app.analysis.reconciled_share import reconciled_share
from app.core.view import UNASSIGNED
from app.core.view import period as named_period
from app.web import format as show

if TYPE_CHECKING:
    from app.analysis.coverage import Coverage
    from app.analysis.figures import Figures
    from app.web.page import Context


@dataclass(frozen=True, slots=True)
class Gap:
    """A share that the figures do not cover, and where to see it."""

    label: str
    value: str
    text: str
    href: str


def gaps(context: Context, coverage: Coverage, undated: Figures) -> tuple[Gap, ...]:
    """Every gap of the view: without a feature, without a price, without a time, and what bills alone know."""
    return (*_of_coverage(context, coverage), *_undated_gaps(context, undated), *_bill_gaps(context))


def _of_coverage(context: Context, coverage: Coverage) -> tuple[Gap, ...]:
    unassigned = context.with_filter("feature", UNASSIGNED, by="model")
    unpriced_share = None if coverage.priced_share is None else 1 - coverage.priced_share
    return (
        Gap(
            "Untagged",
            show.percent(coverage.untagged_share),
            _untagged(coverage),
            context.url("/", unassigned),
        ),
        Gap(
            "Unpriced",
            show.percent(unpriced_share),
            f"Share of tokens without a price, in {show.plural(len(coverage.unpriced), 'model')}.",
            context.url("/sources"),
        ),
    )


def _untagged(coverage: Coverage) -> str:
    """What has no name of its own, in dollars where they are known."""
    if coverage.untagged_pusd is None:
        requests = show.plural(coverage.untagged_requests, "request")
        return f"{requests} without a tag or rule that names the feature; what they cost is not known."
    return f"{show.money(coverage.untagged_pusd)} of spend has no tag or rule that names its feature."


def _undated_gaps(context: Context, undated: Figures) -> tuple[Gap, ...]:
    """What has no time: it is in no day, and in the sums of the whole only."""
    if not undated.requests:
        return ()
    whole = context.view.period.name == EVERYTHING
    where = "in these sums and in no day" if whole else "in no day, and so in none of these figures"
    unpriced = f"; {undated.requests_unpriced:,} of them without a price" if undated.requests_unpriced else ""
    text = f"Requests whose log gives no time, {show.money(undated.cost_pusd)}{unpriced}. They are {where}."
    everything = named_period(EVERYTHING, context.view.period.zone, context.now_us)
    href = "/sources" if whole else context.url("/", replace(context.view, period=everything))
    return (Gap("Without a time", show.count(undated.requests), text, href),)


def _bill_gaps(context: Context) -> tuple[Gap, ...]:
    """What bills say of the period: how far requests stand for them, and what of Spend stands on a bill alone."""
    gaps = []
    share = reconciled_share(context.session, context.view.period)
    if share is not None:
        text = "Share of the billed dollars for which no requests of the same account, model, class and day stand."
        gaps.append(Gap("Not reconciled", show.percent(1 - share), text, context.url("/reconciliation")))
    billed = from_bills(context.session, context.view)
    if billed is not None:
        text = "Spend of days and accounts of which there is a bill and no request; it is marked unassigned."
        gaps.append(Gap("From the bill", show.money(billed), text, context.url("/reconciliation")))
    valued = valued_from_bills(context.session, context.view)
    if valued is not None:
        text = "Usage on a bill that does not say its cost yet, at the price book's rates."
        gaps.append(Gap("Not on the bill yet", show.money(valued), text, context.url("/reconciliation")))
    foreign = without_rate(context.session, context.view)
    if foreign:
        value = ", ".join(show.native_money(cost, currency) for currency, cost in foreign)
        text = (
            "Charged by bills in a currency without an exchange rate: in no sum here. Name the rate under currencies "
            "in your price file."
        )
        gaps.append(Gap("Without an exchange rate", value, text, context.url("/reconciliation")))
    return tuple(gaps)
