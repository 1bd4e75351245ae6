"""`halve serve` and `halve demo`: the dashboard on its port, commands on a socket, the work behind both."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit

import click
import uvicorn

from app.auth.access import first_token
from app.control import access
from app.control import findings as decisions
from app.core.errors import UnavailableError
from app.main import batch_pages, budgets, export, jobs, overlaps, reporting
from app.main.background import Background
from app.main.local_api import create_local_api
from app.main.prices import price_desk
from app.main.refresh import now_us, set_billing
from app.main.runtime import Runtime, make_folder, opened
from app.main.service_calls import SOCKET
from app.main.uploads import keep_upload
from app.web.commands import Commands, Progress
from app.web.deps import Deps
from app.web.server import create_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import FrameType

    from app.settings import Settings

STOP_S = 5
"""How long a stopping service waits for answers that are still being written, such as progress streams."""


def serve(settings: Settings, *, new_token: bool = False) -> None:
    """Run until stopped.

    Raises:
        UnavailableError: the port is taken or another process holds the warehouse.
    """
    with _listening(settings.host, settings.port) as door, opened(settings) as runtime:
        if new_token:
            access.revoke_tokens(runtime.control, now_us())
        token = first_token(runtime.control, now_us())
        address = settings.public_origin or f"http://{settings.host}:{settings.port}"
        if token is not None:
            click.echo(f"Open {address}/enter?token={token}\nThis link is shown once; `--new-token` makes another.")
        else:
            click.echo(f"Halve answers at {address}")
        work = Background(runtime, settings)
        _run(runtime, settings, work, door, demo=False, first=None)


def demo(settings: Settings, *, requests: int, seed: int, serving: bool) -> None:
    """The made month in a folder of its own: pages answer at once and show how far reading and analysis are."""
    from app.demo.clock import ZONE
    from app.demo.generate import generate

    home = settings.data_dir / "demo"
    own = replace(
        settings,
        data_dir=home / "store",
        host="127.0.0.1",
        host_names="127.0.0.1 localhost",
        public_origin="",
        zone=ZONE.key if settings.zone == "UTC" else settings.zone,
        smtp_url="",  # reports on made data stay in the archive
        mail_to="",
    )

    def make(work: Background) -> None:
        made = home / f"month-{requests}-{seed}.done"
        if not made.exists():
            work.progress = Progress("setting up", "writing a month of a made company's logs")
            generate(home, seed=seed, requests=requests)
            made.touch()
        jobs.first_month(work, home / "logs")
        reporting.send_due(work.runtime, own, made=True)

    make_folder(home)
    if not serving:
        with opened(own) as runtime:
            make(Background(runtime, own))
        return
    with _listening(own.host, own.port) as door, opened(own) as runtime:
        click.echo(f"Open http://{own.host}:{own.port}  (made data, no access token; Ctrl-C stops)")
        work = Background(runtime, own, made=True)
        _run(runtime, own, work, door, demo=True, first=lambda: make(work))


def _run(
    runtime: Runtime,
    settings: Settings,
    work: Background,
    door: socket.socket,
    *,
    demo: bool,
    first: Callable[[], None] | None,
) -> None:
    ending = threading.Event()
    deps = dependencies(runtime, settings, work, demo=demo, stopping=ending.is_set)
    work.start()
    if first is not None:
        work.soon(first, "demo")
    try:
        asyncio.run(
            _both(
                create_app(deps),
                create_local_api(runtime, settings, made=demo),
                door,
                runtime.data_dir / SOCKET,
                ending,
            )
        )
    finally:
        work.stop()


def dependencies(
    runtime: Runtime, settings: Settings, work: Background, *, demo: bool, stopping: Callable[[], bool]
) -> Deps:
    """What the dashboard's pages stand on."""
    names = frozenset(settings.host_names.split())
    if settings.public_origin:
        names |= {urlsplit(settings.public_origin).hostname or ""}
    return Deps(
        warehouse=runtime.warehouse,
        control=runtime.control,
        commands=commands(runtime, work, demo=demo),
        zone=settings.zone,
        now=now_us,
        allowed_hosts=names,
        public_origin=settings.public_origin or None,
        no_access_control=demo,
        demo=demo,
        address=settings.public_origin or f"http://{settings.host}:{settings.port}",
        stopping=stopping,
    )


