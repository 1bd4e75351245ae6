"""Commands on the data folder: ingest, plan, migrate, doctor, backup.

The service owns the warehouse while it runs. Commands then leave their work in the inbox or ask the service over
`halve.sock`; without a service they open the stores themselves.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import httpx2

from app.analysis import alike_logs, token_checks
from app.core.errors import NotFoundError, UsageError
from app.core.view import latest_us
from app.main.refresh import attribute_and_sum, now_us
from app.main.runtime import demand_store, make_folder, opened
from app.main.service_calls import alone, service_client
from app.plan import store as plan_store
from app.plan.result import plan_document
from app.warehouse import rollup, upkeep
from ingest.connectors.files import find
from ingest.pipeline import ingest_paths, write_shards
from ingest.shard import left_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from app.settings import Settings
    from ingest.formats.column_map import ColumnMap
    from ingest.pipeline import Progress

ASIDE = (
    "{} files in the inbox (their names begin with .damaged-) could not be read and are in no figure. What was pushed "
    "is tried again at every start of the service, so a newer version may read it; of a log, ingest the file again"
)
KEPT_FILES = ("warehouse.duckdb", "contents.duckdb", "control.sqlite3", "install.key", "attribution.yml")
KEPT_FOLDERS = ("reports", "batches", "batch-files", "prices")
"""What a backup holds beside the stores: mails of the archive, batch items and results, files of the API, prices that
were imported."""


def ingest(
    paths: Sequence[str],
    settings: Settings,
    *,
    exclude: Sequence[str] = (),
    format_name: str | None = None,
    column_map: ColumnMap | None = None,
    source: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> dict[str, Any]:
    """Read logs into the data folder; through the inbox where a service is running."""
    make_folder(settings.data_dir)
    with service_client(settings) as client:
        running = client is not None
    if running:
        shards = write_shards(
            paths,
            settings.data_dir,
            source=source,
            exclude=exclude,
            format_name=format_name,
            column_map=column_map,
            text=settings.text,
        )
        return {"handed_to_service": True, "shards": shards}
    with opened(settings) as runtime:
        summary = ingest_paths(
            paths,
            warehouse=runtime.warehouse,
            pricer=runtime.pricer,
            data_dir=settings.data_dir,
            source=source,
            exclude=exclude,
            format_name=format_name,
            column_map=column_map,
            text=settings.text,
            progress=progress,
        )
        if summary.stored or summary.updated:
            attribute_and_sum(runtime, settings.zone)
        if summary.stored:
            with runtime.warehouse.session() as session:
                alike = alike_logs.find(session, [one.given for one in find(paths, exclude)])
            summary.problems += [one.text() for one in alike]
        return {"handed_to_service": False, **asdict(summary)}


def stored_plan(settings: Settings) -> dict[str, Any]:
    """The plan of the last analysis.

    Raises:
        NotFoundError: nothing was analysed yet.
    """
    demand_store(settings)
    with service_client(settings) as client:
        if client is not None:
            answer = client.get("/plan")
            if answer.status_code == httpx2.codes.NOT_FOUND:
                raise NotFoundError(_NO_PLAN_YET)
            answer.raise_for_status()
            document: dict[str, Any] = answer.json()
            return document
    with opened(settings) as runtime:
        result = plan_store.latest(runtime.warehouse, runtime.control, now_us=now_us())
        if result is None:
            raise NotFoundError(_NO_PLAN)
        return plan_document(result)


_NO_PLAN = "Nothing was analysed yet. `halve analyze` makes a plan of the data folder; the service does so every night."
_NO_PLAN_YET = (
    "Nothing was analysed yet. The running service makes its first plan within minutes of its first log, then every "
    "night: ask again, or see how far it is on Savings."
)


def migrate(settings: Settings) -> str:
    """Bring both stores to this version's schema."""
    alone(settings, "It brought both stores to its own version's schema when it started; stop it to do so anew.")
    with opened(settings):
        return f"Both stores in {settings.data_dir} are at this version's schema."


def doctor(settings: Settings) -> list[dict[str, Any]]:
    """Checks of the data folder, each {name, ok, message}; those of token positions say more: `token_checks`."""
    demand_store(settings)
    alone(settings, "Stop it, check, start it again; its Sources page shows what it reads.")
    free = shutil.disk_usage(settings.data_dir).free
    aside = left_aside(settings.data_dir)
    checks = [
        _check("free disk", free > 1 << 30, f"{free / 2**30:.1f} GiB free under {settings.data_dir}"),
        _check("everything received was read", not aside, ASIDE.format(aside) if aside else "nothing is set aside"),
    ]
    with opened(settings) as runtime, runtime.warehouse.session() as session:
        wrong = rollup.differences(session)
        checks.append(
            _check("roll-ups equal facts", not wrong, "they agree" if not wrong else f"{len(wrong)} buckets differ")
        )
        checks += [_check(*finding) for finding in upkeep.checks(session, latest_us(now_us()))]
        alike = [one.text() for one in alike_logs.find(session)]
        checks.append(_check("one call, one log", True, " ".join(alike) or "no two logs of a source have calls alike"))
        checks += token_checks.checks(session)
    return checks


def _check(name: str, ok: bool, message: str) -> dict[str, Any]:
    return {"name": name, "ok": ok, "message": message}


def backup(settings: Settings, to: Path) -> str:
    """Copy both stores, the kept text and the install key into a new folder.

    Raises:
        UsageError: the folder exists and holds something. UnavailableError: a service holds the warehouse.
    """
    if to.exists() and any(to.iterdir()):
        raise UsageError(f"{to} is not empty. Name a new folder, so that no older backup is overwritten.")
    demand_store(settings)
    alone(settings, "Stop it, back up, start it again.")
    with opened(settings) as runtime:
        upkeep.checkpoint(runtime.warehouse)
    to.mkdir(parents=True, exist_ok=True)
    copied = []
    for name in KEPT_FILES:
        source = settings.data_dir / name
        if source.is_file():
            shutil.copy2(source, to / name)
            copied.append(name)
    for name in KEPT_FOLDERS:
        if (settings.data_dir / name).is_dir():
            shutil.copytree(settings.data_dir / name, to / name)
            copied.append(f"{name}/")
    return f"Copied {', '.join(copied)} to {to}. To restore, point HALVE_DATA_DIR at a copy of that folder."
