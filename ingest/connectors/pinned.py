"""Connections over HTTP that go to an address which was checked: a name that means another one later says nothing.

A connection made for one host is never used for another that lives at the same address: its certificate was checked
for the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import httpx2

from app.core.errors import ForbiddenError
from ingest.connectors.outbound import checked_address

if TYPE_CHECKING:
    from ingest.connectors.outbound import Guard

PORTS: Final = {"https": 443, "http": 80}


class PinnedTransport(httpx2.BaseTransport):
    """Refuses hosts that the guard does not allow, whatever their names resolve to at this moment."""

    def __init__(self, check: Guard) -> None:
        self._check = check
        self._trust = httpx2.create_ssl_context()  # the operator may name own authorities in SSL_CERT_FILE
        self._inner: dict[str, httpx2.HTTPTransport] = {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request to a checked address of its host.

        Raises:
            ForbiddenError, UnavailableError: the host is not allowed or does not resolve.
        """
        scheme, host = request.url.scheme, request.url.host
        if scheme not in PORTS or not host:
            raise ForbiddenError(f"{scheme or 'No scheme'} is not called: an address begins with https://.")
        address = checked_address(host, request.url.port or PORTS[scheme], self._check)
        if scheme == "https":
            request.extensions = {**request.extensions, "sni_hostname": host}
        # The Host header was set from the name and stays.
        request.url = request.url.copy_with(host=address)
        if host not in self._inner:
            self._inner[host] = httpx2.HTTPTransport(verify=self._trust, trust_env=False)
        return self._inner[host].handle_request(request)

    def close(self) -> None:
        for inner in self._inner.values():
            inner.close()
