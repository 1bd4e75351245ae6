"""Commands that are ended, killed, or come while another process holds the warehouse."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from halve_command import HALVE, environment, halve, inside, wait_for

from tests.ingest.made_logs import lines

if TYPE_CHECKING:
    from pathlib import Path

HOLD = """
import sys, duckdb
held = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Enough to be busy with for some seconds."""
    log = tmp_path / "many.jsonl"
    log.write_text(lines(range(20_000)))
    return log


def stopped(tmp_path: Path, many: Path, how: signal.Signals) -> tuple[int, Path]:
    """`halve analyze`, ended in the middle of its work: its exit code and where its temporary folders lie."""
    place = tmp_path / "tmp"
    place.mkdir(exist_ok=True)
    with subprocess.Popen(
        [HALVE, "analyze", str(many)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(tmp_path / "data", TMPDIR=str(place)),
    ) as process:
        wait_for(lambda: list(place.glob("halve-*/warehouse.duckdb")), "the command is at work")
        assert list(place.glob("halve-*/owner.pid")), "the folder is marked before anything is put into it"
        process.send_signal(how)
        _, said = process.communicate(timeout=60)
        assert b"Traceback" not in said
    return process.returncode, place


def test_a_terminated_analysis_leaves_nothing_behind(tmp_path: Path, many: Path) -> None:
    code, place = stopped(tmp_path, many, signal.SIGTERM)
    assert code == 143
    assert not list(place.glob("halve-*"))


def test_what_a_killed_analysis_left_is_removed_by_the_next_one_and_what_is_in_use_is_not(
    tmp_path: Path, many: Path
) -> None:
    _, place = stopped(tmp_path, many, signal.SIGKILL)
    assert list(place.glob("halve-*/warehouse.duckdb"))
    for name in ("halve-busy", "halve-of-others"):
        (place / name).mkdir()
    (tmp_path / "few.jsonl").write_text(lines(range(3)))
    with (place / "halve-busy" / "owner.pid").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        answer = halve(tmp_path / "data", "analyze", tmp_path / "few.jsonl", TMPDIR=str(place))
    assert answer.code == 0, answer
    assert sorted(one.name for one in place.iterdir()) == ["halve-busy", "halve-of-others"]


def test_a_command_waits_for_a_warehouse_that_is_held_for_a_moment(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (tmp_path / "few.jsonl").write_text(lines(range(3)))
    assert inside(data, "ingest", tmp_path / "few.jsonl").code == 0
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(data / "warehouse.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        halve(data, "doctor").failed(1, "Another Halve process holds it", "wait for it")
        release = threading.Timer(2, other.stdin.close)
        release.start()
        answer = halve(data, "doctor")
        release.join()
    assert answer.code == 0, answer
