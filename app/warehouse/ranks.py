"""Who lent the fields of a row, beside it: frames with the fullness of each lender, and the rows that are stored of it.

`lent_<field>` is how full the snapshot is that lent a field, where that is not the row's own; a column that nobody
needs is not there. Single labels stand as `app/warehouse/labels.py` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from app.warehouse.labels import LABELS, labels_of, lent_labels
from app.warehouse.snapshots import LENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LENT_COLUMNS: Final = {"request_key": pl.Int64, "field": pl.String, "fullness": pl.Int64}
_TAGS: Final = "tags."
UNSAID: Final = -1
"""The fullness of a provider that no snapshot named: the price book did."""


def placed(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the shards that their usage and their prompt come from: none for stored ones."""
    stored = "shard_no" not in rows.columns
    shard = pl.lit(None, dtype=pl.Int64) if stored else pl.col("shard_no")
    prompt = pl.when(pl.col("prompt_bytes").is_not_null()).then(shard)
    return rows.with_columns(usage_shard=shard, prompt_shard=prompt, is_joined=pl.lit(stored))


def ranked(rows: pl.DataFrame, lent: pl.DataFrame | None) -> pl.DataFrame:
    """The `placed` rows with who lent each of their fields, as the law needs them.

    Args:
        rows: request rows; stored ones have no shard_no.
        lent: request_key (and shard_no where the rows have one), field, fullness.
    """
    on = ["request_key", "shard_no"] if "shard_no" in rows.columns else ["request_key"]
    rows = placed(rows)
    if lent is None or not lent.height:
        return rows
    of_label = pl.col("field").str.starts_with(_TAGS)
    fields, labels = lent.filter(~of_label), lent.filter(of_label)
    if fields.height:
        wide = fields.pivot("field", index=on, values="fullness")
        rows = rows.join(wide.rename({name: LENT[name] for name in wide.columns if name not in on}), on=on, how="left")
    if labels.height:
        named = labels.with_columns(label=pl.col("field").str.strip_prefix(_TAGS))
        rows = rows.join(lent_labels(named, on), on=on, how="left")
    if len(on) > 1 or "lent_provider" not in rows.columns:
        return rows
    unsaid = (pl.col("lent_provider") == UNSAID).fill_null(value=False)
    return rows.with_columns(
        provider=pl.when(~unsaid).then("provider"), lent_provider=pl.when(~unsaid).then("lent_provider")
    )


def lent_frame(rows: Iterable[tuple[int, Mapping[str, int], Mapping[str, int]]]) -> pl.DataFrame:
    """Who lent what (request_key, field, fullness), of keys with the fullness of those who lent fields and labels."""
    found = [
        (key, name, fullness)
        for key, fields, labels in rows
        for name, fullness in (*fields.items(), *((f"{_TAGS}{label}", rank) for label, rank in labels.items()))
    ]
    return pl.DataFrame(found, schema=LENT_COLUMNS, orient="row")


def lent_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Who lent what of some rows: request_key, field, fullness."""
    unsaid = rows.filter(pl.col("provider").is_null()).select(
        "request_key", field=pl.lit("provider"), fullness=pl.lit(UNSAID, dtype=pl.Int64)
    )
    found = [unsaid]
    for name, column in LENT.items():
        if column in rows.columns:
            lent = rows.filter(pl.col(column).is_not_null())
            found.append(lent.select("request_key", field=pl.lit(name), fullness=column))
    if LABELS[0] in rows.columns:
        field = pl.concat_str(pl.lit(_TAGS), "label")
        found.append(labels_of(rows).select("request_key", field=field, fullness="fullness"))
    return pl.concat(found)


def without_ranks(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows without the columns that say who lent what."""
    return rows.drop(*LENT.values(), *LABELS, strict=False)
