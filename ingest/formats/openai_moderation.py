"""Moderation calls: one call is one unit, and what it costs (at OpenAI nothing) is the price book's to say.

Mistral's classifiers count tokens beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import UsageEvent
from ingest.formats.fields import table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text
from ingest.formats.openai_usage import read_usage
from ingest.formats.prompts import content_parts

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a moderation call."""
    event = UsageEvent(operation="moderation", units={"call": 1.0})
    if exchange.request is not None:
        event.model = text(exchange.request.get("model"))
        event.prompt = []
        given = exchange.request.get("input")
        content_parts("user", given if type(given) in (str, list) else [given], event.prompt, [])
    response = exchange.response
    if response is not None:
        event.provider_response_id = text(response.get("id"))
        event.model = text(response.get("model")) or event.model
        usage = table(response.get("usage"))
        if usage:
            read_usage(usage, event, warnings, "tok_cache_write_30m")
        if response.get("error"):
            event.status, event.error = "error", error_text(response["error"])
    model = event.model or ""
    event.provider = "openai" if model.startswith(("omni-moderation", "text-moderation")) else event.provider
    return event


def owns(body: dict[str, Any]) -> bool:
    """Whether a body is a list of flags by category."""
    results = body.get("results")
    return (
        type(results) is list
        and bool(results)
        and type(results[0]) is dict
        and type(results[0].get("categories")) is dict
    )


LAYOUT: Final = Layout(
    name="openai_moderation",
    title="Moderation",
    convention="A call is a unit; tokens where the provider counts them.",
    read=read,
    owns=owns,
    places=("/moderations",),
)
