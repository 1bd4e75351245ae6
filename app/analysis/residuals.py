"""Why a bill and the requests differ: every dollar of the difference gets one name, and they add up to it exactly.

A cell's difference is volume (tokens that one side does not have, at the rate of the requests), tokens without a
price, and price (the bill's tokens at another rate). Volume is then explained in this order: calls logged twice, tokens
counted in another class, days cut elsewhere, and what is left is not logged, or not on the bill; unknown where calls
were logged that do not say their tokens.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Final, Literal, get_args

from app.analysis.bill_cells import ALL_TOKENS, CHARGES, INPUT_GROUPS, Cell, CellKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal[
    "not logged",
    "mis-dated",
    "price",
    "tier mix",
    "unpriced class",
    "double",
    "class split",
    "credit or fee",
    "not on the bill",
    "rounding",
    "unknown",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
DAY_US: Final = 86_400_000_000
RATE_TOLERANCE: Final = Fraction(5, 1000)  # a bill rounds each line; a wrong rate is further off
CANCELS: Final = Fraction(2, 100)  # neighbouring days that differ by more do not make up for each other
SMALL_PUSD: Final = 5_000_000_000  # half a cent


@dataclass(frozen=True, slots=True)
class Residual:
    """One named part of a cell's difference. `amount_pusd` is its share of bill minus requests, with sign.

    Attributes:
        quantity: tokens that it is about, with sign (bill minus requests); None where it is no quantity.
        rates: (the bill's, the requests') pico-USD a token where it is a price.
        other_day_us: the neighbouring day (noon UTC) that makes up for it.
    """

    key: CellKey
    kind: Kind
    amount_pusd: int
    quantity: int | None = None
    rates: tuple[Fraction, Fraction] | None = None
    other_day_us: int | None = None


@dataclass(frozen=True, slots=True)
class Doubles:
    """What was logged twice in a cell: tokens and pico-USD of the second ones, how many calls, and by which sources."""

    quantity: int
    cost_pusd: int
    calls: int
    sources: tuple[str, str]


@dataclass(slots=True)
class _Open:
    """A cell while its difference is explained: what of its volume has no name yet."""

    cell: Cell
    left: int
    in_dollars: bool = False
    """The bill says no quantity: `left` is pico-USD."""

    @property
    def rate(self) -> Fraction:
        """What one of `left` is worth."""
        return Fraction(1) if self.in_dollars else _rate(self.cell)


def explained(cells: Iterable[Cell], doubles: Mapping[CellKey, Doubles]) -> list[Residual]:
    """The residuals of cells whose both sides are known; their amounts add up to bill minus requests of each cell."""
    found: list[Residual] = []
    by_quantity: list[_Open] = []
    by_dollars: list[_Open] = []
    for cell in cells:
        difference = cell.difference
        if difference is None or (not difference and cell.bill_quantity in (None, cell.logged_quantity)):
            continue  # not comparable, or nothing to explain
        if cell.key.usage_class in CHARGES:
            found.append(Residual(cell.key, "credit or fee", difference))
        elif cell.bill_quantity is None and cell.logged_quantity is None:
            found += _charge_without_quantity(cell, difference)
        elif cell.bill_quantity is None and cell.bill_pusd:
            by_dollars.append(_Open(cell, difference, in_dollars=True))
        else:
            found += _price_and_unpriced(cell)
            by_quantity.append(_Open(cell, _volume(cell)))
    found += _named_volume(by_quantity, doubles)
    found += _named_volume(by_dollars, doubles)
    return _exact(found, [*by_quantity, *by_dollars])


def _charge_without_quantity(cell: Cell, difference: int) -> list[Residual]:
    """A charge beside tokens (searches, sessions): it is logged or it is not."""
    if not difference:
        return []
    if cell.logged_pusd == 0:
        return [Residual(cell.key, _missing(cell, difference, "not logged"), difference)]
    return [Residual(cell.key, _direction(difference) if cell.bill_pusd == 0 else "unknown", difference)]


def _volume(cell: Cell) -> int:
    logged = cell.logged_quantity or 0
    if not cell.bill_quantity:
        return -((logged - cell.unpriced_quantity) or logged)
    return cell.bill_quantity - logged


def _rate(cell: Cell) -> Fraction:
    """What a token of the difference is worth: the requests' own rate, else the bill's."""
    priced = (cell.logged_quantity or 0) - cell.unpriced_quantity
    if priced > 0:
        return Fraction(cell.logged_pusd, priced)
    return Fraction(cell.bill_pusd or 0, cell.bill_quantity) if cell.bill_quantity else Fraction(0)


def _price_and_unpriced(cell: Cell) -> list[Residual]:
    found: list[Residual] = []
    billed, logged = cell.bill_quantity or 0, cell.logged_quantity or 0
    if not billed:
        return found
    if cell.unpriced_quantity:
        quantity = min(cell.unpriced_quantity, billed)
        found.append(Residual(cell.key, "unpriced class", round(quantity * _rate(cell)), quantity))
    if _is_whole(cell) and logged > cell.unpriced_quantity and _rates_differ(cell, logged - cell.unpriced_quantity):
        rate, paid = _rate(cell), Fraction(cell.bill_pusd or 0, billed)
        found.append(
            Residual(cell.key, _rate_kind(cell, paid), round(billed * (paid - rate)), billed, rates=(paid, rate))
        )
    return found


def _is_whole(cell: Cell) -> bool:
    """Whether the logged tokens are of the classes that the bill's are: a mean over some classes is another rate."""
    return cell.key.usage_class != ALL_TOKENS or not cell.unknown_calls


