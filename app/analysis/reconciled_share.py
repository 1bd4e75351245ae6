"""The reconciled share of a period alone, for pages that show only that: the cells of `bill_cells`, column by column.

It is the same number as `Reconciliation.share`, without a cell, a residual or a line of evidence being made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from app.analysis.bill_cells import ALL_TOKENS, OTHER, TOKEN_GROUPS, group_of
from app.analysis.model_names import plain_model
from app.analysis.reconciliation import UNKNOWN, compared_range, days_of

if TYPE_CHECKING:
    from app.core.view import Period
    from app.warehouse.store import Session

_KEY: Final = ["at_us", "provider", "who", "what", "group"]
_PLACE: Final = ["provider", "who", "at_us"]


def reconciled_share(session: Session, period: Period) -> float | None:
    """Share of the bill's dollars that requests stand for; None where no bill speaks of the period."""
    if not session.rows("billed.any")[0][0]:
        return None
    lines = session.frame("billed.lines", None, **days_of(period)).filter(
        pl.col("doubled_by").is_null(),
        pl.col("kind") == "usage",
        pl.col("has_cost").not_() | pl.col("cost_pusd").is_not_null(),
    )
    if lines.is_empty():
        return None
    spans = lines.group_by("provider").agg(first=pl.col("at_us").min(), last=pl.col("at_us").max())
    logged = _compared(session.frame("billed.logged", None, **compared_range(lines["at_us"])), lines, spans)
    apart = _by_account(lines, logged)
    bill, rows = _placed(lines, logged, apart)
    return _share(bill, rows)


