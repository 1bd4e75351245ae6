"""A disk without room: one clear message, nothing lost, and the next run goes on. The room is a limit on file sizes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made_logs import lines, make_store

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve()

CHILD = """
import resource, sys
from pathlib import Path
from app.core.errors import UnavailableError
from made_logs import make_store
store = make_store(Path(sys.argv[2]))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    store.ingest(Path(sys.argv[1]), text="all")
except UnavailableError as error:
    print(error)
    raise SystemExit(3)
try:
    store.warehouse.checkpoint()
except UnavailableError as error:
    print(error)
    raise SystemExit(4)
"""


def ingest_with_room(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(HERE.parents[2]), str(HERE.parent)))}
    command = [sys.executable, "-c", CHILD, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("room", [20_000, 300_000, 700_000])
def test_a_full_disk_is_named_and_loses_nothing(tmp_path: Path, room: int) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(lines(range(4_000)))
    data = tmp_path / "data"
    make_store(data).warehouse.close()
    child = ingest_with_room([str(log), str(data), str(room)])
    assert child.returncode in (3, 4), child.stdout + child.stderr
    assert "cannot be written" in child.stdout or "could not write" in child.stdout or "failed and was" in child.stdout
    assert "Traceback" not in child.stdout
    store = make_store(data)
    store.ingest(log, text="all")
    assert store.one("SELECT count(*) FROM requests") == 4_000
    assert store.one("SELECT count(*) FROM segments") == 8_000
    assert store.one("SELECT count(*) FROM contents") == 4_001
    store.warehouse.close()
