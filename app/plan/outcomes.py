"""Outcomes: what every needed coalition of levers saves, per group (scope) and cluster (local day x template).

A player is a lever's joint part (grades A-C) or its potential part (grade D). Coalitions are bit masks of players.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from app.levers.lever import SCOPE, Draw
from app.plan import cells as cells_of
from app.plan import worth
from app.plan.cells import LAYOUT_STAGE
from app.plan.game import players as members_of
from app.plan.game import subsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from app.plan.cells import Accepted
    from app.plan.rates import Lookup


@dataclass(frozen=True, slots=True)
class Player:
    """One lever's candidates of one kind, by index."""

    lever: str
    stage: int
    joint: bool
    indices: frozenset[int]


@dataclass(frozen=True, slots=True)
class Players:
    """All players of a plan; player i has the bit 1 << i."""

    all: tuple[Player, ...]

    @property
    def joint(self) -> int:
        """The mask of everyone whose saving may stand in the headline."""
        return sum(1 << place for place, player in enumerate(self.all) if player.joint)

    @property
    def everyone(self) -> int:
        return (1 << len(self.all)) - 1

    def needed(self) -> list[int]:
        """The coalitions to price: all of the joint ones, each potential one alone, beside and on top of them."""
        masks = set(subsets(self.joint))
        for place, player in enumerate(self.all):
            if not player.joint:
                masks |= {1 << place, self.joint | 1 << place}
        masks.add(self.everyone)
        masks.discard(0)
        return sorted(masks)

    def active(self, mask: int) -> dict[str, frozenset[int]]:
        """The candidates of a coalition, by lever."""
        active: dict[str, frozenset[int]] = {}
        for place in members_of(mask):
            player = self.all[place]
            active[player.lever] = active.get(player.lever, frozenset()) | player.indices
        return active


def seat(accepted: Sequence[Accepted]) -> Players:
    """The players of accepted candidates, in causal order."""
    found: list[Player] = []
    for item in sorted(accepted, key=lambda entry: entry.lever.stage):
        for joint in (True, False):
            indices = frozenset(
                index for index, candidate in enumerate(item.candidates) if (candidate.grade != "D") is joint
            )
            if indices:
                found.append(Player(item.lever.name, item.lever.stage, joint, indices))
    return Players(tuple(found))


@dataclass(slots=True)
class Engine:
    """Prices coalitions on cells. `layout_of(mask)` gives the replayed prompt split of a structural state by cell."""

    cells: pl.DataFrame
    accepted: Sequence[Accepted]
    players: Players
    lookup: Lookup
    layout_of: Callable[[int], pl.DataFrame | None]
    _before: pl.DataFrame | None = None

    def before(self) -> pl.DataFrame:
        """The cells with the book's value of what was really sent."""
        if self._before is None:
            self._before = worth.book_value(self.cells, self.lookup)
        return self._before

    def owners(self, names: Mapping[tuple[int, int], str]) -> list[tuple[int, int, str]]:
        """(group, player, name) for each scope and the finding that stands for a player in it.

        `names` are by (player, candidate index). Candidates act on whole scopes, so there is one a player and scope.
        """
        keyed = number(self.cells)
        found = []
        for place, player in enumerate(self.players.all):
            column = f"at_{player.lever}"
            touched = keyed.filter(pl.col(column).is_in(sorted(player.indices)))
            pairs = touched.group_by("group").agg(pl.col(column).min()).sort("group")
            found += [(group, place, names[place, index]) for group, index in pairs.iter_rows()]
        return found

    def after(self, mask: int, draw: Draw | None = None) -> pl.DataFrame:
        """The cells as the coalition leaves them, not yet priced."""
        frame = self._with_layout(mask)
        return cells_of.apply(frame.lazy(), self.accepted, self.players.active(mask), draw or Draw()).collect()

    def priced_after(self, mask: int) -> pl.DataFrame:
        """The cells as the coalition leaves them with the rates and the book's value of their tokens."""
        return worth.book_value(self.after(mask), self.lookup)

    def saved(self, mask: int, draw: Draw | None = None) -> pl.Series:
        """Pico-USD saved by a coalition in each cell (Float64, negative where it costs more)."""
        after = worth.after_pusd(self.before(), self.after(mask, draw), self.lookup)
        return (self.cells["cost_pusd"].cast(pl.Float64) - after).alias("saved")

    def _with_layout(self, mask: int) -> pl.DataFrame:
        if not any(self.players.all[place].stage == LAYOUT_STAGE for place in members_of(mask)):
            return self.cells
        layout = self.layout_of(mask)
        return self.cells if layout is None else cells_of.with_layout(self.cells, layout)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Saved pico-USD per (group, cluster), one Int64 column `m<mask>` a coalition, beside `before_pusd`, `requests`."""

    frame: pl.DataFrame
    masks: tuple[int, ...]

    def groups(self) -> pl.DataFrame:
        """The same per group: what the game is played on."""
        columns = ["before_pusd", "requests", *(f"m{mask}" for mask in self.masks)]
        return self.frame.group_by("group", maintain_order=True).agg(pl.col(columns).sum())


def outcomes(engine: Engine, masks: Iterable[int]) -> Outcomes:
    """Price the coalitions and fold them by `group` (scope) and `cluster` (local day of a template)."""
    wanted = tuple(masks)
    keyed = number(engine.cells)
    priced = keyed.with_columns(**{f"m{mask}": engine.saved(mask) for mask in wanted})
    frame = priced.group_by("group", "cluster", maintain_order=True).agg(
        pl.col("cost_pusd").sum().alias("before_pusd"),
        pl.col("requests").sum().alias("requests"),
        *(pl.col(f"m{mask}").sum().round().cast(pl.Int64) for mask in wanted),
    )
    return Outcomes(frame, wanted)


def number(cells: pl.DataFrame) -> pl.DataFrame:
    """Cells with `group` (a number for each scope) and `cluster` (a number for each local day of a template)."""
    scopes = cells.select(SCOPE).unique(maintain_order=True).with_row_index("group")
    keyed = cells.join(scopes, on=list(SCOPE), how="left", nulls_equal=True, maintain_order="left")
    clusters = keyed.select("feature", "template", "day").unique(maintain_order=True).with_row_index("cluster")
    return keyed.join(clusters, on=["feature", "template", "day"], how="left", nulls_equal=True, maintain_order="left")
