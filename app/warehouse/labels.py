"""The labels of a call told of several times: each from the fullest snapshot that gives it.

In frames, who lent single labels stands in two columns of text: `lent_labels`, their names in order, and `lent_ranks`,
how full each giver is, or one number where all are equally full. Parts are joined by NUL, which no label holds.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

Labels = tuple[str | None, dict[str, int], int]
"""Tags as JSON text, the fullness of who lent single ones of them, and that of the snapshot."""

NUL: Final = "\0"
LABELS: Final = ("lent_labels", "lent_ranks")
_REMEMBERED: Final = 4096
_NO_LABELS: Final[Mapping[str, str]] = {}


def united_labels(one: Labels, other: Labels) -> tuple[str | None, dict[str, int]]:
    """The labels of two snapshots of a call as JSON text, and who lent those that are not of the fuller one.

    A label of both is what the fuller of those who give it says; of equally full ones the greater text.
    """
    full = max(one[2], other[2])
    best: dict[str, tuple[int, str]] = {}
    for text, lent, fullness in (one, other):
        for label, value in _labels(text).items():
            given = lent.get(label, fullness), value
            best[label] = max(best.get(label, given), given)
    if not best:
        return max((text for text in (one[0], other[0]) if text is not None), default=None), {}
    united = json.dumps(
        {label: json.loads(value) for label, (_, value) in best.items()}, sort_keys=True, ensure_ascii=False
    )
    return united, {label: fullness for label, (fullness, _) in best.items() if fullness < full}


@lru_cache(_REMEMBERED)
def _labels(text: str | None) -> Mapping[str, str]:
    """Each label with its value as JSON text."""
    if text is None:
        return _NO_LABELS
    try:
        given = json.loads(text)
    except ValueError:
        return _NO_LABELS
    if not isinstance(given, dict):
        return _NO_LABELS
    return {label: json.dumps(value, sort_keys=True, ensure_ascii=False) for label, value in given.items()}


def joined_labels(both: pl.DataFrame) -> pl.DataFrame:
    """`united_tags`, `united_labels` and `united_ranks` of rows with `tags`, `lent_labels`, `lent_ranks` and `fullness`
    of one side, and of the other with the ending `_was`.
    """
    both = both.select(_told(both, name + ending) for name in ("tags", *LABELS, "fullness") for ending in ("", "_was"))
    plain = pl.col("lent_labels").is_null() & pl.col("lent_labels_was").is_null()
    if both.select(plain.all()).item():
        return _by_texts(both)
    both = both.with_row_index("at")
    parts = [(both.filter(plain), _by_texts), (both.filter(~plain), _one_by_one)]
    united = [rows.select("at").hstack(join(rows)) for rows, join in parts if rows.height]
    return pl.concat(united).sort("at").drop("at")


def _told(rows: pl.DataFrame, name: str) -> pl.Expr:
    """A column; where no row was lent a label it may be missing."""
    return pl.col(name) if name in rows.columns else pl.lit(None, dtype=pl.String).alias(name)


def _by_texts(both: pl.DataFrame) -> pl.DataFrame:
    """Of snapshots that were lent no label: worked out once for each pair of texts."""
    rows = both.select(
        "tags",
        "tags_was",
        order=(pl.col("fullness") > pl.col("fullness_was")).cast(pl.Int8)
        - (pl.col("fullness") < pl.col("fullness_was")).cast(pl.Int8),
        lesser=pl.min_horizontal("fullness", "fullness_was"),
    )
    texts = ["tags", "tags_was", "order"]
    pairs = rows.select(texts).unique()
    found = []
    for text, text_was, order in pairs.iter_rows():
        united, lent = (text, {}) if text == text_was else united_labels((text, {}, order), (text_was, {}, 0))
        found.append((united, NUL.join(sorted(lent)) if lent else None))
    schema = {"united_tags": pl.String, "united_labels": pl.String}
    pairs = pairs.hstack(pl.DataFrame(found, schema=schema, orient="row"))
    joined = rows.join(pairs, on=texts, how="left", nulls_equal=True, maintain_order="left")
    ranks = pl.when(pl.col("united_labels").is_not_null()).then(pl.col("lesser").cast(pl.String))
    return joined.select("united_tags", "united_labels", united_ranks=ranks)


def _one_by_one(both: pl.DataFrame) -> pl.DataFrame:
    found = []
    for text, labels, ranks, fullness, text_was, labels_was, ranks_was, fullness_was in both.select(
        name + ending for ending in ("", "_was") for name in ("tags", *LABELS, "fullness")
    ).iter_rows():
        united, lent = united_labels(
            (text, _ranks(labels, ranks), fullness), (text_was, _ranks(labels_was, ranks_was), fullness_was)
        )
        found.append((united, *_written(lent)))
    schema = dict.fromkeys(("united_tags", "united_labels", "united_ranks"), pl.String)
    return pl.DataFrame(found, schema=schema, orient="row")


def _ranks(labels: str | None, ranks: str | None) -> dict[str, int]:
    if labels is None or ranks is None:
        return {}
    names, numbers = labels.split(NUL), ranks.split(NUL)
    return dict(zip(names, map(int, numbers if len(numbers) > 1 else numbers * len(names)), strict=True))


def _written(lent: dict[str, int]) -> tuple[str | None, str | None]:
    if not lent:
        return None, None
    names = sorted(lent)
    ranks = [str(lent[name]) for name in names]
    return NUL.join(names), ranks[0] if len(set(ranks)) == 1 else NUL.join(ranks)


def lent_labels(lent: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """The columns `lent_labels` and `lent_ranks` by `on`, of rows that name a label and the fullness of its giver."""
    ranks = pl.col("fullness").cast(pl.String)
    return (
        lent.sort("label")
        .group_by(on)
        .agg(
            lent_labels=pl.col("label").str.join(NUL),
            lent_ranks=pl.when(pl.col("fullness").min() == pl.col("fullness").max())
            .then(ranks.first())
            .otherwise(ranks.str.join(NUL)),
        )
    )


def labels_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Who lent single labels of some rows: request_key, label, fullness."""
    split = rows.filter(pl.col("lent_labels").is_not_null()).select(
        "request_key", label=pl.col("lent_labels").str.split(NUL), fullness=pl.col("lent_ranks").str.split(NUL)
    )
    alike = pl.col("fullness").list.len() == 1
    one = split.filter(alike).explode("fullness").explode("label")
    other = split.filter(~alike).explode("label", "fullness")
    return pl.concat([one, other]).with_columns(pl.col("fullness").cast(pl.Int64))


