"""The law by which snapshots of one call become one row: the same for every order, grouping and repetition.

What was used comes from the fullest snapshot alone; every other field from the fullest one that knows it. So a row
keeps, beside its own fullness, that of whoever lent it a field (`request_lent`): joining is then associative,
commutative and idempotent. Where in a file a record was read is no part of the law: of equal records the first one's
place stays.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import polars as pl

from app.core.usage import TOKEN_CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
_SAID: Final = (*TOKEN_CLASSES, "tok_total_reported", "warnings", "error", "status", "not_billed")
_OWN: Final = (*_SAID, "source", "source_record", "origin_file", "origin_line", "usage_shard")
_PROMPT: Final = ("exact_key", "prefix_scope", "prompt_bytes", "prompt_shard")
_PLACE: Final = ("origin_file", "origin_line", "usage_shard", "prompt_shard")
_LENT: Final = {name: f"lent_{name}" for name in (*FILLED, "prompt_bytes")}
_TAGS: Final = "tags."
LENT_COLUMNS: Final = {"request_key": pl.Int64, "field": pl.String, "fullness": pl.Int64}
UNSAID: Final = -1
"""The fullness of a provider that no snapshot named: the price book did."""

Labels = tuple[str | None, dict[str, int], int]
"""Tags as JSON text, the fullness of who lent single ones of them, and that of the snapshot."""


def placed(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the shards that their usage and their prompt come from: none for stored ones."""
    stored = "shard_no" not in rows.columns
    shard = pl.lit(None, dtype=pl.Int64) if stored else pl.col("shard_no")
    prompt = pl.when(pl.col("prompt_bytes").is_not_null()).then(shard)
    return rows.with_columns(usage_shard=shard, prompt_shard=prompt, is_joined=pl.lit(stored))


def ranked(rows: pl.DataFrame, lent: pl.DataFrame | None) -> pl.DataFrame:
    """The `placed` rows with who lent each of their fields, as `joined` needs them.

    Args:
        rows: request rows; stored ones have no shard_no.
        lent: request_key (and shard_no where the rows have one), field, fullness.
    """
    on = ["request_key", "shard_no"] if "shard_no" in rows.columns else ["request_key"]
    rows = placed(rows)
    if lent is not None and lent.height:
        single = lent.filter(~pl.col("field").str.starts_with(_TAGS))
        wide = single.pivot("field", index=on, values="fullness")
        rows = rows.join(
            wide.rename({name: f"lent_{name}" for name in wide.columns if name not in on}), on=on, how="left"
        )
        label = pl.struct(pl.col("field").str.strip_prefix(_TAGS), "fullness")
        tags = lent.filter(pl.col("field").str.starts_with(_TAGS)).group_by(on).agg(label.alias("labels"))
        texts = [
            json.dumps({one["field"]: one["fullness"] for one in labels}, sort_keys=True) for labels in tags["labels"]
        ]
        named = tags.select(*on, pl.Series("lent_tags", texts, dtype=pl.String))
        rows = rows.join(named, on=on, how="left")
    columns = set(rows.columns)
    missing = [pl.lit(None, dtype=pl.Int64).alias(name) for name in _LENT.values() if name not in columns]
    if "lent_tags" not in columns:
        missing.append(pl.lit(None, dtype=pl.String).alias("lent_tags"))
    rows = rows.with_columns(missing)
    if len(on) > 1:
        return rows
    unsaid = pl.col("lent_provider") == UNSAID
    return rows.with_columns(
        provider=pl.when(unsaid.fill_null(value=False)).then(None).otherwise("provider"),
        lent_provider=pl.when(~unsaid).then("lent_provider"),
    )


def lent_frame(rows: Iterable[tuple[int, Mapping[str, int], Mapping[str, int]]]) -> pl.DataFrame:
    """Who lent what (request_key, field, fullness), of keys with the fullness of those who lent fields and labels."""
    found = [
        (key, name, fullness)
        for key, fields, labels in rows
        for name, fullness in (*fields.items(), *((f"{_TAGS}{label}", rank) for label, rank in labels.items()))
    ]
    return pl.DataFrame(found, schema=LENT_COLUMNS, orient="row")


