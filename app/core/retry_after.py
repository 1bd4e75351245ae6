"""The header Retry-After as any server may send it: seconds or a date (RFC 9110, section 10.2.3), or something else."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite


def retry_after_s(text: str | None) -> float | None:
    """Seconds that the header asks to wait, never below 0; None where it says nothing that can be waited for.

    A date without a zone is UTC. How long is too long is the caller's to say.
    """
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        return _until_s(text)
    return max(0.0, seconds) if isfinite(seconds) else None


def _until_s(text: str) -> float | None:
    try:
        when = parsedate_to_datetime(text)
        at = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max(0.0, (at - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None