def _rates_differ(cell: Cell, priced: int) -> bool:
    """Whether the bill's rate is another than the requests': both times both quantities, which a whole number holds."""
    paid, ours = (cell.bill_pusd or 0) * priced, cell.logged_pusd * (cell.bill_quantity or 0)
    return abs(paid - ours) * RATE_TOLERANCE.denominator > RATE_TOLERANCE.numerator * max(paid, ours)


def _rate_kind(cell: Cell, paid: Fraction) -> Kind:
    """Why two rates differ: the tiers are mixed otherwise (several on either side, and the bill's rate is within those
    of the requests, or the bill itself has several), or the price is another.
    """
    rates = [Fraction(cost, tokens) for tokens, cost in cell.logged_tiers.values() if tokens]
    if not rates:
        return "price"
    within = min(rates) * (1 - RATE_TOLERANCE) <= paid <= max(rates) * (1 + RATE_TOLERANCE)
    if (cell.mixed_rates and within) or (len(cell.bill_tiers) > 1 and cell.bill_tiers != cell.logged_tiers.keys()):
        return "tier mix"
    return "price"


def _named_volume(opened: list[_Open], doubles: Mapping[CellKey, Doubles]) -> list[Residual]:
    found = _doubled(opened, doubles)
    found += _split([one for one in opened if not one.in_dollars])
    found += _misdated(opened)
    found += [_rest(one) for one in opened if one.left]
    return found


def _doubled(opened: list[_Open], doubles: Mapping[CellKey, Doubles]) -> list[Residual]:
    found = []
    for one in opened:
        twice = doubles.get(one.cell.key)
        most = 0 if twice is None else twice.cost_pusd if one.in_dollars else twice.quantity
        if one.left < 0 and most > 0:
            found.append(_piece(one, "double", -min(-one.left, most)))
    return found


def _split(opened: list[_Open]) -> list[Residual]:
    """Prompt tokens that the bill has in one class and the requests in another, of the same model and day."""
    groups: dict[tuple[int, str, str, str], list[_Open]] = defaultdict(list)
    for one in opened:
        if one.cell.key.usage_class in INPUT_GROUPS:
            key = one.cell.key
            groups[key.at_us, key.provider, key.account, key.model].append(one)
    found = []
    for members in groups.values():
        more, less = [one for one in members if one.left > 0], [one for one in members if one.left < 0]
        matched = min(sum(one.left for one in more), -sum(one.left for one in less))
        for side, sign in ((more, 1), (less, -1)):
            rest = matched
            for one in side:
                part = min(rest, abs(one.left))
                if part:
                    found.append(_piece(one, "class split", sign * part))
                    rest -= part
    return found


def _misdated(opened: list[_Open]) -> list[Residual]:
    """Volume of a day that a day beside it makes up for: one side cuts days elsewhere."""
    series: dict[tuple[str, str, str, str], dict[int, _Open]] = defaultdict(dict)
    for one in opened:
        if one.left:
            key = one.cell.key
            series[key.provider, key.account, key.model, key.usage_class][key.at_us] = one
    found = []
    for days in series.values():
        for run in _runs(days):
            for place, one in enumerate(run):
                beside = run[place + 1] if place + 1 < len(run) else run[place - 1]
                found.append(_piece(one, "mis-dated", one.left, other_day_us=beside.cell.key.at_us))
    return found


