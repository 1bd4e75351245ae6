"""Names for clients of aiohttp: as this machine resolves them, each address checked before a connection goes to it."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from aiohttp.abc import AbstractResolver, ResolveResult

from app.core.errors import HalveError

if TYPE_CHECKING:
    from ingest.connectors.outbound import Guard


class CheckedResolver(AbstractResolver):
    """Resolves what the guard allows."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a host.

        Raises:
            ForbiddenError: one of them is refused.
        """
        found = await asyncio.to_thread(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
        for entry in found:
            self._guard(host, str(entry[4][0]))
        return [
            ResolveResult(
                hostname=host,
                host=str(entry[4][0]),
                port=port,
                family=entry[0],
                proto=entry[2],
                flags=socket.AI_NUMERICHOST,
            )
            for entry in found
        ]

    async def close(self) -> None:
        """Nothing is held."""


def raise_own(error: BaseException | None) -> None:
    """Raise what our guard said, from under what libraries made of it."""
    while error is not None:
        if isinstance(error, HalveError):
            raise error
        error = error.__cause__ or error.__context__
