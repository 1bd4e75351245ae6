"""Times in tests are written as ISO text."""

from __future__ import annotations

from datetime import datetime


def us(text: str) -> int:
    """Microseconds UTC of an ISO time such as 2026-10-27T02:00:00Z or of a day."""
    iso = text if "T" in text else f"{text}T12:00:00+00:00"
    return round(datetime.fromisoformat(iso).timestamp()) * 1_000_000