def _runs(days: Mapping[int, _Open]) -> list[list[_Open]]:
    """Stretches of neighbouring days whose volumes cancel, the longest first where they begin."""
    found: list[list[_Open]] = []
    for stretch in _neighbours(days):
        volumes = [one.left for one in stretch]
        start, ends = 0, _cancelling(volumes)
        while start < len(stretch):
            last = ends[start]
            if last > start:
                found.append(stretch[start : last + 1])
            start = max(last, start) + 1
    return found


def _neighbours(days: Mapping[int, _Open]) -> list[list[_Open]]:
    """The days in order, cut where one is missing."""
    found: list[list[_Open]] = []
    before = None
    for at_us in sorted(days):
        if before is None or at_us - before != DAY_US:
            found.append([])
        found[-1].append(days[at_us])
        before = at_us
    return found


def _cancelling(volumes: list[int]) -> list[int]:
    """For each place the last one up to which volumes cancel (their sum is at most CANCELS of half of what moved), else
    the place itself.

    With S the running sum and A that of sizes, |S(last) - S(first)| <= c (A(last) - A(first)) says that S - cA does not
    grow and S + cA does not fall between the two, c being half of CANCELS: no pair of places is added up again.
    """
    ends = list(range(len(volumes)))
    if len(volumes) < 2 or min(volumes) >= 0 or max(volumes) <= 0:
        return ends
    sums, sizes = [0, *accumulate(volumes)], [0, *accumulate(abs(volume) for volume in volumes)]
    share = CANCELS / 2
    falls = [total * share.denominator - size * share.numerator for total, size in zip(sums, sizes, strict=True)]
    rises = [total * share.denominator + size * share.numerator for total, size in zip(sums, sizes, strict=True)]
    for first in ends:
        fall, rise = falls[first], rises[first]
        for after in range(len(volumes), first + 1, -1):
            if falls[after] <= fall and rises[after] >= rise:
                ends[first] = after - 1
                break
    return ends


def _rest(one: _Open) -> Residual:
    cell, left = one.cell, one.left
    if not one.in_dollars:
        return _piece(one, _missing(cell, left, _direction(left)), left)
    # A bill without quantities: what is missing and what has another price cannot be told apart.
    if not cell.logged_quantity:
        return _piece(one, _missing(cell, left, "not logged"), left)
    if cell.unpriced_quantity and left > 0:
        return _piece(one, "unpriced class", left)
    small = is_rounding(cell, left)
    return _piece(one, "rounding" if small else "unknown", left)


def is_rounding(cell: Cell, rest: int) -> bool:
    """Whether a rest is what a bill's rounding of its lines leaves."""
    size, billed = abs(rest), abs(cell.bill_pusd or 0)
    return size <= SMALL_PUSD or size * RATE_TOLERANCE.denominator <= RATE_TOLERANCE.numerator * billed


def _missing(cell: Cell, difference: int, kind: Kind) -> Kind:
    """This kind; what the bill has above calls that do not say their tokens may be theirs."""
    return "unknown" if difference > 0 and cell.unknown_calls else kind


def _direction(difference: int) -> Kind:
    return "not logged" if difference > 0 else "not on the bill"


def _piece(one: _Open, kind: Kind, part: int, *, other_day_us: int | None = None) -> Residual:
    """Name a part of what is left of a cell."""
    one.left -= part
    quantity = None if one.in_dollars else part
    return Residual(one.cell.key, kind, round(part * one.rate), quantity, other_day_us=other_day_us)


def _exact(found: list[Residual], opened: list[_Open]) -> list[Residual]:
    """The residuals with, for each cell, what rounding leaves, so that they add up to its difference."""
    named: dict[CellKey, int] = defaultdict(int)
    for residual in found:
        named[residual.key] += residual.amount_pusd
    for one in opened:
        rest = (one.cell.difference or 0) - named[one.cell.key]
        if rest:
            small = is_rounding(one.cell, rest)
            found.append(Residual(one.cell.key, "rounding" if small else "unknown", rest))
    return [residual for residual in found if residual.amount_pusd or residual.quantity]
