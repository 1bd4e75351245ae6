"""Gemini's explicit caches (`cachedContents`): creating one reads its tokens once, keeping it is rent by the hour.

The rent is counted to the expiry that the object names; a cache that is deleted earlier costs less, one that is
extended is told again under its name. Reads of it are in the usage of the calls that name it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import UsageEvent
from ingest.formats.fields import count, text
from ingest.formats.gemini_contents import model_in, pick, read_request
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text
from ingest.formats.times import instant

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_HOUR_US: Final = 3_600_000_000
_A_MILLION: Final = 1_000_000
_DECIMALS: Final = 3  # units are priced to a thousandth
_LEAST: Final = 0.001


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of one cache: what it read, and `cache_storage` in million tokens times hours."""
    event = UsageEvent(provider="google", operation="cache")
    if exchange.request is not None:
        read_request(exchange.request, event)
    cache = exchange.response
    if cache is None:
        return event
    event.source_record = text(cache.get("name"))
    event.model = model_in(cache.get("model")) or text(cache.get("model")) or event.model
    event.start_us = instant(pick(cache, "createTime"), "createTime", warnings)
    usage = pick(cache, "usageMetadata")
    tokens = count(pick(usage, "totalTokenCount"), "input", warnings) if type(usage) is dict else None
    event.tok_input = event.tok_total_reported = tokens
    ends = instant(pick(cache, "expireTime"), "expireTime", warnings)
    if tokens is not None and event.start_us is not None and ends is not None and ends >= event.start_us:
        rented = tokens / _A_MILLION * (ends - event.start_us) / _HOUR_US
        event.units = {"cache_storage": max(round(rented, _DECIMALS), _LEAST)}
    if cache.get("error"):
        event.status, event.error = "error", error_text(cache["error"])
    return event


def owns(body: dict[str, Any]) -> bool:
    """Whether a body is a cache's own object."""
    name = body.get("name")
    return type(name) is str and "cachedContents/" in name and type(pick(body, "usageMetadata")) is dict


LAYOUT: Final = Layout(
    name="gemini_cached_contents",
    title="Gemini explicit caches",
    convention="totalTokenCount is what was read into the cache; storage is a unit of a million tokens for an hour.",
    read=read,
    owns=owns,
)
