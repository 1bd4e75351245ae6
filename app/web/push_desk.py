"""What the push endpoints can set in motion: callables that the composition root fills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

Signal = Literal["traces", "logs", "metrics"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a body: done once it is safe on disk; how many of its items never will be stored, and why."""

    done: Future[None] | None
    rejected: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class PushDesk:
    """Deeds by name. Each raises an error of app.core.errors whose text the client is told.

    Attributes:
        export: (source, signal, body, whether it is JSON) keeps an OTLP export request.
        records: (source, body, format or empty) keeps plain JSON or JSON lines.
        full: whether too much waits to be read.
        open_source: the source of what is pushed to a service without access control.
    """

    export: Callable[[str, Signal, bytes, bool], Receipt]
    records: Callable[[str, bytes, str], Receipt]
    full: Callable[[], bool]
    open_source: str = "pushed"
