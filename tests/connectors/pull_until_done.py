"""A process that pulls every source of a data folder once: to be killed at any moment. `pull_until_done.py FOLDER`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from app.control import sources
from app.main.pulling import pull_source
from app.main.runtime import opened_control
from app.settings import load
from ingest.connectors.polite import Patience
from ingest.summary import Summary


def main(folder: Path) -> None:
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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
