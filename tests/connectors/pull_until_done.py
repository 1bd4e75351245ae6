"""A process that is told folders, one a line, and for each forks a child that pulls every source of it once.

It prints the child's number, so that a test can kill it at any moment, and then how it ended. What takes long to import
is imported once. `python -m tests.connectors.pull_until_done`.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import ingest.worker
from app.control import sources
from app.main.pulling import pull_source
from app.main.runtime import opened_control
from app.settings import load
from ingest.connectors import CONNECTORS
from ingest.connectors.polite import Patience
from ingest.summary import Summary

assert ingest.worker
assert CONNECTORS


def pull(folder: Path) -> None:
    settings = replace(load(), data_dir=folder, allow_hosts="127.0.0.1")
    with opened_control(settings) as control:
        for source in sources.all_sources(control):
            pull_source(
                control,
                settings,
                source,
                sources.cursor(control, source.name).cursor,
                read=lambda paths, name: Summary(),
                take=lambda: None,
                patience=Patience(base_s=0.01),
            )


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                pull(Path(line.strip()))
            except BaseException as error:  # noqa: BLE001 - a child must never go on as its parent
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
