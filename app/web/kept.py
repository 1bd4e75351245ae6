"""Answers that pages may give again while nothing behind them changed: the newest few, each under all that it rests on.

The key holds the warehouse's generation, what people decided about findings and the minute, so a merge or a dismissal
is seen by the next reader, and "5 min ago" stays true.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, TypeVar

from app.control import findings as decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from app.web.page import Context, Page

MOST: Final = 96
MINUTE_US: Final = 60_000_000

Answer = TypeVar("Answer")


class Kept:
    """At most `MOST` answers; the one that nobody asked for longest goes first. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """The answer under `key`; two readers who come at once may both make it, and say the same."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                found: Answer = self._answers[key]
                return found
        made = make()
        with self._lock:
            self._answers[key] = made
            while len(self._answers) > MOST:
                self._answers.popitem(last=False)
        return made


def state_of(context: Context) -> Hashable:
    """All that an answer rests on beside its address. Read it before the answer is made, never after."""
    generation = context.deps.warehouse.generation
    states = decisions.states(context.deps.control, context.now_us)
    decided = tuple(sorted((key, state.status, state.reason, state.owner) for key, state in states.items()))
    return (generation, decided, context.now_us // MINUTE_US, context.deps.commands.status().busy)


def address_of(context: Context, page: Page) -> Hashable:
    """What a reader asked for: the page, its path, the view and its keys, and what this page alone rests on."""
    keys = tuple(sorted(context.keys.items()))
    return (page.name, tuple(sorted(context.path.items())), context.view, keys, page.rests_on(context))
