"""Image generation and edits: token usage of the GPT image models, else one unit an image.

The response names no model, so it comes from the request. Sources: SDK types `images_response`,
`image_gen_completed_event`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.fields import integer, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text, params_of
from ingest.formats.openai_usage import read_usage
from ingest.formats.times import instant

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(("model", "prompt", "n", "user", "stream", "partial_images", "image", "mask"))
_EVENTS: Final = (
    "image_generation.partial_image",
    "image_generation.completed",
    "image_edit.partial_image",
    "image_edit.completed",
)


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of an image call; a stream counts by its completed images."""
    event = UsageEvent(operation="image")
    if exchange.request is not None:
        _read_request(exchange.request, event)
    if exchange.chunks is not None:
        event.stream = True
        ends = [chunk for chunk in exchange.chunks if str(chunk.get("type")).endswith(".completed")]
        if ends:
            _read_response({**ends[-1], "data": ends}, event, warnings)
        else:
            event.status = "aborted"
    elif exchange.response is not None:
        _read_response(exchange.response, event, warnings)
    return event


def _read_request(request: dict[str, Any], event: UsageEvent) -> None:
    event.model = text(request.get("model"))
    event.n = integer(request.get("n"))
    event.user = text(request.get("user"))
    prompt = text(request.get("prompt"))
    event.prompt = [Part("user", "text", prompt)] if prompt is not None else []
    event.params = params_of(request, _OWN_KEYS, [])


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = response.get
    event.model = text(get("model")) or event.model
    event.start_us = instant(get("created", get("created_at")), "created", warnings)
    usage, data = table(get("usage")), get("data")
    if usage:
        read_usage(usage, event, warnings, "tok_cache_write_30m")
        _name_pictures(usage, event)
    elif type(data) is list:
        event.units = {"image": float(len(data))}
    if get("error"):
        event.status, event.error = "error", error_text(get("error"))


def _name_pictures(usage: dict[str, Any], event: UsageEvent) -> None:
    """Output tokens of these endpoints are pictures unless the usage splits them."""
    if not table(usage.get("output_tokens_details")) and event.tok_output is not None:
        event.tok_output_image = (event.tok_output_image or 0) + event.tok_output
        event.tok_output = 0


def owns(body: dict[str, Any]) -> bool:
    """Whether a body lists generated images, or is an event of their stream."""
    data = body.get("data")
    if type(data) is list and data and type(data[0]) is dict:
        return "created" in body and ("b64_json" in data[0] or "url" in data[0])
    return body.get("type") in _EVENTS


LAYOUT: Final = Layout(
    name="openai_images",
    title="OpenAI images",
    convention="input_tokens holds text and image tokens; output_tokens are image tokens unless split; without usage "
    "each image is a unit.",
    read=read,
    owns=owns,
    places=("/images/generations", "/images/edits", "/images/variations"),
)
