"""What moved: the change of spend between two periods, split into volume, mix and rate without a remainder.

Additive logarithmic-mean Divisia index over cells (value of the dimension, model): with L(a, b) = (a - b)/(ln a - ln b)
and cost = N x share x rate, each factor's part is the sum of L(cost1, cost0) x ln(factor1 / factor0). It is exact and
does not depend on an order of the factors. Cells that exist in one period only have no logarithm: they are new or gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from app.analysis.scope import column, spend_scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.core.view import Period, View
    from app.warehouse.store import Session


@dataclass(frozen=True, slots=True)
class Cell:
    """Requests with a price and their cost in the period before (0) and now (1)."""

    name: str
    model: str
    n0: int
    cost0: int
    n1: int
    cost1: int


@dataclass(frozen=True, slots=True)
class Move:
    """A change in pico-USD: `volume` (more requests in all), `mix` (other shares), `rate` (another cost a request),
    `new` and `gone` (cells of one period only). The five add up to `change` exactly.
    """

    name: str
    before_pusd: int
    now_pusd: int
    volume: int
    mix: int
    rate: int
    new: int
    gone: int

    @property
    def change(self) -> int:
        return self.now_pusd - self.before_pusd


@dataclass(frozen=True, slots=True)
class Movers:
    """The whole change and its rows, the largest change first; rows add up to `total` in every part."""

    dimension: str
    before: Period
    total: Move
    rows: tuple[Move, ...]


def movers(session: Session, view: View, before: Period, *, by: str | None = None) -> Movers:
    """What moved between `before` and the view's period, by a dimension (`view.by` unless given).

    Only requests that have a price take part, so a price that becomes known is no growth of volume hidden in rate.
    """
    dimension = by or view.by
    sides: list[dict[tuple[str, str], tuple[int, int]]] = []
    for period in (before, view.period):
        scope = spend_scope(session, view, dimension, "model", period=period)
        rows = session.rows("spend.cells", {"facts": scope.relation, "column": column(dimension)}, **scope.range)
        sides.append({(str(name), str(model)): (int(n), int(cost)) for name, model, n, cost in rows})
    old, new = sides
    cells = [Cell(*key, *old.get(key, (0, 0)), *new.get(key, (0, 0))) for key in sorted(old.keys() | new.keys())]
    moves = split(cells)
    rows_ = sorted(moves, key=lambda move: (-abs(move.change), move.name))
    return Movers(dimension, before, _sum("", moves), tuple(rows_))


def split(cells: Iterable[Cell]) -> list[Move]:
    """One move a name. Each part is rounded to whole pico-USD and the rate takes what rounding leaves over."""
    listed = list(cells)
    all0, all1 = sum(cell.n0 for cell in listed), sum(cell.n1 for cell in listed)
    moves: dict[str, list[Move]] = {}
    for cell in listed:
        moves.setdefault(cell.name, []).append(_move(cell, all0, all1))
    return [_sum(name, found) for name, found in moves.items()]


def _move(cell: Cell, all0: int, all1: int) -> Move:
    change = cell.cost1 - cell.cost0
    if not cell.n0:
        return Move(cell.name, cell.cost0, cell.cost1, 0, 0, 0, change, 0)
    if not cell.n1:
        return Move(cell.name, cell.cost0, cell.cost1, 0, 0, 0, 0, change)
    if cell.cost0 <= 0 or cell.cost1 <= 0:
        # a cost of nothing has no logarithm: what it costs now against then is another rate, whatever the volume
        return Move(cell.name, cell.cost0, cell.cost1, 0, 0, change, 0, 0)
    weight = _log_mean(cell.cost1, cell.cost0)
    volume = round(weight * log(all1 / all0))
    mix = round(weight * log((cell.n1 / all1) / (cell.n0 / all0)))
    return Move(cell.name, cell.cost0, cell.cost1, volume, mix, change - volume - mix, 0, 0)


def _log_mean(a: int, b: int) -> float:
    return float(a) if a == b else (a - b) / (log(a) - log(b))


def _sum(name: str, moves: Iterable[Move]) -> Move:
    listed = list(moves)
    return Move(
        name,
        sum(move.before_pusd for move in listed),
        sum(move.now_pusd for move in listed),
        sum(move.volume for move in listed),
        sum(move.mix for move in listed),
        sum(move.rate for move in listed),
        sum(move.new for move in listed),
        sum(move.gone for move in listed),
    )