def lent_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Who lent what of some rows: request_key, field, fullness."""
    unsaid = rows.filter(pl.col("provider").is_null()).select(
        "request_key", field=pl.lit("provider"), fullness=pl.lit(UNSAID, dtype=pl.Int64)
    )
    if "lent_tags" not in rows.columns:
        return unsaid
    rows = rows.filter(pl.any_horizontal(pl.col(name).is_not_null() for name in (*_LENT.values(), "lent_tags")))
    names = {column: name for name, column in _LENT.items()}
    fields = (
        rows.select("request_key", *names)
        .unpivot(index="request_key", variable_name="field", value_name="fullness")
        .drop_nulls("fullness")
        .with_columns(pl.col("field").str.strip_prefix("lent_"))
    )
    labels = [
        (key, f"{_TAGS}{label}", fullness)
        for key, text in rows.filter(pl.col("lent_tags").is_not_null()).select("request_key", "lent_tags").iter_rows()
        for label, fullness in json.loads(text).items()
    ]
    return pl.concat([unsaid, fields, pl.DataFrame(labels, schema=LENT_COLUMNS, orient="row")])


def without_ranks(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows without the columns that say who lent what."""
    return rows.drop(*_LENT.values(), "lent_tags", strict=False)


def joined(now: pl.DataFrame, was: pl.DataFrame) -> pl.DataFrame:
    """One row for each key that both have, in the columns of `now`, with two flags.

    `changed`: something of it is to be kept that `was` does not have; `says_more`: and a reader would see it.
    Both are `ranked` and have unique keys.
    """
    both = now.join(was, on="request_key", how="inner", suffix="_was")
    both = both.with_columns(
        own=_own_wins(),
        full=pl.max_horizontal("fullness", "fullness_was"),
        charged=_charged("price_context"),
        charged_was=_charged("price_context_was"),
    )
    tags, lent_tags = _joined_tags(both)
    merged: dict[str, pl.Expr] = {"fullness": pl.col("full"), "is_batch": pl.col("is_batch") | pl.col("is_batch_was")}
    for name in _OWN:
        merged[name] = pl.when("own").then(name).otherwise(f"{name}_was")
    for name in FILLED:
        merged[name], merged[_LENT[name]] = _filled(name, name in CHARGE)
    takes = _prompt_wins()
    rank = pl.when(takes).then(_rank("prompt_bytes")).otherwise(_rank("prompt_bytes", "_was"))
    for name in _PROMPT:
        merged[name] = pl.when(takes).then(name).otherwise(f"{name}_was")
    merged["lent_prompt_bytes"] = pl.when(merged["prompt_bytes"].is_not_null() & (rank < pl.col("full"))).then(rank)
    known = both.with_columns(tags, lent_tags)
    merged |= {"tags": pl.col("united"), "lent_tags": pl.col("lent_united")}
    differs = {name: value.ne_missing(pl.col(f"{name}_was")) for name, value in merged.items() if name not in _PLACE}
    unseen = ("fullness", "source", "lent_tags", *_LENT.values())
    return known.select(
        "request_key",
        *(merged.get(name, pl.lit(value=True) if name == "is_joined" else pl.col(name)).alias(name)
          for name in now.columns if name != "request_key"),
        changed=pl.any_horizontal(differs.values()),
        says_more=pl.any_horizontal(value for name, value in differs.items() if name not in unseen),
    )  # fmt: skip


def _rank(name: str, suffix: str = "") -> pl.Expr:
    return pl.coalesce(f"{_LENT[name]}{suffix}", f"fullness{suffix}")


def _charged(name: str) -> pl.Expr:
    return pl.col(name).str.contains(CHARGED, literal=True).fill_null(value=False)


def _filled(name: str, of_charge: bool) -> tuple[pl.Expr, pl.Expr]:
    """(value, who lent it) of a field that is known by the fullest snapshot which knows it."""
    new, old = pl.col(name), pl.col(f"{name}_was")
    new_rank, old_rank = _rank(name), _rank(name, "_was")
    better = (new_rank > old_rank) | ((new_rank == old_rank) & (new > old))
    if of_charge:
        charged, before = pl.col("charged"), pl.col("charged_was")
        better = (charged & ~before) | ((charged == before) & better)
    takes = new.is_not_null() & (old.is_null() | better)
    rank = pl.when(takes).then(new_rank).otherwise(old_rank)
    value = pl.when(takes).then(new).otherwise(old)
    return value, pl.when(value.is_not_null() & (rank < pl.col("full"))).then(rank)


