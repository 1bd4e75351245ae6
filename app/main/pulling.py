"""One pull of one source: batches become shards in the inbox, and the source's position is stored after each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.control import sources as control_sources
from app.core.errors import UnavailableError
from app.core.hashing import hash64
from app.main import uploads
from app.main.refresh import now_us
from ingest.connectors import connector_named
from ingest.connectors.connector import DAY_US, Batch, Errand
from ingest.connectors.files import Found
from ingest.connectors.folder import roots_of
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience
from ingest.inbox import rows_in
from ingest.pipeline import shards_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Engine

    from app.control.sources import Source
    from app.settings import Settings
    from ingest.connectors.connector import Connector
    from ingest.summary import Summary

FIRST_PULL_DAYS: Final = 35
TAKE_EVERY: Final = 64  # shards that may wait before a long pull has them merged


def pull_source(
    control: Engine,
    settings: Settings,
    source: Source,
    held: Any,
    *,
    read: Callable[[Sequence[Path], str], Summary],
    take: Callable[[], object],
    patience: Patience | None = None,
) -> None:
    """Fetch what is new. `read` reads files where they lie, `take` merges what waits in the inbox.

    Raises:
        HalveError: the pull ended early; what came before is stored, and the next one goes on there.
    """
    connector = connector_named(source.kind)
    waiting = 0
    with uploads.scratch(settings.data_dir, source.name) as scratch:
        errand = _errand(settings, source, held, scratch, patience or Patience())
        for batch in connector.pull(errand):
            records = read(batch.in_place, source.name).read if batch.in_place else 0
            # The shards are on disk under their final names: from here on their rows cannot be lost.
            shards = _shards(settings, source, connector, batch, scratch)
            records += max(sum(map(rows_in, shards)), len(batch.lines))  # the inbox may have been taken meanwhile
            control_sources.advance(
                control,
                source.name,
                batch.position,
                now_us(),
                pulled=source,
                fresh_us=batch.fresh_us,
                complete_us=batch.complete_us,
                records=records,
            )
            waiting += len(shards)
            if waiting >= TAKE_EVERY:
                take()
                waiting = 0
    take()


def _errand(settings: Settings, source: Source, held: Any, scratch: Path, patience: Patience) -> Errand:
    now = now_us()
    options: Mapping[str, Any] = source.options
    return Errand(
        options=options,
        held=held,
        now_us=now,
        since_us=int(options.get("since_us", now - FIRST_PULL_DAYS * DAY_US)),
        guard=guard(frozenset(settings.allow_hosts.split())),
        roots=roots_of(settings.ingest_roots),
        scratch=scratch,
        patience=patience,
    )


def _shards(settings: Settings, source: Source, connector: Connector, batch: Batch, scratch: Path) -> list[Path]:
    """The shards of a batch's lines and files, which are gone afterwards."""
    found = list(batch.files)
    if batch.lines:
        body = b"\n".join(batch.lines) + b"\n"
        spool = scratch / f"{hash64(body) & (2**64 - 1):016x}.jsonl"
        _spool(spool, body)
        found.append(Found(f"{source.name} ({source.kind})", spool))
    if not found:
        return []
    try:
        return shards_of(found, settings.data_dir, source=source.name, format_name=connector.format, text=settings.text)
    finally:
        for one in found:
            one.path.unlink(missing_ok=True)


def _spool(path: Path, body: bytes) -> None:
    try:
        with uploads.private_file(path) as out:
            out.write(body)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise UnavailableError(
            f"What was pulled could not be stored: {error.strerror}. Make room; the next pull begins at the same place."
        ) from error
