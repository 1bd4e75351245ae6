"""A real PostgreSQL on loopback, of this machine's own package, in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SUPERUSER = "halve_owner"


def programs() -> Path | None:
    """The folder of initdb and postgres, None where no PostgreSQL is installed."""
    for program in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True):
        return program.parent
    found = shutil.which("initdb")
    return None if found is None else Path(found).resolve().parent


def _as_other_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    try:
        other = pwd.getpwnam("postgres")
    except KeyError:
        other = pwd.getpwnam("nobody")
    return {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(password: str) -> Iterator[int]:
    """The port of a server whose owner is SUPERUSER with this password; gone afterwards."""
    where = programs()
    if where is None:
        reason = "no PostgreSQL is installed (Debian: apt-get install postgresql)"
        if os.environ.get("HALVE_REQUIRE_POSTGRES"):
            pytest.fail(reason)
        pytest.skip(reason)
    other = _as_other_user()
    folder = Path(tempfile.mkdtemp(prefix="halve-pg-"))
    secret = folder / "password"
    secret.write_text(password)
    if other:
        os.chown(folder, other["user"], other["group"])
        os.chown(secret, other["user"], other["group"])
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **other}
    data = folder / "data"
    subprocess.run(
        [
            where / "initdb",
            "-D",
            data,
            "-U",
            SUPERUSER,
            "-A",
            "scram-sha-256",
            f"--pwfile={secret}",
            "-E",
            "UTF8",
            "-N",
        ],
        check=True,
        **quiet,
    )
    port = _free_port()
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": "",
        "fsync": "off",
        "shared_buffers": "16MB",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    server = subprocess.Popen([where / "postgres", "-D", data, "-p", str(port), *options], **quiet)
    try:
        _wait(port, password)
        yield port
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(port: int, password: str) -> None:
    """Until the server answers: it listens before it is ready."""
    import psycopg

    end = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(host="127.0.0.1", port=port, user=SUPERUSER, password=password, dbname="postgres").close()
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return
