"""Work that must follow soon but must not take the machine: after it took some time it rests four times as long."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

RESTS: Final = 4
LONGEST_REST_S: Final = 60.0


@dataclass
class Paced:
    """Owes its work from `owe` on; `due` says when it may be done, which after a short piece of work is at once."""

    clock: Callable[[], float] = field(default=time.monotonic)
    _owed: bool = True
    _rests_until: float = 0.0

    def owe(self) -> None:
        """Something happened that the work has to follow."""
        self._owed = True

    def due(self) -> bool:
        """Whether the work is owed and may be done now."""
        return self._owed and self.clock() >= self._rests_until

    def catch_up(self, work: Callable[[], object]) -> None:
        """Do what an earlier run may have left undone; what comes next does not wait for that."""
        work()
        self._owed = False

    def run(self, work: Callable[[], object]) -> None:
        """Do the work; it is still owed where it fails."""
        begun = self.clock()
        work()
        self._owed = False
        now = self.clock()
        self._rests_until = now + min(LONGEST_REST_S, RESTS * (now - begun))
