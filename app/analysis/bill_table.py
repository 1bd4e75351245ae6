"""Every cell of bill and requests as a row of a frame; `Cell`s are made only of those that somebody looks at.

A year of a busy company has tens of thousands of cells, nearly all of which agree.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.analysis.bill_cells import CHARGES, OTHER, TOKEN_GROUPS, USUAL_TIERS, Cell, CellKey
from app.analysis.bill_sides import KEY
from app.core.view import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.analysis.bill_sides import Levels

_LONG: Final = ("at_us", "provider", "account", "model_id", "service_tier", "is_batch")

_FIGURES: Final = (
    "bill_pusd",
    "bill_quantity",
    "logged_pusd",
    "logged_quantity",
    "unpriced_quantity",
    "valued",
    "awaited",
    "last_us",
)
"""The columns of a cell's row that are fields of `Cell`."""


@dataclass(frozen=True, slots=True)
class CellTable:
    """`rows`: one a cell, in no order (putting a year's in order takes longer than adding them up), with bill_pusd,
    bill_quantity, valued, awaited, last_us, logged_pusd, logged_quantity, unpriced_quantity, difference (null: a side
    is unknown). `bill` and `logged` are what they sum up.
    """

    rows: pl.DataFrame
    bill: pl.DataFrame
    logged: pl.DataFrame

    def cells(self, rows: pl.DataFrame | None = None) -> list[Cell]:
        """The cells of these rows, in their order; all in the order of KEY where none are given."""
        chosen = self.rows.sort(KEY) if rows is None else rows
        if chosen.is_empty():
            return []
        billed, logged = _of(self.bill, chosen), _of(self.logged, chosen)
        tiers = _tiers(logged.filter(pl.col("priced")))
        bill_tiers = _sets(billed.filter(pl.col("has_cost"), ~pl.col("usage_class").is_in(CHARGES)), "tier", "batch")
        names = _sets(logged.filter(pl.col("group") != OTHER), "model_id")
        units = _units(billed)
        found = []
        for row in chosen.select(*KEY, *_FIGURES).iter_rows():
            place, figures = row[: len(KEY)], dict(zip(_FIGURES, row[len(KEY) :], strict=True))
            found.append(
                Cell(
                    CellKey(*place),
                    names={name for (name,) in names.get(place, ())},
                    units=units.get(place, {}),
                    logged_tiers=tiers.get(place, {}),
                    bill_tiers=bill_tiers.get(place, set()),
                    **figures,
                )
            )
        return found

    def charges_usage(self, provider: str) -> bool:
        """Whether a bill of the provider says what usage costs."""
        usage = pl.col("has_cost") & ~pl.col("usage_class").is_in(CHARGES)
        return bool(self.bill.select((usage & (pl.col("provider") == provider)).any()).item())

    def cell(self, key: CellKey) -> Cell | None:
        """The cell of a key."""
        found = self.of([key])
        return self.cells(found)[0] if found.height else None

    def of(self, keys: Iterable[CellKey]) -> pl.DataFrame:
        """The rows of some cells."""
        wanted = pl.DataFrame(
            [tuple(getattr(key, name) for name in KEY) for key in set(keys)],
            schema={name: self.rows.schema[name] for name in KEY},
            orient="row",
        )
        return self.rows.join(wanted, on=KEY, how="semi")


def table_of(lines: pl.DataFrame, logged: pl.DataFrame, levels: Levels) -> CellTable:
    """The cells of counting lines of bills (with `group`, costs in USD) and of the requests beside them."""
    bill = _amounts(levels.place(lines))
    rows = levels.place(_by_class(logged))
    told = [*KEY, "amount", "counts", "valued", "awaited", "last_us"], [*KEY, "pusd", "tokens", "unpriced"]
    sides = pl.concat([bill.select(told[0]), rows.select(told[1])], how="diagonal")
    is_other = pl.col("usage_class") == OTHER
    grouped = sides.lazy().group_by(KEY)  # lazily: it takes a third of the time
    sums = grouped.agg(
        pl.col("amount", "counts", "valued", "awaited", "pusd", "tokens", "unpriced").sum(),
        pl.col("amount", "counts", "tokens").count().name.prefix("n_"),
        pl.col("last_us").max(),
    )
    both = sums.select(
        *KEY,
        bill_pusd=pl.when(pl.col("n_amount") > 0).then("amount"),
        bill_quantity=pl.when(pl.col("n_counts") > 0).then("counts"),
        valued=pl.col("valued") > 0,
        awaited=pl.col("awaited") > 0,
        last_us=pl.max_horizontal("last_us", "at_us"),
        logged_pusd="pusd",
        logged_quantity=pl.when(~is_other & (pl.col("n_tokens") > 0)).then("tokens"),
        unpriced_quantity="unpriced",
    ).collect()
    return CellTable(_completed(both), bill, rows)


