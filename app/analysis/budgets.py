"""What a budget measures: its period, what was spent in it, and where the period is heading.

Periods are worked out from the anchor and the zone alone, never from an earlier period or run, so nothing drifts and
none is skipped. Spend is that of the Spend page: what has no price is named beside it, not in it.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.analysis import coverage, forecast, spend
from app.control.budgets import FORECAST, Terms, threshold_text
from app.core import view as views
from app.core.errors import UsageError
from app.core.money import PICO_PER_USD, pico
from app.core.view import Filter, Period, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.analysis.figures import Figures
    from app.analysis.forecast import Forecast
    from app.control.budgets import Budget, Every
    from app.warehouse.store import Session

SCOPES: Final = ("feature", "team", "provider", "model", "api_key")
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LATE_DAYS: Final = 2
"""For how long after its end logs of a period may still pass a threshold."""
TOP: Final = 3
MAX_THRESHOLDS: Final = 12
MAX_AMOUNT_USD: Final = 10**12


@dataclass(frozen=True, slots=True)
class Span:
    """One period of a budget: local days from `first` to before `after`."""

    first: date
    after: date
    period: Period

    @property
    def key(self) -> str:
        return self.first.isoformat()

    @property
    def last(self) -> date:
        return self.after - timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a budget stands in one period.

    Attributes:
        figures: the sums of what it covers; `figures.cost_pusd` is None where nothing of it has a price.
        reached: whether any log reaches into the period: without one, no request is no zero.
        top: what cost most (name, pico-USD), the largest first, by `top_by`.
        basis: what the dollars mean: "paid", "list-price value" or "mixed".
        forecast: where the period is heading; None where too few days are known or it is over.
    """

    span: Span
    figures: Figures
    reached: bool
    top: tuple[tuple[str, int], ...]
    top_by: str
    basis: str
    forecast: Forecast | None

    @property
    def spent_pusd(self) -> int | None:
        """What was spent; 0 where nothing was asked, None where no log reaches or nothing asked has a price."""
        return self.figures.cost_pusd if self.figures.requests or not self.reached else 0


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """A budget and where it stands in its period of now."""

    budget: Budget
    standing: Standing


def lines(session: Session, budgets: Sequence[Budget], now_us: int) -> tuple[BudgetLine, ...]:
    """Each budget with where it stands now."""
    found = []
    for budget in budgets:
        terms = budget.terms
        span = span_at(terms.every, terms.anchor, terms.zone, now_us)
        found.append(BudgetLine(budget, measure(session, view_of(terms, span.period), span, now_us)))
    return tuple(found)


def month(session: Session, zone: str, now_us: int) -> Standing:
    """Where everything stands in the calendar month of now."""
    span = span_at("month", 1, zone, now_us)
    return measure(session, View(span.period), span, now_us)


def span_at(every: Every, anchor: int, zone: str, at_us: int) -> Span:
    """The period that an instant falls into."""
    today = views.local_date(at_us, views.zone_info(zone))
    first = _first(every, anchor, today)
    return _span(first, _following(every, anchor, first), zone)


def spans_at(terms: Terms, at_us: int) -> tuple[Span, ...]:
    """The period of an instant, behind those that ended in the LATE_DAYS before it; oldest first."""
    now = span_at(terms.every, terms.anchor, terms.zone, at_us)
    found = [now]
    day_us = 86_400_000_000
    while found[0].period.from_us > at_us - LATE_DAYS * day_us:
        found.insert(0, span_at(terms.every, terms.anchor, terms.zone, found[0].period.from_us - 1))
    return tuple(found)


def _first(every: Every, anchor: int, today: date) -> date:
    if every == "day":
        return today
    if every == "week":
        return today - timedelta(days=(today.weekday() - anchor) % 7)
    begins = _in_month(today.year, today.month, anchor)
    if begins <= today:
        return begins
    return _in_month(*((today.year, today.month - 1) if today.month > 1 else (today.year - 1, 12)), anchor)


def _following(every: Every, anchor: int, first: date) -> date:
    if every == "month":
        return _in_month(*((first.year, first.month + 1) if first.month < 12 else (first.year + 1, 1)), anchor)
    return first + timedelta(days=7 if every == "week" else 1)


def _in_month(year: int, month: int, anchor: int) -> date:
    return date(year, month, min(anchor, monthrange(year, month)[1]))


def _span(first: date, after: date, zone: str) -> Span:
    name = f"{first.isoformat()}..{(after - timedelta(days=1)).isoformat()}"
    return Span(first, after, views.period(name, zone, 0))


def view_of(terms: Terms, period: Period) -> View:
    """What a budget covers in a period, as pages show it."""
    covered = () if terms.dimension is None else (Filter("is", terms.dimension, (terms.value or "",)),)
    return View(period, filters=covered)


