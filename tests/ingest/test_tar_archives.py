"""Logs in tar archives, packed or not: read like files of a folder, within bounds, and named where they are not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import tarfile
import tracemalloc
from typing import TYPE_CHECKING

import pytest
import zstandard
from made_logs import line, lines

from app.core.errors import InputError
from ingest import archives, plan, spool

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from made_logs import Store

PACKINGS = ("tar", "tar.gz", "tgz", "tar.zst", "tar.bz2", "tbz2", "tar.xz", "txz")


def plain(name: str, body: bytes | str, **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    data = body.encode() if isinstance(body, str) else body
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def packed(place: Path, members: Iterable[tuple[tarfile.TarInfo, bytes]], form: int = tarfile.PAX_FORMAT) -> Path:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=form) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    data = held.getvalue()
    if place.suffix in (".gz", ".tgz"):
        data = gzip.compress(data)
    elif place.suffix == ".zst":
        data = zstandard.compress(data)
    elif place.suffix in (".bz2", ".tbz2"):
        data = bz2.compress(data, 1)  # in its smallest blocks: of a torn block nothing can be unpacked
    elif place.suffix in (".xz", ".txz"):
        data = lzma.compress(data)
    place.write_bytes(data)
    return place


def reasons(store: Store) -> list[str]:
    return [reason for (reason,) in store.rows("SELECT reason FROM quarantine ORDER BY file, reason")]


@pytest.mark.parametrize("packing", PACKINGS)
def test_every_log_in_a_tar_is_read_and_again_changes_nothing(store: Store, tmp_path: Path, packing: str) -> None:
    place = packed(
        tmp_path / f"month.{packing}",
        [
            plain("./a", b"", type=tarfile.DIRTYPE),
            plain("./a/one.jsonl", lines(range(3))),
            plain("./a/old.jsonl.1.gz", gzip.compress(lines(range(3, 6)).encode())),
            plain("./b/" + "deep/" * 40 + "two.log", lines(range(6, 9))),
            plain("readme.txt", "no log"),
            plain(".hidden.jsonl", line(90)),
            plain("empty.jsonl", ""),
        ],
    )
    summary = store.ingest(tmp_path)
    assert (summary.stored, summary.rejected) == (9, 0)
    again = store.ingest(place)
    assert (again.read, again.stored, again.merged) == (0, 0, 0)
    files = [file for (file,) in store.rows("SELECT DISTINCT origin_file FROM requests ORDER BY 1")]
    assert [file.rpartition(f"month.{packing}")[2][:6] for file in files] == ["/a/old", "/a/one", "/b/dee"] or any(
        file.endswith("two.log") for file in files
    )


def test_many_members_of_a_packed_tar_cost_no_pass_each(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = packed(tmp_path / "a.tgz", [plain(f"{n:04d}.jsonl", line(n)) for n in range(300)])
    passes = []
    really = os.open

    def counted(path: str | Path, flags: int, *rest: int, **more: int) -> int:
        passes.extend([path] if str(path) == str(place) else [])
        return really(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", counted)
    monkeypatch.setattr(plan, "CHUNK_BYTES", 20_000)
    assert store.ingest(place).stored == 300
    assert 1 <= len(passes) <= 4  # to list, to plan, to read


def test_a_member_larger_than_memory_is_meant_for_is_read_all_the_same(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "IN_MEMORY", 1000)
    place = packed(tmp_path / "a.tgz", [plain("a.jsonl", lines(range(50))), plain("b.jsonl", lines(range(50, 60)))])
    assert store.ingest(place).stored == 60


def test_a_tar_that_got_another_log_is_read_again_without_doubles(store: Store, tmp_path: Path) -> None:
    place = packed(tmp_path / "a.tar.gz", [plain("one.jsonl", lines(range(3)))])
    store.ingest(place)
    packed(place, [plain("zero.jsonl", line(7)), plain("one.jsonl", lines(range(4)))])
    store.ingest(place)
    assert store.one("SELECT count(*) FROM requests") == 5


def test_links_devices_and_names_that_lead_out_are_refused_by_name(store: Store, tmp_path: Path) -> None:
    (tmp_path / "secret.jsonl").write_text(line(66))
    place = packed(
        tmp_path / "evil.tar",
        [
            plain("../secret.jsonl", line(1)),
            plain(f"{tmp_path}/secret.jsonl", line(2)),
            plain("soft.jsonl", b"", type=tarfile.SYMTYPE, linkname=str(tmp_path / "secret.jsonl")),
            plain("hard.jsonl", b"", type=tarfile.LNKTYPE, linkname="good.jsonl"),
            plain("pipe.jsonl", b"", type=tarfile.FIFOTYPE),
            plain("more.tar.gz", gzip.compress(b"x")),
            plain("good.jsonl", line(3)),
        ],
    )
    summary = store.ingest(place)
    assert (summary.stored, summary.rejected) == (1, 6)
    said = " | ".join(reasons(store))
    for word in ("leads out of the archive", "a link to another file", "no plain file", "an archive inside"):
        assert word in said
    assert store.rows("SELECT count(*) FROM requests WHERE provider_response_id LIKE '%66'") == [(0,)]


@pytest.mark.parametrize("packing", ["tar", "tar.gz", "tar.zst", "tar.bz2", "tar.xz"])
def test_what_stands_before_a_tears_end_is_read_and_the_tear_is_named(
    store: Store, tmp_path: Path, packing: str
) -> None:
    pad = "".join(f"{random.Random(n).random()}\n" for n in range(20_000))
    place = packed(
        tmp_path / f"torn.{packing}",
        [plain("one.jsonl", lines(range(3))), plain("pad.txt", pad), plain("two.jsonl", lines(range(3, 6)))],
    )
    whole = place.read_bytes()
    place.write_bytes(whole[: len(whole) // 2])
    summary = store.ingest(place)
    assert summary.stored == 3
    assert summary.rejected >= 1
    assert "damaged tar archive" in " ".join(reasons(store))
    place.write_bytes(whole)
    assert store.ingest(place).stored == 3
    assert store.one("SELECT count(*) FROM requests") == 6


def test_a_damaged_header_in_the_middle_is_no_silent_end(store: Store, tmp_path: Path) -> None:
    place = packed(tmp_path / "a.tar", [plain(f"{n}.jsonl", line(n)) for n in range(3)], tarfile.USTAR_FORMAT)
    data = bytearray(place.read_bytes())
    second = data.index(b"1.jsonl")
    data[second + 100 : second + 130] = b"\xff" * 30
    place.write_bytes(bytes(data))
    assert store.ingest(place).stored == 1
    assert "header is damaged" in " ".join(reasons(store))


def test_a_tar_that_would_fill_a_disk_or_memory_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.tar.gz"
    with gzip.open(bomb, "wb") as stream:
        info = tarfile.TarInfo("a.jsonl")
        info.size = 300 * 2**20
        stream.write(info.tobuf())
        for _ in range(300):
            stream.write(bytes(2**20))
    long = tmp_path / "long.tar.gz"
    with gzip.open(long, "wb") as stream:
        info = tarfile.TarInfo("x")
        info.type, info.size = tarfile.XHDTYPE, 40 * 2**20
        stream.write(info.tobuf())
        for _ in range(40):
            stream.write(b"a" * 2**20)
    tracemalloc.start()
    with pytest.raises(InputError, match="far more than logs do"):
        archives.refuse(bomb)
    with pytest.raises(InputError, match="header in it is longer"):
        archives.refuse(long)
    assert tracemalloc.get_traced_memory()[1] < 32 * 2**20
    tracemalloc.stop()


def test_too_many_members_and_none_that_is_a_log_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="without a log in it"):
        archives.refuse(packed(tmp_path / "a.tar", [plain("readme.txt", "x")]))
    monkeypatch.setattr(archives, "MAX_MEMBERS", 5)
    with pytest.raises(InputError, match="more than 5 files"):
        archives.refuse(packed(tmp_path / "b.tar", [plain(f"{n}.jsonl", line(n)) for n in range(6)]))


def test_random_damage_never_raises_what_is_no_error_of_ours(store: Store, tmp_path: Path) -> None:
    chance = random.Random(5)
    for packing in PACKINGS:
        whole = packed(tmp_path / f"a.{packing}", [plain(f"{n}.jsonl", lines(range(4))) for n in range(3)]).read_bytes()
        for turn in range(15):
            data = bytearray(whole)
            for _ in range(chance.randint(1, 40)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            place = tmp_path / f"{turn}.{packing}"
            place.write_bytes(bytes(data[: chance.randint(1, len(data))]))
            summary = store.ingest(place)
            assert summary.read == summary.stored + summary.updated + summary.merged + summary.benign + summary.rejected
