"""Files that newcomers really have: odd names, nothing readable inside, pipes; and what mode `none` keeps of them."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import socket
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made_logs import line, lines

from app.core.errors import InputError
from ingest.inspection import inspect_paths
from ingest.pipeline import write_shards
from ingest.quarantine import replay_quarantine
from ingest.redact import error_code
from ingest.shard import waiting

if TYPE_CHECKING:
    from made_logs import Store

from app.warehouse.merge import Unpriced

SPOKEN = "the patient Amaryllis Quill"


def greedy_xz() -> bytes:
    """A log in xz whose header asks for a dictionary of 4 GB: byte 4 of the block header, and its checksum."""
    packed = bytearray(lzma.compress(lines(range(5)).encode()))
    packed[12 + 4] = 40
    packed[12 + 8 : 12 + 12] = zlib.crc32(packed[12 : 12 + 8]).to_bytes(4, "little")
    return bytes(packed)


def test_a_name_that_is_no_utf8_is_written_safely_and_its_file_read(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl").write_text(line(1))
    odd = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.jsonl"))
    odd.write_text(line(2) + "{torn\n")
    summary = store.ingest(folder)
    assert (summary.stored, summary.rejected) == (2, 1)
    assert sorted(store.rows("SELECT origin_file FROM requests")) == [
        (f"{folder}/a.jsonl",),
        (f"{folder}/caf\\xe9.jsonl",),
    ]
    again = store.ingest(folder)
    assert (again.skipped, again.stored) == (2, 0)
    odd.write_text(line(2) + line(3))
    assert replay_quarantine(store.warehouse, Unpriced(), store.data_dir).stored == 1
    assert store.one("SELECT count(*) FROM quarantine") == 0


def test_a_name_that_is_no_utf8_is_read_by_worker_processes_too(store: Store, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl"))
    odd.write_text(lines(range(5)))
    assert store.ingest(odd, workers=1).stored == 5


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("corrupt.jsonl.gz", b"\x1f\x8b\x08\x00" + b"garbage" * 40, "damaged from its start"),
        ("cut.jsonl.gz", gzip.compress(lines(range(9)).encode())[:12], "damaged from its start"),
        ("corrupt.jsonl.zst", b"\x28\xb5\x2f\xfd" + b"garbage" * 40, "damaged from its start"),
        ("corrupt.jsonl.bz2", b"BZh9" + b"garbage" * 40, "damaged from its start"),
        ("cut.jsonl.bz2", bz2.compress(lines(range(9)).encode())[:12], "damaged from its start"),
        ("corrupt.jsonl.xz", b"\xfd7zXZ\x00" + b"garbage" * 40, "damaged from its start"),
        ("greedy.jsonl.xz", greedy_xz(), "damaged from its start"),
        ("nul.jsonl", bytes(4096), "only NUL bytes"),
    ],
    ids=["corrupt gz", "cut gz", "corrupt zst", "corrupt bz2", "cut bz2", "corrupt xz", "greedy xz", "nul"],
)
def test_a_file_without_one_readable_byte_is_rejected_and_shown(
    store: Store, tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(data)
    (shown,) = inspect_paths([tmp_path / name], warehouse=store.warehouse, pricer=Unpriced(), data_dir=store.data_dir)
    assert shown["kind"] == "rejected"
    assert reason in shown["reason"]
    for _ in range(2):
        summary = store.ingest(tmp_path / name)
        assert (summary.read, summary.rejected) == (1, 1)
    ((file, said),) = store.rows("SELECT file, reason FROM quarantine")
    assert file == str(tmp_path / name)
    assert reason in said


def test_an_empty_archive_is_empty_and_records_behind_a_long_gap_of_nul_bytes_are_read(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "empty.jsonl.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "gap.jsonl").write_bytes(bytes(300_000) + b"\n" + lines(range(3)).encode())
    assert store.ingest(tmp_path / "empty.jsonl.gz").read == 0
    summary = store.ingest(tmp_path / "gap.jsonl")
    assert (summary.stored, summary.rejected) == (3, 1)


def test_what_is_no_file_is_refused_at_once(store: Store, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "door"))
        for place in (tmp_path / "pipe.jsonl", tmp_path / "door", Path("/dev/null"), Path("-")):
            with pytest.raises(InputError, match="is no file but a pipe, a socket or a device"):
                store.ingest(place)
    with pytest.raises(InputError, match="matches no file"):
        store.ingest(tmp_path / "pipe*")
    (tmp_path / "a.jsonl").write_text(line(1))
    assert store.ingest(tmp_path).stored == 1


@pytest.mark.parametrize("workers", [0, 1])
def test_mode_none_keeps_no_word_of_a_prompt_anywhere(store: Store, tmp_path: Path, workers: int) -> None:
    refused = json.loads(line(2, user=SPOKEN))
    refused["response"] = {"error": {"code": "content_filter", "message": f"refused: {SPOKEN}"}}
    torn = line(3, user=SPOKEN).strip()[:-40]
    (tmp_path / "a.jsonl").write_text(line(1, user=SPOKEN) + json.dumps(refused) + "\n" + torn + "\n")
    write_shards([tmp_path / "a.jsonl"], store.data_dir, text="none", workers=workers)
    (shard,) = waiting(store.data_dir)
    assert not (shard / "texts.arrow").exists()
    assert SPOKEN.encode() not in b"".join(file.read_bytes() for file in shard.iterdir())
    summary = store.ingest(tmp_path / "a.jsonl", text="none", workers=workers)
    assert summary.rejected >= 1
    assert set(store.rows("SELECT head FROM quarantine")) == {("",)}
    assert store.rows("SELECT error FROM requests WHERE error IS NOT NULL") == [("content_filter",)]
    assert store.one("SELECT count(*) FROM contents") == 0
    store.warehouse.checkpoint()
    assert SPOKEN.encode() not in b"".join(file.read_bytes() for file in store.data_dir.rglob("*") if file.is_file())


def test_other_modes_keep_the_head_and_the_words_of_an_error(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(line(1) + line(3, user=SPOKEN).strip()[:-40] + "\n")
    store.ingest(tmp_path / "a.jsonl", text="shared")
    assert SPOKEN in store.one("SELECT head FROM quarantine")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("rate_limit_error: too many requests for 'tell me of X'", "rate_limit_error"),
        ("litellm.exceptions.BadRequestError: OpenAIException - tell me of X", "litellm.exceptions.BadRequestError"),
        ("429: slow down", "429"),
        ("content_filter", "content_filter"),
        ("Paris: no such town", None),
        ("tell me of X", None),
        ('{"message":"tell me of X"}', None),
        ("a_b" * 40, None),
    ],
)
def test_of_an_error_only_its_code_is_kept(error: str, code: str | None) -> None:
    assert error_code(error) == code


@pytest.mark.parametrize("count", [9e15, 9_000_000_000_000_000, 2_000_000_000, -5, "NaN", float("nan")])
@pytest.mark.parametrize(
    ("name", "column", "other"),
    [("prompt_tokens", "tok_input", "tok_output"), ("completion_tokens", "tok_output", "tok_input")],
)
def test_an_impossible_count_costs_its_field_and_no_sum(
    store: Store, tmp_path: Path, count: float, name: str, column: str, other: str
) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10} | {name: count}
    (tmp_path / "a.jsonl").write_text(line(1, usage=usage) + line(2))
    assert store.ingest(tmp_path / "a.jsonl").stored == 2
    ((bad, good, state, warnings),) = store.rows(
        f"SELECT {column}, {other}, cost_state, warnings FROM requests WHERE provider_response_id LIKE '%1'"
    )
    assert (bad, state) == (None, "unknown")
    assert good in (10, 100)
    assert f"bad_number:{'input' if column == 'tok_input' else 'output'}" in warnings.split()


def test_ids_that_no_store_can_hold_cost_no_file(store: Store, tmp_path: Path) -> None:
    """Half of a surrogate pair, as a JSON escape can spell it, in every id that tells which call a record is."""
    whole = json.loads(line(1))
    answer = whole["response"]
    odd = [
        {**whole, "response": {**answer, "id": "\ud800"}},
        {**whole, "response": {**answer, "id": "chatcmpl-" + "\udc00" * 24}},
        {"request_id": "\ud800", "request_created_at": "2026-03-02T10:00:00Z", "response_status": 200, "delay_ms": 900,
         "provider": "OPENAI", "request_model": "gpt-4o", "prompt_tokens": 10, "completion_tokens": 2},
    ]  # fmt: skip
    for number, record in enumerate(odd):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(json.dumps(record) + "\n" + line(10 + number))
        for _ in range(2):
            summary = store.ingest(path)
            path = path.rename(path.with_name(f"again-{path.name}"))  # read once more, under another name
        assert (summary.stored, summary.rejected) == (0, 0), number
    assert store.one("SELECT count(*) FROM requests") == 6
