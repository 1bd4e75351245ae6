"""Fingerprints: keyed BLAKE2b cut to a signed 64-bit integer; `request_key` alone is unkeyed.

The install key keeps stored hashes of prompts from being looked up in a table of known texts. The request key is
unkeyed, so the same call merges with itself after a reinstall.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from app.core.response_ids import is_strong_id


def hash64(data: bytes, key: bytes = b"") -> int:
    """Signed 64-bit BLAKE2b of `data`; `key` of at most 64 bytes."""
    return int.from_bytes(blake2b(data, digest_size=8, key=key).digest(), "big", signed=True)


def request_key(
    provider_response_id: str | None,
    source: str,
    source_record: str,
    provider: str | None = None,
    start_us: int | None = None,
) -> int:
    """The identity of one call: its provider's response id where strong, else its span, else (source, source's id).

    A source that knows no id but a weak one of the response (local servers count to a thousand and begin anew) is asked
    for the time too.
    """
    if provider_response_id is not None and is_strong_id(provider_response_id, provider):
        return hash64(b"id\x00" + provider_response_id.encode())
    if is_span_id(source_record):
        return hash64(b"span\x00" + source_record.encode())
    if source_record == provider_response_id and start_us is not None:
        source_record = f"{source_record}\0{start_us}"
    return hash64(b"src\x00" + source.encode() + b"\x00" + source_record.encode())


# A W3C trace id (128 random bits) and the id of a span in it, as formats of traces write them: the same call wherever
# the span was exported to.
SPAN_ID = "^[0-9a-f]{32}/[0-9a-f]{16}$"
_SPAN_ID = re.compile(SPAN_ID)


def is_span_id(source_record: str) -> bool:
    """True for the id that a span has in every source."""
    return len(source_record) == 49 and _SPAN_ID.match(source_record) is not None
