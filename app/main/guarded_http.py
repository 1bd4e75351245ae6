"""An HTTP client that asks a guard before every connection and connects to the address that was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

from ingest.connectors.pinned import PinnedTransport

if TYPE_CHECKING:
    from ingest.connectors.outbound import Guard


def guarded_client(check: Guard, timeout: httpx2.Timeout | None = None) -> httpx2.Client:
    """A client of guarded connections: no redirects, no proxies of the environment."""
    return httpx2.Client(
        transport=PinnedTransport(check),
        timeout=timeout or httpx2.Timeout(30.0),
        follow_redirects=False,
        trust_env=False,
    )
