"""What a caller asks for beside the lines themselves, and the reading of the times in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from app.core.errors import UsageError
from app.core.view import zone_info

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.batch.provider import Provider

MAX_ATTEMPTS = 3
_CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_REFERENCE = ("env:", "file:")


@dataclass(frozen=True, slots=True)
class Order:
    """How a job is to be run. Times are microseconds UTC.

    Attributes:
        provider: the plug-in's name.
        label: how people call the job.
        feature, tags: kept with every request of the job, so that its cost is attributed.
        zone: in which the caller named the times.
        start_us: nothing is sent before; None is at once.
        needed_by_us: when the results must be there at the latest.
        base_url, key_ref: another address of the provider's protocol, and where its key is (env:NAME, file:PATH).
        max_attempts: how often an item is sent at most.
        queued_tokens: the account's limit of queued prompt tokens a model, where known.
        webhook_url, webhook_key_ref: who is told when the job is settled, and where the signing secret is.
    """

    provider: str
    label: str = ""
    feature: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    zone: str = "UTC"
    start_us: int | None = None
    needed_by_us: int | None = None
    base_url: str | None = None
    key_ref: str | None = None
    max_attempts: int = MAX_ATTEMPTS
    queued_tokens: int | None = None
    webhook_url: str | None = None
    webhook_key_ref: str | None = None


def check_order(order: Order, provider: Provider, now_us: int) -> int:
    """The moment at which the job starts, after everything that can be wrong with an order was looked at.

    Raises:
        UsageError: a time cannot be met, a secret is given itself, or a number makes no sense.
    """
    start_us = max(now_us, order.start_us or now_us)
    if order.needed_by_us is not None and start_us + provider.window_us > order.needed_by_us:
        latest = order.needed_by_us - provider.window_us
        hours = provider.window_us // 3_600_000_000
        raise UsageError(
            f"{provider.title} may take {hours} hours, so results needed by {shown(order.needed_by_us, order.zone)} "
            f"have to start at {shown(latest, order.zone)} at the latest; this job would start at "
            f"{shown(start_us, order.zone)}. Start earlier, need it later, or call the provider directly."
        )
    for name, value in (("key", order.key_ref), ("webhook secret", order.webhook_key_ref)):
        if value is not None and not value.startswith(_REFERENCE):
            raise UsageError(f"Give the {name} as env:NAME or file:PATH, never as its own text.")
    if order.base_url is not None and not order.base_url.startswith(("https://", "http://")):
        raise UsageError(f"{order.base_url!r} is no address. Give it as https://host/v1.")
    if order.webhook_url is not None and not order.webhook_url.startswith(("https://", "http://")):
        raise UsageError(f"{order.webhook_url!r} is no address for a webhook. Give it as https://host/path.")
    if order.webhook_url is not None and order.webhook_key_ref is None:
        raise UsageError("A webhook is signed: name its secret as env:NAME or file:PATH.")
    if not 1 <= order.max_attempts <= 10:
        raise UsageError("An item is sent between 1 and 10 times.")
    if order.queued_tokens is not None and order.queued_tokens < 1:
        raise UsageError("The limit of queued tokens is a number above 0.")
    return start_us


def moment_us(text: str, zone: str, after_us: int) -> int:
    """The moment that `02:00` (the next one after `after_us`) or `2026-12-01T02:00` names in a zone.

    A time that a clock change skips is the same moment by the offset before it; one that comes twice is the first.

    Raises:
        UsageError: the text is neither, or the zone does not exist.
    """
    where = zone_info(zone)
    clock = _CLOCK.fullmatch(text.strip())
    if clock is not None:
        today = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=after_us)).astimezone(where).date()
        for days in (0, 1, 2):
            day = today + timedelta(days=days)
            at = datetime(day.year, day.month, day.day, int(clock[1]), int(clock[2]), tzinfo=where)
            if _us(at) > after_us:
                return _us(at)
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(f"{text!r} is no time. Give it as 02:00 or 2026-12-01T02:00.") from error
    return _us(at if at.tzinfo is not None else at.replace(tzinfo=where))


def shown(at_us: int, zone: str) -> str:
    """A moment as people of a zone write it, with the zone."""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)
    return f"{at.astimezone(zone_info(zone)):%Y-%m-%d %H:%M} {zone}"


def _us(at: datetime) -> int:
    return round(at.timestamp()) * 1_000_000
