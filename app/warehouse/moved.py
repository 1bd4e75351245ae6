"""Records without any id that were read before at another line: a log that was cut, or whose tail lies in another file.

Such a record is known by its bytes and its line. Where a run of them stands elsewhere in the same order, line by line,
with the same times, counts and checksums, it is the same log, and its calls keep the rows that they have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from app.warehouse.merge import Arrivals
    from app.warehouse.store import Session

OWN_ID: Final = "^~[0-9a-f]{24}$"
# So many records of a run must differ in time and in what they count. The last bits of their fullness are of their
# bytes: three alike by chance are one in 2**48. Calls that are all alike (a probe every minute) prove nothing.
PROOF: Final = 3
# Records that are alike so often (of a log that writes the day alone) say nothing of where one of them moved.
MOST_ALIKE: Final = 32
_CONTENT_BITS: Final = 2**16
_FOUND: Final = ("standing_key", "standing_record", "standing_file", "standing_line")


def with_moved_keys(session: Session, arrivals: Arrivals) -> Arrivals:
    """The arrivals, with the key and the record of the row that stands where theirs is a record that only moved."""
    bare = (
        arrivals.requests.filter(pl.col("source_record").str.contains(OWN_ID), pl.col("start_us").is_not_null())
        .select(
            "request_key", "shard_no", "source", "source_record", "origin_file", "origin_line", "start_us", "fullness"
        )
        .unique("request_key", keep="first", maintain_order=True)
    )
    bare = bare.filter(pl.len().over("source", "start_us", "fullness") <= MOST_ALIKE)
    if bare.height < PROOF:
        return arrivals
    session.register("incoming_bare", bare)
    standing = session.frame("ingest.moved_candidates", most_alike=MOST_ALIKE)
    session.unregister("incoming_bare")
    found = pl.concat([standing, _among(bare).select(standing.columns)], how="vertical_relaxed")
    moved = _proved(bare, found) if found.height else found
    if not moved.height:
        return arrivals
    session.register("incoming_keys", moved.select("request_key"))
    known = session.frame("ingest.standing_keys")
    session.unregister("incoming_keys")
    moved = moved.join(known, on="request_key", how="anti")
    keys, stored = moved["request_key"], moved["standing_key"]
    frames = {
        name: frame.with_columns(pl.col("request_key").replace(keys, stored))
        for name in ("requests", "segments", "parts", "folded", "lent")
        if (frame := getattr(arrivals, name)) is not None
    }
    records = moved.select(request_key="standing_key", moved_record="standing_record").unique("request_key")
    for name in ("requests", "folded"):
        if name in frames:
            named = frames[name].join(records, on="request_key", how="left", maintain_order="left")
            frames[name] = named.with_columns(source_record=pl.coalesce("moved_record", "source_record")).drop(
                "moved_record"
            )
    return replace(arrivals, **frames)


def _among(bare: pl.DataFrame) -> pl.DataFrame:
    """Pairs within the arrivals: a record, and the same at a later line of another file."""
    renamed = bare.select(
        "source", "start_us", "fullness", standing_key="request_key", standing_record="source_record",
        standing_file="origin_file", standing_line="origin_line",
    )  # fmt: skip
    pairs = bare.join(renamed, on=["source", "start_us", "fullness"], how="inner")
    return pairs.filter(
        pl.col("origin_file") != pl.col("standing_file"), pl.col("origin_line") < pl.col("standing_line")
    ).select("request_key", *_FOUND)


def _proved(bare: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """The pairs in runs that prove it, of each record the longest: request_key, standing_key, standing_record."""
    placed = bare.sort("origin_line").with_columns(nth=pl.int_range(pl.len()).over("source", "origin_file"))
    pairs = found.join(placed, on="request_key", how="inner").filter(
        # In one file a record can only have come nearer to the top.
        (pl.col("origin_file") != pl.col("standing_file")) | (pl.col("origin_line") < pl.col("standing_line"))
    )
    place = ("source", "origin_file", "standing_file", "offset")
    runs = (
        pairs.with_columns(offset=pl.col("origin_line") - pl.col("standing_line"))
        .sort("nth")
        .with_columns(run=pl.col("nth") - pl.int_range(pl.len()).over(place))
    )
    whole = (*place, "run")
    return (
        runs.with_columns(
            length=pl.len().over(whole),
            instants=pl.col("start_us").n_unique().over(whole),
            contents=(pl.col("fullness") // _CONTENT_BITS).n_unique().over(whole),
        )
        .filter(pl.min_horizontal("instants", "contents") >= PROOF)
        .sort("length", "standing_line", descending=True, maintain_order=True)
        .unique("request_key", keep="first", maintain_order=True)
        .select("request_key", "standing_key", "standing_record")
    )
