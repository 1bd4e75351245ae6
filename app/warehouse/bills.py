"""Lines of bills into `billed`: the same export again changes nothing, a newer one of the same days takes their place.

What one export says of a report, an account and a day is whole, so days are replaced, never added to. Which export is
newer is told by the time of its file, so the order of reading changes nothing. Days and longer periods of one report
stand beside each other; which of them counts is told by `app.warehouse.bill_periods`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from app.warehouse import bill_periods

if TYPE_CHECKING:
    from decimal import Decimal

    from app.warehouse.store import Session

_IDENTITY: Final = (
    "source",
    "report",
    "scope",
    "day",
    "provider",
    "account",
    "model",
    "class",
    "kind",
    "region",
    "service_tier",
    "is_batch",
    "line_item",
    "unit",
    "currency",
)
_AMOUNTS: Final = ("quantity", "requests", "cost", "effective_cost", "list_cost")
_DAY: Final = ["source", "report", "scope", "day"]


@dataclass(frozen=True, slots=True)
class Taken:
    """`chunks`: shard_no, chunk_no, stored, updated: how many lines of each chunk are new, or say other amounts than
    before. `contradicted`: sentences about files whose days another file took over that says nothing the same.
    """

    chunks: pl.DataFrame
    contradicted: tuple[str, ...]


def take_bills(session: Session, incoming: pl.DataFrame) -> Taken:
    """Store lines: the columns of `billed`, day as ISO text, with shard_no and chunk_no; call in a transaction."""
    for name in {"last_day", "payer"}.difference(incoming.columns):  # a shard that was written before lines had it
        incoming = incoming.with_columns(pl.lit(None, pl.String).alias(name))
    incoming = _newest_readings(incoming)
    session.register("incoming_billed", incoming)
    before = session.frame("billed.standing")
    session.execute("billed.forget_older_reading")
    session.execute("billed.insert")
    overtaken = bill_periods.replaced(session, incoming.select(_DAY).unique())
    contradicted: tuple[str, ...] = ()
    if overtaken.height:
        session.register("overtaken_billed", overtaken)
        contradicted = tuple(_contradicted(*row) for row in session.rows("billed.contradicted"))
        session.execute("billed.delete_overtaken")
        session.unregister("overtaken_billed")
    session.unregister("incoming_billed")
    told = incoming.with_columns(last_day=pl.coalesce("last_day", "day"))
    return Taken(_outcome(told.join(overtaken, on=list(bill_periods.KEY), how="anti"), before), contradicted)


def _contradicted(file: str, newer: str, currency: str, first: str, last: str, cost: Decimal) -> str:
    amount = f"{cost.normalize():f} {currency}".strip()
    days = first if first == last else f"{first} to {last}"
    return (
        f"{file}: its {amount} of {days} no longer count, because {newer} says these days too, and nothing the same. "
        "If it is the bill of another organisation, give both an organization_id: a column of a CSV, a field of a page."
    )


def _newest_readings(incoming: pl.DataFrame) -> pl.DataFrame:
    """What counts where one file was read more than once before this: its newest reading from the start, and what came
    after that one; of a page of it the newest; of one and the same reading by two tasks, one.
    """
    file, page = ["source", "path"], [*_DAY, "path", "page"]
    whole = pl.col("page") == 0
    begun = incoming.filter(whole, pl.col("byte_from") == 0).group_by(file).agg(begun_ns=pl.col("file_mtime_ns").max())
    paged = incoming.filter(~whole).group_by(page).agg(paged_ns=pl.col("file_mtime_ns").max())
    newest = (
        incoming.join(begun, on=file, how="left", maintain_order="left")
        .join(paged, on=page, how="left", maintain_order="left", nulls_equal=True)
        .filter(pl.col("file_mtime_ns") >= pl.when(whole).then("begun_ns").otherwise("paged_ns").fill_null(-(2**63)))
        .drop("begun_ns", "paged_ns")
    )
    reading = [*file, "file_bytes", "file_mtime_ns", "byte_from", "page"]
    task = pl.col("task").str.head(16)  # a task's shards share the beginning of their names
    return newest.filter(task == task.max().over(reading))


def _outcome(kept: pl.DataFrame, before: pl.DataFrame) -> pl.DataFrame:
    """Lines by what became of them; where an export only leaves lines out, one of the others counts as updated."""
    now = kept.group_by(_IDENTITY).agg(*(_known_sum(name) for name in _AMOUNTS))
    joined = now.join(before, on=list(_IDENTITY), how="left", nulls_equal=True, suffix="_before", coalesce=True)
    known = joined.join(before.select(_IDENTITY), on=list(_IDENTITY), how="semi", nulls_equal=True).with_columns(
        differs=pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_before")) for name in _AMOUNTS)
    )
    gone = before.join(kept.select(_DAY).unique(), on=_DAY, how="semi").join(
        now, on=list(_IDENTITY), how="anti", nulls_equal=True
    )
    told = kept.join(
        known.select(*_IDENTITY, "differs"), on=list(_IDENTITY), how="left", nulls_equal=True
    ).with_columns(is_new=pl.col("differs").is_null())
    if gone.height and told.height and not (told["is_new"] | told["differs"]).any():
        told = told.with_row_index("row").with_columns(differs=pl.col("row") == 0)
    return told.group_by("shard_no", "chunk_no").agg(
        stored=pl.col("lines").filter(pl.col("is_new")).sum().cast(pl.Int64),
        updated=pl.col("lines").filter(pl.col("differs").fill_null(value=False)).sum().cast(pl.Int64),
    )


def _known_sum(name: str) -> pl.Expr:
    """The sum of what is known; unknown where nothing is."""
    return pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).sum()).alias(name)