async def _both(
    dashboard: object, local: object, door: socket.socket, socket_path: Path, ending: threading.Event
) -> None:
    """Serve the dashboard and the socket in one loop until a signal ends the first; `ending` is set then."""
    config = uvicorn.Config(dashboard, log_level="warning", server_header=False, timeout_graceful_shutdown=STOP_S)  # type: ignore[arg-type]
    public = _UntilSignal(config, ending)
    private = _Quiet(uvicorn.Config(local, log_level="warning", lifespan="off"))  # type: ignore[arg-type]
    with _private_socket(socket_path) as inner:
        beside = asyncio.create_task(private.serve(sockets=[inner]))
        await public.serve(sockets=[door])
        private.should_exit = True
        await beside


class _UntilSignal(uvicorn.Server):
    """Ends at a signal without raising it once more: what is open is then closed in order, and the exit code is 0."""

    def __init__(self, config: uvicorn.Config, ending: threading.Event) -> None:
        super().__init__(config)
        self.ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Streams to browsers end by themselves once they are told."""
        self.ending.set()
        super().handle_exit(sig, frame)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Quiet(uvicorn.Server):
    """Leaves signals to the dashboard's server."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """The dashboard's socket, bound before anything else so that a taken port is known at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((host, port))
            door.listen(128)
        except OSError as error:
            raise UnavailableError(
                f"Port {port} on {host} cannot be used: {error.strerror}. "
                "Another program may listen there: stop it, or choose another port with --port."
            ) from error
        yield door


@contextlib.contextmanager
def _private_socket(path: Path) -> Iterator[socket.socket]:
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as inner:
        try:
            inner.bind(str(path))
        except OSError as error:
            raise UnavailableError(
                f"The socket {path} cannot be made: {error.strerror or error}. Name a data folder with a short path on "
                "a local disk with HALVE_DATA_DIR."
            ) from error
        path.chmod(0o600)
        inner.listen(16)
        try:
            yield inner
        finally:
            path.unlink(missing_ok=True)


def commands(runtime: Runtime, work: Background, *, demo: bool = False) -> Commands:
    """Everything a page can set in motion."""
    control = runtime.control

    def upload(name: str, stream: BinaryIO) -> str:
        kept = keep_upload(runtime.data_dir, name, stream)
        work.soon(lambda: work.read_upload(kept), f"upload {kept.path.parent.name}/{kept.given}")
        return f"{kept.given} was received and is being read; this page shows what became of it."

    def change(fingerprint: str, status: str, reason: str | None = None, until_us: int | None = None) -> None:
        decisions.set_status(control, fingerprint, status, now_us=now_us(), reason=reason, until_us=until_us)  # type: ignore[arg-type]

    return Commands(
        dismiss_finding=lambda fingerprint, reason, until: change(fingerprint, "dismissed", reason, until),
        restore_finding=lambda fingerprint: change(fingerprint, "open"),
        start_finding=lambda fingerprint: change(fingerprint, "in_progress"),
        finish_finding=lambda fingerprint: change(fingerprint, "done"),
        assign_finding=lambda fingerprint, owner: decisions.set_owner(control, fingerprint, owner, now_us=now_us()),
        status=lambda: work.progress,
        upload_log=upload,
        run_analysis=lambda: work.ask("analysis"),
        set_billing=lambda source, billing: set_billing(runtime, source, billing),
        decide_overlap=lambda one, other, counted: overlaps.decide(runtime, one, other, counted),
        reports=reporting.desk(runtime, work.settings, work.soon, made=demo),
        jobs=jobs.desk(work),
        batch=batch_pages.of_service(work, demo=demo),
        push=work.pushes.desk(),
        budgets=budgets.desk(runtime, work.settings, made=demo),
        prices=price_desk(runtime.books, work.settings),
        export_focus=lambda period: export.focus_file(runtime, period),
    )


# A step that is still busy when its next turn comes is no fault worth a warning.
logging.getLogger("apscheduler").setLevel(logging.ERROR)
