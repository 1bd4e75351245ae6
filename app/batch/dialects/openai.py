"""OpenAI's batch lines: `{custom_id, method, url, body}`, results `{id, custom_id, response, error}`.

Rules as OpenAI documents them for `/v1/batches` (2026): POST only, no streams, the listed endpoints. Compatible
servers keep the same lines.
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

PROMPTS: Final = {
    "/v1/chat/completions": ("tools", "messages"),
    "/v1/responses": ("tools", "instructions", "input"),
    "/v1/completions": ("prompt",),
    "/v1/embeddings": ("input",),
    "/v1/moderations": ("input",),
}
"""Endpoints, and where in a body the prompt lies in the order in which it is cached; the last one must be there."""

RETRIED: Final = frozenset({408, 409, 425, 429})
EXPIRED: Final = "batch_expired"
CANCELLED: Final = "batch_cancelled"


def read(fields: Fields) -> Request:
    reasons: list[str] = []
    custom_id = text_of(fields, "custom_id")
    if not custom_id:
        reasons.append("custom_id missing")
    method = text_of(fields, "method")
    if method != "POST":
        reasons.append("method missing" if "method" not in fields else "method is not POST")
    endpoint = text_of(fields, "url") or ""
    # Azure's deployments name their endpoints without the version.
    endpoint = endpoint if endpoint.startswith("/v1/") else f"/v1{endpoint}"
    if endpoint not in PROMPTS:
        reasons.append("url missing" if "url" not in fields else f"url is none of {', '.join(PROMPTS)}")
    body = object_of(fields, "body")
    if body is None:
        raise LineError(" / ".join([*reasons, "body missing"]))
    model = text_of(body, "model")
    if not model:
        reasons.append("model missing")
    names = PROMPTS.get(endpoint, ())
    if names and is_empty(body.get(names[-1])):
        reasons.append(f"{names[-1]} {'empty' if names[-1] in body else 'missing'}")
    if bytes(body.get("stream", b"")).strip() == b"true":
        reasons.append("stream not allowed in batch")
    if reasons or custom_id is None or model is None:
        raise LineError(" / ".join(reasons))
    prompt = b"\n".join(bytes(body[name]) for name in names if name in body)
    most = whole_number(body, "max_completion_tokens", "max_output_tokens", "max_tokens")
    if endpoint in ("/v1/embeddings", "/v1/moderations"):
        most = 0
    return Request(custom_id, model, endpoint, prompt, most)


def sent(fields: Fields, safe_id: str) -> bytes:
    return encode({"custom_id": safe_id, **{name: raw for name, raw in fields.items() if name != "custom_id"}})


def verdict(line: dict[str, Any]) -> Verdict:
    response, error = line.get("response"), line.get("error")
    status = response.get("status_code") if isinstance(response, dict) else None
    body = response.get("body") if isinstance(response, dict) else None
    if isinstance(status, int) and 200 <= status < 300 and isinstance(body, dict):
        return Verdict("succeeded", http_status=status)
    inner = body.get("error") if isinstance(body, dict) else None
    said = error if isinstance(error, dict) and error else inner if isinstance(inner, dict) else {}
    code = _text(said.get("code")) or _text(said.get("type"))
    message = _text(said.get("message"))
    http = status if isinstance(status, int) else None
    if code == EXPIRED:
        return Verdict("expired", again=True, http_status=http, code=code, message=message)
    if code == CANCELLED:
        return Verdict("cancelled", http_status=http, code=code, message=message)
    refused = http is not None and 400 <= http < 500 and http not in RETRIED
    return Verdict("failed", again=not refused, http_status=http, code=code or f"status {http}", message=message)


def absent(custom_id: str, state: ItemState, code: str, message: str) -> dict[str, Any]:
    code = {"expired": EXPIRED, "cancelled": CANCELLED}.get(state, code)
    return {"id": None, "custom_id": custom_id, "response": None, "error": {"code": code, "message": message}}


def body(fields: Fields) -> msgspec.Raw:
    return fields["body"]


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, (str, int)) and str(value) else None


DIALECT: Final = Dialect(
    results_format="openai_batch_output", read=read, sent=sent, verdict=verdict, absent=absent, body=body
)
