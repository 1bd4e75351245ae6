"""Reading again what could not be read: `halve sources again`, after an update of Halve or a repair of a file.

Files are read where they lie. What was pulled is asked for again, since nothing of it is kept: its source begins anew.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from app.control import sources as control_sources
from app.core.errors import NotFoundError, UnavailableError
from app.main.pulling import FIRST_PULL_DAYS
from app.main.refresh import attribute_and_sum, now_us
from app.main.runtime import demand_store, opened
from app.main.service_calls import service_client
from app.main.uploads import PULLED
from ingest.connectors.connector import DAY_US
from ingest.quarantine import passed_by, quarantined, replay_quarantine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.main.runtime import Runtime
    from app.settings import Settings
    from ingest.quarantine import Place


@dataclass(frozen=True, slots=True)
class Again:
    """What became of quarantined places.

    Attributes:
        read: what was read again where it lies.
        rejected: what of it still cannot be read.
        asked: (source, records) that its next pull asks for again.
        problems: what cannot be read again, and what to do about it.
    """

    read: int
    rejected: int
    asked: tuple[tuple[str, int], ...] = ()
    problems: list[str] = field(default_factory=list)


def read_again(runtime: Runtime, settings: Settings, name: str | None) -> Again:
    """Read the quarantine again, of one source or of all.

    Raises:
        NotFoundError: nothing of a source with that name is in the quarantine.
    """
    places = quarantined(runtime.warehouse, name)
    if name is not None and not places:
        raise NotFoundError(f"Nothing of a source named {name[:80]!r} is in quarantine.")
    summary = replay_quarantine(runtime.warehouse, runtime.pricer, runtime.data_dir, source=name, text=settings.text)
    if summary.stored or summary.updated:
        attribute_and_sum(runtime, settings.zone)
    pulled: dict[str, list[Place]] = {}
    for place in places:
        if passed_by(place, runtime.data_dir) == PULLED:
            pulled.setdefault(place.source, []).append(place)
    asked, problems = [], list(summary.problems)
    for source, some in sorted(pulled.items()):
        try:
            _ask_again(runtime, source, some)
            asked.append((source, len(some)))
        except NotFoundError:
            problems.append(
                f"{len(some)} records of {source} came from its server, and {source} is not pulled any more. Add it "
                "again to read them: `halve sources add`."
            )
    return Again(summary.read, summary.rejected, tuple(asked), problems)


def _ask_again(runtime: Runtime, source: str, places: Sequence[Place]) -> None:
    """Let a source begin anew, early enough for what was seen first."""
    since_us = min(place.seen_us for place in places) - FIRST_PULL_DAYS * DAY_US
    control_sources.begin_again(runtime.control, source, since_us, now_us())
    paths = pl.DataFrame({"source": source, "path": sorted({place.path for place in places})})
    with runtime.warehouse.writing() as session:
        session.register("incoming_again", paths)
        session.execute("ingest.uncount_quarantined", shard=f"again-{os.urandom(8).hex()}", taken_us=now_us())
        session.execute("ingest.forget_quarantined")
        session.unregister("incoming_again")


def command_again(settings: Settings, name: str | None) -> dict[str, Any]:
    """`halve sources again`, here or through the running service.

    Raises:
        NotFoundError: nothing of that source is in the quarantine. UnavailableError: the service refused.
    """
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            answer = client.post("/sources/again", data={} if name is None else {"name": name}, timeout=None)
            if answer.is_error:
                raise (NotFoundError if answer.status_code == 404 else UnavailableError)(answer.json()["error"])
            return dict(answer.json())
    with opened(settings) as runtime:
        return asdict(read_again(runtime, settings, name))
