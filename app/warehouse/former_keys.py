"""Calls that stand under the key of earlier rules keep it, so that reading them again after an upgrade adds nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from app.core.hashing import EVERYWHERE
from app.core.response_ids import PACKED, plain_id

if TYPE_CHECKING:
    from app.warehouse.merge import Arrivals
    from app.warehouse.store import Session


def with_standing_keys(session: Session, arrivals: Arrivals) -> Arrivals:
    """The arrivals, with the stored key in every frame where the same call stands under an earlier one.

    Only calls whose key the rules changed are looked up. What stands under an earlier key is the same call where the
    strong response id is the same, else where (source, source_record) and the start are: weak ids come again.
    """
    if arrivals.former is None or not arrivals.former.height:
        return arrivals
    session.register("incoming_keys", arrivals.former.select(request_key="former_key").unique())
    known = session.frame("ingest.standing_keys")
    session.unregister("incoming_keys")
    if not known.height:
        return arrivals
    session.register("former_keys", known.rename({"request_key": "former_key"}))
    standing = session.frame("ingest.standing_former")
    session.unregister("former_keys")
    both = arrivals.former.join(_plain(standing), on="former_key", suffix="_standing")
    ids = pl.col("provider_response_id_standing").is_null() | (
        pl.col("provider_response_id_standing") == pl.col("provider_response_id")
    )
    everywhere = pl.col("source_record").str.contains(EVERYWHERE)
    record = (pl.col("source_record") == pl.col("source_record_standing")) & (
        everywhere | (pl.col("source") == pl.col("source_standing"))
    )
    timed = pl.col("source_record").eq_missing(pl.col("provider_response_id")) & ~everywhere
    start = ~timed | pl.col("start_us").eq_missing(pl.col("start_us_standing"))
    same = both.filter(ids & (pl.col("strong") | (record & start)))
    if not same.height:
        return arrivals
    kept = same.group_by("request_key").agg(pl.col("former_key").min())
    keys, stored = kept["request_key"], kept["former_key"]
    frames = {
        name: frame.with_columns(pl.col("request_key").replace(keys, stored))
        for name in ("requests", "segments", "parts", "folded", "lent")
        if (frame := getattr(arrivals, name)) is not None
    }
    return replace(arrivals, **frames)


def with_plain_ids(standing: pl.DataFrame) -> pl.DataFrame:
    """Stored rows with the provider's own response id where one was stored as LiteLLM packed it."""
    packed = pl.col("provider_response_id").str.starts_with(PACKED)
    if not standing.select(packed.any()).item():
        return standing
    plain = pl.col("provider_response_id").map_elements(plain_id, return_dtype=pl.String)
    return standing.with_columns(pl.when(packed).then(plain).otherwise("provider_response_id"))


def _plain(standing: pl.DataFrame) -> pl.DataFrame:
    named = with_plain_ids(standing)
    record = pl.col("source_record")
    plain = record.map_elements(plain_id, return_dtype=pl.String)
    return named.with_columns(
        pl.when(record.str.starts_with(PACKED)).then(plain).otherwise(record).alias("source_record")
    )
