"""The real command in a process of its own, and the service in another."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from app.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HALVE = str(Path(sys.executable).with_name("halve"))
START_S = 60


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    def failed(self, code: int, *phrases: str) -> None:
        """It ended with this code and one message of ours that says all of this; nothing else."""
        assert self.code == code, self
        assert "Traceback" not in self.err + self.out
        assert self.err.startswith("halve: "), self
        assert self.err.count("\n") == 1, "one message"
        assert self.out == ""
        for phrase in phrases:
            assert phrase in self.err


def environment(data_dir: Path, **values: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("HALVE_")}
    return {**plain, "HALVE_DATA_DIR": str(data_dir), "COLUMNS": "100", **values}


def halve(data_dir: Path, *arguments: object, before: Sequence[str] = (), **values: str) -> Answer:
    """Run the executable; `before` stands in front of it, `values` are further environment variables."""
    done = subprocess.run(
        [*before, HALVE, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment(data_dir, **values),
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def inside(data_dir: Path, *arguments: object, **values: str) -> Answer:
    """The command in this process: quicker, where nothing depends on a process of its own."""
    runner = CliRunner()
    given = environment(data_dir, **values)
    unset = dict.fromkeys(name for name in os.environ if name.startswith("HALVE_") and name not in given)
    done = runner.invoke(main, [str(argument) for argument in arguments], env={**unset, **given})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Answer(done.exit_code, done.stdout, done.stderr)


def free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port: int = door.getsockname()[1]
        return port


@contextmanager
def service(data_dir: Path) -> Iterator[str]:
    """A running `halve serve` of that folder; gives the link that it prints."""
    port = free_port()
    with subprocess.Popen(
        [HALVE, "serve", "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(data_dir, PYTHONUNBUFFERED="1"),
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            link = re.search(r"http://\S+", line)
            assert link is not None, line + process.stdout.read()
            wait_for(lambda: _answers(port) and (data_dir / "halve.sock").exists(), "the service answers")
            yield link.group()
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(START_S)
            except subprocess.TimeoutExpired:
                process.kill()
        assert process.returncode == 0, "a stopped service has done what it should"


def _answers(port: int) -> bool:
    with socket.socket() as door:
        return door.connect_ex(("127.0.0.1", port)) == 0


def wait_for(holds: Any, what: str, seconds: float = START_S) -> Any:
    """The first true answer of `holds`, asked until the time is over."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = holds()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds:g} s: {what}")