def _amounts(bill: pl.DataFrame) -> pl.DataFrame:
    """What each line charges and counts. Where a day has a usage report, tokens of its cost lines are not counted."""
    place = ["provider", "at_us"]
    reported = bill.filter(~pl.col("has_cost")).select(place).unique().with_columns(reported=True)
    open_cost = ~pl.col("has_cost") & ~pl.col("cost_elsewhere")
    tokens = ~pl.col("usage_class").is_in([OTHER, *CHARGES])
    return bill.join(reported, on=place, how="left").with_columns(
        amount=pl.when("has_cost").then("cost_pusd").when(open_cost).then("value_pusd"),
        counts=pl.when(tokens & (~pl.col("has_cost") | pl.col("reported").is_null())).then("quantity"),
        valued=open_cost & pl.col("value_pusd").is_not_null(),
        awaited=open_cost & pl.col("value_pusd").is_null(),
        **_tier(),
    )


def _by_class(logged: pl.DataFrame) -> pl.DataFrame:
    """One row a class of the requests; without those of which nothing is known."""
    named = logged.with_columns(**_tier())
    kept = [name for name in (*_LONG, "tier", "batch") if name in named.columns]
    parts = [
        named.select(*kept, group=pl.lit(group), tokens=pl.col(f"{group}_tokens"), given=pl.col(f"{group}_pusd"))
        for group in TOKEN_GROUPS
    ]
    parts.append(named.select(*kept, group=pl.lit(OTHER), tokens=pl.lit(0, pl.Int64), given=pl.col("other_pusd")))
    return (
        pl.concat(parts)
        .filter((pl.col("tokens") != 0) | (pl.col("given").fill_null(0) != 0))
        .with_columns(
            priced=pl.col("given").is_not_null(),
            pusd=pl.col("given").fill_null(0),
            unpriced=pl.when(pl.col("given").is_null()).then("tokens").otherwise(0),
        )
        .drop("given")
    )


def _tier() -> dict[str, pl.Expr]:
    """(service tier, whether batch) of a row of either side; a tier that is not said is the usual one."""
    tier = pl.col("service_tier").fill_null(UNASSIGNED)
    return {
        "tier": pl.when(tier.is_in(USUAL_TIERS)).then(pl.lit(UNASSIGNED)).otherwise(tier),
        "batch": pl.col("is_batch").cast(pl.String).str.to_lowercase().eq_missing(pl.lit("true")),
    }


def _completed(both: pl.DataFrame) -> pl.DataFrame:
    """What no amount means: nothing was charged where nothing is counted; a quantity without cost or price is worth
    what the logs' own costs, else unknown.
    """
    unsaid, quantity = pl.col("bill_pusd").is_null(), pl.col("bill_quantity").fill_null(0)
    priced = pl.col("logged_quantity").fill_null(0) - pl.col("unpriced_quantity")
    asked = both.filter(unsaid & (quantity != 0) & (priced > 0) & pl.col("awaited"))
    worth = [
        round(Fraction(count * cost, tokens))
        for count, cost, tokens in asked.select("bill_quantity", "logged_pusd", priced.alias("priced")).iter_rows()
    ]
    nothing = pl.when((quantity == 0) & ~pl.col("awaited")).then(0)
    told = both.with_columns(bill_pusd=pl.coalesce("bill_pusd", nothing))
    if worth:
        estimates = asked.select(KEY).with_columns(estimate=pl.Series(worth, dtype=pl.Int64))
        joined = told.join(estimates, on=KEY, how="left")
        told = joined.with_columns(
            bill_pusd=pl.coalesce("bill_pusd", "estimate"), valued=pl.col("valued") | pl.col("estimate").is_not_null()
        ).drop("estimate")
    return told.with_columns(difference=pl.col("bill_pusd") - pl.col("logged_pusd"))


def _of(rows: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    return rows.join(cells.select(KEY), on=KEY, how="semi")


def _sets(rows: pl.DataFrame, *names: str) -> dict[tuple[Any, ...], set[tuple[Any, ...]]]:
    found: dict[tuple[Any, ...], set[tuple[Any, ...]]] = defaultdict(set)
    for row in rows.select(*KEY, *names).unique().iter_rows():
        found[row[: len(KEY)]].add(row[len(KEY) :])
    return found


def _tiers(rows: pl.DataFrame) -> dict[tuple[Any, ...], dict[tuple[str, bool], tuple[int, int]]]:
    """(service tier, whether batch) of the requests -> tokens with a price and what they cost."""
    found: dict[tuple[Any, ...], dict[tuple[str, bool], tuple[int, int]]] = defaultdict(dict)
    sums = rows.filter(pl.col("group") != OTHER).group_by(*KEY, "tier", "batch").agg(pl.col("tokens", "pusd").sum())
    for *place, tier, batch, tokens, cost in sums.iter_rows():
        found[tuple(place)][tier, batch] = (tokens, cost)
    return found


def _units(bill: pl.DataFrame) -> dict[tuple[Any, ...], dict[str, int]]:
    """What is counted beside tokens, by class."""
    found: dict[tuple[Any, ...], dict[str, int]] = defaultdict(dict)
    known = bill.filter(
        pl.col("usage_class") == OTHER,
        pl.col("quantity").is_not_null(),
        ~pl.col("has_cost") | pl.col("reported").is_null(),
    )
    for *place, name, quantity in known.group_by(*KEY, "class").agg(pl.col("quantity").sum()).iter_rows():
        found[tuple(place)][name] = quantity
    return found
