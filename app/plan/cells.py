"""Cells: the touched requests folded by local day, scope, rates and candidates, so that a coalition costs milliseconds.

A cell frame has one row a cell: `cell`, `feature`, `template`, `provider`, `model_id`, `account`, `day`, `at_us`,
`price_row`, `service_tier`, `is_batch`, `region`, `price_context`, `requests`, `prompt_tokens`, `cost_pusd` (Int64,
what was paid), `other_pusd`, `share` (1.0: the part of it still sent), the 13 token classes as Float64 sums,
`at_<lever>` for every lever (the candidate's index or null), and under a cache layout `layout_<class>` (replayed sums).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from app.core.errors import UsageError
from app.core.usage import CACHE_WRITE_CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.levers.lever import Candidate, Draw, Lever
    from app.warehouse.store import Session

LAYOUT_CLASSES: Final = ("tok_input", "tok_cache_read", *CACHE_WRITE_CLASSES)
LAYOUT_STAGE: Final = 70
DIGITS: Final = 10_000  # candidates a lever: four decimal digits of the code; nine levers fit a DECIMAL(38)
MAX_LEVERS: Final = 9


@dataclass(frozen=True, slots=True)
class Accepted:
    """A lever with the candidates that take part; a candidate's index is its place in the sequence."""

    lever: Lever
    candidates: tuple[Candidate, ...]


def fold(session: Session, accepted: Sequence[Accepted]) -> pl.DataFrame:
    """Let every lever touch its requests and fold them into cells. Leaves `profile_of` and `cell_of` behind.

    Raises:
        UsageError: more levers or candidates than a code holds.
    """
    if len(accepted) > MAX_LEVERS or any(len(item.candidates) >= DIGITS for item in accepted):
        raise UsageError(f"A plan holds at most {MAX_LEVERS} levers with {DIGITS - 1} candidates each.")
    session.execute("plan.touches_new")
    for place, item in enumerate(accepted):
        if item.candidates:
            item.lever.touch(session, item.candidates)
            session.execute("plan.touches_add", {"touch": f"touch_{item.lever.name}"}, base=str(DIGITS**place))
    session.execute("plan.profiles")
    session.execute("plan.keyed")
    return _decoded(frame_of(session, "cell_of"), [item.lever.name for item in accepted])


def frame_of(session: Session, keyed: str) -> pl.DataFrame:
    """The raw cells of any relation (request_key, cell)."""
    return session.frame("plan.cells", {"keyed": keyed, "stream": "stream", "profiles": "profile_of"})


def _decoded(frame: pl.DataFrame, levers: Sequence[str]) -> pl.DataFrame:
    """Turn the decimal code into one candidate column a lever (null: does not touch)."""
    codes = frame.select("code").unique(maintain_order=True)["code"].to_list()
    columns: dict[str, list[int | None]] = {name: [] for name in levers}
    for text in codes:
        rest = int(text)
        for name in levers:
            rest, digit = divmod(rest, DIGITS)
            columns[name].append(digit - 1 if digit else None)
    decoded = pl.DataFrame(
        {"code": codes} | {f"at_{name}": pl.Series(values, dtype=pl.Int64) for name, values in columns.items()},
        schema_overrides={"code": pl.String},
    )
    return frame.join(decoded, on="code", how="left", maintain_order="left").with_columns(share=pl.lit(1.0))


def decode(frame: pl.DataFrame, accepted: Sequence[Accepted]) -> pl.DataFrame:
    """Cells of single requests (see `frame_of`) with the candidate columns of the same levers."""
    return _decoded(frame, [item.lever.name for item in accepted])


def with_layout(cells: pl.DataFrame, layout: pl.DataFrame) -> pl.DataFrame:
    """Cells with the replayed split of their prompts; requests that the replay left alone keep their own split."""
    joined = cells.join(layout, on="cell", how="left", maintain_order="left")
    part = pl.col("layout_requests").fill_null(0) / pl.col("requests")
    return joined.with_columns(
        **{
            f"layout_{name}": pl.col(f"layout_{name}").fill_null(0.0) + pl.col(name) * (1.0 - part)
            for name in LAYOUT_CLASSES
        }
    ).drop("layout_requests")


def apply(
    cells: pl.LazyFrame,
    accepted: Sequence[Accepted],
    active: Mapping[str, frozenset[int]],
    draw: Draw,
) -> pl.LazyFrame:
    """The cells after the active candidates (lever -> indices), levers in causal order.

    A cache layout is not applied to cells that an earlier lever has moved into a batch: hits there are best effort.
    """
    frame = cells.with_columns(was_batch=pl.col("is_batch"))
    for item in sorted(accepted, key=lambda entry: entry.lever.stage):
        indices = active.get(item.lever.name, frozenset())
        if not indices:
            continue
        column = f"at_{item.lever.name}"
        kept = frame.with_columns(**{f"all_{column}": pl.col(column)}).with_columns(
            pl.when(pl.col(column).is_in(sorted(indices)) & _open_to(item.lever)).then(pl.col(column)).alias(column)
        )
        changed = item.lever.transform(kept, item.candidates, draw)
        frame = changed.with_columns(pl.col(f"all_{column}").alias(column)).drop(f"all_{column}")
    return frame.drop("was_batch")


def _open_to(lever: Lever) -> pl.Expr:
    if lever.stage != LAYOUT_STAGE:
        return pl.lit(True)
    return ~pl.col("is_batch") | pl.col("was_batch")
