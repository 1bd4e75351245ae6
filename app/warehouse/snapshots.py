"""The law by which snapshots of one call become one row: the same for every order, grouping and repetition.

What was used comes from the fullest snapshot alone; every other field from the fullest one that knows it. So a row
keeps, beside its own fullness, that of whoever lent it a field (`request_lent`): joining is then associative,
commutative and idempotent. Where in a file a record was read is no part of the law: of equal records the first one's
place stays.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from app.core.usage import TOKEN_CLASSES
from app.warehouse.labels import LABELS, joined_labels

FILLED: Final = (
    "provider_response_id", "trace_id", "parent_id", "session_id", "account", "user_hash", "api_key_hash",
    "api_key_alias", "provider", "model", "operation", "region", "service_tier", "stream", "params_hash", "max_tokens",
    "temperature", "top_p", "n", "seed", "stop_hash", "response_format", "reasoning_effort", "price_context",
    "start_us", "first_token_us", "end_us", "itl_p50_us", "itl_p99_us", "http_status", "finish_reason", "attempt",
    "retry_of", "units", "cost_reported_pusd", "out_hash",
)  # fmt: skip
# What a provider's own response says that it charged goes before whatever a logger claims, with the mark that says so.
CHARGE: Final = ("price_context", "cost_reported_pusd")
CHARGED: Final = '"charge": "reported"'
SAID: Final = (*TOKEN_CLASSES, "tok_total_reported", "calls_summed", "warnings", "error", "status", "not_billed")
PROMPT: Final = ("exact_key", "prefix_scope", "prompt_bytes")
_OWN: Final = (*SAID, "source", "source_record", "origin_file", "origin_line", "usage_shard")
LENT: Final = {name: f"lent_{name}" for name in (*FILLED, "prompt_bytes")}
WAS: Final = "_was"
_UNSEEN: Final = ("fullness", "source", *LABELS, *LENT.values())
_NO_PART: Final = ("is_joined", "origin_file", "origin_line", "usage_shard", "prompt_shard")  # of the law


def paired(now: pl.DataFrame, was: pl.DataFrame) -> pl.DataFrame:
    """The rows of `now` beside those of `was` with their keys, whose columns end in `_was`. Keys are unique in both."""
    named = was.rename({name: f"{name}{WAS}" for name in was.columns if name != "request_key"})
    return now.join(named, on="request_key", how="inner")


def joined(pairs: pl.DataFrame) -> pl.DataFrame:
    """One row of each pair of `ranked` rows, in the columns of the first and those that say who lent it what.

    Two flags are added. `changed`: something of it is to be kept that the second does not have; `says_more`: and a
    reader would see it.
    """
    both = pairs.with_columns(
        fuller=pl.col("fullness") > pl.col("fullness_was"),
        alike=pl.col("fullness") == pl.col("fullness_was"),
        full=pl.max_horizontal("fullness", "fullness_was"),
        least=pl.min_horizontal("fullness", "fullness_was"),
    )
    both = both.with_columns(own=_own_wins(both)).hstack(joined_labels(pairs))
    merged = {
        "fullness": pl.col("full"),
        "is_batch": pl.col("is_batch") | pl.col("is_batch_was"),
        "is_joined": pl.lit(value=True),
        "tags": pl.col("united_tags"),
        **dict(zip(LABELS, map(pl.col, ("united_labels", "united_ranks")), strict=True)),
        **{name: pl.when("own").then(name).otherwise(f"{name}_was") for name in _OWN},
        **_filled(both),
        **_prompt(both),
    }
    kept = [name for name in pairs.columns if not name.endswith(WAS) and name not in merged]
    was = [name for name in pairs.columns if name.endswith(WAS)]
    whole = both.select(*kept, *(value.alias(name) for name, value in merged.items()), *was)
    differs = {name: _differs(whole, name) for name in merged if name not in _NO_PART}
    flags = {
        "changed": pl.any_horizontal(differs.values()),
        "says_more": pl.any_horizontal(value for name, value in differs.items() if name not in _UNSEEN),
    }
    empty = [name for name in _UNSEEN[2:] if name in merged and whole[name].null_count() == whole.height]
    return whole.with_columns(**flags).drop(*was, *empty)


def _differs(whole: pl.DataFrame, name: str) -> pl.Expr:
    was = f"{name}{WAS}"
    return pl.col(name).ne_missing(pl.col(was)) if was in whole.columns else pl.col(name).is_not_null()


def _own_wins(both: pl.DataFrame) -> pl.Series:
    """The fuller snapshot; of equally full ones the one of the first source by name, then by what they say."""
    own = both["fuller"]
    ties = both["alike"].arg_true()
    if not ties.len():
        return own
    wins = pl.lit(value=False)
    for one, other in reversed([(text(""), text(WAS)) for text in (_source, _record, _said)]):
        wins = (one < other) | ((one == other) & wins)
    return own.clone().scatter(ties, both[ties].select(wins.alias("own")).to_series())


def _source(side: str) -> pl.Expr:
    return pl.col(f"source{side}").fill_null("")


def _record(side: str) -> pl.Expr:
    return pl.col(f"source_record{side}").fill_null("")


def _said(side: str) -> pl.Expr:
    return pl.concat_str((pl.col(f"{name}{side}").cast(pl.String).fill_null("") for name in SAID), separator="\0")


def _filled(both: pl.DataFrame) -> dict[str, pl.Expr]:
    """Of each field that any side knows the value of the fullest snapshot which knows it, and who lent it."""
    has_ties = both.select(pl.col("alike").any()).item()
    of_charge = CHARGE if both.select((_charged("") | _charged(WAS)).any()).item() else ()
    found: dict[str, pl.Expr] = {}
    for name in FILLED:
        unknown = [both[f"{name}{side}"].null_count() for side in ("", WAS)]
        if unknown == [both.height, both.height]:
            continue
        ranks = any(f"{LENT[name]}{side}" in both.columns for side in ("", WAS))
        if ranks or name in of_charge:
            found |= _by_ranks(both, name, name in of_charge)
            continue
        new, old = pl.col(name), pl.col(f"{name}_was")
        takes = pl.col("fuller") | (pl.col("alike") & (new > old)) if has_ties else pl.col("fuller")
        found[name] = pl.when(takes).then(pl.coalesce(new, old)).otherwise(pl.coalesce(old, new))
        if any(unknown):
            by_old = pl.col("fuller") & new.is_null() & old.is_not_null()
            by_new = (pl.col("fullness") < pl.col("fullness_was")) & old.is_null() & new.is_not_null()
            found[LENT[name]] = pl.when(by_old | by_new).then("least")
    return found


def _by_ranks(both: pl.DataFrame, name: str, of_charge: bool) -> dict[str, pl.Expr]:
    """A field of rows that were lent it, or of what was charged."""
    new, old = pl.col(name), pl.col(f"{name}_was")
    new_rank, old_rank = _rank(both, name, ""), _rank(both, name, WAS)
    better = (new_rank > old_rank) | ((new_rank == old_rank) & (new > old))
    if of_charge:
        charged, before = _charged(""), _charged(WAS)
        better = (charged & ~before) | ((charged == before) & better)
    takes = new.is_not_null() & (old.is_null() | better)
    rank = pl.when(takes).then(new_rank).otherwise(old_rank)
    value = pl.when(takes).then(new).otherwise(old)
    return {name: value, LENT[name]: pl.when(value.is_not_null() & (rank < pl.col("full"))).then(rank)}


def _prompt(both: pl.DataFrame) -> dict[str, pl.Expr]:
    """The prompt of the fullest snapshot that has one; of equally full ones the longer."""
    new, old = pl.col("prompt_bytes"), pl.col("prompt_bytes_was")
    new_rank, old_rank = _rank(both, "prompt_bytes", ""), _rank(both, "prompt_bytes", WAS)
    keys = pl.col("exact_key").fill_null(0), pl.col("exact_key_was").fill_null(0)
    tie = (new > old) | ((new == old) & (keys[0] > keys[1]))
    takes = new.is_not_null() & (old.is_null() | (new_rank > old_rank) | ((new_rank == old_rank) & tie))
    rank = pl.when(takes).then(new_rank).otherwise(old_rank)
    known = pl.coalesce(new, old).is_not_null()
    return {
        **{name: pl.when(takes).then(name).otherwise(f"{name}_was") for name in (*PROMPT, "prompt_shard")},
        LENT["prompt_bytes"]: pl.when(known & (rank < pl.col("full"))).then(rank),
    }


def _rank(both: pl.DataFrame, name: str, side: str) -> pl.Expr:
    """How full the snapshot is that a side has a field from."""
    lent = f"{LENT[name]}{side}"
    return pl.coalesce(lent, f"fullness{side}") if lent in both.columns else pl.col(f"fullness{side}")


def _charged(side: str) -> pl.Expr:
    return pl.col(f"price_context{side}").str.contains(CHARGED, literal=True).fill_null(value=False)
