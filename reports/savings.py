"""The parts of a report that speak of savings: what to do, what was applied, and the batch jobs of the period."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.control import findings as decisions
from app.core.money import usd_text
from app.levers import LEVERS
from app.web import cells, plans
from app.web import format as show
from app.web.page import Link
from app.web.plans import Scale
from app.web.table import Cell, Column, Table
from reports.document import Deed, Section, clipped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zoneinfo import ZoneInfo

    from sqlalchemy import Engine

    from app.plan.result import Finding, PlanResult

TOP_FINDINGS: Final = 5
TOP_BATCHES: Final = 20
TOP_APPLIED: Final = 20
WORDS_MAX: Final = 200
STEP_MAX: Final = 400
NOBODY: Final = "nobody yet"
TITLES: Final = {lever.name: lever.title for lever in LEVERS}


@dataclass(frozen=True, slots=True)
class Applied:
    """A finding that somebody applied: since when, and what the plan says it is worth (None: not in it any more)."""

    fingerprint: str
    lever: str
    where: str
    since_us: int
    owner: str | None
    finding: Finding | None


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One batch job of the period. Amounts are pico-USD; None is not known yet.

    `saved_pusd` is the discount that was received, against what the same tokens cost in real time.
    """

    job: str
    feature: str
    state: str
    items: int
    succeeded: int
    failed: int
    charged_pusd: int | None
    saved_pusd: int | None
    href: str


def applied(control: Engine, plan: PlanResult | None, now_us: int) -> tuple[Applied, ...]:
    """Every finding that is marked as done, the newest first."""
    known = {} if plan is None else {item.fingerprint: item for item in plan.findings}
    found = []
    for key, state in decisions.states(control, now_us).items():
        if state.status != "done":
            continue
        since = [event.at_us for event in decisions.events(control, key) if event.event == "done"]
        finding = known.get(key)
        place = plans.where(finding) if finding is not None else state.scope
        found.append(Applied(key, state.lever, place, max(since, default=now_us), state.owner, finding))
    return tuple(sorted(found, key=lambda item: (-item.since_us, item.fingerprint)))


def open_findings(plan: PlanResult) -> tuple[Finding, ...]:
    """What waits to be done, in the order of the plan: inside the joint total first, then what lacks evidence."""
    return tuple(item for item in plan.findings if item.status in ("open", "in_progress"))


def proven(plan: PlanResult) -> bool:
    """Whether anything that waits to be done counts in the joint saving, not only as potential."""
    return any(item.in_joint for item in open_findings(plan))


def what_to_do(plan: PlanResult) -> Section | None:
    """The largest open findings; None where there is nothing to do."""
    waiting = open_findings(plan)
    if not waiting:
        return None
    scale = Scale(plan)
    shown = waiting[:TOP_FINDINGS]
    sentences = [
        f"{_proven(plan)} {scale.headline(plan.joint.p50)} {scale.unit}, "
        f"{show.share(Decimal(plan.joint.p50), Decimal(plan.before_usd))} of {scale.headline(plan.before_usd)}; "
        f"each dollar is counted once (P10–P90: {scale.interval(plan.joint)})."
        if proven(plan)
        else "No finding that your own traffic proves waits to be done."
    ]
    if Decimal(plan.potential_usd):
        sentences.append(
            f"{scale.headline(plan.potential_usd)} {scale.unit} of potential stand beside it: nothing in your own "
            "traffic proves them yet (grade D)."
        )
    if len(waiting) > len(shown):
        sentences.append(f"The {len(shown)} largest of {len(waiting)} open findings:")
    return Section(
        "What to do",
        sentences=tuple(sentences),
        deeds=tuple(_deed(item, scale) for item in shown),
        link=Link("Open the savings plan", "/savings"),
    )


def _proven(plan: PlanResult) -> str:
    """`The 5 findings that your own traffic proves save together`."""
    inside = sum(item.in_joint for item in plan.findings)
    if inside == 1:
        return "The one finding that your own traffic proves saves"
    return f"The {inside} findings that your own traffic proves save together"


