"""Dated exchange rates of a price file: rates in another currency become USD rates, the native amounts stay named."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

import msgspec

from app.pricing.rates import FOREVER_US
from app.pricing.rule_text import moment, usd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from app.pricing.rules import Entry, Rule

REPORTING: Final = "USD"
"""The one currency of all figures."""
_FIELDS: Final = frozenset({"currency", "usd", "from", "source", "note"})


class Exchange(msgspec.Struct, frozen=True):
    """What one unit of a currency is worth in USD from a moment until the next one of that currency."""

    currency: str
    usd: Decimal
    from_us: int = 0
    source: str = ""


def exchange(entry: Entry) -> Exchange:
    """An exchange rate of the form {currency: EUR, usd: 1.08, from: 2026-01-01}.

    Raises:
        InputError: an unknown or unreadable field.
    """
    for field in entry.values:
        if field not in _FIELDS:
            raise entry.fail(str(field), f"is unknown; known fields are {', '.join(sorted(_FIELDS))}")
    if "usd" not in entry.values:
        raise entry.fail("usd", "is missing: what one unit of the currency is worth in USD")
    worth = entry.number("usd", entry.values["usd"])
    if not worth:
        raise entry.fail("usd", "must be more than 0")
    return Exchange(code(entry), worth, entry.time_us("from", 0), entry.text("source") or entry.where)


def code(entry: Entry) -> str:
    """The currency of an entry by its three letters; USD where none is named."""
    text = (entry.text("currency") or REPORTING).upper()
    if len(text) != 3 or not text.isalpha():
        raise entry.fail("currency", f"{text!r} is no currency code such as EUR")
    return text


def spans(
    entry: Entry, currency: str, from_us: int, to_us: int, exchanges: Iterable[Exchange]
) -> list[tuple[int, int, Exchange]]:
    """The exchange rates that hold from `from_us` to `to_us`, each with its own part of that time.

    Raises:
        InputError: no rate is given for the currency, or none for the beginning.
    """
    known = sorted((one for one in exchanges if one.currency == currency), key=lambda one: one.from_us)
    if not known:
        raise entry.fail("currency", f"no exchange rate of {currency} is given; add one under `currencies`")
    if known[0].from_us > from_us:
        raise entry.fail(
            "currency",
            f"the first exchange rate of {currency} is of {moment(known[0].from_us)}, later than this entry begins; "
            "add one without `from`, or let the entry begin later",
        )
    ends = [*(one.from_us for one in known[1:]), FOREVER_US]
    parts = [(max(one.from_us, from_us), min(end, to_us), one) for one, end in zip(known, ends, strict=True)]
    return [(start, end, one) for start, end, one in parts if start < end]


def in_usd(rule: Rule, entry: Entry, exchanges: Sequence[Exchange]) -> Iterator[Rule]:
    """A rule in USD: itself, or one for each exchange rate while it holds; `source` keeps the native amounts."""
    if rule.currency == REPORTING:
        yield rule
        return
    native = ", ".join(f"{name} {usd(name, steps[0][1])}" for name, steps in rule.prices.items())
    for start, end, one in spans(entry, rule.currency, rule.from_us, rule.to_us, exchanges):
        yield msgspec.structs.replace(
            rule,
            from_us=start,
            to_us=end,
            prices={
                name: tuple((above, rate * one.usd) for above, rate in steps) for name, steps in rule.prices.items()
            },
            source=f"{rule.source} ({rule.currency} {native}; 1 {rule.currency} = {one.usd} USD, {one.source})",
        )
