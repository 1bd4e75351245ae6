"""Serve exact repeats from an answer cache. Only what one API key sends again, word for word, and only where safe.

Kinds and gates: first, retry, parallel and regenerate are never counted; sampled answers (temperature not sent as 0 and
no seed) are grade D unless the logged answers agree; prompts with tool results are left out. The saving of a hit is the
whole cost of the request as billed, so what a prefix cache saved already is not counted again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.analysis.repeats import served
from app.core.money import usd_text
from app.levers.lever import SCOPE, Candidate, Change, Draw, Grade, Lever, Scope, accepted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.warehouse.store import Session

MINUTE_US: Final = 60_000_000
LIFETIMES: Final = {
    "5m": 5 * MINUTE_US,
    "1h": 60 * MINUTE_US,
    "6h": 360 * MINUTE_US,
    "24h": 1_440 * MINUTE_US,
    "7d": 10_080 * MINUTE_US,
}
LIFETIME: Final = "24h"
MIN_PAIRS, MIN_AGREEMENT = 20, 0.9
EXAMPLES: Final = 20
MAXSCOPES: Final = 300
_ASKS: Final = ("repeat", "cross_user")
_QUERY: Final = "levers_response_cache.repeats"


def _rows(session: Session) -> pl.DataFrame:
    """Repeated requests in cache order, with what an answer cache may store and serve."""
    session.execute(_QUERY)
    rows = session.frame("levers_response_cache.rows")
    tools = session.frame("levers_response_cache.tool_results").with_columns(tool=pl.lit(True))
    return rows.join(tools, on="request_key", how="left", maintain_order="left").with_columns(
        key=pl.struct("exact_key", "principal").rle_id().cast(pl.Int64),
        stores=(pl.col("status") == "ok"),
        asks=pl.col("kind").is_in(_ASKS) & pl.col("tool").is_null(),
    )


def _with_hits(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(**{f"hit_{name}": pl.Series(served(rows, ttl)) for name, ttl in LIFETIMES.items()})


def detect(session: Session) -> list[Candidate]:
    """One candidate a scope: its safe hits within 24 hours, or its sampled ones as a prior; the dearest 300 scopes."""
    rows = _dearest(_with_hits(_rows(session)))
    found = []
    for key, part in rows.group_by(SCOPE, maintain_order=True):
        safe = part.filter(pl.col("deterministic") == 1)
        safe_hits, all_hits = (int(frame[f"hit_{LIFETIME}"].sum()) for frame in (safe, part))
        scope = Scope(str(key[0]), None if key[1] is None else int(str(key[1])), str(key[2]), str(key[3]))
        found.append(_candidate(scope, part, safe if safe_hits else part, sampled=all_hits - safe_hits))
    return found


def _dearest(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of the scopes whose hits cost the most; scopes without a hit are left out."""
    hits = rows.filter(pl.col(f"hit_{LIFETIME}")).group_by(SCOPE).agg(pl.col("cost_pusd").sum())
    kept = hits.sort("cost_pusd", *SCOPE, descending=[True, *(False for _ in SCOPE)], nulls_last=True).head(MAXSCOPES)
    return rows.join(kept.select(SCOPE), on=SCOPE, how="semi", nulls_equal=True)


