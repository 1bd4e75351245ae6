"""Calls that several sources told of: every source keeps its place, the one of its fullest snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from app.warehouse.store import Session

_PLACE: Final = ("request_key", "source", "source_record", "origin_file", "origin_line", "fullness")


def note_origins(
    session: Session,
    requests: pl.DataFrame,
    standing: pl.DataFrame,
    folded: pl.DataFrame | None,
    renamed: pl.DataFrame,
) -> None:
    """Keep the places of calls that several sources tell of: one a source, that of its fullest snapshot.

    Args:
        requests: the arriving rows of all shards, before any were joined.
        standing: the stored rows of their keys.
        folded: places of rows that were joined while a shard was filled, of other chunks than the one that stayed.
        renamed: rows of which the key was another call's (shard_no, request_key).
    """
    twice = requests["request_key"].n_unique() < requests.height
    if not twice and not standing.height and folded is None:
        return
    arriving = _beyond(requests.join(renamed, on=["shard_no", "request_key"], how="anti"), standing)
    if not arriving.height and folded is None:
        return
    frames = [frame for frame in (standing, arriving, folded) if frame is not None and frame.height]
    told = pl.concat(
        (frame.with_columns(fullness=_fullness(frame), new=pl.lit(frame is not standing)).select(*_PLACE, "new")
         for frame in frames),
        how="vertical_relaxed",
    )  # fmt: skip
    fullest = (
        told.with_columns(sources=pl.col("source").n_unique().over("request_key"))
        .sort("fullness", descending=True, nulls_last=True, maintain_order=True)
        .unique(["request_key", "source"], keep="first", maintain_order=True)
    )
    # Where one source tells of a call again, fuller than it stands, the place may be one that others stand beside.
    stands = pl.col("request_key").is_in(standing["request_key"].implode())
    wanted = fullest.filter((pl.col("sources") > 1) | (stands & pl.col("new")))
    if wanted.height:
        session.register("incoming_origins", wanted.drop("new"))
        session.execute("ingest.insert_origins")
        session.unregister("incoming_origins")


def _beyond(arriving: pl.DataFrame, standing: pl.DataFrame) -> pl.DataFrame:
    """Without those that a row of the same source covers which stands: its place is the one to keep."""
    if not standing.height:
        return arriving
    rows = arriving.select("request_key", "source", "source_record", "origin_file", "origin_line", "fullness")
    stood = standing.select("request_key", "source", stood="fullness")
    covered = (pl.col("fullness") <= pl.col("stood")).fill_null(value=False)
    return rows.join(stood, on=["request_key", "source"], how="left", maintain_order="left").filter(~covered)


def _fullness(frame: pl.DataFrame) -> pl.Expr:
    """Shards of older versions do not say how full what they folded was."""
    return pl.col("fullness") if "fullness" in frame.columns else pl.lit(None, dtype=pl.Int64)
