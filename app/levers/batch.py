"""Move work that nobody waits for onto the batch tier. The price of both sides comes from the price book.

Vetoes: streamed to somebody, a turn of a conversation or a chain. A scope also needs a positive sign of being a job:
the same hours every day, or bursts with a period. Cached reads are assumed not to survive the move (providers call hits
inside a batch best effort), and a better cache layout claims nothing for requests that moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.analysis.periodicity import MIN_DAYS, Cycle, DayShape, day_shape, is_daily_job, rhythm
from app.levers.lever import Candidate, Change, Draw, Lever, Scope, accepted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.warehouse.store import Session

MAX_WAITING: Final = 0.2
MIN_REQUESTS: Final = 50
_QUERY: Final = "levers_batch.scopes"
_Key = tuple[str, int | None, str, str]


def detect(session: Session) -> list[Candidate]:
    """One candidate a scope that is a job and that nobody waits for."""
    session.execute("levers_batch.rows")
    shapes, cycles = _shapes(session), _cycles(session)
    found = []
    for row in session.frame(_QUERY).iter_rows(named=True):
        key: _Key = (row["feature"], row["template"], row["provider"], row["model_id"])
        waiting = (row["streamed"] + row["turns"]) / row["requests"]
        if row["requests"] < MIN_REQUESTS or waiting > MAX_WAITING:
            continue
        shape, cycle = shapes[key], rhythm(cycles.get(key, []))
        daily = is_daily_job(shape, row["days"])
        if daily or cycle is not None:
            found.append(_candidate(session, Scope(*key), row, shape if daily else None, None if daily else cycle))
    return found


def _shapes(session: Session) -> dict[_Key, DayShape]:
    bins: dict[_Key, dict[int, int]] = {}
    for feature, template, provider, model_id, place, requests in session.rows("levers_batch.day_bins"):
        bins.setdefault((feature, template, provider, model_id), {})[place] = requests
    return {key: day_shape(counts) for key, counts in bins.items()}


def _cycles(session: Session) -> dict[_Key, list[Cycle]]:
    cycles: dict[_Key, list[Cycle]] = {}
    for feature, template, provider, model_id, *values in session.rows("levers_batch.periods"):
        cycles.setdefault((feature, template, provider, model_id), []).append(Cycle(*values))
    return cycles


def _candidate(
    session: Session, scope: Scope, row: Mapping[str, Any], daily: DayShape | None, cycle: Cycle | None
) -> Candidate:
    signs = [f"{row['streamed']:,} of {row['requests']:,} requests stream, {row['turns']:,} are turns of a session."]
    params: dict[str, Any] = {"streamed": int(row["streamed"]), "turns": int(row["turns"]), "users": row["users"]}
    if daily is not None:
        hour, minute = divmod(daily.begins_minute, 60)
        params |= {"share_10m": round(daily.share_10m, 4), "share_3h": round(daily.share_3h, 4)}
        signs.append(
            f"On {row['days']} days {daily.share_3h:.0%} of the requests start within three hours from "
            f"{hour:02d}:{minute:02d} local time, {daily.share_10m:.0%} within the densest ten minutes."
        )
    if cycle is not None:
        params |= {"period_s": cycle.period_s, "rayleigh_r": round(cycle.r, 4)}
        signs.append(
            f"{cycle.bursts:,} bursts repeat every {cycle.period_s // 60} minutes (Rayleigh R {cycle.r:.2f}, "
            f"chance {cycle.p_value:.0e} after correction)."
        )
    if row["stream_unknown"]:
        signs.append("The log does not say for all requests whether they streamed.")
    examples = session.rows(
        "levers_batch.examples",
        feature=scope.feature,
        template=scope.template,
        provider=scope.provider,
        model_id=scope.model_id,
    )
    return Candidate(
        "batch",
        scope,
        "B",
        int(row["requests"] - row["streamed"] - row["turns"]),
        params,
        (
            *signs,
            "Answers may come up to 24 hours later; most batches are done within one.",
            "Cached reads of these requests are counted as lost in a batch.",
        ),
        tuple(key for (key,) in examples),
        _QUERY,
    )


def touch(session: Session, candidates: Sequence[Candidate]) -> None:
    """Marks the requests of the accepted scopes that neither stream nor follow a turn."""
    session.register("batch_accepted", accepted(candidates))
    session.execute("levers_batch.touch")


def transform(cells: pl.LazyFrame, candidates: Sequence[Candidate], draw: Draw) -> pl.LazyFrame:
    """The same tokens at the batch rates, cached reads as plain input."""
    del candidates, draw
    moved = pl.col("at_batch").is_not_null()
    return cells.with_columns(
        is_batch=pl.when(moved).then(pl.lit(True)).otherwise(pl.col("is_batch")),
        service_tier=pl.when(~moved).then(pl.col("service_tier")),
        tok_input=pl.when(moved).then(pl.col("tok_input") + pl.col("tok_cache_read")).otherwise(pl.col("tok_input")),
        tok_cache_read=pl.when(moved).then(0.0).otherwise(pl.col("tok_cache_read")),
    )


def describe(candidate: Candidate) -> Change:
    scope = candidate.scope
    return Change(
        f"Send the jobs of {scope.feature} through the batch tier of {scope.provider}",
        (
            f"Collect the requests of {scope.feature} ({scope.model_id}) into a batch file when the job starts instead "
            "of sending them one by one.",
            "Submit the batch and read its results within 24 hours; send again only the items that failed.",
            "Keep the real-time path for requests that somebody waits for.",
        ),
        "These requests arrive with the batch mark; their price rows change to the batch rows of the same model.",
    )


def data(session: Session) -> Mapping[str, Any]:
    """How much of the log could be judged, and what is missing where it could not."""
    rows = session.rows(_QUERY)
    if not rows:
        return {"state": "ok", "scopes": 0, "why": "Everything here goes through a batch or flex tier already."}
    if max(row[5] for row in rows) < MIN_DAYS:
        return {
            "state": "not enough data",
            "scopes": len(rows),
            "why": f"No feature is seen on {MIN_DAYS} days, so a daily job cannot be told from a busy hour.",
            "do": f"Analyse a log of at least {MIN_DAYS} days; 30 are better.",
        }
    return {"state": "ok", "scopes": len(rows)}


LEVER: Final = Lever(
    name="batch",
    title="Batch tier for offline work",
    stage=60,
    effort="medium",
    risk="latency",
    reversible=True,
    detect=detect,
    touch=touch,
    transform=transform,
    describe=describe,
    data=data,
)
