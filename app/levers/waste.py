"""Attempts that were billed, thrown away and sent again: a time-out shorter than the answer, a stream cut, an error.

An edge needs the same exact key of the same principal within 120 seconds of the end. Chains that chance would make are
counted by the same look one hour later and taken off. An attempt whose provider billed nothing costs nothing here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.levers.lever import SCOPE, Candidate, Change, Draw, Lever, Scope, accepted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.warehouse.store import Session

MIN_CHAINS: Final = 5
MAX_PLACEBO_A: Final = 0.01
_QUERY: Final = "levers_waste.attempts"


def detect(session: Session) -> list[Candidate]:
    """One candidate a scope with at least five billed attempts that were thrown away."""
    session.execute(_QUERY)
    rows = session.frame("levers_waste.scopes").iter_rows(named=True)
    return [_candidate(session, row) for row in rows if row["chained"] >= MIN_CHAINS]


def _candidate(session: Session, row: Mapping[str, Any]) -> Candidate:
    scope = Scope(row["feature"], row["template"], row["provider"], row["model_id"])
    where = {name: getattr(scope, name) for name in SCOPE}
    chained, placebo = int(row["chained"]), min(int(row["placebo"]), int(row["chained"]))
    [(ok_p95, given_up)] = session.rows("levers_waste.durations", **where)
    params = {
        "failed": int(row["failed"]),
        "chained": chained,
        "timeouts": int(row["timeouts"]),
        "aborted": int(row["aborted"]),
        "errors": int(row["errors"]),
        "placebo_share": placebo / chained,
        "ok_p95_s": None if ok_p95 is None else round(ok_p95 / 1e6, 1),
        "given_up_s": None if given_up is None else round(given_up / 1e6, 1),
    }
    said = [
        f"{chained:,} of {row['failed']:,} billed failures were sent again within two minutes: {row['timeouts']:,} "
        f"time-outs, {row['aborted']:,} aborted, {row['errors']:,} errors.",
        f"The same look one hour later finds {placebo:,} such pairs by chance; that share is taken off.",
    ]
    if params["given_up_s"] is not None and params["ok_p95_s"] is not None:
        said.append(
            f"Attempts are given up after at most {params['given_up_s']} s; 95 % of the answers that came took up to "
            f"{params['ok_p95_s']} s."
        )
    examples = session.rows("levers_waste.examples", **where)
    return Candidate(
        "waste",
        scope,
        "A" if placebo <= MAX_PLACEBO_A * chained else "B",
        chained,
        params,
        tuple(said),
        tuple(key for (key,) in examples),
        _QUERY,
    )


def touch(session: Session, candidates: Sequence[Candidate]) -> None:
    """Marks the thrown-away attempts of the accepted scopes."""
    session.register("waste_accepted", accepted(candidates))
    session.execute("levers_waste.touch")


def transform(cells: pl.LazyFrame, candidates: Sequence[Candidate], draw: Draw) -> pl.LazyFrame:
    """Thrown-away attempts are not made, but for the share that chance explains."""
    del draw
    kept = {index: float(item.params["placebo_share"]) for index, item in enumerate(candidates)}
    left = pl.col("at_waste").replace_strict(kept, default=1.0, return_dtype=pl.Float64)
    return cells.with_columns(
        share=pl.when(pl.col("at_waste").is_not_null()).then(pl.col("share") * left).otherwise(pl.col("share"))
    )


def describe(candidate: Candidate) -> Change:
    params, where = candidate.params, candidate.scope.feature
    steps = [
        f"Wait longer before giving up in {where}: the provider finishes and bills what nobody waits for any more.",
        "Cancel the request at the provider when the caller is gone, or let it run in the background and fetch it.",
        "Send again with growing pauses and an idempotency key, and never after a 4xx other than 429.",
    ]
    if params["ok_p95_s"] is not None:
        steps[0] = (
            f"Raise the time-out of {where} well above {params['ok_p95_s']} s (95 % of its answers): the provider "
            "finishes and bills what nobody waits for any more."
        )
    return Change(
        f"Stop paying for answers of {where} that are thrown away and asked again",
        tuple(steps),
        "Billed attempts per answered call fall to one; the share of failed attempts with a cost falls to zero.",
    )


def data(session: Session) -> Mapping[str, Any]:
    """Whether attempts can be chained at all in this log."""
    [(requests, with_key, failed, billed)] = session.rows("levers_waste.coverage")
    if requests and not with_key:
        return {
            "state": "not enough data",
            "why": "No request carries its prompt and parameters, so a second attempt cannot be recognised.",
            "do": "Log whole requests, failed ones too, with their status; hashes are enough.",
        }
    return {"state": "ok", "requests": requests, "failed": failed, "failed_and_billed": billed}


LEVER: Final = Lever(
    name="waste",
    title="Attempts paid and thrown away",
    stage=10,
    effort="low",
    risk="none",
    reversible=True,
    detect=detect,
    touch=touch,
    transform=transform,
    describe=describe,
    data=data,
)
