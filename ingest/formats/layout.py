"""What a body layout is: how one provider API writes its requests and responses, inside an envelope or without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.core.usage import UsageEvent
    from ingest.formats.envelope import Exchange


def _never(_body: dict[str, Any]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Layout:
    """One API's bodies.

    Attributes:
        name, title, convention: as of a `Format`.
        read: the event of one exchange of this layout; appends codes to the warnings given.
        owns: whether a response body, or one event of a stream, is of this API by the fields it has. Asked only where
            no `object` or called path says it.
        asks: whether a request body is of this API by the fields it has.
        places: fragments of the called path or address that only this API has.
    """

    name: str
    title: str
    convention: str
    read: Callable[[Exchange, list[str]], UsageEvent]
    owns: Callable[[dict[str, Any]], bool] = _never
    asks: Callable[[dict[str, Any]], bool] = _never
    places: tuple[str, ...] = ()
