"""`/v1/traces`, `/v1/logs`, `/v1/metrics` as OTLP over HTTP has them, and `/v1/ingest` for plain JSON of any format.

An answer of 200 means that the body is safe on disk; it is read into the store within seconds. Answers are those of the
OTLP 1.x specification: partial success, 400 for what can never be read, 429 and 503 with Retry-After, errors as a
`google.rpc.Status` in the encoding of the request.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from fastapi import Request as FastRequest
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.auth.access import pushes_to
from app.core.errors import HalveError, UnavailableError
from app.web.problems import STATUS, UNEXPECTED
from app.web.push_body import Body, RefusedBodyError, Room, pass_over

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from app.web.deps import Deps
    from app.web.push_desk import PushDesk, Receipt, Signal

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
_LINES: Final = (JSON, "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
FULL_AGAIN_S: Final = 5
UNWRITABLE_AGAIN_S: Final = 30
CHECKED_HERE_BYTES: Final = 1024 * 1024
KEY_REMEMBERED_US: Final = 1_000_000
MAX_KEYS: Final = 1_000
_GZIP_MAGIC: Final = b"\x1f\x8b"
UNSAID_GZIP: Final = "The body looks like gzip, and no header says so: send it with `Content-Encoding: gzip`."
FULL: Final = "More waits to be read than Halve keeps. It goes on reading; send this again later."
NO_KEY: Final = (
    "No key of this Halve came along that may push logs. Make one with `halve keys create NAME --scope ingest --source "
    "SOURCE` and send it as `Authorization: Bearer KEY`."
)
# google.rpc.Code by HTTP status
_CODES: Final = {400: 3, 401: 16, 408: 4, 413: 8, 415: 3, 422: 3, 429: 8, 503: 14}
_UNIMPLEMENTED: Final = 12
_OTHER_METHODS: Final = ("GET", "HEAD", "PUT", "PATCH", "DELETE")
_REJECTED: Final = {"traces": "rejectedSpans", "logs": "rejectedLogRecords", "metrics": "rejectedDataPoints"}


def routes(deps: Deps, desk: PushDesk) -> APIRouter:
    """The routes; they know keys of scope ingest and nothing of sessions."""
    router = APIRouter()
    room, keys = Room(), _Keys(deps)
    signals: tuple[Signal, ...] = ("traces", "logs", "metrics")
    for signal in signals:
        router.add_api_route(
            f"/v1/{signal}", _otlp(deps, desk, keys, room, signal), methods=["POST"], response_model=None
        )
    router.add_api_route("/v1/ingest", _records(deps, desk, keys, room), methods=["POST"], response_model=None)
    for path in (*(f"/v1/{signal}" for signal in signals), "/v1/ingest"):
        router.add_api_route(path, _only_post, methods=list(_OTHER_METHODS), response_model=None)
    return router


async def _only_post(request: FastRequest) -> Response:
    """Said here: the application that is mounted at /v1 would answer that there is no such path."""
    message = f"{request.url.path} is there to push to: send a POST."
    return Response(json.dumps({"code": _UNIMPLEMENTED, "message": message}), 405, {"allow": "POST"}, media_type=JSON)


def _otlp(
    deps: Deps, desk: PushDesk, keys: _Keys, room: Room, signal: Signal
) -> Callable[[FastRequest], Awaitable[Response]]:
    async def handle(request: FastRequest) -> Response:
        kind = _media_type(request)
        as_json = kind == JSON
        try:
            if kind not in (PROTOBUF, JSON):
                raise RefusedBodyError(
                    f"Send OTLP as {PROTOBUF} or {JSON}, not as {kind or 'nothing'}.", 415, unread=True
                )
            source = _source(deps, desk, keys, request)
            receipt = await _kept(desk, room, request, lambda body: desk.export(source, signal, body, as_json))
        except HalveError as error:
            return await _refused(request, error, as_json=kind != PROTOBUF)
        return _success(signal, receipt, as_json=as_json)

    return handle


def _records(deps: Deps, desk: PushDesk, keys: _Keys, room: Room) -> Callable[[FastRequest], Awaitable[Response]]:
    async def handle(request: FastRequest) -> Response:
        kind = _media_type(request)
        form = request.query_params.get("format", "")
        try:
            if kind not in _LINES:
                raise RefusedBodyError(
                    f"Send records as {JSON} or {_LINES[1]}, not as {kind or 'nothing'}.", 415, unread=True
                )
            source = _source(deps, desk, keys, request)
            await _kept(desk, room, request, lambda body: desk.records(source, body, form))
        except HalveError as error:
            return await _refused(request, error, as_json=True)
        return Response(json.dumps({"status": "kept", "source": source}), media_type=JSON)

    return handle


class _Keys:
    """The sources of keys, each remembered for a second: a revoked key ends within that time."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._known: dict[tuple[str | None, str | None], tuple[str, int]] = {}

    def source(self, authorization: str | None, api_key: str | None) -> str | None:
        now = self._deps.now()
        known = self._known.get((authorization, api_key))
        if known is not None and now < known[1]:
            return known[0]
        found = pushes_to(self._deps.control, authorization, api_key)
        if len(self._known) >= MAX_KEYS:
            self._known.clear()
        if found is not None:
            self._known[authorization, api_key] = found, now + KEY_REMEMBERED_US
        return found


