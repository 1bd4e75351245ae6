"""Fingerprints: keyed BLAKE2b cut to a signed 64-bit integer; `request_key` alone is unkeyed.

The install key keeps stored hashes of prompts from being looked up in a table of known texts. The request key is
unkeyed, so the same call merges with itself after a reinstall.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

from app.core.response_ids import is_strong_id

BY_ID: Final = b"id\x00"
BY_RECORD: Final = b"record\x00"
_FORMER_STRONG: Final = re.compile(r"(?:chatcmpl-|resp_|msg_|cmpl-|gen-|batch_req_|embd-).{11}", re.DOTALL)


def hash64(data: bytes, key: bytes = b"") -> int:
    """Signed 64-bit BLAKE2b of `data`; `key` of at most 64 bytes."""
    return int.from_bytes(blake2b(data, digest_size=8, key=key).digest(), "big", signed=True)


def encoded(text: str) -> bytes:
    """UTF-8 bytes of a text; lone surrogates pass, because a hash must not depend on what a store can hold."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def request_key(
    provider_response_id: str | None,
    source: str,
    source_record: str,
    provider: str | None = None,
    start_us: int | None = None,
) -> int:
    """The identity of one call: its provider's response id where strong, else its span or request, else its source's
    name and own id of it.

    A source that knows no id but a weak one of the response (local servers count to a thousand and begin anew) is asked
    for the time too.
    """
    return hash64(call_identity(provider_response_id, source, source_record, provider, start_us))


def call_identity(
    provider_response_id: str | None, source: str, source_record: str, provider: str | None, start_us: int | None
) -> bytes:
    """The bytes that `request_key` hashes.

    They begin with BY_ID where the response id is strong, with BY_RECORD where the record's own id is one everywhere.
    """
    if provider_response_id is not None and is_strong_id(provider_response_id, provider):
        return BY_ID + encoded(provider_response_id)
    if source_record == provider_response_id and start_us is not None and _EVERYWHERE.match(source_record) is None:
        source_record = f"{source_record}\0{start_us}"
    if _RECORD_ID.match(source_record) is not None:
        return BY_RECORD + encoded(source_record)
    return _record_identity(source, source_record)


def former_key(given_id: str | None, source: str, source_record: str, identity: bytes) -> int | None:
    """The key of a call under the rules until 2026-11-30, or None where it is the same today.

    An id was strong by its prefix and length alone, was taken as LiteLLM packed it, and no time was asked for.
    Of the source's own ids only those of spans were one everywhere.

    Args:
        given_id: the response id as the source gives it, if any.
        source_record: the source's own id, else `given_id`.
        identity: the call's identity today.
    """
    strong = given_id is not None and _FORMER_STRONG.match(given_id) is not None
    former = BY_ID + encoded(given_id or "") if strong else _record_identity(source, source_record)
    return None if former == identity else hash64(former)


def _record_identity(source: str, source_record: str) -> bytes:
    if is_span_id(source_record):
        return b"span\x00" + encoded(source_record)
    return b"src\x00" + encoded(source) + b"\x00" + encoded(source_record)


# A W3C trace id (128 random bits) and the id of a span in it, as formats of traces write them: the same call wherever
# the span was exported to.
SPAN_ID = "^[0-9a-f]{32}/[0-9a-f]{16}$"
_SPAN_ID = re.compile(SPAN_ID)
# Anthropic's id of a request (24 of base 58), and the event of a session (122 random bits) by its place in it: what
# Claude Code tells of a call, to whomever it sends it.
_RECORD = "^req_[0-9A-Za-z]{20,}$|^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:[0-9]+$"
_RECORD_ID = re.compile(_RECORD)
EVERYWHERE = f"{SPAN_ID}|{_RECORD}"
_EVERYWHERE = re.compile(EVERYWHERE)


def is_span_id(source_record: str) -> bool:
    """True for the id that a span has in every source."""
    return len(source_record) == 49 and _SPAN_ID.match(source_record) is not None
