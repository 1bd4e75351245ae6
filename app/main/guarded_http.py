"""An HTTP client that asks a guard before every connection and connects to the address that was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

from app.core.errors import ForbiddenError
from ingest.connectors.outbound import checked_address

if TYPE_CHECKING:
    from ingest.connectors.outbound import Guard

PORTS = {"https": 443, "http": 80}


class GuardedTransport(httpx2.BaseTransport):
    """Refuses hosts that the guard does not allow, whatever their names resolve to at this moment."""

    def __init__(self, check: Guard) -> None:
        self._check = check
        self._inner = httpx2.HTTPTransport(trust_env=False)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request to a checked address of its host.

        Raises:
            ForbiddenError, UnavailableError: the host is not allowed or does not resolve.
        """
        host = request.url.host
        if request.url.scheme not in PORTS or not host:
            raise ForbiddenError(f"{request.url.scheme or 'No scheme'} is not called: an address begins with https://.")
        address = checked_address(host, request.url.port or PORTS[request.url.scheme], self._check)
        if request.url.scheme == "https":
            request.extensions = {**request.extensions, "sni_hostname": host}
        # The Host header was set from the name and stays.
        request.url = request.url.copy_with(host=address)
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


def guarded_client(check: Guard, timeout: httpx2.Timeout | None = None) -> httpx2.Client:
    """A client of guarded connections: no redirects, no proxies of the environment."""
    return httpx2.Client(
        transport=GuardedTransport(check),
        timeout=timeout or httpx2.Timeout(30.0),
        follow_redirects=False,
        trust_env=False,
    )
