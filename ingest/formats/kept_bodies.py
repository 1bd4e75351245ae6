"""Bodies that a gateway's log kept beside its own columns: they hold the provider's own usage and the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.core.usage import UsageEvent, tokens_in, tokens_out
from ingest.formats.envelope import Exchange, unwrap
from ingest.formats.exchanges import event_of

if TYPE_CHECKING:
    from collections.abc import Mapping

# What the gateway's own columns say better than the bodies.
_OUTCOME = ("status", "http_status", "error", "not_billed", "source_record")


def event_of_bodies(request: Any, response: Any, path: str | None) -> UsageEvent:
    """What the bodies of a call say; an empty event where they are not kept or of no known API.

    How the call ended is left out: a body that was not kept is no failure.
    """
    record: dict[str, Any] = {"request": request or None, "response": response or None}
    if path is not None:
        record["path"] = path
    if not record["request"] and not record["response"]:
        return UsageEvent()
    exchange = unwrap(record)
    made = event_of(exchange) if type(exchange) is Exchange else None
    if type(made) is not UsageEvent:
        return UsageEvent()
    for name in _OUTCOME:
        setattr(made, name, _DEFAULTS[name])
    return made


_DEFAULTS: Mapping[str, Any] = {name: getattr(UsageEvent(), name) for name in _OUTCOME}


def has_usage(event: UsageEvent) -> bool:
    """True where both sides of a call's tokens are known."""
    return tokens_in(event) is not None and tokens_out(event) is not None
