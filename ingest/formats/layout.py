"""What a body layout is: how one provider API writes its requests and responses, inside an envelope or without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.core.usage import UsageEvent
    from ingest.formats.envelope import Exchange


@dataclass(frozen=True, slots=True)
class Layout:
    """One API's bodies.

    Attributes:
        name, title, convention: as of a `Format`.
        read: the event of one exchange of this layout; appends codes to the warnings given.
    """

    name: str
    title: str
    convention: str
    read: Callable[[Exchange, list[str]], UsageEvent]
