"""Ordering and splitting: lines that share a prefix stand together, and no part is above any limit."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from app.batch.provider import Limits

LEVELS: Final = (1024, 2048, 4096, 8192, 16384, 32768, 65536)
"""Prefix lengths in bytes by which prompts are grouped; providers cache from about 1,024 tokens on."""
ID_BYTES: Final = 40
"""What a safe id may add to a line, its newline included."""
BYTES_A_TOKEN: Final = 4


class Line(NamedTuple):
    """One item on its way into a part."""

    seq: int
    model: str
    endpoint: str
    prefix: bytes
    byte_from: int
    byte_size: int
    tokens: int
    caller_id: str


class Share(NamedTuple):
    """The items of one part, in the order of sending."""

    model: str | None
    endpoint: str
    lines: Sequence[Line]

    @property
    def bytes(self) -> int:
        """The size of the file that will be sent, at most."""
        return sum(line.byte_size + ID_BYTES for line in self.lines)

    @property
    def tokens(self) -> int:
        return sum(line.tokens for line in self.lines)


def prefix_key(prompt: bytes) -> bytes:
    """A key under which prompts with a longer common prefix sort closer together: a hash a level, deepest last."""
    reached = b"".join(blake2b(prompt[:length], digest_size=6).digest() for length in LEVELS if length <= len(prompt))
    return reached + prompt[:32]


def tokens_of(prompt: bytes) -> int:
    """Estimated tokens of a prompt, at 4 bytes each; `estimate` states the error of that."""
    return max(1, -(-len(prompt) // BYTES_A_TOKEN))


def in_order(lines: Iterable[Line], limits: Limits) -> list[Line]:
    """Lines in the order of sending: by model and endpoint where a batch has one of each, then by prefix."""
    if limits.one_model:
        return sorted(lines, key=lambda line: (line.endpoint, line.model, line.prefix, line.seq))
    return sorted(lines, key=lambda line: (line.endpoint, line.prefix, line.seq))


def shares(lines: Sequence[Line], limits: Limits, queued_tokens: int | None) -> Iterator[Share]:
    """Cut ordered lines into parts within rows, bytes and queued tokens; one line alone may exceed the tokens."""
    held: list[Line] = []
    size = tokens = 0
    for line in lines:
        weight = line.byte_size + ID_BYTES
        full = held and (
            len(held) == limits.rows
            or size + weight > limits.bytes
            or (queued_tokens is not None and tokens + line.tokens > queued_tokens)
            or _group(line, limits) != _group(held[0], limits)
        )
        if full:
            yield Share(*_group(held[0], limits), held)
            held, size, tokens = [], 0, 0
        held.append(line)
        size += weight
        tokens += line.tokens
    if held:
        yield Share(*_group(held[0], limits), held)


def _group(line: Line, limits: Limits) -> tuple[str | None, str]:
    return (line.model if limits.one_model else None), line.endpoint
