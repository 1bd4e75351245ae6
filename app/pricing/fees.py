"""Fixed fees of a price file: seats, provisioned capacity, minimums. They are paid whatever is used; no rate is.

A fee is spread over the UTC days of its period, so that any range of days has its exact part.
"""

from __future__ import annotations

import calendar
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, get_args

import msgspec

from app.pricing.currency import REPORTING, Exchange, code, spans
from app.pricing.rates import DAY_US, FOREVER_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.pricing.rules import Entry

Billing = Literal["subscription", "provisioned", "api", "free"]
Period = Literal["hour", "day", "month", "year"]
_FIELDS: Final = frozenset({
    "name", "billing", "amount", "per", "seats", "currency", "provider", "model", "account", "logs", "from", "to",
    "source", "note",
})  # fmt: skip


class Fee(msgspec.Struct, frozen=True, kw_only=True):
    """One fee: `amount` in `currency` for each of `seats` and each period. Empty `provider`, ... mean any.

    `logs` is the source of logs that it pays for: the list-price value of those requests stands beside it.
    `usd_spans` are (from, to, USD of one unit) while it runs.
    """

    name: str
    billing: Billing
    amount: Decimal
    per: Period
    seats: Decimal
    currency: str
    provider: str = ""
    model: str = ""
    account: str = ""
    logs: str = ""
    from_us: int = 0
    to_us: int = FOREVER_US
    usd_spans: tuple[tuple[int, int, Decimal], ...] = ()
    source: str = ""

    @property
    def period_amount(self) -> Decimal:
        """What one period costs in its own currency, all seats together."""
        return self.amount * self.seats


def fee(entry: Entry, exchanges: Sequence[Exchange]) -> Fee:
    """A fee of one entry.

    Raises:
        InputError: an unknown, missing or unreadable field, or a currency without an exchange rate.
    """
    for field in entry.values:
        if field not in _FIELDS:
            raise entry.fail(str(field), f"is unknown; known fields are {', '.join(sorted(_FIELDS))}")
    for needed in ("name", "amount"):
        if entry.text(needed) is None:
            raise entry.fail(needed, "is missing")
    from_us, to_us, currency = entry.time_us("from", 0), entry.time_us("to", FOREVER_US), code(entry)
    dollars = [(from_us, to_us, Exchange(REPORTING, Decimal(1)))]
    worth = dollars if currency == REPORTING else spans(entry, currency, from_us, to_us, exchanges)
    return Fee(
        name=entry.text("name") or "",
        billing=_billing(entry),
        amount=entry.number("amount", entry.values["amount"]),
        per=_period(entry),
        seats=entry.number("seats", entry.values.get("seats", 1)),
        currency=currency,
        provider=(entry.text("provider") or "").lower(),
        model=(entry.text("model") or "").lower(),
        account=entry.text("account") or "",
        logs=entry.text("logs") or "",
        from_us=from_us,
        to_us=to_us,
        usd_spans=tuple((start, end, one.usd) for start, end, one in worth),
        source=entry.text("source") or entry.where,
    )


def _billing(entry: Entry) -> Billing:
    named = entry.text("billing") or "subscription"
    for billing in get_args(Billing):
        if named == billing:
            found: Billing = billing
            return found
    raise entry.fail("billing", f"{named!r} is none of {', '.join(get_args(Billing))}")


def _period(entry: Entry) -> Period:
    named = entry.text("per") or "month"
    for period in get_args(Period):
        if named == period:
            found: Period = period
            return found
    raise entry.fail("per", f"{named!r} is none of {', '.join(get_args(Period))}")


def charged_pusd(one: Fee, from_us: int, to_us: int) -> int:
    """What a fee costs in [from_us, to_us): whole and broken UTC days by their share, pico-USD, rounded once."""
    total = Decimal(0)
    for start, end, worth in one.usd_spans:
        first, last = max(start, from_us), min(end, to_us)
        while first < last:
            day_end = (first // DAY_US + 1) * DAY_US
            share = Decimal(min(last, day_end) - first) / DAY_US
            total += one.period_amount * worth * share / _days(one.per, first)
            first = day_end
    return int((total * 10**12).to_integral_value(rounding="ROUND_HALF_EVEN"))


def _days(period: Period, at_us: int) -> Decimal:
    """How many days the period around a moment has."""
    if period == "hour":
        return Decimal(1) / 24
    if period == "day":
        return Decimal(1)
    day = datetime.fromtimestamp(at_us // 1_000_000, UTC)
    if period == "year":
        return Decimal(366 if calendar.isleap(day.year) else 365)
    return Decimal(calendar.monthrange(day.year, day.month)[1])
