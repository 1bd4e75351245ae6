"""Provider exchanges: which API's bodies a record holds, and the reading of all of them by one parse.

One file often mixes APIs (a gateway's log, recorded HTTP traffic), so a record says itself which layout reads it. The
format named for a file is the layout that most of its records have; its token convention never leaks to another's.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Rejected, UsageEvent
from ingest.formats import (
    ai_sdk,
    anthropic_messages,
    bedrock_converse,
    bedrock_models,
    cloudflare_workers_ai,
    cohere,
    dashscope,
    gemini_cached_contents,
    gemini_generate_content,
    gemini_interactions,
    mistral_ocr,
    ollama,
    openai_assistants,
    openai_audio,
    openai_chat,
    openai_completions,
    openai_images,
    openai_moderation,
    openai_responses,
    rerank,
)
from ingest.formats.dressing import dress
from ingest.formats.envelope import STREAM_EVENTS, Exchange, unwrap
from ingest.formats.fields import table
from ingest.formats.format import Format
from ingest.formats.plain_chat import PlainChat
from ingest.formats.streams import calls_in, gather

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.format import Origin
    from ingest.formats.layout import Layout

LAYOUTS: Final[tuple[Layout, ...]] = (
    openai_chat.LAYOUT,
    openai_responses.LAYOUT,
    anthropic_messages.LAYOUT,
    openai_completions.COMPLETIONS,
    openai_completions.EMBEDDINGS,
    gemini_cached_contents.LAYOUT,
    gemini_generate_content.LAYOUT,
    gemini_interactions.LAYOUT,
    ai_sdk.LAYOUT,  # before Converse, whose counters have the same names
    bedrock_converse.LAYOUT,
    bedrock_models.LAYOUT,
    rerank.LAYOUT,
    cohere.LAYOUT,
    cloudflare_workers_ai.LAYOUT,
    ollama.LAYOUT,
    dashscope.LAYOUT,
    openai_images.LAYOUT,
    openai_audio.LAYOUT,
    openai_moderation.LAYOUT,
    openai_assistants.LAYOUT,
    mistral_ocr.LAYOUT,
)
_BY_NAME: Final = {layout.name: layout for layout in LAYOUTS}
_OBJECTS: Final = {
    "chat.completion": "openai_chat",
    "chat.completion.chunk": "openai_chat",
    "response": "openai_responses",
    "realtime.response": "openai_responses",
    "text_completion": "openai_completions",
    "thread.run": "openai_assistants",
}
# Streams whose single events say nothing of a call; a whole answer has one of these fields, or is no event.
_BEGUN: Final = ("bedrock_converse", "cohere")
_TELLING: Final = frozenset(("messageStart", "metadata", "usage", "meta", "stopReason"))
# A caller's own path may end like theirs; their usage has other names.
_WITHOUT_PROMPT_TOKENS: Final = ("anthropic_messages", "openai_responses")
_PLACES: Final = {
    **{place: layout.name for layout in LAYOUTS for place in layout.places},
    "/chat/completions": "openai_chat",
    "/responses": "openai_responses",
    "/messages": "anthropic_messages",
    "/completions": "openai_completions",
    "/embeddings": "openai_embeddings",
}


def parse(record: Any, _origin: Origin) -> Iterator[UsageEvent | Rejected]:
    """The event of one exchange, or why it is none; a list gives one for each call that it holds."""
    for one in calls_in(record) if type(record) is list else (record,):
        exchange = unwrap(one)
        yield exchange if type(exchange) is Rejected else event_of(exchange)  # type: ignore[arg-type]


def event_of(exchange: Exchange) -> UsageEvent | Rejected:
    """Read an exchange by the layout that its bodies have."""
    name = layout_of(exchange)
    layout = _BY_NAME.get(name)
    if layout is None:
        return Rejected(f"not read: {name}")
    warnings: list[str] = []
    event = layout.read(exchange, warnings)
    dress(event, exchange, warnings)
    return event


def layout_of(exchange: Exchange) -> str:
    """The name of the layout that reads this exchange; else what it is, in words."""
    response = exchange.response
    if exchange.chunks is not None:
        streamed = _layout_of_stream(exchange.chunks)
        if streamed in _BY_NAME or exchange.request is None:
            return streamed
        asked = _layout_of_request(exchange.request, exchange.outer)
        return asked if asked in _BY_NAME else streamed  # a stream of nothing but an error
    if response is not None:
        kind = response.get("object")
        if type(kind) is str:
            return _OBJECTS.get(kind) or _layout_of_object(kind, response)
        found = _layout_of_place(exchange.outer)
        if found is None or (found in _WITHOUT_PROMPT_TOKENS and "prompt_tokens" in table(response.get("usage"))):
            found = _layout_of_body(response, wrapped=bool(exchange.outer))
        if found in _BEGUN and not exchange.outer and not _tells(response):
            return _orphan(response)
        if found is not None:
            return found
    if exchange.request is not None:
        return _layout_of_request(exchange.request, exchange.outer)
    place = exchange.outer.get("path") or exchange.outer.get("url")
    where = f" ({place})" if type(place) is str else ""
    return f"a record without a provider's response or request{where}"


def _layout_of_place(outer: dict[str, Any]) -> str | None:
    """The layout that the called path names, for bodies that do not say what they are."""
    for name in ("path", "url", "endpoint"):
        place = outer.get(name)
        if type(place) is str:
            for ending, layout in _PLACES.items():
                if ending in place:
                    return layout
    return None


def _owner(body: dict[str, Any]) -> str | None:
    """The layout whose own fields a response body or a stream's event has."""
    return next((layout.name for layout in LAYOUTS if layout.owns(body)), None)


