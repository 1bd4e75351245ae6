"""Which files of a folder are logs: rotated names are, and whatever is passed over is said."""

from __future__ import annotations

import gzip
import tarfile
from typing import TYPE_CHECKING

import pytest
from made_logs import line, lines

from ingest.connectors.files import find, left_out

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store

ROTATED = (
    "app.jsonl.1",
    "app.log.12",
    "app.log.2026-11-20",
    "app.log-20261120",
    "app.jsonl.2026-11-20T10",
    "app.log_2026-11-20-10-30-00",
    "app.ndjson.old",
)


@pytest.mark.parametrize("name", ROTATED)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_a_rotated_log_in_a_folder_is_read(store: Store, tmp_path: Path, name: str, packed: bool) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "app.jsonl").write_text(lines(range(3)))
    body = lines(range(3, 8)).encode()
    (folder / (name + ".gz" if packed else name)).write_bytes(gzip.compress(body) if packed else body)
    assert store.ingest(folder).stored == 8
    assert left_out([str(folder)]) is None


def test_rotation_between_two_reads_changes_no_total(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "app.log").write_text(lines(range(4)))
    assert store.ingest(folder).stored == 4
    (folder / "app.log").rename(folder / "app.log.1")
    (folder / "app.log").write_text(lines(range(4, 6)))
    assert store.ingest(folder).stored == 2
    (folder / "app.log.2.gz").write_bytes(gzip.compress((folder / "app.log.1").read_bytes()))
    (folder / "app.log.1").unlink()
    assert store.ingest(folder).stored == 0
    assert store.rows("SELECT count(*) FROM requests") == [(6,)]


def test_what_is_passed_over_is_named_with_its_kinds(tmp_path: Path) -> None:
    (tmp_path / "app.jsonl").write_text(line(1))
    for name in ("app.txt", "more.txt", "prices-1.5", "part.json.py", ".hidden"):
        (tmp_path / name).write_text(line(2))
    with tarfile.open(tmp_path / "old.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "app.jsonl", "app.jsonl")
    said = left_out([str(tmp_path)], exclude=["more.*"])
    assert said is not None
    assert said.startswith("3 files were not read, because the name is no log's (1 ")
    assert "1 .txt" in said
    assert f"such as {tmp_path / 'app.txt'}" in said
    assert left_out([str(tmp_path / "app.txt")]) is None
    assert [one.path.name for one in find([tmp_path])] == ["app.jsonl", "old.tar.gz"]
    assert [one.path.name for one in find([tmp_path / "app.txt"])] == ["app.txt"]
