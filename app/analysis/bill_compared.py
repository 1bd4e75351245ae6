"""Which bills and requests of a period are set against each other, and what is left beside the comparison, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from app.analysis.bill_cells import TOKEN_GROUPS, group_of
from app.analysis.bill_sides import DAY_US, levels_of
from app.analysis.bill_table import table_of
from app.analysis.days import EVERYTHING
from app.analysis.model_names import plain_model
from app.core.view import UNASSIGNED

if TYPE_CHECKING:
    from app.analysis.bill_sides import Levels
    from app.analysis.bill_table import CellTable
    from app.core.view import Period
    from app.warehouse.store import Session

NOON_US: Final = DAY_US // 2
_END_OF_TIME: Final = 2**62


@dataclass(frozen=True, slots=True)
class Aside:
    """What is not compared, and why: a doubled bill, a currency without a rate, other services, requests beside it."""

    what: str
    name: str
    pusd: int | None
    native: str | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """The cells of a period, how finely they are cut, the lines of bills that count, and what stands beside them."""

    table: CellTable
    levels: Levels
    counting: pl.DataFrame
    asides: tuple[Aside, ...]


def days_of(period: Period) -> dict[str, int]:
    """The range of noons of a period's days: a day is of the period that its noon is in, and everything is every day,
    however early its last request came.
    """
    return {"from_us": period.from_us, "to_us": _END_OF_TIME if period.name == EVERYTHING else period.to_us}


def compared(session: Session, period: Period) -> Compared | None:
    """Both sides of the days of a period; None where no bill speaks of it."""
    if not session.rows("billed.any")[0][0]:
        return None
    lines = session.frame("billed.lines", None, **days_of(period))
    if lines.is_empty():
        return None
    groups = {name: group_of(name) for name in lines["class"].unique()}
    named = lines.with_columns(
        group=pl.when(pl.col("kind") == "usage")
        .then(pl.col("class").replace_strict(groups, return_dtype=pl.String))
        .otherwise("kind")
    )
    counting = named.filter(pl.col("doubled_by").is_null(), pl.col("kind") != "other")
    logged, beside = _requests(session, counting)
    levels = levels_of(counting, logged)
    known = counting.filter(~pl.col("has_cost") | pl.col("cost_pusd").is_not_null())
    asides = (*_left_out(lines), *_beside(beside), *_cut_short(session))
    return Compared(table_of(known, logged, levels), levels, counting, asides)


def _requests(session: Session, counting: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What was logged on days that a bill of the provider covers, of sources billed by the request; and the rest."""
    spans = (
        counting.filter(pl.col("kind") == "usage")
        .group_by("provider")
        .agg(first=pl.col("at_us").min(), last=pl.col("last_us").max())
    )
    ends = spans.select(pl.col("first").min(), pl.col("last").max()).row(0)
    first, last = ends if spans.height else (NOON_US, NOON_US)
    rows = session.frame("billed.logged", None, from_us=max(first - NOON_US, 0), to_us=last + NOON_US)
    rows = served_by(rows.with_columns(account=pl.when(pl.col("account") != UNASSIGNED).then("account")), counting)
    rows = rows.join(spans, on="provider", how="left", maintain_order="left").with_columns(
        covered=pl.col("at_us").is_between("first", "last").fill_null(value=False)
    )
    is_compared = pl.col("covered") & (pl.col("billing") == "api")
    return rows.filter(is_compared), rows.filter(~is_compared) if spans.height else rows.clear()


def served_by(rows: pl.DataFrame, counting: pl.DataFrame) -> pl.DataFrame:
    """Requests that do not say who served them are of the provider that alone bills their model."""
    nameless = rows.filter(pl.col("provider") == UNASSIGNED)
    if nameless.is_empty():
        return rows
    sellers: dict[str, set[str]] = {}
    for model, provider in (
        counting.filter(pl.col("model_id").is_not_null()).select("model_id", "provider").unique().rows()
    ):
        sellers.setdefault(plain_model(model), set()).add(provider)
    alone = {
        name: next(iter(sellers.get(plain_model(name), {UNASSIGNED})))
        if len(sellers.get(plain_model(name), ())) == 1
        else UNASSIGNED
        for name in nameless["model_id"].unique()
    }
    seller = pl.col("model_id").replace_strict(alone, default=UNASSIGNED, return_dtype=pl.String)
    return rows.with_columns(provider=pl.when(pl.col("provider") == UNASSIGNED).then(seller).otherwise("provider"))


def _left_out(lines: pl.DataFrame) -> list[Aside]:
    cost = pl.col("cost_pusd").cast(pl.Int128).sum()
    is_doubled = pl.col("doubled_by").is_not_null()
    twice = lines.filter(is_doubled & (pl.col("doubled_by") != pl.col("source")))
    is_foreign = ~is_doubled & pl.col("has_cost") & pl.col("cost_pusd").is_null()
    doubled = twice.group_by("source", "doubled_by").agg(_known_cost()).sort("source", "doubled_by")
    foreign = lines.filter(is_foreign).group_by("currency").agg(pl.col("unconverted").sum()).sort("currency")
    others = (
        lines.filter(~is_doubled & ~is_foreign & (pl.col("kind") == "other"))
        .group_by("provider")
        .agg(cost)
        .sort("provider")
    )
    return [
        *(
            Aside("the same bill twice", f"{source} (counted from {better})", None if pusd is None else int(pusd))
            for source, better, pusd in doubled.rows()
        ),
        *_unlike(lines),
        *_gone(lines),
        *_cut_by_newer(lines),
        *_less_together(lines),
        *(Aside("a currency without a rate", name or "?", None, f"{sum_:f}") for name, sum_ in foreign.rows()),
        *(Aside("other services on the bill", name, int(pusd or 0)) for name, pusd in others.rows()),
    ]


