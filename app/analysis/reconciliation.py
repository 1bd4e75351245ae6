"""Reconciliation: the provider's bill beside the logged requests, and every dollar between them by name.

Compared are days (UTC, as providers cut bills) from the first to the last that a provider's bill speaks of, and the
requests of sources that are billed by the request. Coverage is the share of billed dollars for which requests of the
same account, model, class and day stand: sum of min(bill, requests) over cells, of the bill.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from app.analysis.bill_cells import ALL_TOKENS, CHARGES, TOKEN_GROUPS, Cell, CellKey, group_of
from app.analysis.bill_compared import Aside, compared
from app.analysis.bill_sides import KEY
from app.analysis.bill_suspects import days_frame, doubles_of, note_unknown
from app.analysis.model_names import plain_model
from app.analysis.residual_groups import grouped
from app.analysis.residuals import KINDS, RATE_TOLERANCE, SMALL_PUSD, Residual, explained
from app.core.view import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.analysis.bill_table import CellTable
    from app.analysis.residual_groups import ResidualGroup
    from app.analysis.residuals import Doubles, Kind
    from app.core.view import Period
    from app.warehouse.store import Session

EVIDENCE_LINES: Final = 3
EVIDENCED: Final = 1_000
"""So many of the largest groups of residuals have lines of the bill beside them, where nobody asks for fewer."""


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
class Reconciliation:
    """Bill minus requests of a period. The residuals' amounts add up to `bill_pusd - logged_pusd` exactly.

    `named` are the residuals beside what a bill's rounding leaves in cells that agree (rows of `rounded`), the largest
    first; `differing` are their cells. `unknown_cells` have a quantity on the bill but neither a cost nor a price: they
    stand in no sum.
    """

    table: CellTable
    named: tuple[Residual, ...]
    rounded: pl.DataFrame
    differing: dict[CellKey, Cell]
    providers: tuple[Provider, ...]
    asides: tuple[Aside, ...]
    doubles: dict[CellKey, Doubles]
    evidence: dict[tuple[int, str, str], tuple[BillEvidence, ...]]
    price_rows: dict[tuple[int, str, str], str]
    unknown_cells: int

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell in the order of its key."""
        return tuple(self.differing.get(cell.key, cell) for cell in self.table.cells())

    @property
    def residuals(self) -> tuple[Residual, ...]:
        """Every residual, the largest first."""
        rounded = [
            Residual(CellKey(*place), "rounding", difference)
            for *place, difference in self.rounded.select(*KEY, "difference").iter_rows()
        ]
        return tuple(sorted((*self.named, *rounded), key=_size))

    def largest(self, most: int | None = None) -> list[Cell]:
        """The cells whose sides differ most, `most` of them or all."""
        sized = self.table.rows.with_columns(size=pl.col("difference").fill_null(0).abs())
        if most is not None and most < sized.height:
            sized = sized.filter(pl.col("size") >= sized["size"].top_k(most).min())
        ordered = sized.sort("size", *KEY, descending=[True, *([False] * len(KEY))])
        found = self.table.cells(ordered if most is None else ordered.head(most))
        return [self.differing.get(cell.key, cell) for cell in found]

    def cell(self, key: CellKey) -> Cell | None:
        """The cell of a key."""
        return self.differing.get(key) or self.table.cell(key)

    def names_of(self, keys: Iterable[CellKey]) -> dict[CellKey, set[str]]:
        """The models of some cells as the requests name them."""
        return {key: cell.names for key in keys if (cell := self.cell(key)) is not None}

    @property
    def awaited(self) -> tuple[Cell, ...]:
        """Cells with usage on the bill of which it says no cost yet and that has no price, the latest first."""
        cells = self.table.cells(self.table.rows.filter("awaited"))
        return tuple(sorted(cells, key=lambda cell: cell.key, reverse=True))

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
        return share_of(self.providers)

    def evidence_of(self, group: ResidualGroup) -> tuple[BillEvidence, ...]:
        """Lines of the bill behind residuals: of their own accounts and classes; else, unless the bill says nothing of
        what was logged, the others of their model and day.
        """
        near: list[BillEvidence] = []
        own: list[BillEvidence] = []
        for key in (item.key for item in group.items):
            lines = self.evidence.get((key.at_us, key.provider, key.model), ())
            lines = lines or (() if key.model else tuple(self._all_of(key)))
            near += lines
            own += [line for line in lines if _is_of(line, key)]
        found = own or ([] if group.kind == "not on the bill" else near[:EVIDENCE_LINES])
        return tuple(dict.fromkeys(found))

    def _all_of(self, key: CellKey) -> Iterator[BillEvidence]:
        for (at_us, provider, _), lines in self.evidence.items():
            if (at_us, provider) == (key.at_us, key.provider):
                yield from lines

    def by_kind(self) -> dict[Kind, int]:
        """Pico-USD of each kind that occurs, in the order of KINDS."""
        sums: dict[Kind, int] = defaultdict(int)
        for item in self.named:
            sums[item.kind] += item.amount_pusd
        if self.rounded.height:
            sums["rounding"] += int(self.rounded["difference"].cast(pl.Int128).sum())
        return {kind: sums[kind] for kind in KINDS if kind in sums}


