"""Anthropic's message batches: requests `{custom_id, params}`, results `{custom_id, result: {type, ...}}`.

Rules as Anthropic documents them for message batches (2026): no streams, max_tokens at least 1, rows that errored,
expired or were cancelled are free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.batch.dialect import (
    Dialect,
    Fields,
    LineError,
    Request,
    Verdict,
    encode,
    is_empty,
    object_of,
    text_of,
    whole_number,
)

if TYPE_CHECKING:
    import msgspec

    from app.control.batches import ItemState

ENDPOINT: Final = "/v1/messages"
PROMPT: Final = ("tools", "system", "messages")
FINAL_ERRORS: Final = frozenset(
    {
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "not_found_error",
        "request_too_large",
        "billing_error",
    }
)
"""Error types that another attempt does not change: the 4xx of the Messages API but for rate limits."""

_STATES: Final[dict[str, ItemState]] = {"canceled": "cancelled", "expired": "expired"}
_TYPES: Final[dict[str, str]] = {"cancelled": "canceled", "expired": "expired"}


def read(fields: Fields) -> Request:
    reasons: list[str] = []
    custom_id = text_of(fields, "custom_id")
    if not custom_id:
        reasons.append("custom_id missing")
    params = object_of(fields, "params")
    if params is None:
        raise LineError(" / ".join([*reasons, "params missing"]))
    model = text_of(params, "model")
    if not model:
        reasons.append("model missing")
    if is_empty(params.get("messages")):
        reasons.append(f"messages {'empty' if 'messages' in params else 'missing'}")
    most = whole_number(params, "max_tokens")
    if most is None or most < 1:
        reasons.append("max_tokens missing" if most is None else "max_tokens must be at least 1")
    if bytes(params.get("stream", b"")).strip() == b"true":
        reasons.append("stream not allowed in batch")
    if "fallbacks" in params:
        reasons.append("fallbacks not allowed in batch")
    if reasons or custom_id is None or model is None:
        raise LineError(" / ".join(reasons))
    prompt = b"\n".join(bytes(params[name]) for name in PROMPT if name in params)
    return Request(custom_id, model, ENDPOINT, prompt, most)


def sent(fields: Fields, safe_id: str) -> bytes:
    return encode({"custom_id": safe_id, "params": fields["params"]})


def verdict(line: dict[str, Any]) -> Verdict:
    result = line.get("result")
    kind = result.get("type") if isinstance(result, dict) else None
    if kind == "succeeded" and isinstance(result, dict) and isinstance(result.get("message"), dict):
        return Verdict("succeeded", http_status=200)
    if isinstance(kind, str) and kind in _STATES:
        return Verdict(_STATES[kind], again=kind == "expired", code=kind)
    error = result.get("error") if isinstance(result, dict) else None
    inner = error.get("error") if isinstance(error, dict) else None
    said = inner if isinstance(inner, dict) else error if isinstance(error, dict) else {}
    code = str(said.get("type") or "unknown error")
    message = said.get("message")
    return Verdict(
        "failed", again=code not in FINAL_ERRORS, code=code, message=message if isinstance(message, str) else None
    )


def absent(custom_id: str, state: ItemState, code: str, message: str) -> dict[str, Any]:
    if state in _TYPES:
        return {"custom_id": custom_id, "result": {"type": _TYPES[state]}}
    error = {"type": "error", "error": {"type": code, "message": message}}
    return {"custom_id": custom_id, "result": {"type": "errored", "error": error}}


def body(fields: Fields) -> msgspec.Raw:
    return fields["params"]


DIALECT: Final = Dialect(
    results_format="anthropic_batch_results", read=read, sent=sent, verdict=verdict, absent=absent, body=body
)
