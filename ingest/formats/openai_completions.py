"""OpenAI legacy completions and embeddings: the usage of Chat, with a plain text or a vector as the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats import providers
from ingest.formats.fields import compact, integer, number, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import answer_text, choices_of, error_text, params_of
from ingest.formats.openai_usage import read_usage
from ingest.formats.times import instant

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(
    ("model", "prompt", "input", "max_tokens", "temperature", "top_p", "n", "seed", "stop", "stream", "user",
     "metadata", "stream_options")
)  # fmt: skip


def read_completion(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a legacy completion, whole or streamed."""
    event = _read(exchange, exchange.response or _joined(exchange.chunks or []), warnings)
    event.operation = "completion"
    event.stream = True if exchange.chunks is not None else event.stream
    return event


def read_embedding(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of an embeddings call; it has no output tokens."""
    event = _read(exchange, exchange.response or {}, warnings)
    event.operation = "embedding"
    return event


def _read(exchange: Exchange, response: dict[str, Any], warnings: list[str]) -> UsageEvent:
    event = UsageEvent()
    if exchange.request is not None:
        _read_request(exchange.request, event)
    get = response.get
    event.provider_response_id = text(get("id"))
    event.model = text(get("model")) or event.model
    event.provider = providers.from_model(event.model)
    event.start_us = instant(get("created"), "created", warnings)
    choices = get("choices")
    if type(choices) is list and choices and type(choices[0]) is dict:
        event.finish_reason = text(choices[0].get("finish_reason"))
        event.output = answer_text(choices)
    usage = get("usage")
    if type(usage) is dict:
        read_usage(usage, event, warnings, "tok_cache_write_30m")
    if get("error"):
        event.status, event.error = "error", error_text(get("error"))
    return event


def _read_request(request: dict[str, Any], event: UsageEvent) -> None:
    get = request.get
    event.model = text(get("model"))
    event.max_tokens = integer(get("max_tokens"))
    event.temperature = number(get("temperature"))
    event.top_p = number(get("top_p"))
    event.n = integer(get("n"))
    event.seed = integer(get("seed"))
    event.user = text(get("user"))
    event.stream = get("stream") if type(get("stream")) is bool else None
    if get("stop") is not None:
        event.stop = get("stop") if type(get("stop")) is str else compact(get("stop"))
    given = get("prompt") if "prompt" in request else get("input")
    texts = given if type(given) is list and not (given and type(given[0]) is int) else [given]  # tokens are one text
    event.prompt = [
        Part("user", "text", piece if type(piece) is str else compact(piece)) for piece in texts if piece is not None
    ]
    event.params = params_of(request, _OWN_KEYS, [])


def _joined(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    joined: dict[str, Any] = {}
    texts: list[str] = []
    reason = None
    for chunk in chunks:
        joined.update({key: chunk[key] for key in ("id", "model", "created", "usage") if chunk.get(key) is not None})
        for choice in choices_of(chunk):
            if type(choice) is dict:
                texts.append(choice["text"] if type(choice.get("text")) is str else "")
                reason = choice.get("finish_reason") or reason
    joined["choices"] = [{"text": "".join(texts), "finish_reason": reason}] if chunks else []
    return joined


COMPLETIONS: Final = Layout(
    name="openai_completions",
    title="OpenAI legacy completions",
    convention="prompt_tokens and completion_tokens stand beside each other; details as in Chat Completions.",
    read=read_completion,
)
EMBEDDINGS: Final = Layout(
    name="openai_embeddings",
    title="OpenAI embeddings",
    convention="prompt_tokens is all there is.",
    read=read_embedding,
)
