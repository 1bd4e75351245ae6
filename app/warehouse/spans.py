"""Calls of traces that repeat the usage of calls under them: found across exports, in any order, and taken out.

Within one export a format finds them itself. Here the parent ids of stored calls, and the links of spans that are no
calls, tell the same of spans that came apart. What is taken out comes to nothing when it arrives again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from app.warehouse.store import Session

DAY_US: Final = 86_400_000_000
KEPT_US: Final = 7 * DAY_US


def drop_repeating(session: Session, requests: pl.DataFrame | None, links: pl.DataFrame | None) -> set[int]:
    """Take out stored calls that repeat others, in the traces that these arrivals touch; returns their keys.

    Args:
        session: inside a transaction, after the arrivals were stored.
        requests: arrivals with trace_id, source_record and start_us.
        links: arrivals with trace_id, span_id, parent_id and start_us; stored here.
    """
    touched = [] if links is None else [links.select("trace_id", "start_us", linked=pl.lit(value=True))]
    if requests is not None:
        named = pl.col("source_record").str.starts_with(pl.col("trace_id") + "/")
        spans = requests.filter(named | (pl.col("trace_id").is_not_null() & pl.col("parent_id").is_not_null()))
        touched.append(spans.select("trace_id", "start_us", linked=pl.col("parent_id").is_not_null()))
    if links is not None and links.height:
        _store(session, links)
    traces = pl.concat(touched) if touched else pl.DataFrame()
    if not traces.height:
        return set()
    return _dropped(session, traces)


def _store(session: Session, links: pl.DataFrame) -> None:
    session.register("incoming_links", links.select("trace_id", "span_id", "parent_id", "start_us").unique())
    session.execute("spans.insert_links", seen_us=time.time_ns() // 1000)
    session.unregister("incoming_links")


def _dropped(session: Session, traces: pl.DataFrame) -> set[int]:
    starts = traces["start_us"].drop_nulls().cast(pl.Int64).to_list()
    if not starts:
        return set()
    from_us, to_us = min(starts) - DAY_US, max(starts) + DAY_US
    linked = _linked(session, traces.group_by("trace_id").agg(pl.col("linked").any()), from_us, to_us)
    if not linked.height:
        return set()
    session.register("incoming_traces", linked)
    found = session.frame("spans.repeating", from_us=from_us, to_us=to_us)
    session.unregister("incoming_traces")
    if not found.height:
        return set()
    above = found.filter(pl.col("parent_id").is_not_null())
    if above.height:  # what stands above it must still be found through it
        _store(session, above)
    session.register("replaced", found.select("request_key", brings_prompt=pl.lit(value=True)))
    session.execute("ingest.delete_replaced")
    session.unregister("replaced")
    return set(found["request_key"].to_list())


def _linked(session: Session, traces: pl.DataFrame, from_us: int, to_us: int) -> pl.DataFrame:
    """Those of some traces in which anything stands under something; calls that are a trace of their own are many."""
    known = traces.filter("linked").select("trace_id")
    alone = traces.filter(~pl.col("linked")).select("trace_id")
    if not alone.height:
        return known
    session.register("incoming_traces", alone)
    found = session.frame("spans.linked", from_us=from_us, to_us=to_us)
    session.unregister("incoming_traces")
    return pl.concat([known, found.cast(known.schema)])


def forget_links(session: Session, now_us: int) -> None:
    """Drop the links of traces that are over."""
    session.execute("spans.forget_links", before_us=now_us - KEPT_US)