def _deed(item: Finding, scale: Scale) -> Deed:
    kind = "" if item.in_joint else "potential: "
    return Deed(
        what=clipped(item.headline, WORDS_MAX),
        where=clipped(plans.where(item), WORDS_MAX),
        worth=f"{kind}{scale.text(plans.worth(item))} {scale.unit}",
        grade=plans.GRADES[item.grade],
        owner=item.owner or NOBODY,
        step=clipped(item.steps[0], STEP_MAX) if item.steps else "",
        href=f"/savings/{item.fingerprint}",
    )


def findings_file(plan: PlanResult) -> Table:
    """Every open finding with exact amounts, for the CSV."""
    scale = Scale(plan)
    return Table(
        "findings",
        "Open findings",
        (
            Column("lever", "Lever"),
            Column("headline", "What to change"),
            Column("scope", "Where"),
            Column("owner", "Owner"),
            Column("status", "Status"),
            Column("grade", "Grade"),
            Column("unit", "Unit"),
            Column("allocated_usd", "Share of the joint saving", "number"),
            Column("standalone_usd", "Alone", "number"),
        ),
        tuple(
            (
                cells.text(TITLES.get(item.lever, item.lever)),
                cells.text(item.headline),
                cells.text(item.scope),
                cells.text(item.owner),
                cells.text(plans.STATUSES[item.status]),
                cells.text(item.grade),
                cells.text(scale.unit),
                scale.cell(item.allocated_usd if item.in_joint else None),
                scale.cell(item.standalone_usd),
            )
            for item in open_findings(plan)
        ),
    )


def measured(found: Sequence[Applied], plan: PlanResult | None, zone: ZoneInfo) -> Section | None:
    """What was applied and since when its effect is measured; None where nothing was."""
    if not found:
        return None
    return Section(
        "Applied",
        sentences=(
            "The saving that a finding promised is checked against what the same traffic really costs from the day it "
            "was applied.",
            *((f"The newest {TOP_APPLIED} of {len(found)}:",) if len(found) > TOP_APPLIED else ()),
        ),
        table=Table(
            "applied",
            "Applied findings",
            (
                Column("what", "What"),
                Column("where", "Where"),
                Column("owner", "Owner"),
                Column("measured_from", "Measured from"),
                Column("promised_usd", "Promised", "number"),
            ),
            tuple(_applied_row(item, plan, zone) for item in found[:TOP_APPLIED]),
        ),
    )


def _applied_row(item: Applied, plan: PlanResult | None, zone: ZoneInfo) -> tuple[Cell, ...]:
    promised = Cell(None, show.UNKNOWN)
    if item.finding is not None and plan is not None:
        scale = Scale(plan)
        promised = scale.cell(plans.worth(item.finding), note=scale.unit)
    return (
        cells.text(TITLES.get(item.lever, item.lever), href=f"/savings/{item.fingerprint}"),
        Cell(item.where, clipped(item.where, WORDS_MAX)),
        cells.text(item.owner or NOBODY),
        cells.moment(item.since_us, zone),
        promised,
    )


def batches(lines: Sequence[BatchLine]) -> Section | None:
    """The batch jobs of the period with the discount that was received; None where there was none."""
    if not lines:
        return None
    saved = sum(line.saved_pusd for line in lines if line.saved_pusd is not None)
    sentences = []
    if saved > 0:
        sentences.append(f"They cost {show.money(saved)} less than the same requests sent at once.")
    if len(lines) > TOP_BATCHES:
        sentences.append(f"The newest {TOP_BATCHES} of {len(lines)}:")
    return Section(
        "Batch jobs",
        sentences=tuple(sentences),
        table=Table(
            "batches",
            "Batch jobs",
            (
                Column("job", "Job"),
                Column("feature", "Feature"),
                Column("state", "State"),
                Column("items", "Items", "number"),
                Column("failed", "Failed", "number"),
                Column("charged_usd", "Charged", "number"),
                Column("saved_usd", "Saved", "number"),
            ),
            tuple(_batch_row(line) for line in lines[:TOP_BATCHES]),
        ),
    )


def _batch_row(line: BatchLine) -> tuple[Cell, ...]:
    return (
        Cell(line.job, clipped(line.job, WORDS_MAX), href=line.href),
        Cell(line.feature, clipped(line.feature, WORDS_MAX)),
        cells.text(line.state),
        cells.count(line.items),
        cells.count(line.failed),
        cells.money(line.charged_pusd),
        Cell(usd_text(line.saved_pusd), show.money(line.saved_pusd)),
    )
