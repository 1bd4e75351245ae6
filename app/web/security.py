"""The outermost layer of every answer: the Host allow-list, the origin check on writes, and the security headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.responses import PlainTextResponse

from app.auth.origin import host_allowed, write_allowed

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# No `unsafe-*` anywhere: scripts and styles are files of our own, and charts are drawn by Vega's interpreter.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

# A mail in a frame of ours: no script, no form, no frame of its own, nothing from elsewhere.
FRAMED_POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
    )
)

HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

WRONG_HOST = (
    "This Halve does not answer under that host name. Its operator can add the name to HALVE_HOST_NAMES "
    "(space-separated) and start it again."
)
WRONG_ORIGIN = (
    "This request would change something but does not come from a page of this Halve, so nothing was done. "
    "Open the page itself and try again."
)


UPLOAD_PATH = "/sources/upload"
BATCH_UPLOAD_PATH = "/batch/upload"
API_FILES_PATH = "/v1/files"
UPLOAD_PATHS = frozenset({UPLOAD_PATH, BATCH_UPLOAD_PATH, API_FILES_PATH})
PUSH_PATHS = frozenset({"/v1/traces", "/v1/logs", "/v1/metrics", "/v1/ingest"})  # read after the guard, within bounds
MAX_FORM_BYTES = 64 * 1024


class BodyLimitMiddleware:
    """Bounds what anybody can make us read: forms are small; only uploads are large, and they read after the guard."""

    def __init__(self, app: ASGIApp, max_upload_bytes: int) -> None:
        self.app = app
        self.form = RequestBodyLimitMiddleware(app, MAX_FORM_BYTES)
        self.upload = RequestBodyLimitMiddleware(app, max_upload_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] in PUSH_PATHS:
            await self.app(scope, receive, send)
            return
        chosen = self.upload if scope["type"] == "http" and scope["path"] in UPLOAD_PATHS else self.form
        await chosen(scope, receive, send)


class SecurityMiddleware:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, allowed_hosts: frozenset[str], public_origin: str | None = None) -> None:
        self.app = app
        self.allowed_hosts = allowed_hosts
        self.public_origin = public_origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    # Only FRAMED_POLICY comes with an answer already: it allows less, and one frame around it.
                    if headers.get(name) != FRAMED_POLICY:
                        headers[name] = value
                if "cache-control" not in headers:
                    headers["cache-control"] = "no-store"
            await send(message)

        headers = Headers(scope=scope)
        if not host_allowed(headers.get("host"), self.allowed_hosts):
            await PlainTextResponse(WRONG_HOST, 421)(scope, receive, send_with_headers)
        elif not write_allowed(scope["method"], headers, self.public_origin):
            await PlainTextResponse(WRONG_ORIGIN, 403)(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)
