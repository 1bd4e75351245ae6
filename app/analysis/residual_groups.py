"""Residuals as people read them: one line a reason, day, account and model, with its token classes together."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.analysis.residuals import Kind, Residual


@dataclass(frozen=True, slots=True)
class ResidualGroup:
    """Residuals of one kind, day, account and model; the largest first. Their sums add up to the residuals' own."""

    kind: Kind
    at_us: int
    provider: str
    account: str
    model: str
    items: tuple[Residual, ...]

    @property
    def amount_pusd(self) -> int:
        return sum(item.amount_pusd for item in self.items)

    @property
    def quantity(self) -> int | None:
        """Tokens with sign; None where no item has any. Tokens that only changed class or day are not added up."""
        known = [item.quantity for item in self.items if item.quantity is not None]
        return sum(known) if known else None

    @property
    def moved(self) -> int:
        """Tokens that the group is about, without sign: of a class split those that changed class."""
        most = [abs(item.quantity or 0) for item in self.items]
        gained = sum(item.quantity or 0 for item in self.items if (item.quantity or 0) > 0)
        return gained if self.kind == "class split" else sum(most)

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(item.key.usage_class for item in self.items)


def grouped(residuals: Iterable[Residual]) -> tuple[ResidualGroup, ...]:
    """The groups, the largest amount first."""
    members: dict[tuple[Kind, int, str, str, str], list[Residual]] = defaultdict(list)
    for item in residuals:
        key = item.key
        members[item.kind, key.at_us, key.provider, key.account, key.model].append(item)
    groups = [
        ResidualGroup(*place, tuple(sorted(items, key=lambda item: (-abs(item.amount_pusd), item.key))))
        for place, items in members.items()
    ]
    return tuple(
        sorted(
            groups, key=lambda one: (-abs(one.amount_pusd), -one.moved, one.at_us, one.provider, one.model, one.kind)
        )
    )