def _media_type(request: FastRequest) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _source(deps: Deps, desk: PushDesk, keys: _Keys, request: FastRequest) -> str:
    headers = request.headers
    given = headers.get("authorization"), headers.get("x-api-key")
    source = keys.source(*given) if any(given) else None
    if source is None and deps.no_access_control:
        return desk.open_source
    if source is None:
        raise RefusedBodyError(NO_KEY, 401, unread=True)
    return source


async def _kept(desk: PushDesk, room: Room, request: FastRequest, keep: Callable[[bytes], Receipt]) -> Receipt:
    """Read a body and keep it; returns after it is safe on disk."""
    if desk.full():
        raise RefusedBodyError(FULL, 503, FULL_AGAIN_S, unread=True)
    packing = request.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("gzip", "identity", ""):
        told = f"Halve takes bodies as they are or packed with gzip, not with {packing}."
        raise RefusedBodyError(told, 415, unread=True)
    body = Body(room, packed=packing == "gzip")
    try:
        whole = await body.read(request.stream())
        if packing != "gzip" and whole.startswith(_GZIP_MAGIC):  # no JSON and no protobuf message begins like this
            raise RefusedBodyError(UNSAID_GZIP, 400)
        # A hop to a thread and back waits for it twice; only a long check is worth that.
        receipt = keep(whole) if len(whole) <= CHECKED_HERE_BYTES else await run_in_threadpool(keep, whole)
        if receipt.done is not None:
            await asyncio.wrap_future(receipt.done)
    finally:
        body.close()
    return receipt


async def _refused(request: FastRequest, error: HalveError, *, as_json: bool) -> Response:
    if isinstance(error, RefusedBodyError) and error.unread:
        await pass_over(request.stream())
    return _problem(error, as_json=as_json)


def _success(signal: Signal, receipt: Receipt, *, as_json: bool) -> Response:
    if as_json:
        answer = {}
        if receipt.message:
            answer = {"partialSuccess": {_REJECTED[signal]: str(receipt.rejected), "errorMessage": receipt.message}}
        return Response(json.dumps(answer), media_type=JSON)
    inner = b""
    if receipt.message:
        inner = (b"\x08" + _varint(receipt.rejected) if receipt.rejected else b"") + _text(receipt.message)
    return Response(b"\x0a" + _varint(len(inner)) + inner if inner else b"", media_type=PROTOBUF)


def _problem(error: HalveError, *, as_json: bool) -> Response:
    status = next((code for kind, code in STATUS if isinstance(error, kind)), 500)
    again: int | None = UNWRITABLE_AGAIN_S if isinstance(error, UnavailableError) else None
    if isinstance(error, RefusedBodyError):
        status, again = error.status, error.again_s
    status = 400 if status == 422 else status  # the specification knows one status for what can never be read
    text = str(error) if status != 500 else UNEXPECTED
    code = _CODES.get(status, 13)
    headers = {"retry-after": str(again)} if again is not None else {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if status in (408, 413):
        headers["connection"] = "close"  # the rest of the body is not waited for
    if as_json:
        return Response(json.dumps({"code": code, "message": text}), status, headers, JSON)
    return Response(b"\x08" + _varint(code) + _text(text), status, headers, PROTOBUF)


def _text(text: str) -> bytes:
    """Field 2 of a protobuf message, a text: the message of a Status and of a partial success alike."""
    data = text.encode()
    return b"\x12" + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    coded = bytearray()
    while number > 0x7F:
        coded.append(number & 0x7F | 0x80)
        number >>= 7
    coded.append(number)
    return bytes(coded)