def brings_labels(both: pl.DataFrame) -> pl.Series:
    """Whether the labels of a row may change those of the row beside it (`_was`), which is at least as full.

    They do not where that row has all of them with the same values, each from someone as full as this row.
    """
    lent = _told(both, "lent_labels_was")
    rows = both.select(
        "tags", "tags_was", lent, "fullness",
        lender=_told(both, "lent_ranks_was").cast(pl.Int64, strict=False),
        has=pl.col("tags").is_not_null() & (pl.col("tags").ne_missing(pl.col("tags_was")) | lent.is_not_null()),
    )  # fmt: skip
    if not rows.select(pl.col("has").any()).item():
        return rows["has"].alias("brings")
    texts = ["tags", "tags_was", "lent_labels_was"]
    pairs = rows.filter("has").select(texts).unique()
    found = []
    for text, text_was, who in pairs.iter_rows():
        new, old = _labels(text), _labels(text_was)
        known = bool(new) and all(old.get(label) == value for label, value in new.items())
        touches = who is not None and not new.keys().isdisjoint(who.split(NUL))
        found.append((not known, touches))
    schema = {"more": pl.Boolean, "touches": pl.Boolean}
    pairs = pairs.hstack(pl.DataFrame(found, schema=schema, orient="row"))
    return (
        rows.join(pairs, on=texts, how="left", nulls_equal=True, maintain_order="left")
        .select(
            brings=pl.col("has")
            & (pl.col("more") | (pl.col("touches") & ~(pl.col("fullness") <= pl.col("lender")).fill_null(value=False)))
        )
        .to_series()
        .fill_null(value=False)
    )
