"""Which rows bring nothing to the rows that stand: what a log says that was read before, or that a fuller one covers.

Most of what comes twice is of this kind. It is told with a tenth of the work of the law (`snapshots.py`), whose answer
for these rows is known: nothing changes. Where it is not plain, a row is said to bring something, and the law decides.
"""

from __future__ import annotations

import polars as pl

from app.warehouse.labels import brings_labels
from app.warehouse.snapshots import CHARGE, FILLED, LENT, PROMPT, SAID, WAS


def bringing(pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs of `ranked` rows of which the first may change the second."""
    full, full_was = pl.col("fullness"), pl.col("fullness_was")
    alike = full == full_was
    brings = [
        full > full_was,
        pl.col("is_batch") & ~pl.col("is_batch_was"),
        alike & pl.any_horizontal(_differ(name) for name in (*SAID, "source", "source_record")),
    ]
    for name in (*FILLED, "prompt_bytes"):
        if pairs[name].null_count() == pairs.height:
            continue
        lender = f"{LENT[name]}{WAS}"
        better, tie = pl.lit(value=False), alike
        if lender in pairs.columns:
            rank = pl.coalesce(lender, full_was)
            better, tie = full > rank, full == rank
        differ = pl.any_horizontal(map(_differ, PROMPT)) if name == "prompt_bytes" else _differ(name)
        if name in CHARGE:  # the provider's word goes before a fuller snapshot's
            tie = pl.lit(value=True)
        brings.append(pl.col(name).is_not_null() & (pl.col(f"{name}{WAS}").is_null() | better | (tie & differ)))
    labels = brings_labels(pairs)
    return pairs.filter(pl.any_horizontal(brings).fill_null(value=True) | labels)


def _differ(name: str) -> pl.Expr:
    return pl.col(name).ne_missing(pl.col(f"{name}{WAS}"))
