"""The cache primitive from Python: events in, hits out; the arithmetic is the named query `replay.hits`.

An event is one boundary of one prompt: see the query's head for its columns. A time is microseconds UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from app.warehouse import catalogue

if TYPE_CHECKING:
    from app.warehouse.store import Session

UNLIMITED_US: Final = 3_000_000_000_000_000_000  # a lifetime longer than any log, still safe in 64-bit differences

EVENT_SCHEMA: Final = {
    "key": pl.Int64,
    "start_us": pl.Int64,
    "request_key": pl.Int64,
    "pos": pl.Int64,
    "tokens_upto": pl.Int64,
    "ready_us": pl.Int64,
    "ttl_us": pl.Int64,
}


def hits(session: Session, events: pl.DataFrame) -> pl.DataFrame:
    """Which events found a live, readable entry: (key, request_key, pos, start_us, tokens_upto, is_hit)."""
    session.register("replay_events", events.select(EVENT_SCHEMA.keys()))
    try:
        return session.frame("replay.hits", {"events": "replay_events"})
    finally:
        session.unregister("replay_events")


def hits_into(session: Session, events: str, into: str) -> None:
    """The answer of `replay.hits` over the relation `events`, kept as the temporary table `into`."""
    sql = catalogue.render("replay.hits", {"events": events})
    session.connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {into} AS {sql}")
