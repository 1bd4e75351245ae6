"""Killed or interrupted and then resumed, an ingest ends as an undisturbed one does."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from soak_ingest import compare, contents_of, make_logs, run_to_the_end, soak, start


def living(group: int) -> list[str]:
    """The processes of a group that still run; those that only wait to be reaped are gone."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = entry.read_text().rpartition(") ")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            found.append(entry.parent.name)
    return found


@pytest.mark.soak
def test_kill_minus_nine_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    full = os.environ.get("HALVE_SOAK") == "full"
    report = soak(kills=50 if full else 5, seed=5, calls=12_000 if full else 6_000, folder=tmp_path)
    assert report["differences"] == {}
    assert report["kills"] == (50 if full else 5)


@pytest.mark.soak
def test_ctrl_c_ends_every_process_and_the_next_run_goes_on(tmp_path: Path) -> None:
    make_logs(tmp_path / "logs", 6_000, seed=9)
    stores = [tmp_path / name / "data" for name in ("calm", "rough")]
    for data in stores:
        data.mkdir(parents=True)
        (data / "install.key").write_bytes(bytes(range(32)))
    run_to_the_end(tmp_path / "logs", stores[0])
    process = start(tmp_path / "logs", stores[1])
    inbox = stores[1] / "inbox"
    while process.poll() is None and not (inbox.is_dir() and any(inbox.iterdir())):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while (left := living(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []
    run_to_the_end(tmp_path / "logs", stores[1])
    assert compare(contents_of(stores[0]), contents_of(stores[1])) == {}
