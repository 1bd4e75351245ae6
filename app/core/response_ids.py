"""Which ids of responses name one call wherever it is told of: declared shapes, with what makes each of them unique.

An id is strong when it has a known shape that leaves at least 64 bits which no two calls share: random ones, or
Google's event id, which is the microsecond, the server and the process. Ids without a prefix look like anybody's (a
session, a trace, a message of the application's own), so those count only from providers that give one a response.
Everything else is weak: it never joins two records of different sources.
"""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from binascii import Error
from typing import Final, NamedTuple

MIN_BITS: Final = 64


class IdShape(NamedTuple):
    """A shape of response ids: its name, how it begins, and where it is documented or was seen, and when."""

    name: str
    prefix: str
    source: str


PREFIXED: Final = (
    IdShape("openai_chat", "chatcmpl-", "OpenAI, Azure, Groq, vLLM, LiteLLM: 29 of base 62 or a UUID; 2026-11"),
    IdShape("openai_response", "resp_", "OpenAI Responses and realtime: 48 hexadecimal or 21 of base 62; 2026-11"),
    IdShape("openai_completion", "cmpl-", "OpenAI, vLLM, older Mistral: 29 of base 62 or 32 hexadecimal; 2026-11"),
    IdShape("openai_batch_request", "batch_req_", "OpenAI batch output: 24 hexadecimal or more; 2026-11"),
    IdShape("openai_run", "run_", "OpenAI Assistants: 24 of base 62; 2026-11"),
    IdShape("vllm_embedding", "embd-", "vLLM: 32 hexadecimal; 2026-11"),
    IdShape("anthropic_message", "msg_", "Anthropic: 24 of base 58 behind 01, bdrk_01, vrtx_01; 2026-11"),
    IdShape("openrouter_generation", "gen-", "OpenRouter: unix second, then 20 of base 62; 2026-11"),
)
# Providers that give each response a UUID of version 4, with its dashes or without: 122 random bits. Under the names
# that logs, gateways and traces give them (lower case, `_` as `-`).
ONE_UUID_A_RESPONSE: Final[dict[str, tuple[str, ...]]] = {
    "Amazon Bedrock: x-amzn-requestid, requestId of the invocation log; 2026-11": (
        "aws", "bedrock", "aws.bedrock", "amazon-bedrock", "bedrock-converse",
    ),
    "Cohere: id of a chat, generation_id, id of a rerank; 2026-11": ("cohere", "cohere-chat"),
    "DeepSeek: id of a chat completion; 2026-11": ("deepseek",),
    "Fireworks: id of a chat completion; 2026-11": ("fireworks", "fireworks-ai"),
    "Mistral: id of a chat completion, 32 hexadecimal; 2026-11": ("mistral", "mistralai", "mistral-ai"),
    "Perplexity: id of a chat completion; 2026-11": ("perplexity", "perplexity-ai"),
    "xAI: id of a chat completion or response; 2026-11": ("x-ai", "xai", "grok"),
}  # fmt: skip
_UUID_PROVIDERS: Final = frozenset(name for names in ONE_UUID_A_RESPONSE.values() for name in names)

# Twenty characters of any alphabet are 64 bits, whatever they are; nearly every real id is told by this alone.
_LONG: Final = re.compile(f"(?:{'|'.join(re.escape(shape.prefix) for shape in PREFIXED)})[^-_]{{20,}}", re.DOTALL)
_UUID4: Final = re.compile(
    r"[0-9a-f]{8}(?P<dash>-?)[0-9a-f]{4}(?P=dash)4[0-9a-f]{3}(?P=dash)[89ab][0-9a-f]{3}(?P=dash)[0-9a-f]{12}"
)
_SECOND: Final = re.compile(r"\d{10}-")
_WORD: Final = re.compile(r"[a-z]*|[A-Z]*|[A-Z][a-z]*|\d{1,8}")
_BITS: Final = ((re.compile(r"\d+"), 3.3), (re.compile(r"[0-9a-f]+|[0-9A-F]+"), 4.0))
_BITS_OF_ANY: Final = 5.9  # base 58 to 64
_EVENT_ID: Final = re.compile(r"[A-Za-z0-9_-]{20,27}")
_EVENT_SECONDS: Final = (1_420_070_400, 4_102_444_800)  # 2015 to 2100
PACKED: Final = "resp_bGl0ZWxsbT"  # how an id begins that is base 64 of `litellm:`
_WRAPPED: Final = b"litellm:custom_llm_provider:"
_INNER: Final = ";response_id:"


def is_strong_id(response_id: str, provider: str | None = None) -> bool:
    """True for an id by which a call is known in any source; `provider` is who served it, as the log names it."""
    if _LONG.fullmatch(response_id) is not None:
        return True
    for shape in PREFIXED:
        if response_id.startswith(shape.prefix):
            return _random_bits(response_id[len(shape.prefix) :]) >= MIN_BITS
    if _UUID4.fullmatch(response_id) is not None:
        return provider is not None and provider.lower().replace("_", "-") in _UUID_PROVIDERS
    return _is_event_id(response_id)


def plain_id(response_id: str) -> str:
    """The provider's own id: LiteLLM's proxy packs it, with the deployment, into one that looks like OpenAI's."""
    if not response_id.startswith(PACKED):
        return response_id
    packed = response_id[5:].replace("-", "+").replace("_", "/")
    try:
        whole = b64decode(packed + "=" * (-len(packed) % 4))
        inner = whole.decode().rpartition(_INNER)[2] if whole.startswith(_WRAPPED) else ""
    except (Error, UnicodeDecodeError):
        return response_id
    return inner or response_id


def _random_bits(tail: str) -> float:
    """At most so many bits of the part behind the prefix are random, by its letters and its length.

    Words and small numbers (`order-service-7`, an id that a caller made) are none, nor is the second in front.
    """
    second = _SECOND.match(tail)
    tail = tail[second.end() :] if second is not None else tail
    pieces = tail.replace("_", "-").split("-")
    if len(pieces) > 1 and all(_WORD.fullmatch(piece) is not None for piece in pieces):
        return 0
    letters = "".join(pieces)
    return len(letters) * next((bits for shape, bits in _BITS if shape.fullmatch(letters) is not None), _BITS_OF_ANY)


def _is_event_id(text: str) -> bool:
    """Whether a text is Google's event id, which Gemini's `responseId` is "the encoding of" (Vertex AI API).

    Base 64 of the second (4 bytes, little-endian) and of three varints: the microsecond, the server, the process.
    """
    if _EVENT_ID.fullmatch(text) is None:
        return False
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except Error:
        return False
    if not _EVENT_SECONDS[0] <= int.from_bytes(data[:4], "little") < _EVENT_SECONDS[1]:
        return False
    numbers = _varints(data[4:])
    return len(numbers) == 3 and numbers[0] < 1_000_000 and min(numbers[1:]) >= 2**16 and max(numbers) < 2**32


def _varints(data: bytes) -> list[int]:
    """The numbers of consecutive varints; none where the last does not end."""
    numbers: list[int] = []
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    return numbers if not shift else []
