"""Reconciliation: the provider's bill beside the logged requests, and every dollar between them by name.

Compared are days (UTC, as providers cut bills) from the first to the last that a provider's bill speaks of, and the
requests of sources that are billed by the request. Coverage is the share of billed dollars for which requests of the
same account, model, class and day stand: sum of min(bill, requests) over cells, of the bill.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.analysis.bill_cells import (
    ALL_TOKENS,
    CHARGES,
    TOKEN_GROUPS,
    Cell,
    CellKey,
    cells_of,
    group_of,
    levels_of,
)
from app.analysis.days import EVERYTHING
from app.analysis.model_names import plain_model
from app.analysis.residuals import DAY_US, KINDS, Doubles, Residual, explained

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.analysis.bill_cells import Levels
    from app.analysis.residuals import Kind
    from app.core.view import Period
    from app.warehouse.store import Session

NOON_US: Final = DAY_US // 2
_END_OF_TIME: Final = 2**62
EVIDENCE_LINES: Final = 3
EVIDENCED: Final = 1_000
"""So many of the largest residuals have lines of the bill beside them."""
UNKNOWN: Final = "unassigned"


@dataclass(frozen=True, slots=True)
class BillEvidence:
    """A line of a bill: where it stands and what it says; `cost` in its own currency, None in a usage report."""

    source: str
    account: str | None
    usage_class: str
    kind: str
    file: str
    line: int
    line_item: str | None
    quantity: str | None
    cost: str | None
    currency: str | None


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider with a bill: its days (noon UTC), both sums, and how much of the bill requests stand for."""

    provider: str
    first_us: int
    last_us: int
    bill_pusd: int
    logged_pusd: int
    matched_pusd: int
    usage_pusd: int
    valued: bool

    @property
    def share(self) -> float | None:
        return self.matched_pusd / self.usage_pusd if self.usage_pusd > 0 else None


