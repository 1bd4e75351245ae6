"""What a workload is: one feature of the demo company, with a flaw that can be switched on and off.

With the flaw on or off a workload makes the same arrivals, users, questions and answers from one seed: all draws come
from sources named after the workload and their purpose, never after the flaw. The difference of the two bills is the
flaw's true cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from app.demo.clock import Span
    from app.demo.wire import Line


@dataclass(frozen=True, slots=True)
class Scene:
    """What a workload is asked to make: about `requests` logical calls within the span."""

    name: str
    span: Span
    requests: int
    seed: int
    flaw: bool

    def rng(self, purpose: str) -> Random:
        """A random source of its own for each purpose."""
        return Random(f"{self.seed}/{self.name}/{purpose}")  # noqa: S311 - made traffic, no secret


@dataclass(frozen=True, slots=True)
class Workload:
    """One feature.

    Attributes:
        name: its feature name in the logs (the untagged one is named here only).
        share: its part of the requests of the month; all shares add up to 1.
        flaw: what is wrong while the flaw is on; empty where nothing is planted.
        make: the lines of its log in the order of their start.
    """

    name: str
    share: float
    flaw: str
    make: Callable[[Scene], Iterator[Line]]