def _known_cost() -> pl.Expr:
    """The sum of what is known of costs; unknown where nothing is, as of a report of usage."""
    cost = pl.col("cost_pusd")
    return pl.when(cost.is_not_null().any()).then(cost.cast(pl.Int128).sum()).alias("cost_pusd")


def _unlike(lines: pl.DataFrame) -> list[Aside]:
    """Bills of the same days that both count, because they name no payer and are nothing alike."""
    of = ["source", "unlike"]
    told = lines.filter(pl.col("doubled_by").is_null(), pl.col("unlike").is_not_null())
    sums = told.group_by(of).agg(_known_cost()).sort(of)
    return [
        Aside(
            "both bills of the same days count",
            f"{source} beside {other}: no payer is named and they agree in nothing, as bills of two organisations do. "
            "If they are one bill, name the same payer in both: organization_id, a column of a CSV, a field of a page",
            None if pusd is None else int(pusd),
        )
        for source, other, pusd in sums.rows()
    ]


def _gone(lines: pl.DataFrame) -> list[Aside]:
    """Items that were on the bill, and that the newest whole export of their days does not have any more."""
    of = ["source", "report", "at_us"]
    sums = lines.filter("is_gone").group_by(of).agg(pl.col("cost_pusd").cast(pl.Int128).sum()).sort(of)
    return [
        Aside("items that a newer export no longer has", f"{report} of {source}, {_iso(at_us)}", int(pusd or 0))
        for source, report, at_us, pusd in sums.rows()
    ]


def _cut_by_newer(lines: pl.DataFrame) -> list[Aside]:
    """Periods that count for nothing because a newer export of their report says some of their days, but not all."""
    is_older = pl.col("doubled_by") == pl.col("source")
    of = ["source", "report", "at_us", "last_us"]
    long = lines.filter(is_older & (pl.col("last_us") > pl.col("at_us")))
    if long.is_empty():
        return []
    days = pl.int_ranges("at_us", pl.col("last_us") + 1, DAY_US).alias("day_us")
    said = lines.filter(pl.col("doubled_by").is_null()).with_columns(days).explode("day_us")
    said = said.select("source", "report", "day_us").unique()
    open_ones = (
        long.select(of)
        .unique()
        .with_columns(days)
        .explode("day_us")
        .join(said, on=["source", "report", "day_us"], how="anti")
    )
    sums = long.join(open_ones, on=of, how="semi").group_by(of).agg(pl.col("cost_pusd").cast(pl.Int128).sum()).sort(of)
    return [
        Aside(
            "a period of which a newer export says some days",
            f"{report} of {source}, {_iso(first)} to {_iso(last)}: its other days are missing here",
            int(pusd or 0),
        )
        for source, report, first, last, pusd in sums.rows()
    ]


def _less_together(lines: pl.DataFrame) -> list[Aside]:
    """Days of which a newer export of another cut (all accounts together, or some apart) says less than is left out."""
    of = ["source", "report", "at_us"]
    single = lines.filter(pl.col("last_us") == pl.col("at_us"), ~pl.col("is_gone"), pl.col("cost_pusd").is_not_null())
    cost, own = pl.col("cost_pusd").cast(pl.Int128), pl.col("doubled_by") == pl.col("source")
    sums = single.group_by(of).agg(
        left_out=cost.filter(own).sum(), counted=cost.filter(pl.col("doubled_by").is_null()).sum()
    )
    return [
        Aside(
            "left out for a newer export that says less",
            f"{report} of {source}, {_iso(at_us)}: one names no account and is taken for all of them together; if that "
            "was the default workspace alone, export all of them in one file",
            int(left_out),
        )
        for source, report, at_us, left_out, counted in sums.sort(of).rows()
        if left_out > counted
    ]


def _iso(at_us: int) -> str:
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).date().isoformat()


def _beside(rows: pl.DataFrame) -> list[Aside]:
    """Requests that are not compared, by why and provider."""
    cost = pl.sum_horizontal(pl.col(f"{name}_pusd").fill_null(0).cast(pl.Int128) for name in (*TOKEN_GROUPS, "other"))
    why = pl.when("covered").then(pl.lit("not billed by the request")).otherwise(pl.lit("no bill"))
    sums = rows.group_by(why.alias("why"), "provider").agg(cost.sum().alias("pusd")).sort("why", "provider")
    return [Aside(f"requests: {reason}", provider, int(pusd)) for reason, provider, pusd in sums.rows() if pusd]


def _cut_short(session: Session) -> list[Aside]:
    """Reports whose last page says that another follows, which was not read: what it says is missing here."""
    return [
        Aside("a bill cut short", f"{report} of {source}: has_more after {last_day}, the next page was not read", None)
        for source, report, last_day, _ in session.rows("billed.cut_short")
    ]
