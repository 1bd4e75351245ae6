"""Bills that several sources or reports tell of: which of them counts, so that no day of an account counts twice.

Two organisations may both use an account without a name (a default workspace): where one report names two payers,
those are two bills. Where a payer is not named on both sides, or a report of another kind may name it otherwise, the
amounts tell (`bill_likeness.py`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.analysis.bill_likeness import one_bill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.analysis.bill_likeness import Written
    from app.analysis.bills import BillLine

_Name = tuple[str, str]
"""(source, report)."""
_Bill = tuple[str, str, _Name, str | None]
"""(provider, matter, report, payer where it is named)."""


@dataclass(slots=True)
class _Told:
    """What a report says of a day: its accounts by payer (None: not said), and when its newest file was written."""

    accounts: dict[str | None, set[str | None]] = field(default_factory=lambda: defaultdict(set))
    newest_ns: int = 0


_Day = dict[_Name, _Told]


def undoubled(lines: list[tuple[BillLine, str | None, int]]) -> list[tuple[BillLine, str | None]]:
    """Name, for each line that another source says too of the same provider, payer, account and day, that source.

    Takes each line with its region and the time of its file. What a provider's own report says comes before a FOCUS
    export of it, then the newest file. A report that names no account is of all of them, and a line about several days
    is doubled where any of them is. A line that is not, because the other's amounts are nothing alike, names it as
    `unlike`.
    """
    told = _Reports(lines)
    return [(told.judged(line), region) for line, region, _ in lines]


class _Reports:
    """What every report says of every day, and which of them say one bill."""

    def __init__(self, lines: list[tuple[BillLine, str | None, int]]) -> None:
        self._payers = _only_payers(lines)
        self._days: dict[tuple[str, int, str], _Day] = defaultdict(lambda: defaultdict(_Told))
        self._bills: dict[_Bill, list[Written]] = defaultdict(list)
        self._same: dict[tuple[_Bill, _Bill], bool] = {}
        for line, _, written_ns in lines:
            if line.doubled_by is not None:
                continue
            self._bills[self._bill(line)].append((line, written_ns))
            for at_us in line.days:
                told = self._days[line.provider, at_us, _matter(line)][line.source, line.report]
                told.accounts[self._bill(line)[3]].add(line.account)
                told.newest_ns = max(told.newest_ns, written_ns)

    def judged(self, line: BillLine) -> BillLine:
        """The line with what doubles it, or with what says its days too and is nothing alike."""
        unlike = None
        for at_us in line.days if line.doubled_by is None else ():
            for name, is_alike in self._before(line, at_us):
                if is_alike:
                    return replace(line, doubled_by=name)
                unlike = unlike or name
        return replace(line, unlike=unlike)

    def _before(self, line: BillLine, at_us: int) -> Iterator[tuple[str, bool]]:
        """The sources that say a line's day too and come before its own, and whether what they say is the same bill."""
        of_day = self._days[line.provider, at_us, _matter(line)]
        if len(of_day) == 1:
            return
        own, bill = (line.source, line.report), self._bill(line)
        ours = of_day[own].accounts[bill[3]]
        ranked = sorted(of_day, key=lambda name: (name[1] == "focus", -of_day[name].newest_ns, name))
        for name in ranked[: ranked.index(own)]:
            theirs: dict[bool, set[str | None]] = {True: set(), False: set()}
            for payer, accounts in of_day[name].accounts.items():
                if name[1] == line.report and None not in (payer, bill[3]) and payer != bill[3]:
                    continue
                theirs[self._are_one(bill, (*bill[:2], name, payer))] |= accounts
            for is_alike, accounts in theirs.items():
                if accounts and (line.account in accounts or accounts == {None} or ours == {None}):
                    yield name[0], is_alike

    def _are_one(self, bill: _Bill, other: _Bill) -> bool:
        """Whether two bills are one: of the same payer or, where it is not said of both alike, told by amounts."""
        if bill[3] is not None and bill[3] == other[3]:
            return True
        pair = (bill, other)
        if pair not in self._same:
            self._same[pair] = self._same[other, bill] = one_bill(self._bills[bill], self._bills[other])
        return self._same[pair]

    def _bill(self, line: BillLine) -> _Bill:
        payer = line.payer if line.payer is not None else self._payers.get((line.source, line.report))
        return line.provider, _matter(line), (line.source, line.report), payer


def _only_payers(lines: list[tuple[BillLine, str | None, int]]) -> dict[_Name, str | None]:
    """The payer of each report that names just one: also of its lines that name none, as an older pull left them."""
    named: dict[_Name, set[str]] = defaultdict(set)
    for line, _, _ in lines:
        if line.payer is not None:
            named[line.source, line.report].add(line.payer)
    return {name: next(iter(found)) for name, found in named.items() if len(found) == 1}


def _matter(line: BillLine) -> str:
    """What two reports must both speak of to say the same: costs, or one kind of usage."""
    return "costs" if line.has_cost else line.report
