"""Bill and requests as frames whose rows name their cell: as fine as both sides can tell.

A bill that names no model (or no token class, or a period of several days) is compared over all of them, on both sides;
accounts are told apart only where the logs name the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from app.analysis.bill_cells import ALL_TOKENS, CHARGES, OTHER, TOKEN_GROUPS
from app.analysis.model_names import plain_model

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY_US: Final = 86_400_000_000
KEY: Final = ("at_us", "provider", "account", "model", "usage_class")
"""The columns of a `CellKey`."""
_PLACE: Final = ["provider", "who", "at_us"]


@dataclass(frozen=True, slots=True)
class Levels:
    """How finely each provider and day can be compared.

    `days`: (provider, at_us, first_us) of days that are compared together with others, from the first of them on.
    `without_model` and `without_class`: the places where a bill names none.
    """

    by_account: Sequence[str]
    days: pl.DataFrame
    without_model: pl.DataFrame
    without_class: pl.DataFrame

    def place(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows (at_us, provider, account, model_id, group) with the columns KEY of the cell that each belongs to."""
        placed = _first_days(rows, self.days).with_columns(who=_who(self.by_account), plain=_plain(rows))
        is_charge, group = pl.col("group").is_in(CHARGES), pl.col("group")
        nameless, whole = is_charge | (group == OTHER), pl.lit(value=False)
        if self.without_model.height:
            placed = placed.join(self.without_model, on=_PLACE, how="left", maintain_order="left")
            nameless |= pl.col("nameless").fill_null(value=False)
        placed = placed.with_columns(plain=pl.when(nameless).then(pl.lit("")).otherwise("plain"))
        if self.without_class.height:
            placed = placed.join(self.without_class, on=[*_PLACE, "plain"], how="left", maintain_order="left")
            whole = pl.col("whole").fill_null(value=False) & group.is_in(TOKEN_GROUPS)
        return placed.with_columns(
            account="who", model="plain", usage_class=pl.when(whole).then(pl.lit(ALL_TOKENS)).otherwise(group)
        ).drop("who", "plain", "nameless", "whole", strict=False)


def levels_of(lines: pl.DataFrame, logged: pl.DataFrame) -> Levels:
    """The levels that the lines of a bill (with `group`) and the requests beside them allow."""
    usage = lines.filter(pl.col("kind") == "usage")
    billed = {name: set(of) for name, of in usage.group_by("provider").agg(pl.col("account").unique()).rows()}
    seen = logged.group_by("provider").agg(pl.col("account").unique()).rows()
    apart = [name for name, of in seen if None not in of and set(of) & billed.get(name, set())]
    days = _together(usage)
    tokens = _first_days(usage.filter(pl.col("group") != OTHER), days).with_columns(who=_who(apart))
    nameless = tokens.filter(pl.col("model_id").is_null()).select(_PLACE).unique().with_columns(nameless=True)
    whole = (
        tokens.filter(pl.col("group") == ALL_TOKENS)
        .with_columns(plain=_plain(tokens))
        .join(nameless, on=_PLACE, how="left")
        .with_columns(plain=pl.when(pl.col("nameless")).then(pl.lit("")).otherwise("plain"))
        .select(*_PLACE, "plain")
        .unique()
        .with_columns(whole=True)
    )
    return Levels(apart, days, nameless, whole)


def _together(usage: pl.DataFrame) -> pl.DataFrame:
    """The days of lines about several days, each with the first of the days that it is compared with."""
    spans = usage.filter(pl.col("last_us") > pl.col("at_us")).select("provider", "at_us", "last_us").unique()
    found: list[tuple[str, int, int]] = []
    last: dict[str, tuple[int, int]] = {}
    for provider, at_us, last_us in spans.sort("provider", "at_us", "last_us").rows():
        first, through = last.get(provider, (at_us, at_us - DAY_US))
        if at_us > through:
            first, through = at_us, at_us - DAY_US
        found += [(provider, day, first) for day in range(max(at_us, through + DAY_US), last_us + 1, DAY_US)]
        last[provider] = first, max(through, last_us)
    schema = {"provider": pl.String, "at_us": pl.Int64, "first_us": pl.Int64}
    return pl.DataFrame(found, schema=schema, orient="row")


def _first_days(rows: pl.DataFrame, days: pl.DataFrame) -> pl.DataFrame:
    if days.is_empty():
        return rows
    joined = rows.join(days, on=["provider", "at_us"], how="left", maintain_order="left")
    own = pl.col("group").is_in(CHARGES) if "group" in rows.columns else pl.lit(value=False)
    return joined.with_columns(at_us=pl.when(own).then("at_us").otherwise(pl.coalesce("first_us", "at_us"))).drop(
        "first_us"
    )


def _who(apart: Sequence[str]) -> pl.Expr:
    named = pl.col("provider").is_in(list(apart))
    return pl.when(named).then(pl.col("account").fill_null("")).otherwise(pl.lit(""))


def _plain(rows: pl.DataFrame, column: str = "model_id") -> pl.Expr:
    names = {name: plain_model(name or "") for name in rows[column].unique()}
    return pl.col(column).replace_strict(names, return_dtype=pl.String)