@dataclass(frozen=True, slots=True)
class Aside:
    """What is not compared, and why: a doubled bill, a currency without a rate, other services, requests beside it."""

    what: str
    name: str
    pusd: int | None
    native: str | None = None


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Bill minus requests of a period. The residuals' amounts add up to `bill_pusd - logged_pusd` exactly.

    `unknown_cells` have a quantity on the bill but neither a cost nor a price: they stand in no sum.
    """

    cells: tuple[Cell, ...]
    residuals: tuple[Residual, ...]
    providers: tuple[Provider, ...]
    asides: tuple[Aside, ...]
    doubles: dict[CellKey, Doubles]
    evidence: dict[tuple[int, str, str], tuple[BillEvidence, ...]]
    price_rows: dict[tuple[int, str, str], str]
    unknown_cells: int

    def cell(self, key: CellKey) -> Cell | None:
        """The cell of a key."""
        place = bisect_left(self.cells, key, key=lambda cell: cell.key)
        return self.cells[place] if place < len(self.cells) and self.cells[place].key == key else None

    @property
    def awaited(self) -> tuple[Cell, ...]:
        """Cells with usage on the bill of which it says no cost yet and that has no price, the latest first."""
        return tuple(sorted((cell for cell in self.cells if cell.awaited), key=lambda cell: cell.key, reverse=True))

    @property
    def bill_pusd(self) -> int:
        return sum(item.bill_pusd for item in self.providers)

    @property
    def logged_pusd(self) -> int:
        return sum(item.logged_pusd for item in self.providers)

    @property
    def difference_pusd(self) -> int:
        return self.bill_pusd - self.logged_pusd

    @property
    def share(self) -> float | None:
        """The reconciled share; None without a bill."""
        whole = sum(item.usage_pusd for item in self.providers)
        return sum(item.matched_pusd for item in self.providers) / whole if whole > 0 else None

    def evidence_of(self, key: CellKey) -> tuple[BillEvidence, ...]:
        """Lines of the bill behind a cell: of its own account and class where there are any."""
        lines = self.evidence.get((key.at_us, key.provider, key.model), ())
        lines = lines or (() if key.model else tuple(self._all_of(key)))
        own = [line for line in lines if _is_of(line, key)]
        return tuple(own or lines)[:EVIDENCE_LINES]

    def _all_of(self, key: CellKey) -> Iterator[BillEvidence]:
        for (at_us, provider, _), lines in self.evidence.items():
            if (at_us, provider) == (key.at_us, key.provider):
                yield from lines

    def by_kind(self) -> dict[Kind, int]:
        """Pico-USD of each kind that occurs, in the order of KINDS."""
        sums: dict[Kind, int] = defaultdict(int)
        for item in self.residuals:
            sums[item.kind] += item.amount_pusd
        return {kind: sums[kind] for kind in KINDS if kind in sums}


def days_of(period: Period) -> dict[str, int]:
    """The range of noons of a period's days: a day is of the period that its noon is in, and everything is every day,
    however early its last request came.
    """
    return {"from_us": period.from_us, "to_us": _END_OF_TIME if period.name == EVERYTHING else period.to_us}


def compared_range(noons: Iterable[int]) -> dict[str, int]:
    """The whole days from the first to the last of these noons."""
    days = list(noons)
    return {"from_us": max(min(days) - NOON_US, 0), "to_us": max(days) + NOON_US}


def reconcile(session: Session, period: Period) -> Reconciliation | None:
    """The reconciliation of the days of a period; None where no bill speaks of it."""
    if not session.rows("billed.any")[0][0]:
        return None
    sides = _sides(session, period)
    if sides is None:
        return None
    suspicious = {cell.key.at_us for cell in sides.cells if (cell.difference or 0) < 0}
    doubles = _doubles(session, suspicious, sides.levels)
    residuals = explained(sides.cells, doubles)
    residuals.sort(key=lambda item: (-abs(item.amount_pusd), item.key, item.kind))
    days = {item.key.at_us for item in residuals[:EVIDENCED] if item.kind != "rounding"}
    return Reconciliation(
        cells=tuple(sorted(sides.cells, key=lambda cell: cell.key)),
        residuals=tuple(residuals),
        providers=_summed(sides.cells),
        asides=sides.asides,
        doubles=doubles,
        evidence=_evidence(session, days),
        price_rows=_price_rows(session, {item.key.at_us for item in residuals if item.kind == "price"}),
        unknown_cells=sum(cell.difference is None for cell in sides.cells),
    )


@dataclass(frozen=True, slots=True)
class _Sides:
    cells: list[Cell]
    levels: Levels
    asides: tuple[Aside, ...]


def _sides(session: Session, period: Period) -> _Sides | None:
    lines = session.frame("billed.lines", None, **days_of(period)).to_dicts()
    if not lines:
        return None
    counting = [line for line in lines if line["doubled_by"] is None and line["kind"] != "other"]
    spans = _spans(counting)
    compared: list[dict[str, Any]] = []
    beside: dict[tuple[str, str], int] = defaultdict(int)
    if spans:
        noons = compared_range(noon for span in spans.values() for noon in span)
        sellers = _sellers(counting)
        for row in session.frame("billed.logged", None, **noons).to_dicts():
            if row["provider"] == UNKNOWN:
                row["provider"] = sellers.get(plain_model(row["model_id"]), UNKNOWN)
            span = spans.get(row["provider"])
            if span is None or not span[0] <= row["at_us"] <= span[1]:
                beside["no bill", row["provider"]] += _cost(row)
            elif row["billing"] != "api":
                beside["not billed by the request", row["provider"]] += _cost(row)
            else:
                compared.append(row)
    levels = levels_of(counting, compared)
    known = [line for line in counting if not line["has_cost"] or line["cost_pusd"] is not None]
    cells = cells_of(known, compared, levels)
    return _Sides(list(cells.values()), levels, (*_left_out(lines), *_beside(beside), *_cut_short(session)))


def _spans(lines: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """First and last day (noon UTC) of each provider's usage on bills."""
    days: dict[str, list[int]] = defaultdict(list)
    for line in lines:
        if line["kind"] == "usage":
            days[line["provider"]].append(line["at_us"])
    return {provider: (min(found), max(found)) for provider, found in days.items()}


def _sellers(lines: list[dict[str, Any]]) -> dict[str, str]:
    """Who bills a model, where one provider alone does: for logs that do not say who served it."""
    sellers: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        if line["model_id"] is not None:
            sellers[plain_model(line["model_id"])].add(line["provider"])
    return {model: next(iter(found)) for model, found in sellers.items() if len(found) == 1}


def _cost(row: dict[str, Any]) -> int:
    return sum(int(row[f"{name}_pusd"] or 0) for name in (*TOKEN_GROUPS, "other"))


def _left_out(lines: list[dict[str, Any]]) -> list[Aside]:
    doubled: dict[str, int] = defaultdict(int)
    foreign: dict[str, Any] = defaultdict(int)
    others: dict[str, int] = defaultdict(int)
    for line in lines:
        if line["doubled_by"] is not None:
            doubled[f"{line['source']} (counted from {line['doubled_by']})"] += int(line["cost_pusd"] or 0)
        elif line["has_cost"] and line["cost_pusd"] is None:
            foreign[line["currency"] or "?"] += line["unconverted"]
        elif line["kind"] == "other":
            others[line["provider"]] += int(line["cost_pusd"] or 0)
    return [
        *(Aside("the same bill twice", name, pusd) for name, pusd in sorted(doubled.items())),
        *(Aside("a currency without a rate", name, None, f"{sum_:f}") for name, sum_ in sorted(foreign.items())),
        *(Aside("other services on the bill", name, pusd) for name, pusd in sorted(others.items())),
    ]


