"""Commands on sources: add, remove and list those that are pulled, and say how the tokens of one are billed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from app.control import sources as control_sources
from app.core.errors import NotFoundError, UnavailableError
from app.main import refresh
from app.main.refresh import now_us
from app.main.runtime import demand_store, opened, opened_control
from app.main.service_calls import service_client
from app.replay.trace import ttl_from_text
from ingest.connectors import CONNECTORS, connector_named, folder
from ingest.connectors.outbound import refuse_hosts
from ingest.connectors.secret_reference import read_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.settings import Settings


def add_source(
    settings: Settings,
    *,
    kind: str,
    name: str,
    given: Mapping[str, str | None],
    every_us: int | None = None,
    since_us: int | None = None,
) -> str:
    """Store a source for the service to pull; secrets only as references. What a pull would refuse is refused here.

    Raises:
        UsageError: an option is missing or unknown, or a secret is given itself or cannot be read.
        ForbiddenError: HALVE_ALLOW_HOSTS or HALVE_INGEST_ROOTS does not allow what the source needs.
    """
    connector = connector_named(kind)
    connector.installed()
    options: dict[str, Any] = dict(connector.configured(given))
    for reference in connector.secrets(options):
        read_secret(reference)
    refuse_hosts(connector.hosts(options), frozenset(settings.allow_hosts.split()))
    if kind == folder.CONNECTOR.name:
        options["path"] = str(folder.allowed(Path(options["path"]), folder.roots_of(settings.ingest_roots)))
    options["every_us"] = ttl_from_text(connector.every) if every_us is None else every_us
    if since_us is not None:
        options["since_us"] = since_us
    with opened_control(settings) as control:
        control_sources.save(control, control_sources.Source(name, kind, options), now_us())
    return name


def remove_source(settings: Settings, name: str) -> None:
    """Forget a source and where it stood; its requests stay.

    Raises:
        NotFoundError: no such source.
    """
    demand_store(settings)
    with opened_control(settings) as control:
        control_sources.remove(control, name)


def source_kinds() -> list[dict[str, Any]]:
    """The kinds of sources: what each reads, and its options."""
    return [
        {
            "kind": one.name,
            "reads": one.reads,
            "every": one.every,
            "options": [asdict(option) for option in one.options],
        }
        for one in CONNECTORS
    ]


def list_sources(settings: Settings) -> list[dict[str, Any]]:
    """Every configured source with its state."""
    demand_store(settings)
    with opened_control(settings) as control:
        return [
            {
                "name": source.name,
                "kind": source.kind,
                "options": dict(source.options),
                "enabled": source.enabled,
                "state": (where := control_sources.cursor(control, source.name)).state,
                "last_run_us": where.last_run_us,
                "error": where.error,
                "fresh_us": where.fresh_us,
                "complete_us": where.complete_us,
                "records": where.records,
            }
            for source in control_sources.all_sources(control)
        ]


def set_billing(settings: Settings, name: str, billing: str) -> None:
    """Say how a source of the warehouse is billed, here or through the running service.

    Raises:
        NotFoundError: no logs came from a source of that name.
    """
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            answer = client.post("/billing", data={"source": name, "billing": billing})
            if answer.status_code == httpx2.codes.NOT_FOUND:
                raise NotFoundError(f"No logs came from a source named {name!r}.")
            if answer.is_error:
                raise UnavailableError(f"The service refused: {answer.text.strip()[:300]}")
            return
    with opened(settings) as runtime:
        refresh.set_billing(runtime, name, billing)
