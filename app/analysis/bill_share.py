"""How much of a view's spend stands on bills alone: days of an account of which nothing was logged."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.analysis.days import EVERYTHING
from app.analysis.scope import spend_scope
from app.analysis.spend import request_extent
from app.warehouse.ledger import END_OF_TIME

if TYPE_CHECKING:
    from app.core.view import View
    from app.warehouse.store import Session

HALF_DAY_US: Final = 43_200_000_000


def kept_apart(session: Session, view: View) -> tuple[tuple[str, int | None], ...]:
    """Services on bills of the period that are no models, by provider, in pico-USD: they are in no sum of Spend."""
    # "all" ends with what Spend knows, which bills of other services alone are no part of
    to_us = END_OF_TIME if view.period.name == EVERYTHING else view.period.to_us
    rows = session.rows("billed.apart", from_us=view.period.from_us, to_us=to_us)
    return tuple((str(provider), None if cost is None else int(cost)) for provider, cost in rows)


def without_rate(session: Session, view: View) -> tuple[tuple[str, Decimal], ...]:
    """What bills of the period charge in currencies without an exchange rate, by currency: in no sum of dollars."""
    to_us = END_OF_TIME if view.period.name == EVERYTHING else view.period.to_us
    rows = session.rows("billed.without_rate", from_us=view.period.from_us, to_us=to_us)
    return tuple((str(currency or "?"), Decimal(cost)) for currency, cost in rows if cost)


def billed_fees(session: Session, from_us: int, to_us: int) -> dict[tuple[str, str], int | None]:
    """Fixed fees on bills of [from_us, to_us) by provider and account ('' where a bill names none), in pico-USD."""
    rows = session.rows("billed.fees", from_us=from_us, to_us=to_us)
    return {(str(provider), str(account)): None if cost is None else int(cost) for provider, account, cost in rows}


def whole_days(session: Session, first_us: int, last_us: int) -> tuple[int, int]:
    """The extent of what Spend knows, with the whole UTC day of a bill where it begins or ends with one: such a day
    stands at its noon, which is no time of anything.
    """
    requests = request_extent(session) or (None, None)
    return (
        first_us if first_us == requests[0] else first_us - HALF_DAY_US,
        last_us if last_us == requests[1] else last_us + HALF_DAY_US,
    )


def from_bills(session: Session, view: View) -> int | None:
    """Pico-USD of the view that come from bills; None where none do, or none of it has a known cost."""
    scope = spend_scope(session, view, "feature")
    rows = session.rows("spend.from_bills", {"facts": scope.relation}, **scope.range)
    return None if rows[0][0] is None else int(rows[0][0])


def valued_from_bills(session: Session, view: View) -> int | None:
    """The part of `from_bills` whose cost is not on a bill yet: its usage at the price book's rates; None for none."""
    scope = spend_scope(session, view, "feature")
    rows = session.rows("spend.from_bills", {"facts": scope.relation}, **scope.range)
    return int(rows[0][1]) if rows[0][1] else None


def requests_on_bills(session: Session, view: View) -> int:
    """How many requests of the view bills alone count: they are in sums, and in no list of requests."""
    scope = spend_scope(session, view, "feature")
    return int(session.rows("spend.from_bills", {"facts": scope.relation}, **scope.range)[0][2])