def _beside(beside: dict[tuple[str, str], int]) -> list[Aside]:
    return [Aside(f"requests: {why}", provider, pusd) for (why, provider), pusd in sorted(beside.items()) if pusd]


def _cut_short(session: Session) -> list[Aside]:
    """Reports whose last page says that another follows, which was not read: what it says is missing here."""
    return [
        Aside("a bill cut short", f"{report} of {source}: has_more after {last_day}, the next page was not read", None)
        for source, report, last_day, _ in session.rows("billed.cut_short")
    ]


def _summed(cells: list[Cell]) -> tuple[Provider, ...]:
    """The sums of each provider."""
    by_provider: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.difference is not None:
            by_provider[cell.key.provider].append(cell)
    found = []
    for provider, members in sorted(by_provider.items()):
        usage = [cell for cell in members if cell.key.usage_class not in CHARGES]
        found.append(
            Provider(
                provider=provider,
                first_us=min(cell.key.at_us for cell in members),
                last_us=max(cell.key.at_us for cell in members),
                bill_pusd=sum(cell.bill_pusd or 0 for cell in members),
                logged_pusd=sum(cell.logged_pusd for cell in members),
                matched_pusd=sum(max(0, min(cell.bill_pusd or 0, cell.logged_pusd)) for cell in usage),
                usage_pusd=sum(max(0, cell.bill_pusd or 0) for cell in usage),
                valued=any(cell.valued for cell in members),
            )
        )
    return tuple(found)


def _is_of(line: BillEvidence, key: CellKey) -> bool:
    matter = line.kind if line.kind in CHARGES else group_of(line.usage_class)
    fits = matter == key.usage_class or (key.usage_class == ALL_TOKENS and matter in TOKEN_GROUPS)
    return fits and key.account in ("", line.account or "")


def _days_frame(days: set[int]) -> pl.DataFrame:
    return pl.DataFrame({"day_us": sorted(at_us - NOON_US for at_us in days)}, schema={"day_us": pl.Int64})


def _doubles(session: Session, days: set[int], levels: Levels) -> dict[CellKey, Doubles]:
    """What was logged twice on days where the requests are above the bill, by the cell it belongs to."""
    if not days:
        return {}
    session.register("suspicious_days", _days_frame(days))
    frame = session.frame("billed.doubles", {"days": "suspicious_days"})
    session.unregister("suspicious_days")
    found: dict[CellKey, Doubles] = {}
    for row in frame.iter_rows(named=True):
        account = None if row["account"] == UNKNOWN else row["account"]
        for group in TOKEN_GROUPS:
            if not row[f"{group}_tokens"]:
                continue
            key = levels.key(row["at_us"], row["provider"], account, row["model_id"], group)
            before = found.get(key, Doubles(0, 0, 0, (row["one_source"], row["other_source"])))
            found[key] = Doubles(
                before.quantity + int(row[f"{group}_tokens"]),
                before.cost_pusd + int(row[f"{group}_pusd"] or 0),
                before.calls + (0 if key.usage_class == ALL_TOKENS and before.calls else int(row["calls"])),
                before.sources,
            )
    return found


def _evidence(session: Session, days: set[int]) -> dict[tuple[int, str, str], tuple[BillEvidence, ...]]:
    """Lines of bills by day, provider and plain model ('' where a line names none), the dearest first."""
    if not days:
        return {}
    session.register("residual_days", _days_frame(days))
    rows = session.rows("billed.evidence", {"days": "residual_days"}, most=EVIDENCE_LINES)
    session.unregister("residual_days")
    found: dict[tuple[int, str, str], list[BillEvidence]] = defaultdict(list)
    for at_us, provider, account, model, usage_class, kind, source, file, line, item, quantity, cost, currency in rows:
        key = (int(at_us), str(provider), "" if model is None else plain_model(str(model)))
        found[key].append(
            BillEvidence(
                str(source),
                account,
                str(usage_class),
                str(kind),
                str(file),
                int(line),
                item,
                None if quantity is None else f"{quantity.normalize():f}",
                None if cost is None else f"{cost.normalize():f}",
                currency,
            )
        )
    return {key: tuple(lines) for key, lines in found.items()}


def _price_rows(session: Session, days: set[int]) -> dict[tuple[int, str, str], str]:
    if not days:
        return {}
    session.register("priced_days", _days_frame(days))
    rows = session.rows("billed.price_rows", {"days": "priced_days"})
    session.unregister("priced_days")
    return {(int(at_us), str(provider), plain_model(str(model))): str(row) for at_us, provider, model, row in rows}