def measure(session: Session, view: View, span: Span, now_us: int) -> Standing:
    """What was spent in a period so far, what cost most, and where it is heading."""
    by = "model" if any(item.dimension == "feature" for item in view.filters) else "feature"
    ranking = spend.ranking(session, view, by=by, top=TOP)
    reach = coverage.reach_of(session, now_us)
    over = now_us >= span.period.to_us
    return Standing(
        span=span,
        figures=ranking.total,
        reached=reach is not None and reach.newest_us >= span.period.from_us,
        top=tuple((row.name, row.figures.cost_pusd) for row in ranking.rows if row.figures.cost_pusd),
        top_by=by,
        basis=coverage.basis(session, view),
        forecast=None if over else forecast.of_period(session, view, now_us),
    )


def crossed(terms: Terms, standing: Standing) -> tuple[str, ...]:
    """The thresholds that a budget has passed, rising, `forecast` last.

    The forecast counts while the amount itself is not reached and where its middle is above it.
    """
    spent, amount = standing.spent_pusd, terms.amount_pusd
    if spent is None:
        return ()
    passed = [threshold_text(item) for item in terms.thresholds if spent * 100 >= item * amount]
    heading = standing.forecast
    if terms.forecast and heading is not None and spent < amount <= heading.middle_pusd:
        passed.append(FORECAST)
    return tuple(passed)


def terms_of(
    *,
    name: str,
    amount: str,
    every: str,
    anchor: str = "",
    zone: str,
    scope: str = "",
    thresholds: str = "50 80 100",
    forecast: bool = True,
) -> Terms:
    """The terms that a reader wrote: `amount` in USD, `scope` as `feature=chat` or empty, `thresholds` in per cent.

    `anchor` is a day of the month, or a weekday such as `mon`; empty is the first of either.

    Raises:
        UsageError: one of them cannot be used; the message says which and how to write it.
    """
    called = " ".join(name.split())
    if not 0 < len(called) <= 200 or not called.isprintable():
        raise UsageError("A budget needs a name of at most 200 characters.")
    if every not in ("day", "week", "month"):
        raise UsageError(f"{every[:40]!r} is no period of a budget. Use day, week or month.")
    kind: Every = "day" if every == "day" else "week" if every == "week" else "month"
    dimension, value = _scope(scope)
    return Terms(
        name=called,
        amount_pusd=_amount(amount),
        every=kind,
        anchor=_anchor(kind, anchor.strip().lower()),
        zone=views.zone_info(zone.strip()).key,
        dimension=dimension,
        value=value,
        thresholds=_thresholds(thresholds),
        forecast=forecast,
    )


def _amount(text: str) -> int:
    plain = text.strip().removeprefix("$").replace(",", "")
    try:
        amount = pico(plain) if plain.isascii() else 0
    except (ArithmeticError, ValueError):  # no number, or none that is finite
        amount = 0
    if not 0 < amount <= MAX_AMOUNT_USD * PICO_PER_USD:
        raise UsageError(f"{text[:40]!r} is no amount. Write dollars above zero, such as 500 or 1200.50.")
    return amount


def _anchor(every: Every, text: str) -> int:
    if every == "day":
        if text:
            raise UsageError("A budget of a day begins at midnight: it has no day to begin on.")
        return 0
    if every == "week":
        if text not in ("", *WEEKDAYS):
            raise UsageError(f"{text[:20]!r} is no day of the week. Use one of {', '.join(WEEKDAYS)}.")
        return WEEKDAYS.index(text) if text else 0
    if text and not (text.isascii() and text.isdigit() and 1 <= int(text) <= 31):
        raise UsageError(f"{text[:20]!r} is no day of the month. Use 1 to 31; a shorter month begins on its last day.")
    return int(text) if text else 1


def _scope(text: str) -> tuple[str | None, str | None]:
    if not text.strip():
        return None, None
    dimension, _, value = (part.strip() for part in text.partition("="))
    if dimension not in SCOPES or not 0 < len(value) <= views.MAX_VALUE_CHARS:
        raise UsageError(f"{text[:60]!r} is no scope. Write one of {', '.join(SCOPES)} and its value: feature=chat.")
    return dimension, value


def _thresholds(text: str) -> tuple[Decimal, ...]:
    problem = UsageError(
        f"{text[:60]!r} are no thresholds. Write per cents above 0 up to 1000, such as 50 80 100; at most "
        f"{MAX_THRESHOLDS} of them."
    )
    try:
        found = {Decimal(item.removesuffix("%")) for item in text.replace(",", " ").split() if item.isascii()}
    except ArithmeticError:
        raise problem from None
    if not 0 < len(found) <= MAX_THRESHOLDS or not all(item.is_finite() and 0 < item <= 1000 for item in found):
        raise problem
    if any(len(threshold_text(item)) > 8 for item in found):
        raise problem
    return tuple(sorted(found))
