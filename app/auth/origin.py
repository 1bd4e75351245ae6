"""Whether a request that changes something comes from our own page: Sec-Fetch-Site first, Origin where there is none.

SameSite cookies alone are not enough: another port of the same host is the same site and sends our cookie along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})


def host_name(host: str | None) -> str:
    """The name of a Host header without its port, lower case; empty where it is missing or malformed."""
    try:
        parts = urlsplit(f"//{host or ''}")
        named = (parts.hostname or "").rstrip(".")
        # `.port` raises where something else than a port stands behind the colon
        return named if parts.port is None or parts.port > 0 else ""
    except ValueError:
        return ""


def host_allowed(host: str | None, allowed: Collection[str]) -> bool:
    """Whether a Host header names one of the hosts that the dashboard answers under (against DNS rebinding)."""
    return host_name(host) in allowed


def write_allowed(method: str, headers: Mapping[str, str], public_origin: str | None = None) -> bool:
    """Whether a request may change something, judged by where its page came from.

    Args:
        method: HTTP method; a safe one is always allowed.
        headers: request headers by lower-case name.
        public_origin: `https://halve.example` where a proxy stands in front; else the Host header is compared.
    """
    if method in SAFE_METHODS:
        return True
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    if origin is not None:
        if public_origin is not None:
            return origin == public_origin
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    # Neither header: no browser sent it (every browser sends Origin with a POST), so no cookie was sent by accident.
    return "cookie" not in headers
