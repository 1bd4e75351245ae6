"""Budgets, and each alert as a claim: a row a (budget, what it measures, period, threshold), made before any mail.

The claim and the mails it causes are one transaction, so a crash leaves both or none, and of two processes that see the
same crossing one inserts the row. A row stays for its period: spend that falls again arms nothing. An edit of what a
budget measures changes its `basis` and so arms it anew; going back to an earlier one finds what was told then.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, Literal

import sqlalchemy as sa

from app.control import outbox
from app.control.tables import budget_alerts, budgets
from app.core.errors import ConflictError, NotFoundError, UnavailableError
from app.core.money import pico, usd_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Engine

Every = Literal["day", "week", "month"]

REPORT: Final = "budget"
"""The name of alerts in the outbox; their occasion is PREFIX and the number of the alert."""
PREFIX: Final = "alert "
FORECAST: Final = "forecast"
TRIES: Final = 8


@dataclass(frozen=True, slots=True)
class Terms:
    """What a budget says.

    Attributes:
        anchor: the day on which a period begins: of the month (1 to 31; the last day of a shorter month), of the week
            (0 is Monday); 0 where every day is a period.
        dimension, value: what it covers, as a filter of a View; None covers everything.
        thresholds: per cent of the amount, rising.
        forecast: whether a forecast above the amount is told too.
    """

    name: str
    amount_pusd: int
    every: Every
    anchor: int
    zone: str
    dimension: str | None
    value: str | None
    thresholds: tuple[Decimal, ...]
    forecast: bool

    @property
    def basis(self) -> str:
        """A short hash of what is measured against what. Name and thresholds are no part of it."""
        parts = (usd_text(self.amount_pusd), self.every, self.anchor, self.zone, self.dimension, self.value)
        return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget that stands; `changed_us` is when it last changed what it measures."""

    id: int
    terms: Terms
    created_us: int
    changed_us: int


@dataclass(frozen=True, slots=True)
class Alert:
    """One message: the highest threshold that was passed, those passed with it, and the figures of that moment.

    Attributes:
        period: first local day of the period, ISO.
        threshold: per cent as text, or `forecast`.
        facts: what the message says, JSON values.
    """

    id: int
    budget_id: int
    period: str
    threshold: str
    also: tuple[str, ...]
    facts: Mapping[str, Any]
    at_us: int

    @property
    def occasion(self) -> str:
        """Its key in the outbox."""
        return occasion_of(self.id)


def occasion_of(number: int) -> str:
    """The occasion under which the mails of an alert stand in the outbox."""
    return f"{PREFIX}{number}"


def threshold_text(per_cent: Decimal) -> str:
    """`80`, `82.5`: a threshold as the store and messages write it."""
    return format(per_cent.normalize(), "f")


def add(engine: Engine, terms: Terms, now_us: int) -> Budget:
    """A new budget.

    Raises:
        ConflictError: one of that name stands already.
    """
    with engine.begin() as connection:
        _free(connection, terms.name, None)
        made = sa.insert(budgets).values(**_columns(terms), created_us=now_us, changed_us=now_us).returning(budgets)
        return _budget(connection.execute(made).one())


def change(engine: Engine, number: int, terms: Terms, now_us: int) -> Budget:
    """Give a budget other terms. Thresholds already told are told again only where it measures something else now.

    Raises:
        NotFoundError: no such budget. ConflictError: another one has that name.
    """
    with engine.begin() as connection:
        standing = _one(connection, budgets.c.id == number, f"No budget has the number {number}.")
        _free(connection, terms.name, number)
        changed_us = standing.changed_us if standing.terms.basis == terms.basis else now_us
        made = (
            sa.update(budgets)
            .where(budgets.c.id == number)
            .values(**_columns(terms), changed_us=changed_us)
            .returning(budgets)
        )
        return _budget(connection.execute(made).one())


def remove(engine: Engine, number: int, now_us: int) -> Budget:
    """End a budget; what it told stays in the list of alerts.

    Raises:
        NotFoundError: no such budget.
    """
    with engine.begin() as connection:
        standing = _one(connection, budgets.c.id == number, f"No budget has the number {number}.")
        connection.execute(sa.update(budgets).where(budgets.c.id == number).values(removed_us=now_us))
    return standing


def named(engine: Engine, name: str) -> Budget:
    """The standing budget of a name.

    Raises:
        NotFoundError: there is none.
    """
    with engine.connect() as connection:
        return _one(
            connection, budgets.c.name == name, f"No budget is named {name[:80]!r}. `halve budgets list` names them."
        )


def standing(engine: Engine) -> list[Budget]:
    """Every budget that was not removed, by name."""
    query = sa.select(budgets).where(budgets.c.removed_us.is_(None)).order_by(budgets.c.name, budgets.c.id)
    with engine.connect() as connection:
        return [_budget(row) for row in connection.execute(query)]


def told(engine: Engine, budget: Budget, period: str) -> frozenset[str]:
    """The thresholds that are claimed for a period of a budget as it is now."""
    with engine.connect() as connection:
        return _told(connection, budget, period)


def newly(crossed: Sequence[str], known: frozenset[str]) -> tuple[tuple[str, ...], str | None]:
    """The thresholds to claim, and the one whose message tells of them; None where there is nothing new to say.

    `crossed` are per cents, rising, and `forecast` last. A lower threshold behind one that was told says nothing new.
    """
    fresh = tuple(item for item in crossed if item not in known)
    levels = [item for item in crossed if item != FORECAST]
    if levels and levels[-1] in fresh:
        return fresh, levels[-1]
    return fresh, FORECAST if FORECAST in fresh else None


