"""Bills that several sources or reports tell of: which of them counts, so that no day of an account counts twice.

Two organisations may both use an account without a name (a default workspace): where one report names two payers,
those are two bills. A report of another kind may name the same payer otherwise, so there only accounts are compared.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.analysis.bills import BillLine

_Name = tuple[str, str]
"""(source, report)."""


@dataclass(slots=True)
class _Told:
    """What a report says of a day: its accounts by payer (None: not said), and when its newest file was written."""

    accounts: dict[str | None, set[str | None]] = field(default_factory=lambda: defaultdict(set))
    newest_ns: int = 0

    def of(self, payer: str | None) -> set[str | None]:
        """The accounts whose bill may be this payer's."""
        if payer is None:
            return set().union(*self.accounts.values())
        return self.accounts.get(payer, set()) | self.accounts.get(None, set())


_Day = dict[_Name, _Told]


def undoubled(lines: list[tuple[BillLine, str | None, int]]) -> list[tuple[BillLine, str | None]]:
    """Name, for each line that another source says too of the same provider, payer, account and day, that source.

    Takes each line with its region and the time of its file. What a provider's own report says comes before a FOCUS
    export of it, then the newest file. A report that names no account is of all of them, and a line about several days
    is doubled where any of them is.
    """
    payers = _only_payers(lines)
    days: dict[tuple[str, int, str], _Day] = defaultdict(lambda: defaultdict(_Told))
    for line, _, written_ns in lines:
        for at_us in line.days if line.doubled_by is None else ():
            told = days[line.provider, at_us, _matter(line)][line.source, line.report]
            told.accounts[_payer(line, payers)].add(line.account)
            told.newest_ns = max(told.newest_ns, written_ns)
    return [(_judged(line, days, payers), region) for line, region, _ in lines]


def _judged(line: BillLine, days: dict[tuple[str, int, str], _Day], payers: dict[_Name, str | None]) -> BillLine:
    if line.doubled_by is not None:
        return line
    of_days = (days[line.provider, at_us, _matter(line)] for at_us in line.days)
    payer = _payer(line, payers)
    better = next((name for of_day in of_days if (name := _better(line, payer, of_day)) is not None), None)
    return replace(line, doubled_by=better)


def _better(line: BillLine, payer: str | None, of_day: _Day) -> str | None:
    """The source that says a line's day too and comes before its own."""
    if len(of_day) == 1:
        return None
    own = (line.source, line.report)
    ranked = sorted(of_day, key=lambda name: (name[1] == "focus", -of_day[name].newest_ns, name))
    ours = of_day[own].accounts[payer]
    for name in ranked[: ranked.index(own)]:
        theirs = of_day[name].of(payer if name[1] == line.report else None)
        if theirs and (line.account in theirs or theirs == {None} or ours == {None}):
            return name[0]
    return None


def _only_payers(lines: list[tuple[BillLine, str | None, int]]) -> dict[_Name, str | None]:
    """The payer of each report that names just one: also of its lines that name none, as an older pull left them."""
    named: dict[_Name, set[str]] = defaultdict(set)
    for line, _, _ in lines:
        if line.payer is not None:
            named[line.source, line.report].add(line.payer)
    return {name: next(iter(found)) for name, found in named.items() if len(found) == 1}


def _payer(line: BillLine, only: dict[_Name, str | None]) -> str | None:
    return line.payer if line.payer is not None else only.get((line.source, line.report))


def _matter(line: BillLine) -> str:
    """What two reports must both speak of to say the same: costs, or one kind of usage."""
    return "costs" if line.has_cost else line.report
