"""What stands behind a figure: example requests with their dollars before and after, and the tokens that moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from app.core.money import usd_text
from app.core.usage import TOKEN_CLASSES
from app.plan import cells as cells_of
from app.plan.outcomes import Engine
from app.plan.result import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.plan.layouts import Layouts
    from app.warehouse.store import Session

EXAMPLES: Final = 20
CHANGED: Final = 0.5  # tokens or pico-USD; below it is dust of floating point


@dataclass(frozen=True, slots=True)
class ClassMove:
    """Tokens of one class before and after a finding, with their list value in pico-USD."""

    name: str
    before: float
    before_pusd: float
    after: float
    after_pusd: float


def moves(engine: Engine, player: int) -> dict[int, list[ClassMove]]:
    """The token classes that each finding of a player changes, over all the cells it touches, by candidate index."""
    column = f"at_{engine.players.all[player].lever}"
    before, after = _sums(engine.before(), column), _sums(engine.priced_after(1 << player), column)
    found: dict[int, list[ClassMove]] = {}
    for index, was in before.items():
        now = after[index]
        found[index] = [
            ClassMove(name, *was[name], *now[name])
            for name in TOKEN_CLASSES
            if any(abs(a - b) > CHANGED for a, b in zip(was[name], now[name], strict=True))
        ]
    return found


def _sums(cells: pl.DataFrame, column: str) -> dict[int, dict[str, tuple[float, float]]]:
    """Tokens and list value by candidate and class."""
    sent = {name: pl.col(name) * pl.col("share") for name in TOKEN_CLASSES}
    rows = (
        cells.filter(pl.col(column).is_not_null())
        .group_by(column)
        .agg(
            *(sent[name].sum().alias(f"tokens_{name}") for name in TOKEN_CLASSES),
            *((sent[name] * pl.col(f"rate_{name}").fill_null(0.0)).sum().alias(f"value_{name}") for name in sent),
        )
    )
    return {
        row[column]: {name: (row[f"tokens_{name}"], row[f"value_{name}"]) for name in TOKEN_CLASSES}
        for row in rows.iter_rows(named=True)
    }


def evidence(
    session: Session, engine: Engine, layouts: Layouts, wanted: Mapping[str, tuple[int, Sequence[int]]]
) -> dict[str, tuple[Evidence, ...]]:
    """Example requests by fingerprint. `wanted`: fingerprint -> (player, request keys)."""
    keys = sorted({key for _, examples in wanted.values() for key in examples})
    session.register("evidence_wanted", pl.DataFrame({"request_key": keys}, schema={"request_key": pl.Int64}))
    session.execute("plan.evidence_keyed")
    rows = session.frame("plan.evidence_keys")
    cells = cells_of.decode(cells_of.frame_of(session, "evidence_of"), engine.accepted)

    def layout_of(mask: int) -> pl.DataFrame | None:
        table = layouts.table(mask)
        if table is None:
            return None
        return session.frame("plan.layout_cells", {"keyed": "evidence_of", "layout": table})

    single = Engine(cells, engine.accepted, engine.players, engine.lookup, layout_of)
    by_player: dict[int, dict[int, Evidence]] = {}
    for player in {player for player, _ in wanted.values()}:
        by_player[player] = _rows(single, player, rows)
    return {
        owner: tuple(by_player[player][key] for key in examples[:EXAMPLES] if key in by_player[player])
        for owner, (player, examples) in wanted.items()
    }


def _rows(single: Engine, player: int, rows: pl.DataFrame) -> dict[int, Evidence]:
    if single.cells.height == 0:
        return {}
    saved = single.saved(1 << player)
    frame = single.cells.select("cell", "cost_pusd").with_columns(saved=saved.round().cast(pl.Int64))
    joined = frame.join(rows, on="cell", how="inner", maintain_order="left")
    return {
        row["request_key"]: Evidence(
            row["request_key"],
            row["start_us"],
            usd_text(row["cost_pusd"]) or "0",
            usd_text(max(row["cost_pusd"] - row["saved"], 0)) or "0",
        )
        for row in joined.iter_rows(named=True)
    }
