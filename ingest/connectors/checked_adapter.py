"""Connections of `requests` sessions that go to an address which was checked, as `pinned.py` makes them for httpx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from requests import Session
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from ingest.connectors.outbound import checked_address

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from ingest.connectors.outbound import Guard


def checked_session(guard: Guard) -> Session:
    """A session that refuses hosts which the guard does not allow, and that knows no proxy of the environment."""
    session = Session()
    session.trust_env = False
    adapter = _Adapter(guard)
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    return session


class _Adapter(HTTPAdapter):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        super().__init__(max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _pools(self._guard)


def _pools(guard: Guard) -> dict[str, type[HTTPConnectionPool]]:
    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return _connected(self, super()._new_conn, guard)

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return _connected(self, super()._new_conn, guard)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


def _connected(connection: HTTPConnection, connect: Callable[[], socket.socket], guard: Guard) -> socket.socket:
    """Connect to a checked address of the connection's host; certificates are still checked for its name."""
    name = connection._dns_host  # noqa: SLF001 - what urllib3 resolves, apart from the name that it verifies
    connection._dns_host = checked_address(name, connection.port, guard)  # noqa: SLF001
    try:
        return connect()
    finally:
        connection._dns_host = name  # noqa: SLF001
