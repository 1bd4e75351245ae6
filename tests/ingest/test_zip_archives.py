"""Logs in zip archives: read like files of a folder, within bounds, and named where they are not."""

from __future__ import annotations

import gzip
import json
import zipfile
from typing import TYPE_CHECKING

import pytest
from made_logs import Unpriced, call, line, lines

from app.core.errors import InputError
from ingest import archives
from ingest.quarantine import replay_quarantine

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store


def packed(place: Path, members: dict[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(place, "w", method) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return place


def reasons(store: Store) -> list[tuple[str, str]]:
    return [(file, reason) for file, reason in store.rows("SELECT file, reason FROM quarantine ORDER BY 1")]


def test_every_log_in_an_archive_is_read_and_again_changes_nothing(store: Store, tmp_path: Path) -> None:
    place = packed(
        tmp_path / "month.zip",
        {
            "a/one.jsonl": lines(range(3)),
            "b/two.json": json.dumps([call(n) for n in range(3, 6)], indent=1),
            "readme.txt": "no log",
            ".hidden.jsonl": line(90),
            "__MACOSX/a/._one.jsonl": "what a computer adds",
        },
    )
    summary = store.ingest(place)
    assert (summary.files, summary.stored, summary.rejected) == (2, 6, 0)
    again = store.ingest(place)
    assert (again.files, again.skipped, again.read) == (0, 2, 0)
    files = store.rows("SELECT DISTINCT origin_file FROM requests ORDER BY 1")
    assert [file.rpartition("month.zip")[2] for (file,) in files] == ["/a/one.jsonl", "/b/two.json"]


def test_an_archive_in_a_folder_is_read_with_the_other_logs(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    packed(folder / "old.jsonl.zip", {"old.jsonl": lines(range(3))}, zipfile.ZIP_STORED)
    (folder / "new.jsonl").write_text(lines(range(2, 5)))
    summary = store.ingest(folder)
    assert (summary.files, summary.stored) == (2, 5)


def test_an_archive_that_got_another_log_is_read_again_without_doubles(store: Store, tmp_path: Path) -> None:
    packed(tmp_path / "a.zip", {"one.jsonl": lines(range(3))})
    store.ingest(tmp_path / "a.zip")
    packed(tmp_path / "a.zip", {"zero.jsonl": line(7), "one.jsonl": lines(range(4))})
    store.ingest(tmp_path / "a.zip")
    assert store.one("SELECT count(*) FROM requests") == 5


def test_names_that_point_elsewhere_reach_nothing_outside(store: Store, tmp_path: Path) -> None:
    (tmp_path / "secret.jsonl").write_text(line(66))
    place = packed(
        tmp_path / "evil.zip",
        {"../secret.jsonl": line(1), f"{tmp_path}/secret.jsonl": line(2), "x" * 400 + ".jsonl": line(3), "../": b""},
    )
    summary = store.ingest(place)
    assert (summary.stored, summary.rejected) == (1, 2)
    assert all("leads out of the archive" in reason for _, reason in reasons(store))
    kept = {row[0][-2:] for row in store.rows("SELECT provider_response_id FROM requests")}
    assert not any(name.endswith("66") for name in kept)


def test_a_bad_line_is_quarantined_with_its_place_in_the_archive(store: Store, tmp_path: Path) -> None:
    place = packed(tmp_path / "a.zip", {"one.jsonl": line(1) + "what is this\n" + line(2)})
    summary = store.ingest(place)
    assert (summary.stored, summary.rejected) == (2, 1)
    ((file, number),) = store.rows("SELECT file, line FROM quarantine")
    assert (file.endswith("a.zip/one.jsonl"), number) == (True, 2)
    packed(place, {"one.jsonl": line(1) + line(9) + line(2)})
    replay_quarantine(store.warehouse, Unpriced(), store.data_dir)
    assert store.one("SELECT count(*) FROM requests") == 3
    assert reasons(store) == []


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"a.jsonl.gz": gzip.compress(b"{}")}, "packed once more"),
        ({"inner.zip": b"PK\x03\x04"}, "packed once more"),
        ({"a.txt": "no log"}, "without a log"),
        ({}, "without a log"),
        ({"a.parquet": b"PAR1 and so on PAR1"}, "Parquet"),
    ],
)
def test_what_is_not_read_is_named(store: Store, tmp_path: Path, members: dict[str, bytes | str], reason: str) -> None:
    summary = store.ingest(packed(tmp_path / "a.zip", members))
    assert (summary.stored, summary.rejected) == (0, 1)
    assert reason in reasons(store)[0][1]


def test_a_locked_member_and_one_of_an_unknown_method_are_named(store: Store, tmp_path: Path) -> None:
    place = packed(tmp_path / "a.zip", {"one.jsonl": lines(range(40)), "two.jsonl": line(50)})
    body = bytearray(place.read_bytes())
    first = body.index(b"PK\x01\x02")
    body[first + 8] |= 1
    second = body.index(b"PK\x01\x02", first + 4)
    body[second + 10] = 99
    place.write_bytes(body)
    assert store.ingest(place).rejected == 2
    assert [reason.split(",")[0] for _, reason in reasons(store)] == [
        "it is locked with a password",
        "it is packed by a method that is not read. Pack with deflate",
    ]


def test_a_damaged_member_is_named_and_hides_no_other(store: Store, tmp_path: Path) -> None:
    place = packed(tmp_path / "a.zip", {"one.jsonl": lines(range(50)), "two.jsonl": line(99)}, zipfile.ZIP_STORED)
    body = bytearray(place.read_bytes())
    at = body.index(b"one.jsonl") + 5_000
    body[at : at + 4] = b"\x00\x01\x02\x03"
    place.write_bytes(body)
    summary = store.ingest(place)
    assert (summary.stored, summary.rejected) == (1, 1)
    assert "damaged" in reasons(store)[0][1]


def test_a_torn_archive_is_named(store: Store, tmp_path: Path) -> None:
    place = packed(tmp_path / "a.zip", {"one.jsonl": lines(range(50))})
    place.write_bytes(place.read_bytes()[:-30])
    assert store.ingest(place).rejected == 1
    assert "damaged zip archive" in reasons(store)[0][1]


def test_an_archive_made_to_fill_a_disk_is_refused_before_anything_is_unpacked(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "FREE_BYTES", 1 << 20)
    place = packed(tmp_path / "bomb.zip", {"a.jsonl": b"0" * (20 << 20), "b.jsonl": line(1)})
    assert place.stat().st_size < 100_000
    assert store.ingest(place).stored == 0
    assert "would unpack to 20," in reasons(store)[0][1]


def test_an_archive_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 10)
    place = packed(tmp_path / "many.zip", {f"{n}.jsonl": "{}" for n in range(11)})
    with pytest.raises(InputError, match="holds 11 files; at most 10"):
        archives.refuse(place)