def _candidate(scope: Scope, part: pl.DataFrame, used: pl.DataFrame, *, sampled: int) -> Candidate:
    hits = used.filter(pl.col(f"hit_{LIFETIME}"))
    cross = int((hits["kind"] == "cross_user").sum())
    agreement = hits["agrees"].drop_nulls()
    share = float(agreement.sum()) / len(agreement) if len(agreement) else None
    deterministic = used["deterministic"].min() == 1
    kinds = dict(part.group_by("kind").agg(pl.len()).sort("kind").iter_rows())
    params: dict[str, Any] = {
        "lifetime": LIFETIME,
        "deterministic": deterministic,
        "hits": hits.height,
        "hits_same_user": hits.height - cross,
        "hits_cross_user": cross,
        "sampled_hits": sampled,
        "kinds": kinds,
        "answers_agree": None if share is None else round(share, 4),
        "freshness_curve": [
            {
                "lifetime": name,
                "hits": int(used[f"hit_{name}"].sum()),
                "usd": usd_text(int(used.filter(pl.col(f"hit_{name}"))["cost_pusd"].sum() or 0)),
            }
            for name in LIFETIMES
        ],
    }
    return Candidate(
        "response_cache",
        scope,
        _grade(deterministic=deterministic, cross=cross, share=share, pairs=len(agreement)),
        hits.height,
        params,
        _assumptions(params, sampled=sampled if deterministic else 0),
        tuple(hits["request_key"].gather_every(max(hits.height // EXAMPLES, 1)).head(EXAMPLES).to_list()),
        _QUERY,
    )


def _grade(*, deterministic: bool, cross: int, share: float | None, pairs: int) -> Grade:
    if not deterministic:
        agree = share is not None and pairs >= MIN_PAIRS and share >= MIN_AGREEMENT
        return "B" if agree else "D"
    return "B" if cross else "A"


def _assumptions(params: Mapping[str, Any], *, sampled: int) -> tuple[str, ...]:
    said = [
        f"An answer may be {params['lifetime']} old, counted from when it was complete; a hit does not renew it.",
        "Only requests of the same API key (else user, else account) share answers.",
    ]
    if params["hits_cross_user"]:
        said.append(
            f"{params['hits_cross_user']:,} of {params['hits']:,} hits are of another user of the same key: the "
            "prompts are equal to the last byte, so the answer tells nothing that the second user did not ask with."
        )
    if not params["deterministic"]:
        said.append("The answers are sampled: whoever asks twice may want two answers.")
    if sampled:
        said.append(f"{sampled:,} further repeats were sampled (temperature not 0, no seed) and are not counted.")
    if params["answers_agree"] is not None:
        said.append(f"{params['answers_agree']:.0%} of the logged repeats got the same answer as the one before.")
    return tuple(said)


def touch(session: Session, candidates: Sequence[Candidate]) -> None:
    """Marks the requests that would have been served."""
    rows = _with_hits(_rows(session))
    scopes = accepted(candidates, lambda item: {"safe_only": bool(item.params["deterministic"])})
    hits = (
        rows.filter(pl.col(f"hit_{LIFETIME}"))
        .join(scopes, on=SCOPE, how="inner", nulls_equal=True)
        .filter((pl.col("deterministic") == 1) | ~pl.col("safe_only"))
        .select("request_key", "candidate")
    )
    session.register("response_cache_hits", hits)
    session.execute("levers_response_cache.touch")


def transform(cells: pl.LazyFrame, candidates: Sequence[Candidate], draw: Draw) -> pl.LazyFrame:
    """A served request is not sent at all."""
    del candidates, draw
    return cells.with_columns(
        share=pl.when(pl.col("at_response_cache").is_not_null()).then(0.0).otherwise(pl.col("share"))
    )


def describe(candidate: Candidate) -> Change:
    where, lifetime = candidate.scope.feature, candidate.params["lifetime"]
    return Change(
        f"Keep the answers of {where} for {lifetime} and serve exact repeats from there",
        (
            "Make the cache key from everything that shapes the answer: model, all messages, tools, response format, "
            "temperature, seed, token limit; and from the API key or tenant, so that nobody reads across it.",
            f"Keep an answer for at most {lifetime} after it was complete; clear the cache when the data behind it "
            "changes. The freshness curve shows what a shorter time would save.",
            "Do not serve a request that a person sends again in the same session: that asks for another answer.",
        ),
        "The share of repeats that reach the provider falls to almost zero; cost per answered question falls with it.",
    )


def data(session: Session) -> Mapping[str, Any]:
    """Whether repeats can be recognised in this log at all."""
    [(requests, with_key, repeated)] = session.rows("levers_response_cache.coverage")
    if requests and not with_key:
        return {
            "state": "not enough data",
            "why": "No request carries its prompt and parameters, so exact repeats cannot be recognised.",
            "do": "Log whole requests (messages, tools, parameters); their text need not be kept, hashes are enough.",
        }
    return {"state": "ok", "requests": requests, "with_exact_key": with_key, "repeated": repeated}


LEVER: Final = Lever(
    name="response_cache",
    title="Answer cache for exact repeats",
    stage=20,
    effort="medium",
    risk="quality",
    reversible=True,
    detect=detect,
    touch=touch,
    transform=transform,
    describe=describe,
    data=data,
)
