"""What follows new requests: attribution, roll-ups and, when asked, the plan."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from app.analysis import bills, overlap, spend
from app.analysis import rules as attribution_rules
from app.analysis.refresh import refresh
from app.analysis.text_measures import measure_texts
from app.analysis.token_fits import fit_tokens
from app.control import overlaps as control_overlaps
from app.plan.analyse import analyse
from app.warehouse import upkeep

if TYPE_CHECKING:
    from app.main.runtime import Runtime
    from app.plan.result import PlanResult

DAY_US = 86_400_000_000
PLAN_DAYS = 30
RULES_FILE = "attribution.yml"


def now_us() -> int:
    return time.time_ns() // 1000


def attribute_and_sum(runtime: Runtime, zone: str, *, again: bool = False) -> None:
    """Attribute what is new (all of it where the rules changed) and fill the roll-ups of the hours that changed.

    Calls that another source tells of too are held out of them, and days that only a bill knows are put in.
    """
    own = runtime.data_dir / RULES_FILE
    rules = attribution_rules.load(own if own.is_file() else None)
    with runtime.warehouse.writing() as session:
        refresh(session, rules, now_us=now_us(), zone=zone, again=again)
        overlap.follow(session, control_overlaps.decisions(runtime.control))
        bills.settle(session, runtime.book)


def set_billing(runtime: Runtime, source: str, billing: str) -> None:
    """Note how a source is billed; which days Spend takes from bills rests on it.

    Raises:
        NotFoundError: no logs came from a source of that name.
    """
    upkeep.set_billing(runtime.warehouse, source, billing)
    with runtime.warehouse.writing() as session:
        bills.settle(session, runtime.book)


def compare_sources(runtime: Runtime) -> None:
    """Look anew for sources that tell of the same calls, over the whole log."""
    with runtime.warehouse.writing() as session:
        overlap.compare(session)
        overlap.hold(session, control_overlaps.decisions(runtime.control))
        bills.settle(session, runtime.book)


def analyse_window(runtime: Runtime, zone: str, *, days: int | None = None) -> PlanResult | None:
    """The plan of the last `days` days up to the newest request; None where no request has a time.

    Texts that are new are measured first, and what places in prompts are worth is fitted anew: the plan reads it.
    """
    with runtime.warehouse.session() as session:
        extent = spend.request_extent(session, now_us())
    if extent is None:
        return None
    first, last = extent
    start = first if days is None else max(first, last + 1 - days * DAY_US)
    measure_texts(runtime.warehouse)
    fit_tokens(runtime.warehouse, start)
    return analyse(runtime.warehouse, runtime.book, runtime.control, from_us=start, to_us=last + 1, zone=zone)