def _own_wins() -> pl.Expr:
    """The fuller snapshot; of equally full ones the one of the first source by name, then by what they say."""
    new: tuple[pl.Expr, ...] = (-pl.col("fullness"), _text("source"), _text("source_record"), _said(""))
    old = (-pl.col("fullness_was"), _text("source_was"), _text("source_record_was"), _said("_was"))
    wins = pl.lit(value=False)
    for one, other in reversed(list(zip(new, old, strict=True))):
        wins = (one < other) | ((one == other) & wins)
    return wins


def _text(name: str) -> pl.Expr:
    return pl.col(name).fill_null("")


def _said(suffix: str) -> pl.Expr:
    return pl.concat_str((pl.col(f"{name}{suffix}").cast(pl.String).fill_null("") for name in _SAID), separator="\0")


def _prompt_wins() -> pl.Expr:
    new, old = pl.col("prompt_bytes"), pl.col("prompt_bytes_was")
    new_rank, old_rank = _rank("prompt_bytes"), _rank("prompt_bytes", "_was")
    keys = pl.col("exact_key").fill_null(0), pl.col("exact_key_was").fill_null(0)
    tie = (new > old) | ((new == old) & (keys[0] > keys[1]))
    return new.is_not_null() & (old.is_null() | (new_rank > old_rank) | ((new_rank == old_rank) & tie))


def _joined_tags(both: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """The labels of both sides, each from the fullest that gives it; only rows that differ are looked at one by one."""
    plain = pl.col("lent_tags").is_null() & pl.col("lent_tags_was").is_null()
    same = pl.col("tags").eq_missing(pl.col("tags_was")) & plain
    old_alone = pl.col("tags").is_null() & (pl.col("full") == pl.col("fullness_was"))
    new_alone = pl.col("tags_was").is_null() & (pl.col("full") == pl.col("fullness"))
    easy = both.select(
        tags=pl.when(old_alone).then("tags_was").otherwise("tags"),
        lent=pl.when(same).then(None).when(old_alone).then("lent_tags_was").when(new_alone).then("lent_tags"),
    )
    texts: list[str | None] = easy["tags"].to_list()
    lent: list[str | None] = easy["lent"].to_list()
    rows = both.with_row_index("at").filter(~(same | old_alone | new_alone))
    columns = ("at", "tags", "lent_tags", "fullness", "tags_was", "lent_tags_was", "fullness_was")
    for at, text, who, fullness, text_was, who_was, fullness_was in rows.select(columns).iter_rows():
        new = text, json.loads(who) if who else {}, fullness
        old = text_was, json.loads(who_was) if who_was else {}, fullness_was
        texts[at], ranks = united_labels(new, old)
        lent[at] = json.dumps(ranks, sort_keys=True) if ranks else None
    return pl.Series("united", texts, dtype=pl.String), pl.Series("lent_united", lent, dtype=pl.String)


def united_labels(one: Labels, other: Labels) -> tuple[str | None, dict[str, int]]:
    """The labels of two snapshots of a call as JSON text, and who lent those that are not of the fuller one.

    A label of both is what the fuller of those who give it says; of equally full ones the greater text.
    """
    full = max(one[2], other[2])
    best: dict[str, tuple[int, str]] = {}
    for text, lent, fullness in (one, other):
        for label, value in _labels(text).items():
            given = lent.get(label, fullness), json.dumps(value, sort_keys=True, ensure_ascii=False)
            best[label] = max(best.get(label, given), given)
    if not best:
        return max((text for text in (one[0], other[0]) if text is not None), default=None), {}
    united = json.dumps(
        {label: json.loads(value) for label, (_, value) in best.items()}, sort_keys=True, ensure_ascii=False
    )
    return united, {label: fullness for label, (fullness, _) in best.items() if fullness < full}


def _labels(text: str | None) -> dict[str, object]:
    if text is None:
        return {}
    try:
        given = json.loads(text)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}
