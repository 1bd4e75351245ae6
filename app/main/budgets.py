"""Wires budgets: what is measured, which alerts that causes, the page and commands that change them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.analysis.budgets import crossed, lines, measure, spans_at, terms_of, view_of
from app.control import budgets as kept
from app.core.errors import UnavailableError
from app.main import reporting
from app.main.refresh import now_us
from app.main.runtime import demand_store, opened, opened_control
from app.main.service_calls import service_client
from app.web.commands import BudgetDesk
from reports import alerts, post
from reports import budgets as shown_budgets

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from app.analysis.budgets import Standing
    from app.control.budgets import Alert, Budget
    from app.main.runtime import Runtime
    from app.settings import Settings

HOUR_US = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Crossing:
    """A budget in a period that has passed thresholds nobody was told of."""

    budget: Budget
    standing: Standing
    crossed: tuple[str, ...]


def crossings(runtime: Runtime, at_us: int) -> list[Crossing]:
    """What every budget has passed and not told, in its period of now and those that ended a moment ago.

    Periods that were over before a budget measured what it does now are none of its business.
    """
    found = []
    budgets = kept.standing(runtime.control)
    if not budgets:
        return []
    with runtime.warehouse.session() as session:
        session.keep()
        for budget in budgets:
            for span in spans_at(budget.terms, at_us):
                if span.period.to_us <= budget.changed_us:
                    continue
                standing = measure(session, view_of(budget.terms, span.period), span, at_us)
                passed = crossed(budget.terms, standing)
                if set(passed) - kept.told(runtime.control, budget, span.key):
                    found.append(Crossing(budget, standing, passed))
    return found


def watch(
    runtime: Runtime, settings: Settings, *, now: Callable[[], int] = now_us, made: bool = False
) -> Sequence[Alert]:
    """Claim what was passed and queue its messages; the alerts that this call made. Safe from several processes."""
    where = reporting.office(runtime, settings, now=now, made=made)
    made_here = []
    for item in crossings(runtime, now()):
        alert = kept.claim(
            runtime.control,
            item.budget,
            period=item.standing.span.key,
            crossed=item.crossed,
            facts=alerts.facts_of(item.budget.terms, item.standing, now()),
            recipients=lambda: post.everybody(where),
            now_us=now(),
        )
        if alert is not None:
            made_here.append(alert)
    return made_here


@dataclass
class Lookout:
    """Whether a look could find anything: where neither logs, budgets nor the hour have changed, it found it before."""

    runtime: Runtime
    now: Callable[[], int] = now_us
    _seen: Hashable = field(default=None)

    def has_work(self) -> bool:
        """A cheap look; the measuring behind it is done once for each state of the store."""
        state = (
            self.runtime.warehouse.generation,
            tuple(kept.standing(self.runtime.control)),
            self.now() // HOUR_US,
        )
        if state == self._seen:
            return False
        found = bool(crossings(self.runtime, self.now()))
        if not found:
            self._seen = state
        return found


def rows(runtime: Runtime, at_us: int) -> list[dict[str, Any]]:
    """Every budget for machines."""
    with runtime.warehouse.session() as session:
        session.keep()
        return [shown_budgets.document(line, at_us) for line in lines(session, kept.standing(runtime.control), at_us)]


def desk(runtime: Runtime, settings: Settings, *, now: Callable[[], int] = now_us, made: bool = False) -> BudgetDesk:
    """What the Budgets page can ask for."""
    return BudgetDesk(
        add=lambda given: kept.add(runtime.control, terms_of(**given), now()).id,
        change=lambda number, given: kept.change(runtime.control, number, terms_of(**given), now()).id,
        remove=lambda number: kept.remove(runtime.control, number, now()).id,
        recipients=post.addresses(settings.mail_to),
        missing="" if settings.smtp_url else reporting.MADE_ONLY if made else reporting.NO_SERVER,
    )


def command_add(settings: Settings, **given: Any) -> str:
    """`halve budgets add`: the control store may be open in several processes.

    Raises:
        UsageError: what was given is no budget. ConflictError: one of that name stands.
    """
    terms = terms_of(zone=settings.zone, **given)
    with opened_control(settings) as control:
        kept.add(control, terms, now_us())
    return terms.name


def command_remove(settings: Settings, name: str) -> None:
    """`halve budgets remove`.

    Raises:
        NotFoundError: no budget of that name stands.
    """
    demand_store(settings)
    with opened_control(settings) as control:
        kept.remove(control, kept.named(control, name).id, now_us())


def command_list(settings: Settings) -> list[dict[str, Any]]:
    """`halve budgets list`, here or through the running service.

    Raises:
        UnavailableError: the service refused.
    """
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            answer = client.get("/budgets")
            if answer.is_error:
                raise UnavailableError(answer.json()["error"])
            found: list[dict[str, Any]] = answer.json()
            return found
    with opened(settings) as runtime:
        return rows(runtime, now_us())
