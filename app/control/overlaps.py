"""What people said about two sources that tell of the same calls: which of them counts, or that they are different."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from app.control.tables import overlap_decisions

if TYPE_CHECKING:
    from sqlalchemy import Engine

Pair = tuple[str, str]


def pair_of(one: str, other: str) -> Pair:
    """Two sources in the order in which a decision about them is kept."""
    return (one, other) if one < other else (other, one)


def decisions(engine: Engine) -> dict[Pair, str | None]:
    """By pair the source that counts; None where both do."""
    with engine.connect() as connection:
        rows = connection.execute(sa.select(overlap_decisions)).all()
    return {(row.source_a, row.source_b): row.counted for row in rows}


def decide(engine: Engine, pair: Pair, counted: str | None, now_us: int) -> None:
    """Note a decision about a pair, in place of an earlier one."""
    a, b = pair
    same = (overlap_decisions.c.source_a == a, overlap_decisions.c.source_b == b)
    with engine.begin() as connection:
        connection.execute(sa.delete(overlap_decisions).where(*same))
        connection.execute(
            sa.insert(overlap_decisions).values(source_a=a, source_b=b, counted=counted, decided_us=now_us)
        )