def _compared(logged: pl.DataFrame, lines: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """The requests of days that a bill of their provider covers, billed by the request."""
    named = lines.filter(pl.col("model_id").is_not_null()).select("provider", what=_plain("model_id")).unique()
    alone = named.filter(pl.len().over("what") == 1).rename({"provider": "seller"})
    return (
        logged.with_columns(what=_plain("model_id"))
        .join(alone, on="what", how="left")
        .with_columns(
            provider=pl.when(pl.col("provider") == UNKNOWN)
            .then(pl.coalesce("seller", "provider"))
            .otherwise("provider"),
            account=pl.when(pl.col("account") != UNKNOWN).then("account"),
        )
        .join(spans, on="provider", how="inner")
        .filter(pl.col("at_us").is_between("first", "last"), pl.col("billing") == "api")
    )


def _by_account(lines: pl.DataFrame, logged: pl.DataFrame) -> list[str]:
    """Providers whose accounts the logs name as the bill does."""
    billed = {
        name: set(accounts) for name, accounts in lines.group_by("provider").agg(pl.col("account").unique()).rows()
    }
    seen = logged.group_by("provider").agg(pl.col("account").unique()).rows()
    return [name for name, accounts in seen if None not in accounts and set(accounts) & billed.get(name, set())]


def _placed(lines: pl.DataFrame, logged: pl.DataFrame, apart: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both sides with the keys of their cells: bill (amount, quantity, valued), requests (pusd, tokens, unpriced)."""
    who = pl.when(pl.col("provider").is_in(apart)).then(pl.col("account").fill_null("")).otherwise(pl.lit(""))
    groups = {name: group_of(name) for name in lines["class"].unique()}
    bill = lines.with_columns(who=who, group=pl.col("class").replace_strict(groups, return_dtype=pl.String))
    tokens = bill.filter(pl.col("group") != OTHER)
    nameless = tokens.filter(pl.col("model_id").is_null()).select(_PLACE).unique().with_columns(nameless=True)
    bill = _with_model(bill, nameless)
    whole = bill.filter(pl.col("group") == ALL_TOKENS).select(*_PLACE, "what").unique().with_columns(whole=True)
    bill = _with_class(bill, whole)
    place = ["provider", "at_us"]
    counted = bill.filter(pl.col("has_cost").not_()).select(place).unique().with_columns(counted=True)
    bill = (
        bill.join(counted, on=place, how="left")
        .with_columns(pl.col("counted").fill_null(value=False), valued=~pl.col("has_cost") & ~pl.col("cost_elsewhere"))
        .with_columns(
            amount=pl.when("has_cost").then("cost_pusd").when("valued").then("value_pusd"),
            counts=pl.when(pl.col("has_cost").not_() | pl.col("counted").not_()).then("quantity"),
        )
    )
    return bill, _with_class(_with_model(_long(logged).with_columns(who=who), nameless), whole)


def _long(logged: pl.DataFrame) -> pl.DataFrame:
    """One row a class of the requests."""
    parts = [
        logged.select(
            "at_us", "provider", "account", "model_id",
            group=pl.lit(group), tokens=pl.col(f"{group}_tokens"), pusd=pl.col(f"{group}_pusd"),
        )
        for group in TOKEN_GROUPS
    ]  # fmt: skip
    other = logged.select(
        "at_us", "provider", "account", "model_id", group=pl.lit(OTHER), tokens=pl.lit(0, pl.Int64), pusd="other_pusd"
    )
    return pl.concat([*parts, other]).with_columns(
        unpriced=pl.when(pl.col("pusd").is_null()).then("tokens").otherwise(0), pusd=pl.col("pusd").fill_null(0)
    )


def _plain(column: str) -> pl.Expr:
    return pl.col(column).fill_null("").map_elements(plain_model, return_dtype=pl.String)


def _with_model(rows: pl.DataFrame, nameless: pl.DataFrame) -> pl.DataFrame:
    names = {name: plain_model(name or "") for name in rows["model_id"].unique()}
    plain = pl.col("model_id").replace_strict(names, return_dtype=pl.String)
    joined = rows.drop("what", strict=False).join(nameless, on=_PLACE, how="left")
    everything = (pl.col("group") == OTHER) | pl.col("nameless").fill_null(value=False)
    return joined.with_columns(what=pl.when(everything).then(pl.lit("")).otherwise(plain)).drop("nameless")


def _with_class(rows: pl.DataFrame, whole: pl.DataFrame) -> pl.DataFrame:
    joined = rows.join(whole, on=[*_PLACE, "what"], how="left")
    together = pl.col("whole").fill_null(value=False) & pl.col("group").is_in(TOKEN_GROUPS)
    return joined.with_columns(group=pl.when(together).then(pl.lit(ALL_TOKENS)).otherwise("group")).drop("whole")


def _share(bill: pl.DataFrame, rows: pl.DataFrame) -> float | None:
    known = pl.col("amount").is_not_null().any()
    cells = bill.group_by(_KEY).agg(
        amount=pl.when(known).then(pl.col("amount").sum()),
        quantity=pl.when(pl.col("group") != OTHER).then("counts").sum(),
        valued=pl.col("valued").any(),
    )
    logged = rows.group_by(_KEY).agg(pl.col("pusd", "tokens", "unpriced").sum())
    both = cells.join(logged, on=_KEY, how="left").with_columns(pl.col("pusd", "tokens", "unpriced").fill_null(0))
    priced = pl.col("tokens") - pl.col("unpriced")
    # What no amount means: see `bill_cells`.
    valued = (
        pl.when(pl.col("quantity") == 0)
        .then(0.0)
        .when(pl.col("valued"), priced > 0)
        .then(pl.col("quantity").cast(pl.Float64) * pl.col("pusd") / priced)
    )
    amount = pl.coalesce(pl.col("amount").cast(pl.Float64), valued)
    sums = (
        both.filter(amount.is_not_null())
        .select(
            whole=amount.clip(0).sum(), matched=pl.min_horizontal(amount, pl.col("pusd").cast(pl.Float64)).clip(0).sum()
        )
        .row(0)
    )
    return sums[1] / sums[0] if sums[0] else None
