"""Shared by all tests: the public data sets are read only where HALVE_DATA names them, and the closing line says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = os.environ.get("HALVE_DATA")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if DATA:
        return
    dropped = [item for item in items if item.get_closest_marker("data")]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if not item.get_closest_marker("data")]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not DATA:
        terminalreporter.write_line("Tests on the public data sets were not collected: set HALVE_DATA to their folder.")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public data sets; only for tests marked `data`."""
    assert DATA is not None
    return Path(DATA).resolve()
