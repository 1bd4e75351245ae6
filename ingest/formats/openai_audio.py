"""Speech to text and text to speech: tokens, or seconds of sound, or characters of text, as the model is sold.

The transcription's response names no model, so it comes from the request. Speech answers with sound alone: without
usage in its stream, the characters of the request's text are what is sold. Sources: SDK types `transcription`,
`transcription_verbose`; Mistral's `prompt_audio_seconds`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.core.usage import Part, UsageEvent
from ingest.formats.fields import number, table, text
from ingest.formats.layout import Layout
from ingest.formats.openai_chat import error_text, params_of
from ingest.formats.openai_usage import read_usage

if TYPE_CHECKING:
    from ingest.formats.envelope import Exchange

_OWN_KEYS: Final = frozenset(("model", "input", "file", "stream", "prompt", "instructions", "temperature"))
_EVENTS: Final = (
    "transcript.text.delta",
    "transcript.text.segment",
    "transcript.text.done",
    "conversation.item.input_audio_transcription.completed",
    "speech.audio.delta",
    "speech.audio.done",
)
_SOLD_BY_CHARACTER: Final = ("tts-",)


def read(exchange: Exchange, warnings: list[str]) -> UsageEvent:
    """The event of a transcription, translation or speech call."""
    event = UsageEvent(operation="audio")
    request, response = exchange.request, exchange.response
    if request is not None:
        _read_request(request, event)
    if exchange.chunks is not None:
        event.stream = True
        ends = [chunk for chunk in exchange.chunks if str(chunk.get("type")).endswith(".done")]
        response = ends[-1] if ends else {}
        if not ends:
            event.status = "aborted"
    if response is not None:
        _read_response(response, event, warnings)
    if event.tok_input is None and event.units is None and event.status == "ok":
        _count_characters(request, event)
    return event


def _read_request(request: dict[str, Any], event: UsageEvent) -> None:
    event.model = text(request.get("model"))
    parts = [
        Part(role, "text", said)
        for role, name in (("system", "instructions"), ("user", "prompt"), ("user", "input"))
        if (said := text(request.get(name))) is not None
    ]
    event.prompt = parts
    event.params = params_of(request, _OWN_KEYS, [])


def _read_response(response: dict[str, Any], event: UsageEvent, warnings: list[str]) -> None:
    get = response.get
    event.model = text(get("model")) or event.model
    event.output = text(get("text")) or text(get("transcript"))
    usage = table(get("usage"))
    told = usage.get("seconds", usage.get("prompt_audio_seconds"))
    if "input_tokens" in usage or "prompt_tokens" in usage:
        spoken = table(usage.get("input_token_details", usage.get("input_tokens_details")))
        read_usage({**usage, "input_tokens_details": spoken}, event, warnings, "tok_cache_write_30m")
    if not usage:
        told = get("duration")  # verbose answers of models without usage
    seconds = number(told)
    if seconds is not None and seconds >= 0:
        event.units = {"second": seconds}
    elif told is not None:
        warnings.append("bad_number:second")
    if get("error"):
        event.status, event.error = "error", error_text(get("error"))


def _count_characters(request: dict[str, Any] | None, event: UsageEvent) -> None:
    spoken = request.get("input") if request is not None else None
    if type(spoken) is str and (event.model or "").startswith(_SOLD_BY_CHARACTER):
        event.units = {"character": float(len(spoken))}


def owns(body: dict[str, Any]) -> bool:
    """Whether a body is a transcript with its usage, or an event of a stream of one or of speech."""
    if type(body.get("text")) is str:
        usage = body.get("usage")
        if type(usage) is dict:
            return usage.get("type") in ("tokens", "duration") or "prompt_audio_seconds" in usage
        return "duration" in body and ("segments" in body or "language" in body)
    return body.get("type") in _EVENTS


def asks(body: dict[str, Any]) -> bool:
    """Whether a body is a speech request."""
    return "voice" in body and "input" in body


LAYOUT: Final = Layout(
    name="openai_audio",
    title="OpenAI audio",
    convention="input_tokens holds audio tokens; models sold by time have seconds, speech models characters as units.",
    read=read,
    owns=owns,
    asks=asks,
    places=("/audio/transcriptions", "/audio/translations", "/audio/speech"),
)
