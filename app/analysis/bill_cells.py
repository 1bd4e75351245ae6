"""Bill beside requests: one cell a provider, account, model, class and UTC day, as fine as both sides can tell.

Amounts are pico-USD, quantities tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Final

TOKEN_GROUPS: Final = ("input", "cache_read", "cache_write", "output")
INPUT_GROUPS: Final = ("input", "cache_read", "cache_write")
ALL_TOKENS: Final = "tokens"
OTHER: Final = "other"
CHARGES: Final = ("credit", "refund", "fee", "tax")
USUAL_TIERS: Final = ("default", "standard", "auto")


@dataclass(frozen=True, slots=True, order=True)
class CellKey:
    """What a cell is about; empty text is all of them. `usage_class` is a group of TOKEN_GROUPS, `tokens`, `other`, or
    a charge that is no usage (CHARGES). `at_us` is noon UTC of the day, or of the first day of a line that is about
    several.
    """

    at_us: int
    provider: str
    account: str
    model: str
    usage_class: str


@dataclass(slots=True)
class Cell:
    """Both sides of one cell. None is unknown, never zero.

    Attributes:
        bill_pusd: what the bill charges; of a usage report what its quantity is worth (`valued`).
        logged_pusd: what the requests cost at the price book; 0 where none was logged.
        unpriced_quantity: of the logged quantity the part without a price.
        names: the models as the requests name them, for links.
        awaited: whether usage on the bill has neither a cost there nor a price: its cost is not on the bill yet.
        units: of OTHER, what the bill counts by class (searches, calls); they are no tokens.
        logged_tiers: (service tier, whether batch) of the requests -> tokens with a price and what they cost.
        bill_tiers: those of the bill's cost lines.
        last_us: noon UTC of the last of the days; None where it is one day.
        unknown_calls: logged calls that do not say these tokens, where the bill is above the requests.
    """

    key: CellKey
    bill_pusd: int | None = None
    bill_quantity: int | None = None
    logged_pusd: int = 0
    logged_quantity: int | None = None
    unpriced_quantity: int = 0
    valued: bool = False
    names: set[str] = field(default_factory=set)
    awaited: bool = False
    units: dict[str, int] = field(default_factory=dict)
    logged_tiers: dict[tuple[str, bool], tuple[int, int]] = field(default_factory=dict)
    bill_tiers: set[tuple[str, bool]] = field(default_factory=set)
    last_us: int | None = None
    unknown_calls: int = 0

    @property
    def known_logged_pusd(self) -> int | None:
        """What the logged tokens cost; None where tokens were logged and none of them has a price."""
        nothing_priced = bool(self.logged_quantity) and self.unpriced_quantity == self.logged_quantity
        return None if nothing_priced and not self.logged_pusd else self.logged_pusd

    @property
    def mixed_rates(self) -> bool:
        """Whether the requests' rate is a mean of several tiers' rates, so that no one price row stands behind it."""
        return len({Fraction(cost, tokens) for tokens, cost in self.logged_tiers.values() if tokens}) > 1

    @property
    def difference(self) -> int | None:
        """Bill minus requests."""
        return None if self.bill_pusd is None else self.bill_pusd - self.logged_pusd


@cache
def group_of(usage_class: str) -> str:
    """The group of a class of a bill."""
    if usage_class == ALL_TOKENS:
        return ALL_TOKENS
    return next((name for name in TOKEN_GROUPS if usage_class.startswith(name)), OTHER)
