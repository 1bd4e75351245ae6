"""`halve sources list`: the sources that are pulled, and those that were pushed or read and need no configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.main.runtime import WAREHOUSE, opened
from app.main.service_calls import asked, service_client
from app.main.sources import list_sources
from ingest.shard import PUSHED

if TYPE_CHECKING:
    from app.main.runtime import Runtime
    from app.settings import Settings


def arrived(runtime: Runtime) -> list[dict[str, Any]]:
    """Every source that something came from: name, kind (pushed or read), its requests, when it was last seen."""
    with runtime.warehouse.session() as session:
        return [
            {
                "name": str(source),
                "kind": "pushed" if pushed else "read",
                "records": int(requests),
                "last_run_us": None if last is None else int(last),
            }
            for source, pushed, requests, last in session.rows("sources.arrived", pushed=PUSHED)
        ]


def command_list(settings: Settings) -> list[dict[str, Any]]:
    """The sources that are configured, then those that are not, here or through the running service.

    Raises:
        NotFoundError: there is no store. UnavailableError: another command holds it.
    """
    configured = list_sources(settings)
    names = {row["name"] for row in configured}
    return configured + [{**_UNCONFIGURED, **row} for row in _arrived(settings) if row["name"] not in names]


_UNCONFIGURED: dict[str, Any] = {
    "options": {},
    "enabled": None,
    "state": None,
    "error": None,
    "fresh_us": None,
    "complete_us": None,
}


def _arrived(settings: Settings) -> list[dict[str, Any]]:
    with service_client(settings) as client:
        if client is not None:
            return list(asked(client, "GET", "/sources/arrived"))
    if not (settings.data_dir / WAREHOUSE).exists():
        return []
    with opened(settings) as runtime:
        return arrived(runtime)