def _layout_of_object(kind: str, response: dict[str, Any]) -> str:
    owner = _owner(response)
    if owner is not None:
        return owner
    if kind == "list":
        data = response.get("data")
        if type(data) is list and data and type(data[0]) is dict and data[0].get("object") == "embedding":
            return "openai_embeddings"
        return "a list response of another endpoint"
    if kind.startswith("thread."):
        return f"an Assistants {kind.removeprefix('thread.')} ({kind})"
    if "choices" in response and "usage" in response:
        return "openai_chat"
    return f"a {kind} object"


def _layout_of_body(response: dict[str, Any], *, wrapped: bool) -> str | None:
    """Bodies without `object`: Anthropic messages, and servers that leave it out.

    A bare record that has usage and no model is an aggregate of calls, not one of them.
    """
    kind = response.get("type")
    if kind == "message" and ("content" in response or "role" in response):
        return "anthropic_messages"
    owner = _owner(response)
    if owner is not None:
        return owner
    usage = response.get("usage")
    if type(usage) is dict and (wrapped or "model" in response):
        return _layout_of_usage(usage, response)
    if type(response.get("choices")) is list:
        return "openai_chat"
    return None


def _layout_of_usage(usage: dict[str, Any], response: dict[str, Any]) -> str | None:
    if "prompt_tokens" in usage or "completion_tokens" in usage:
        return "openai_chat"
    if "input_tokens" in usage or "output_tokens" in usage:
        inclusive = "total_tokens" in usage or "input_tokens_details" in usage
        return "openai_responses" if inclusive and "content" not in response else "anthropic_messages"
    return None


def _layout_of_stream(chunks: list[dict[str, Any]]) -> str:
    for chunk in chunks:
        kind, name = chunk.get("type"), chunk.get("object")
        if type(name) is str and name in _OBJECTS:
            return _OBJECTS[name]
        if type(kind) is str and kind.startswith("response."):
            held = any(type(event.get("response")) is dict for event in chunks)
            return "openai_responses" if held else f"a {kind} event without its response.created"
        if type(kind) is str and kind in STREAM_EVENTS:
            started = any(event.get("type") == "message_start" for event in chunks)
            return "anthropic_messages" if started else f"a {kind} event without its message_start"
        if "choices" in chunk:
            return "openai_chat"
        owner = _owner(chunk)
        if owner is not None:
            return owner if owner not in _BEGUN or any(_tells(event) for event in chunks) else _orphan(chunk)
    return "an empty or unknown event stream"


def _tells(event: dict[str, Any]) -> bool:
    """Whether an event of Converse or Cohere begins an answer or holds its usage."""
    if not _TELLING.isdisjoint(event):
        return True
    return event.get("type", event.get("event_type")) in ("message-start", "message-end", "stream-start", "stream-end")


def _orphan(event: dict[str, Any]) -> str:
    kind = event.get("type") or event.get("event_type") or next(iter(event), "")
    return f"a {kind} event of a stream whose begin and end are not there"


def _layout_of_request(request: dict[str, Any], outer: dict[str, Any]) -> str:
    """The layout of a call that got no body: a failed or abandoned one."""
    named = _layout_of_place(outer)
    if named is not None:
        return named
    asked = next((layout.name for layout in LAYOUTS if layout.asks(request)), None)
    if asked is not None:
        return asked
    if "messages" in request:
        model = request.get("model")
        anthropic = (
            "system" in request or "anthropic_version" in request or (type(model) is str and model.startswith("claude"))
        )
        return "anthropic_messages" if anthropic else "openai_chat"
    if "input" in request:
        return "openai_embeddings" if "embedding" in str(request.get("model")) else "openai_responses"
    return "openai_completions" if "prompt" in request else "a request of an unknown endpoint"


def layout_score(record: Any, name: str | None = None) -> float:
    """How surely a record is an exchange of the layout named, or of any: from 0 to 1."""
    exchange = unwrap(calls_in(record)[0] if type(record) is list and record else record)
    if type(exchange) is not Exchange:
        return 0.0
    found = layout_of(exchange)
    if found != name and (name is not None or found not in _BY_NAME):
        return 0.0
    if exchange.chunks is not None:
        return 1.0
    response = exchange.response
    if response is None:
        return 0.7
    return 1.0 if type(response.get("object")) is str or response.get("type") == "message" else 0.7


EXCHANGE_FORMATS: Final[tuple[Format, ...]] = tuple(
    Format(
        name=layout.name,
        title=layout.title,
        convention=layout.convention,
        billing="api",
        detect=partial(layout_score, name=layout.name),
        parse=parse,
        gather=gather,
        at_once=PlainChat if layout is openai_chat.LAYOUT else None,
    )
    for layout in LAYOUTS
)
