"""A price table of somebody else, read into our words: rows of dated rates, and everything that could not be read."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.pricing.rates import FOREVER_US, Prices
from app.pricing.rules import MOST

if TYPE_CHECKING:
    from collections.abc import Mapping

DEAREST_USD_PER_MTOK: Final = 2_000
"""No provider sells a token of any class for more; a higher rate is a price per million in a field per token."""
CHEAPEST_USD_PER_MTOK: Final = Decimal("0.0005")
"""No provider sells a token for less but nothing; a lower rate is a price per token in a field per million."""


class TableRow(msgspec.Struct, frozen=True, kw_only=True):
    """The rates of one name in one context: pico-USD per token or unit, from `from_us` (None: no date is given)."""

    provider: str
    model: str
    ctx: str = ""
    prices: Prices
    from_us: int | None = None
    to_us: int = FOREVER_US
    where: str
    source: str = ""


class Problem(msgspec.Struct, frozen=True):
    """One entry of a table that is not taken: where it stands and why. A `refused` one could not be read at all."""

    where: str
    reason: str
    refused: bool = True


class PriceTable(msgspec.Struct, frozen=True, kw_only=True):
    """A whole table. `as_of_us` is the moment its undated rates were true; `whole` lists claim to name every model."""

    kind: str
    name: str
    as_of_us: int
    rows: list[TableRow]
    problems: list[Problem] = msgspec.field(default_factory=list)
    unread: dict[str, int] = msgspec.field(default_factory=dict)
    whole: bool = True


class UnreadableError(ValueError):
    """A value of a table that is no price; the text says why."""


def amount(field: str, value: Any) -> Decimal:
    """A price as written: a number, or text such as `5e-06`.

    Raises:
        UnreadableError: it is neither, or not finite, or negative. It is never read as zero.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise UnreadableError(f"{field} is {value!r}, which is no price")
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        raise UnreadableError(f"{field} is {value!r}, which is no number") from None
    if not number.is_finite() or not 0 <= number < MOST:
        raise UnreadableError(f"{field} is {value!r}; a price is a finite number that is not negative")
    return number


def ordered(steps: Mapping[str, Mapping[int, Decimal]]) -> Prices:
    """Rates by class and `tokens above`, as `Prices`; a class whose standard rate is missing is left out."""
    return {name: tuple(sorted(by_above.items())) for name, by_above in steps.items() if -1 in by_above}
