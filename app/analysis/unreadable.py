"""Calls whose cost is unknown because a count in their log could not be read, which is not the same as no usage."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.core.view import View
    from app.warehouse.store import Session


def unreadable(session: Session, view: View) -> dict[tuple[str, str], int]:
    """How many of them there are in the view's period, by (provider, model); its filters are not looked at."""
    rows = session.rows("spend.unreadable", from_us=view.period.from_us, to_us=view.period.to_us)
    return {(str(provider), str(model)): int(requests) for provider, model, requests in rows}
