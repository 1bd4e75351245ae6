"""Pulls in processes of their own, which a test kills (-9)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
KILLS = 30 if os.environ.get("HALVE_SOAK") == "full" else 5


@dataclass
class Puller:
    """Pulls the sources of a folder, again and again."""

    process: subprocess.Popen[str]

    def pull_and_kill(self, folder: Path, due: Callable[[], bool], pause_s: float) -> bool:
        """Pull, and kill it soon after `due` says so; whether it came to be killed.

        Raises:
            AssertionError: the pull failed by itself.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        child = int(self.process.stdout.readline())
        ended: list[int] = []
        waiting = threading.Thread(target=lambda: ended.append(int(self.process.stdout.readline())))  # type: ignore[union-attr]
        waiting.start()
        try:
            while waiting.is_alive() and not due():
                waiting.join(0.005)
            waiting.join(pause_s)
            if waiting.is_alive():
                os.kill(child, signal.SIGKILL)
        finally:
            waiting.join(60)
        assert ended[0] in (0, -signal.SIGKILL), ended
        return ended[0] != 0


@contextmanager
def puller() -> Iterator[Puller]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.connectors.pull_until_done"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Puller(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(60)
        assert process.stdout is not None
        process.stdout.close()
