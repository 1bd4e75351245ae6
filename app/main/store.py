"""Commands on the data folder: ingest, plan, sources, prices of sources, migrate, doctor, backup.

The service owns the warehouse while it runs. Commands then leave their work in the inbox or ask the service over
`halve.sock`; without a service they open the stores themselves.
"""

from __future__ import annotations

import fcntl
import shutil
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from app.analysis import token_checks
from app.control import sources as control_sources
from app.core.errors import NotFoundError, UnavailableError, UsageError
from app.main import refresh
from app.main.refresh import attribute_and_sum, now_us
from app.main.runtime import WAREHOUSE, demand_store, make_folder, opened, opened_control
from app.plan import store as plan_store
from app.plan.result import plan_document
from app.replay.trace import ttl_from_text
from app.warehouse import rollup, upkeep
from ingest.connectors import CONNECTORS, connector_named, folder
from ingest.connectors.outbound import refuse_hosts
from ingest.connectors.secret_reference import read_secret
from ingest.pipeline import ingest_paths, write_shards
from ingest.shard import left_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from app.settings import Settings
    from ingest.formats.column_map import ColumnMap
    from ingest.pipeline import Progress

SOCKET = "halve.sock"
ASIDE = (
    "{} files in the inbox (their names begin with .damaged-) could not be read and are in no figure. What was pushed "
    "is tried again at every start of the service, so a newer version may read it; of a log, ingest the file again"
)
_PATIENCE_S = 10
KEPT_FILES = ("warehouse.duckdb", "contents.duckdb", "control.sqlite3", "install.key", "attribution.yml")
KEPT_FOLDERS = ("reports", "batches", "batch-files", "prices")
"""What a backup holds beside the stores: mails of the archive, batch items and results, files of the API, prices that
were imported."""


@contextmanager
def service_client(settings: Settings) -> Iterator[httpx2.Client | None]:
    """A client of the running service over its socket; None where no service answers.

    A service that starts holds the warehouse before it answers, and one that stops after it did: where the warehouse is
    held and nobody answers, this waits for one or the other.

    Raises:
        UnavailableError: the service answered and then failed.
    """
    path = settings.data_dir / SOCKET
    door = httpx2.HTTPTransport(uds=str(path))
    with httpx2.Client(transport=door, base_url="http://localhost", timeout=30) as client:
        deadline = time.monotonic() + _PATIENCE_S
        while (
            not (answered := path.exists() and _answers(client))
            and _held(settings.data_dir)
            and time.monotonic() < deadline
        ):
            time.sleep(0.1)
        if not answered:
            yield None
            return
        try:
            yield client
        except httpx2.HTTPError as error:
            raise UnavailableError(
                f"The running service did not do it: {error}. See what it printed, or stop it and repeat the command."
            ) from error


def alone(settings: Settings, afterwards: str) -> None:
    """Refuse what needs the warehouse for itself while the service runs.

    Raises:
        UnavailableError: it runs.
    """
    with service_client(settings) as client:
        if client is not None:
            raise UnavailableError(f"The service is running and holds the warehouse. {afterwards}")


def _held(data_dir: Path) -> bool:
    """Whether another process has the warehouse open."""
    try:
        with (data_dir / WAREHOUSE).open("rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _answers(client: httpx2.Client) -> bool:
    try:
        return client.get("/healthz").is_success
    except (httpx2.HTTPError, OSError):
        return False


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
                raise NotFoundError(_NO_PLAN)
            answer.raise_for_status()
            document: dict[str, Any] = answer.json()
            return document
    with opened(settings) as runtime:
        result = plan_store.latest(runtime.warehouse, runtime.control, now_us=now_us())
        if result is None:
            raise NotFoundError(_NO_PLAN)
        return plan_document(result)


_NO_PLAN = "Nothing was analysed yet. `halve analyze` makes a plan of the data folder; the service does so every night."


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
        checks += [_check(*finding) for finding in upkeep.checks(session)]
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
