"""How figures of the plan are written on its pages: per 30 days where that is allowed, else for the days analysed."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.core.view import local_date, zone_info
from app.plan import store
from app.web import format as show
from app.web.table import Cell

if TYPE_CHECKING:
    from app.plan.result import Finding, PlanResult, Range
    from app.web.page import Context

GRADES: Final = {
    "A": "A · mechanical fact",
    "B": "B · calibrated simulation",
    "C": "C · sampled quality evidence",
    "D": "D · prior, no evidence yet",
}
STATUSES: Final = {"open": "Open", "in_progress": "In progress", "done": "Done", "dismissed": "Dismissed"}
NO_INTERVAL: Final = "no interval: too few independent days and templates"


@dataclass(frozen=True, slots=True)
class Scale:
    """Writes amounts of a plan's window in the unit that its pages use."""

    plan: PlanResult

    @property
    def unit(self) -> str:
        if self.plan.per_30_days is not None:
            return "per 30 days"
        return f"in the {self._analysed}"

    @property
    def window(self) -> str:
        """The days that the plan is about, with their number: `31 Oct – 29 Nov 2026 (30 days)`."""
        return f"{window_text(self.plan)} ({self._days})"

    @property
    def _days(self) -> str:
        days = f"{Decimal(self.plan.days):.4g}"
        return f"{days} {'day' if days == '1' else 'days'}"

    @property
    def _analysed(self) -> str:
        """The number of days that follows `the`: `28 days analysed`, `day analysed`."""
        return f"{'day' if self._days == '1 day' else self._days} analysed"

    @property
    def factor(self) -> str:
        """How the unit was come by, in words."""
        if self.plan.per_30_days is None:
            return "The log is too short or too uniform for a monthly figure, so amounts are those of its own days."
        if Decimal(self.plan.per_30_days) == 1:
            return f"Amounts are those of the {self._analysed}."
        return f"Amounts of the {self._analysed} times {self.plan.per_30_days}."

    def usd(self, amount: str | None) -> str | None:
        """The amount in the unit, decimal USD text."""
        return amount if self.plan.per_30_days is None else self.plan.monthly(amount)

    def text(self, amount: str | None) -> str:
        return show.money(self.usd(amount))

    def headline(self, amount: str | None) -> str:
        return show.short_money(self.usd(amount))

    def cell(self, amount: str | None, note: str = "") -> Cell:
        value = self.usd(amount)
        return Cell(value, show.money(value), note=note)

    def interval(self, estimate: Range) -> str:
        """`$310.00–$420.00`, or why there is none."""
        if estimate.p10 is None or estimate.p90 is None:
            return NO_INTERVAL
        return f"{self.text(estimate.p10)}–{self.text(estimate.p90)}"


def current(context: Context) -> PlanResult | None:
    """The newest plan with the decisions of now laid over it."""
    return store.latest(context.deps.warehouse, context.deps.control, now_us=context.now_us)


def where(finding: Finding) -> str:
    """The scope of a finding in words: `support-chat · gpt-5`."""
    template = "" if finding.template is None else f" · template {show.key_text(finding.template)[:8]}"
    return f"{finding.feature} · {finding.model_id}{template}"


def worth(finding: Finding) -> str:
    """What a finding counts for: its share of the joint plan, or its stand-alone saving where it has none."""
    return finding.allocated_usd if finding.in_joint else finding.standalone_usd


def total(amounts: list[str]) -> str:
    """The exact sum of decimal USD texts."""
    return format(sum((Decimal(amount) for amount in amounts), Decimal(0)), "f")


def window_text(plan: PlanResult) -> str:
    """The days that a plan is about: `1–28 Nov 2026`."""
    zone = zone_info(plan.zone)
    return show.day_span(local_date(plan.from_us, zone), local_date(max(plan.from_us, plan.to_us - 1), zone))


def iso_span(plan: PlanResult) -> str:
    """The same days as the name of a period: `2026-11-01..2026-11-28`."""
    zone = zone_info(plan.zone)
    first, last = local_date(plan.from_us, zone), local_date(max(plan.from_us, plan.to_us - 1), zone)
    return f"{first.isoformat()}..{last.isoformat()}"
