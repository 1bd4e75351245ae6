"""CPU speed of the cache primitive: boundary rows a second and core, on a made stream of shared and unique prefixes.

Usage: python tools/bench_replay.py [--rows N] [--threads N]
"""

from __future__ import annotations

import argparse
import resource

import numpy as np
import polars as pl

from app.replay.primitive import EVENT_SCHEMA, hits_into
from app.warehouse.store import Warehouse

BOUNDARIES = 6
DAY_US = 86_400_000_000


def events(rows: int, seed: int = 1) -> pl.DataFrame:
    """Requests of a day with six boundaries each: three shared by prompt family, three of their own."""
    random = np.random.default_rng(seed)
    requests = rows // BOUNDARIES
    frame = pl.DataFrame(
        {
            "request_key": np.arange(requests, dtype=np.int64),
            "start_us": np.sort(random.integers(0, DAY_US, requests)),
            "family": (random.zipf(1.3, requests) % 5_000).astype(np.int64),
        }
    ).join(pl.DataFrame({"pos": np.arange(BOUNDARIES, dtype=np.int64)}), how="cross")
    shared = pl.col("pos") < BOUNDARIES // 2
    owner = pl.when(shared).then(pl.col("family")).otherwise(pl.col("request_key") + 10_000_000)
    return frame.with_columns(
        key=owner * BOUNDARIES + pl.col("pos"),
        tokens_upto=(pl.col("pos") + 1) * 500,
        ready_us=pl.col("start_us"),
        ttl_us=pl.lit(300_000_000, dtype=pl.Int64),
    ).select(EVENT_SCHEMA.keys())


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    warehouse = Warehouse(None, threads=given.threads)
    made = events(given.rows)
    with warehouse.session() as session:
        session.register("made_events", made)
        before = cpu_s()
        hits_into(session, "made_events", "bench_hits")
        used = cpu_s() - before
        [(rows, hit)] = session.connection.execute("SELECT count(*), sum(is_hit) FROM bench_hits").fetchall()
    warehouse.close()
    print(f"replay: {rows:,} boundary rows, {hit:,} hits, {used:.2f} CPU s, {rows / used / 1e6:.2f} M rows/s and core")


if __name__ == "__main__":
    main()
