"""Bill beside requests: one cell a provider, account, model, class and UTC day, as fine as both sides can tell.

A bill that names no model (or no token class) is compared over all of them, on both sides; accounts are told apart only
where the logs name the same ones. Amounts are pico-USD, quantities tokens.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from app.analysis.model_names import plain_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TOKEN_GROUPS: Final = ("input", "cache_read", "cache_write", "output")
INPUT_GROUPS: Final = ("input", "cache_read", "cache_write")
ALL_TOKENS: Final = "tokens"
OTHER: Final = "other"
CHARGES: Final = ("credit", "refund", "fee", "tax")
_UNKNOWN: Final = "unassigned"
_USUAL_TIERS: Final = ("default", "standard", "auto")


@dataclass(frozen=True, slots=True, order=True)
class CellKey:
    """What a cell is about; empty text is all of them. `usage_class` is a group of TOKEN_GROUPS, `tokens`, `other`, or
    a charge that is no usage (CHARGES). `at_us` is noon UTC of the day.
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


@dataclass(frozen=True, slots=True)
class Levels:
    """How finely each provider and day can be compared."""

    by_account: frozenset[str]
    without_model: frozenset[tuple[str, str, int]]
    without_class: frozenset[tuple[str, str, int, str]]

    def key(self, at_us: int, provider: str, account: str | None, model: str | None, group: str) -> CellKey:
        """The cell that a line of either side belongs to."""
        who = (account or "") if provider in self.by_account else ""
        what = "" if group == OTHER or (provider, who, at_us) in self.without_model else plain_model(model or "")
        if group in TOKEN_GROUPS and (provider, who, at_us, what) in self.without_class:
            group = ALL_TOKENS
        return CellKey(at_us, provider, who, what, group)


def levels_of(bill: Iterable[Mapping[str, Any]], logged: Iterable[Mapping[str, Any]]) -> Levels:
    """The levels that the lines of both sides allow."""
    lines = [line for line in bill if line["kind"] == "usage"]
    billed, seen = defaultdict(set), defaultdict(set)
    for line in lines:
        billed[line["provider"]].add(line["account"])
    for row in logged:
        seen[row["provider"]].add(None if row["account"] == _UNKNOWN else row["account"])
    by_account = frozenset(
        provider for provider, accounts in seen.items() if None not in accounts and accounts & billed[provider]
    )

    def who(line: Mapping[str, Any]) -> str:
        return (line["account"] or "") if line["provider"] in by_account else ""

    tokens = [line for line in lines if group_of(line["class"]) != OTHER]
    without_model = frozenset(
        (line["provider"], who(line), line["at_us"]) for line in tokens if line["model_id"] is None
    )
    without_class = set()
    for line in tokens:
        if group_of(line["class"]) == ALL_TOKENS:
            place = (line["provider"], who(line), line["at_us"])
            without_class.add((*place, "" if place in without_model else plain_model(line["model_id"] or "")))
    return Levels(by_account, without_model, frozenset(without_class))


def cells_of(bill: list[dict[str, Any]], logged: list[dict[str, Any]], levels: Levels) -> dict[CellKey, Cell]:
    """Every cell of either side; `bill` holds counting lines only, `logged` rows of the days that bills cover."""
    cells: dict[CellKey, Cell] = {}

    def cell(key: CellKey) -> Cell:
        return cells.setdefault(key, Cell(key))

    counted = {(line["provider"], line["at_us"]) for line in bill if not line["has_cost"]}
    for line in bill:
        place = (line["provider"], line["at_us"])
        if line["kind"] in CHARGES:
            who = (line["account"] or "") if line["provider"] in levels.by_account else ""
            _charge(cell(CellKey(line["at_us"], line["provider"], who, "", line["kind"])), line["cost_pusd"])
            continue
        key = levels.key(line["at_us"], line["provider"], line["account"], line["model_id"], group_of(line["class"]))
        found = cell(key)
        if line["has_cost"]:
            _charge(found, line["cost_pusd"])
            found.bill_tiers.add(_tier(line))
        elif not line["cost_elsewhere"]:
            found.valued = found.valued or line["value_pusd"] is not None
            found.awaited = found.awaited or line["value_pusd"] is None
            _charge(found, line["value_pusd"])
        if line["quantity"] is not None and (not line["has_cost"] or place not in counted):
            if key.usage_class == OTHER:
                found.units[line["class"]] = found.units.get(line["class"], 0) + line["quantity"]
            else:
                found.bill_quantity = (found.bill_quantity or 0) + line["quantity"]
    for row in logged:
        _add_logged(cell, row, levels)
    for found in cells.values():
        _complete(found)
    return cells


def _complete(cell: Cell) -> None:
    """What no amount means: nothing was charged where nothing is counted; a quantity without cost or price is worth
    what the logs' own costs, else unknown.
    """
    if cell.bill_pusd is not None:
        return
    if not cell.bill_quantity:
        cell.bill_pusd = None if cell.awaited else 0
        return
    priced = (cell.logged_quantity or 0) - cell.unpriced_quantity
    if priced > 0 and cell.awaited:
        cell.valued = True
        cell.bill_pusd = round(Fraction(cell.bill_quantity * cell.logged_pusd, priced))


def _charge(cell: Cell, amount: Any) -> None:
    if amount is not None:
        cell.bill_pusd = (cell.bill_pusd or 0) + int(amount)


def _add_logged(cell: Any, row: Mapping[str, Any], levels: Levels) -> None:
    account = None if row["account"] == _UNKNOWN else row["account"]
    for group in TOKEN_GROUPS:
        tokens, cost = int(row[f"{group}_tokens"]), row[f"{group}_pusd"]
        if not tokens and not cost:
            continue
        found = cell(levels.key(row["at_us"], row["provider"], account, row["model_id"], group))
        found.logged_quantity = (found.logged_quantity or 0) + tokens
        found.names.add(row["model_id"])
        if cost is None:
            found.unpriced_quantity += tokens
        else:
            found.logged_pusd += int(cost)
            tier = _tier(row)
            before = found.logged_tiers.get(tier, (0, 0))
            found.logged_tiers[tier] = (before[0] + tokens, before[1] + int(cost))
    if row["other_pusd"]:
        found = cell(levels.key(row["at_us"], row["provider"], account, None, OTHER))
        found.logged_pusd += int(row["other_pusd"])


def _tier(row: Mapping[str, Any]) -> tuple[str, bool]:
    """(service tier, whether batch) of a line of either side; a tier that is not said is the usual one."""
    tier = row["service_tier"] or _UNKNOWN
    return (_UNKNOWN if tier in _USUAL_TIERS else tier), str(row["is_batch"]).lower() == "true"