def reconcile(session: Session, period: Period, *, evidenced: int = EVIDENCED) -> Reconciliation | None:
    """The reconciliation of the days of a period, with lines of the bill for the `evidenced` largest groups of
    residuals; None where no bill speaks of it.
    """
    sides = compared(session, period)
    if sides is None:
        return None
    table = sides.table
    noise = _noise()
    differs = pl.col("difference").is_not_null() & (
        (pl.col("difference") != 0)
        | (pl.col("bill_quantity").is_not_null() & pl.col("bill_quantity").ne_missing(pl.col("logged_quantity")))
    )
    cells = table.cells(table.rows.filter(differs & ~noise).sort(KEY))
    doubles = doubles_of(session, cells, sides)
    note_unknown(session, cells, sides)
    residuals = sorted(explained(cells, doubles), key=_size)
    groups = grouped(item for item in residuals if item.kind != "rounding")[:evidenced]
    return Reconciliation(
        table=table,
        named=tuple(residuals),
        rounded=table.rows.filter(noise & (pl.col("difference") != 0)).select(*KEY, "difference"),
        differing={cell.key: cell for cell in cells},
        providers=summed(table),
        asides=sides.asides,
        doubles=doubles,
        evidence=_evidence(session, {item.key for group in groups for item in group.items}),
        price_rows=_price_rows(session, {item.key for item in residuals if item.kind == "price"}),
        unknown_cells=int(table.rows["difference"].null_count()),
    )


def _size(item: Residual) -> tuple[int, CellKey, str]:
    return -abs(item.amount_pusd), item.key, item.kind


def _noise() -> pl.Expr:
    """Cells that differ by no more than what a bill rounds: of the same tokens at the same rate or, where the bill
    counts none, by less than the rounding of one line.
    """
    bill, logged, size = pl.col("bill_pusd"), pl.col("logged_pusd"), pl.col("difference").abs()
    both = (bill > 0) & (logged > 0) & (pl.col("unpriced_quantity") == 0)
    near = size <= pl.min_horizontal(bill, logged) // int(1 / RATE_TOLERANCE)
    counted = pl.col("bill_quantity").is_not_null()
    same = (
        pl.when(counted)
        .then(pl.col("bill_quantity").eq_missing(pl.col("logged_quantity")))
        .otherwise(size <= SMALL_PUSD)
    )
    return (both & near & same & ~pl.col("usage_class").is_in(CHARGES)).fill_null(value=False)


def summed(table: CellTable) -> tuple[Provider, ...]:
    """The sums of each provider, over the cells of which both sides are known."""
    bill, logged = pl.col("bill_pusd").cast(pl.Int128), pl.col("logged_pusd").cast(pl.Int128)
    usage = ~pl.col("usage_class").is_in(CHARGES)
    rows = (
        table.rows.filter(pl.col("difference").is_not_null())
        .group_by("provider")
        .agg(
            first_us=pl.col("at_us").min(),
            last_us=pl.col("last_us").max(),
            bill_pusd=bill.sum(),
            logged_pusd=logged.sum(),
            matched_pusd=pl.min_horizontal(bill, logged).clip(0).filter(usage).sum(),
            usage_pusd=bill.clip(0).filter(usage).sum(),
            valued=pl.col("valued").any(),
        )
        .sort("provider")
    )
    return tuple(Provider(**row) for row in rows.to_dicts())


def share_of(providers: Iterable[Provider]) -> float | None:
    """Share of the bill's dollars that requests stand for; None where nothing is billed."""
    found = list(providers)
    whole = sum(item.usage_pusd for item in found)
    return sum(item.matched_pusd for item in found) / whole if whole > 0 else None


def _is_of(line: BillEvidence, key: CellKey) -> bool:
    matter = line.kind if line.kind in CHARGES else group_of(line.usage_class)
    fits = matter == key.usage_class or (key.usage_class == ALL_TOKENS and matter in TOKEN_GROUPS)
    return fits and key.account in ("", line.account or "")


def _evidence(session: Session, keys: set[CellKey]) -> dict[tuple[int, str, str], tuple[BillEvidence, ...]]:
    """Lines of bills by day, provider and plain model ('' where a line names none), the dearest first: of the days and
    models of these cells, and of all models of a day where a cell names none.
    """
    spelled: dict[tuple[str, str], set[str]] = defaultdict(set)
    for provider, model, model_id in session.rows("billed.models") if keys else ():
        for plain in ("", "" if model_id is None else plain_model(str(model_id))):
            spelled[str(provider), plain].add(str(model or ""))
    wanted = {(key.at_us, key.provider, name) for key in keys for name in spelled[key.provider, key.model]}
    if not wanted:
        return {}
    schema = {"at_us": pl.Int64, "named_by": pl.String, "named": pl.String}
    session.register("wanted_lines", pl.DataFrame(sorted(wanted), schema=schema, orient="row"))
    rows = session.rows("billed.evidence", {"wanted": "wanted_lines"}, most=EVIDENCE_LINES)
    session.unregister("wanted_lines")
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


def _price_rows(session: Session, keys: set[CellKey]) -> dict[tuple[int, str, str], str]:
    """The price row behind the requests of a cell, by day, provider and model; requests that name no provider are of
    the one that bills their model.
    """
    if not keys:
        return {}
    session.register("priced_days", days_frame({key.at_us for key in keys}))
    rows = session.rows("billed.price_rows", {"days": "priced_days"})
    session.unregister("priced_days")
    known = {(int(at_us), str(provider), plain_model(str(model))): str(row) for at_us, provider, model, row in rows}
    found = {}
    for at_us, provider, model in {(key.at_us, key.provider, key.model) for key in keys}:
        row = known.get((at_us, provider, model)) or known.get((at_us, UNASSIGNED, model))
        if row is not None:
            found[at_us, provider, model] = row
    return found
