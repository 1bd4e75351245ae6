"""What single requests of suspicious days say: which were logged twice, and which do not say their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from app.analysis.bill_cells import ALL_TOKENS, INPUT_GROUPS, TOKEN_GROUPS, CellKey
from app.analysis.bill_compared import served_by
from app.analysis.bill_sides import DAY_US, KEY
from app.analysis.residuals import Doubles
from app.core.view import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.analysis.bill_cells import Cell
    from app.analysis.bill_compared import Compared
    from app.warehouse.store import Session

_NOON_US: Final = DAY_US // 2
_TOKENS: Final = (*TOKEN_GROUPS, ALL_TOKENS)


def days_frame(noons: Iterable[int]) -> pl.DataFrame:
    """The starts of these days, as a relation for a query: day_us."""
    return pl.DataFrame({"day_us": sorted({at_us - _NOON_US for at_us in noons})}, schema={"day_us": pl.Int64})


def doubles_of(session: Session, cells: Iterable[Cell], sides: Compared) -> dict[CellKey, Doubles]:
    """What was logged twice on days where the requests are above the bill, by the cell it belongs to."""
    found: dict[CellKey, Doubles] = {}
    frame = _asked(session, "billed.doubles", (cell for cell in cells if (cell.difference or 0) < 0), sides)
    if frame is None:
        return found
    for group in TOKEN_GROUPS:
        for key, row in _placed(frame.filter(pl.col(f"{group}_tokens") > 0), group, sides):
            before = found.get(key, Doubles(0, 0, 0, (row["one_source"], row["other_source"])))
            found[key] = Doubles(
                before.quantity + int(row[f"{group}_tokens"]),
                before.cost_pusd + int(row[f"{group}_pusd"] or 0),
                before.calls + (0 if key.usage_class == ALL_TOKENS and before.calls else int(row["calls"])),
                before.sources,
            )
    return found


def note_unknown(session: Session, cells: Iterable[Cell], sides: Compared) -> None:
    """Write on cells where the bill is above the requests how many of their calls do not say these tokens."""
    above = {cell.key: cell for cell in cells if (cell.difference or 0) > 0 and cell.key.usage_class in _TOKENS}
    frame = _asked(session, "billed.unknown_tokens", above.values(), sides)
    if frame is None:
        return
    for group in TOKEN_GROUPS:
        calls = "prompt_calls" if group in INPUT_GROUPS else "answer_calls"
        for key, row in _placed(frame, group, sides):
            if key in above and key.usage_class != ALL_TOKENS:
                above[key].unknown_calls += int(row[calls])
            elif key in above and group == TOKEN_GROUPS[0]:
                above[key].unknown_calls += int(row["calls"])


def _asked(session: Session, query: str, cells: Iterable[Cell], sides: Compared) -> pl.DataFrame | None:
    """What a query says of requests on all days of these cells, by who bills them; None where there is no day."""
    days = {day for cell in cells for day in range(cell.key.at_us, (cell.last_us or cell.key.at_us) + 1, DAY_US)}
    if not days:
        return None
    session.register("suspicious_days", days_frame(days))
    frame = session.frame(query, {"days": "suspicious_days"})
    session.unregister("suspicious_days")
    return served_by(
        frame.with_columns(account=pl.when(pl.col("account") != UNASSIGNED).then("account")), sides.counting
    )


def _placed(frame: pl.DataFrame, group: str, sides: Compared) -> Iterator[tuple[CellKey, dict[str, Any]]]:
    placed = sides.levels.place(frame.with_columns(group=pl.lit(group)))
    yield from ((CellKey(*(row[name] for name in KEY)), row) for row in placed.iter_rows(named=True))