def claim(
    engine: Engine,
    budget: Budget,
    *,
    period: str,
    crossed: Sequence[str],
    facts: Mapping[str, Any],
    recipients: Callable[[], Mapping[str, str]],
    now_us: int,
) -> Alert | None:
    """Claim what was crossed and queue its one message to each recipient (address to Message-ID), or neither.

    None where everything was claimed before, by whomever, or where it says nothing new.

    Raises:
        UnavailableError: other processes claimed the same ones again and again.
    """
    for _ in range(TRIES):
        try:
            with engine.begin() as connection:
                fresh, carrier = newly(crossed, _told(connection, budget, period))
                if not fresh:
                    return None
                return _claimed(connection, budget, period, fresh, carrier, facts, recipients, now_us)
        except sa.exc.IntegrityError:
            continue  # another process claimed one of them between the question and the answer
    raise UnavailableError(f"The alert of budget {budget.terms.name} could not be claimed. It is tried again.")


def _claimed(
    connection: sa.Connection,
    budget: Budget,
    period: str,
    fresh: tuple[str, ...],
    carrier: str | None,
    facts: Mapping[str, Any],
    recipients: Callable[[], Mapping[str, str]],
    now_us: int,
) -> Alert | None:
    row = {"budget_id": budget.id, "basis": budget.terms.basis, "period": period, "at_us": now_us}
    number = None
    if carrier is not None:
        first = sa.insert(budget_alerts).values(**row, threshold=carrier, facts=json.dumps(dict(facts)))
        number = connection.execute(first.returning(budget_alerts.c.id)).scalar_one()
    also = tuple(item for item in fresh if item != carrier)
    if also:
        rest = [{**row, "threshold": item, "carrier_id": number} for item in also]
        connection.execute(sa.insert(budget_alerts), rest)
    if number is None or carrier is None:
        return None
    alert = Alert(number, budget.id, period, carrier, also, dict(facts), now_us)
    outbox.queue(
        connection, recipients(), report=REPORT, period=period, occasion=alert.occasion, now_us=now_us, due_us=None
    )
    return alert


def alert(engine: Engine, occasion: str) -> Alert:
    """The alert behind a mail of the outbox.

    Raises:
        NotFoundError: there is none.
    """
    number = occasion.removeprefix(PREFIX)
    found = _alerts(engine, budget_alerts.c.id == (int(number) if number.isdigit() else -1), 1)
    if not found:
        raise NotFoundError(f"No alert stands behind the mail {occasion[:40]!r}.")
    return found[0]


def alerts(engine: Engine, limit: int = 100) -> list[Alert]:
    """The messages of all budgets, newest first."""
    return _alerts(engine, sa.true(), limit)


def _alerts(engine: Engine, which: sa.ColumnElement[bool], limit: int) -> list[Alert]:
    carriers = sa.select(budget_alerts).where(which, budget_alerts.c.facts.is_not(None))
    with engine.connect() as connection:
        rows = connection.execute(carriers.order_by(budget_alerts.c.id.desc()).limit(limit)).all()
        others = connection.execute(
            sa.select(budget_alerts.c.carrier_id, budget_alerts.c.threshold)
            .where(budget_alerts.c.carrier_id.in_([row.id for row in rows]))
            .order_by(budget_alerts.c.id)
        ).all()
    also: dict[int, list[str]] = {}
    for other in others:
        also.setdefault(other.carrier_id, []).append(other.threshold)
    return [
        Alert(
            row.id,
            row.budget_id,
            row.period,
            row.threshold,
            tuple(also.get(row.id, ())),
            json.loads(row.facts),
            row.at_us,
        )
        for row in rows
    ]


def _told(connection: sa.Connection, budget: Budget, period: str) -> frozenset[str]:
    return frozenset(
        connection.scalars(
            sa.select(budget_alerts.c.threshold).where(
                budget_alerts.c.budget_id == budget.id,
                budget_alerts.c.basis == budget.terms.basis,
                budget_alerts.c.period == period,
            )
        )
    )


def _free(connection: sa.Connection, name: str, but: int | None) -> None:
    query = sa.select(budgets.c.id).where(budgets.c.name == name, budgets.c.removed_us.is_(None))
    holder = connection.scalar(query)
    if holder is not None and holder != but:
        raise ConflictError(
            f"A budget named {name[:80]!r} stands already. Change or remove it, or choose another name."
        )


def _one(connection: sa.Connection, which: sa.ColumnElement[bool], missing: str) -> Budget:
    row = connection.execute(sa.select(budgets).where(which, budgets.c.removed_us.is_(None))).one_or_none()
    if row is None:
        raise NotFoundError(missing)
    return _budget(row)


def _columns(terms: Terms) -> dict[str, object]:
    return {
        "name": terms.name,
        "amount_usd": usd_text(terms.amount_pusd),
        "every": terms.every,
        "anchor": terms.anchor,
        "zone": terms.zone,
        "dimension": terms.dimension,
        "value": terms.value,
        "thresholds": " ".join(threshold_text(item) for item in terms.thresholds),
        "forecast": terms.forecast,
    }


def _budget(row: Any) -> Budget:
    terms = Terms(
        name=row.name,
        amount_pusd=pico(row.amount_usd),
        every=row.every,
        anchor=row.anchor,
        zone=row.zone,
        dimension=row.dimension,
        value=row.value,
        thresholds=tuple(Decimal(item) for item in row.thresholds.split()),
        forecast=row.forecast,
    )
    return Budget(row.id, terms, row.created_us, row.changed_us)
