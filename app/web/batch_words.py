"""A batch job in words and numbers, the same on its page, in the list and in the event stream."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from app.web import format as show
from app.web.table import Cell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.analysis.batch_worth import Worth
    from app.batch import JobView
    from app.control.batches import Job

STATES: Final = {
    "queued": "Waiting to be sent",
    "scheduled": "Scheduled",
    "submitting": "Being sent",
    "submitted": "At the provider",
    "settling": "Results are coming in",
    "results_pending": "Results wait at the provider",
    "waiting_for_quota": "Waiting for the provider's quota",
    "settled": "Done",
}
OUTCOMES: Final = {
    "completed": "Completed",
    "partly": "Partly completed",
    "expired": "Expired",
    "failed": "Failed",
    "cancelled": "Cancelled",
}


def state_text(job: Job, status: str | None = None) -> str:
    """Where a job stands: `Scheduled`, `At the provider`, `Completed`."""
    if job.state == "settled":
        return OUTCOMES.get(job.outcome or "", STATES["settled"])
    if job.cancel_us is not None:
        return "Being cancelled"
    return STATES[status or job.state]


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a job is, every value as it is shown.

    `answered` of `total` draw the bar: what is worked off, in the end what succeeded.
    """

    state: str
    note: str
    waiting: str
    sent: str
    succeeded: str
    failed: str
    expired: str
    cancelled: str
    answered: int
    at_provider: int
    total: int
    ended: bool

    def document(self) -> dict[str, Any]:
        """The same for the event stream."""
        return asdict(self)


def standing(view: JobView) -> Standing:
    """Counts that are true: what is sent and not back is "at the provider", whatever it may have worked off there."""
    counts, job = view.counts, view.job
    at_work = sum(part.items for part in view.parts if part.state in ("submitted", "settling") and part.submitted_us)
    sent = min(counts.open, at_work)
    return Standing(
        state=state_text(job, view.status),
        note=_note(view, sent),
        waiting=show.count(counts.open - sent),
        sent=show.count(sent),
        succeeded=show.count(counts.succeeded),
        failed=show.count(counts.failed),
        expired=show.count(counts.expired),
        cancelled=show.count(counts.cancelled),
        answered=counts.succeeded if job.state == "settled" else view.done,
        at_provider=sent,
        total=counts.total,
        ended=job.state == "settled",
    )


def _note(view: JobView, sent: int) -> str:
    ended = view.counts.total - view.counts.open
    if view.job.state == "settled":
        return f"{show.count(ended)} of {show.plural(view.counts.total, 'request')} have ended."
    worked_off = view.done - ended
    if sent and worked_off:
        return f"The provider has worked off {show.count(worked_off)} of the {show.count(sent)} that it holds."
    if sent:
        return f"The provider holds {show.plural(sent, 'request')} and has not told of an answer yet."
    return (
        "Nothing has been sent yet." if ended == 0 else f"{show.plural(view.to_retry, 'request')} will be sent again."
    )


def estimated(document: Mapping[str, Any] | None) -> Cell:
    """The cost that was estimated before: prompts and, where all have a cap, answers at their caps."""
    given = document or {}
    prompts, answers = given.get("batch_input_usd"), given.get("batch_output_cap_usd")
    if prompts is None:
        return Cell(None, show.UNKNOWN, note="a model has no batch price" if given.get("unpriced") else "")
    if answers is None:
        return Cell(prompts, show.unit_money(prompts), note="and answers, which have no cap")
    total = format(Decimal(prompts) + Decimal(answers), "f")
    return Cell(total, show.unit_money(total), note="at most" if Decimal(answers) else "")


def range_text(document: Mapping[str, Any]) -> str:
    """Between what the prompts are likely to cost."""
    low, high = document.get("batch_input_low_usd"), document.get("batch_input_high_usd")
    return show.UNKNOWN if low is None or high is None else f"{show.unit_money(low)} to {show.unit_money(high)}"


def discount_share(worth: Worth) -> str:
    """The discount in per cent of the real-time price; empty where it is not known."""
    return "" if not worth.saved_pusd else f"{show.share(worth.saved_pusd, worth.realtime_pusd)} off"
