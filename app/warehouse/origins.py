"""Calls that several sources told of: every source keeps its place, and labels of all of them reach the one row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from app.warehouse.store import Session

_PLACE: Final = ("request_key", "source", "source_record", "origin_file", "origin_line")


def note_origins(
    session: Session,
    requests: pl.DataFrame,
    standing: pl.DataFrame,
    folded: pl.DataFrame | None,
    renamed: pl.DataFrame,
) -> None:
    """Keep the places of calls that arrive from another source than one that told of them before.

    Args:
        requests: the arriving rows of all shards, before any were joined.
        standing: the stored rows of their keys.
        folded: places of rows that were joined while a shard was filled, of other chunks than the one that stayed.
        renamed: rows of which the key was another call's (shard_no, request_key).
    """
    twice = requests["request_key"].n_unique() < requests.height
    if not twice and not standing.height and folded is None:
        return
    places = [requests.join(renamed, on=["shard_no", "request_key"], how="anti").select(_PLACE)]
    places += [frame.select(_PLACE) for frame in (standing, folded) if frame is not None and frame.height]
    several = (
        pl.concat(places, how="vertical_relaxed")
        .unique(["request_key", "source"], keep="first", maintain_order=True)
        .filter(pl.len().over("request_key") > 1)
    )
    if several.height:
        session.register("incoming_origins", several)
        session.execute("ingest.insert_origins")
        session.unregister("incoming_origins")


def united_tags(winner: str | None, other: str | None) -> str | None:
    """The labels of two snapshots of a call as JSON; the fuller snapshot's own come first."""
    if winner is None or other is None or winner == other:
        return other if winner is None else winner
    try:
        first, second = json.loads(winner), json.loads(other)
    except ValueError:
        return winner
    if not isinstance(first, dict) or not isinstance(second, dict) or second.items() <= first.items():
        return winner
    return json.dumps({**second, **first}, sort_keys=True, ensure_ascii=False)


def with_united_tags(rows: pl.DataFrame, winner: pl.Expr, other: pl.Expr) -> pl.Series:
    """`united_tags` of two columns; only rows in which both say something different are looked at one by one."""
    pairs = rows.select(winner=winner, other=other)
    differing = pairs.select(
        (pl.col("winner").is_not_null() & pl.col("other").is_not_null() & (pl.col("winner") != pl.col("other"))).any()
    ).item()
    if not differing:
        return pairs.select(pl.coalesce("winner", "other")).to_series().alias("tags")
    return pl.Series("tags", [united_tags(*pair) for pair in pairs.iter_rows()], dtype=pl.String)
