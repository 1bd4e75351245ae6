"""Whether two reports that do not both name their payer say one bill: told by their amounts, day by day.

One bill that is exported twice says most amounts again, even where some were corrected. Bills of two organisations
agree in an amount by chance at most. Where there is nothing to tell by, they are taken for one: a gap shows in the
reconciliation, a dollar that is counted twice would not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from app.analysis.bill_cells import group_of
from app.analysis.model_names import plain_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.analysis.bills import BillLine

Written = tuple["BillLine", int]
"""A line, and when its file was written: nanoseconds UTC."""
_Cell = tuple[str, ...]
"""Currency, account, model and class of an amount."""
_Sums = dict[_Cell, Decimal]
GRAINS: Final = (1, 2, 3, 4)
"""Amounts of a day are compared as a whole, by account, by account and model, and by class too."""
SETTLED_NS: Final = 84 * 3_600 * 10**9
"""From a day's noon, three days after its end: what is read later no longer grows by what was not yet on the bill."""
EQUAL: Final = Decimal("0.001")
NEAR: Final = Decimal("0.05")
LEAST_EQUAL: Final = Decimal("0.1")
"""Share of the smaller bill, in amount or in lines, that bills of two payers do not have equal by chance."""
LEAST_NEAR: Final = Decimal("0.5")
# Names that a provider gives to one project, workspace, account or subscription alone.
_UNIQUE: Final = re.compile(r"(?:proj|wrkspc)_\w+|\d{12}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(slots=True)
class _Day:
    """What a report says of a day, or of a month where one of both has longer periods; `noon_ns` is its last."""

    noon_ns: int = 0
    written_ns: int = 0
    amounts: _Sums = field(default_factory=lambda: defaultdict(Decimal))


def one_bill(some: Sequence[Written], others: Sequence[Written]) -> bool:
    """Whether lines of two reports, of one provider and matter, may be of one bill."""
    ours, theirs = ({line.account for line, _ in lines} for lines in (some, others))
    shared = ours & theirs
    if any(name is not None and _UNIQUE.fullmatch(name) for name in shared):
        return True
    accounts = None if {None} in (ours, theirs) else shared
    is_long = any(line.last_us > line.at_us for line, _ in (*some, *others))
    one, other = (_days(lines, accounts, is_long=is_long) for lines in (some, others))
    told = [
        (one[name].amounts, other[name].amounts)
        for name in sorted(one.keys() & other.keys())
        if not _only_grew(one[name], other[name])
    ]
    return not told or any(_agree(told, grain) for grain in GRAINS)


def _days(lines: Sequence[Written], accounts: set[str | None] | None, *, is_long: bool) -> dict[str, _Day]:
    """The amounts of some accounts by day or month; of all as one where it is not said which (None)."""
    found: dict[str, _Day] = defaultdict(_Day)
    for line, written_ns in lines:
        amount = line.cost if line.has_cost else line.quantity
        if not amount or (accounts is not None and line.account not in accounts):
            continue
        date = datetime.fromtimestamp(line.at_us // 1_000_000, UTC).date().isoformat()
        day = found[f"{date[:7] if is_long else date} {line.currency or ''}"]
        day.noon_ns = max(day.noon_ns, line.last_us * 1_000)
        day.written_ns = max(day.written_ns, written_ns)
        account = "" if accounts is None else (line.account or "")
        model = "" if line.model is None else plain_model(line.model_id or line.model)
        matter = group_of(line.usage_class) if line.kind == "usage" else line.kind
        day.amounts[line.currency or "", account, model, matter] += amount
    return found


def _only_grew(one: _Day, other: _Day) -> bool:
    """Whether all that differs may be what the older file could not know yet: it was written before the day settled."""
    older, newer = (one, other) if one.written_ns <= other.written_ns else (other, one)
    if older.written_ns >= older.noon_ns + SETTLED_NS:
        return False
    return all(abs(newer.amounts.get(cell, Decimal(0))) >= abs(amount) for cell, amount in older.amounts.items())


def _agree(days: Sequence[tuple[_Sums, _Sums]], grain: int) -> bool:
    """Whether more amounts are alike, cut so finely, than two payers' bills have by chance."""
    pairs = [pair for one, other in days for pair in _side_by_side(one, other, grain)]
    sizes = [sum((abs(pair[side]) for pair in pairs), Decimal(0)) for side in (0, 1)]
    counts = [sum(1 for pair in pairs if pair[side]) for side in (0, 1)]
    least, fewest = min(sizes), min(counts)
    near = [pair for pair in pairs if _apart(pair) <= NEAR]
    equal = [pair for pair in near if _apart(pair) <= EQUAL]
    return fewest > 0 and (
        _size(near) >= LEAST_NEAR * least or _size(equal) >= LEAST_EQUAL * least or len(equal) >= LEAST_EQUAL * fewest
    )


def _side_by_side(one: _Sums, other: _Sums, grain: int) -> Iterator[tuple[Decimal, Decimal]]:
    cut: dict[_Cell, list[Decimal]] = defaultdict(lambda: [Decimal(0), Decimal(0)])
    for side, amounts in enumerate((one, other)):
        for cell, amount in amounts.items():
            cut[cell[:grain]][side] += amount
    yield from ((first, second) for first, second in cut.values() if first or second)


def _apart(pair: tuple[Decimal, Decimal]) -> Decimal:
    """How far two amounts are apart, as a share of the larger: 0 is equal, 1 and more is that one is missing."""
    return abs(pair[0] - pair[1]) / max(abs(pair[0]), abs(pair[1]))


def _size(pairs: Sequence[tuple[Decimal, Decimal]]) -> Decimal:
    return sum((min(abs(first), abs(second)) for first, second in pairs), Decimal(0))
