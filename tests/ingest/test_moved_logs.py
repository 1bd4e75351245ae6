"""Logs whose records have no id, rotated in every manner: a call counts once where the content proves it."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from made_logs import Store


def records(count: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [
        json.dumps(
            {
                "timestamp": 1_760_000_000 + number,
                "model": "gpt-4o",
                "input_tokens": rng.randrange(10, 9000),
                "output_tokens": rng.randrange(1, 900),
            }
        )
        + "\n"
        for number in range(count)
    ]


def calls(store: Store) -> int:
    count: int = store.one("SELECT count(*) FROM requests")
    return count


def renamed(log: Path) -> None:
    log.rename(log.with_name("app.jsonl.1"))


def copied_and_emptied(log: Path) -> None:
    shutil.copy(log, log.with_name("app.jsonl.1"))
    log.write_text("")


def packed(log: Path) -> None:
    log.with_name("app.jsonl.1.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()


def cut_to_its_tail(log: Path) -> None:
    log.write_text("".join(log.read_text().splitlines(keepends=True)[8:]))


def tail_moved(log: Path) -> None:
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:8]))
    log.with_name("app.rest.jsonl").write_text("".join(lines[8:]))


def split(log: Path) -> None:
    lines = log.read_text().splitlines(keepends=True)
    for number in range(5):
        log.with_name(f"part-{number}.jsonl").write_text("".join(lines[number * 4 : number * 4 + 4]))
    log.unlink()


def put_behind_another(log: Path) -> None:
    before = "".join(records(7, seed=2)).replace("1760000", "1750000")
    log.with_name("all.jsonl").write_text(before + log.read_text())
    log.unlink()


MANNERS = (renamed, copied_and_emptied, packed, cut_to_its_tail, tail_moved, split, put_behind_another)


@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner.__name__)
@pytest.mark.parametrize("read_before", [12, 20])
def test_a_log_without_ids_counts_once_however_it_is_rotated(
    store: Store, tmp_path: Path, manner: Callable[[Path], None], read_before: int
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log, lines = folder / "app.jsonl", records(20)
    log.write_text("".join(lines[:read_before]))
    store.ingest(folder)
    log.write_text("".join(lines))
    manner(log)
    expected = 27 if manner is put_behind_another else 20
    for _ in range(2):
        store.ingest(folder)
        assert calls(store) == expected
        for path in folder.iterdir():
            path.touch()
    later = records(26)[20:]
    with log.open("a") as file:
        file.write("".join(later))
    store.ingest(folder)
    assert calls(store) == expected + 6


def test_a_whole_log_and_its_tail_read_at_once_count_once(store: Store, tmp_path: Path) -> None:
    lines = records(20)
    (tmp_path / "a.jsonl").write_text("".join(lines))
    (tmp_path / "tail.jsonl").write_text("".join(lines[9:]))
    store.ingest(tmp_path / "a.jsonl", tmp_path / "tail.jsonl")
    assert calls(store) == 20
    assert store.one("SELECT sum(tok_input) FROM requests") == sum(json.loads(line)["input_tokens"] for line in lines)


def test_calls_that_are_all_alike_are_no_proof_and_stay_apart(store: Store, tmp_path: Path) -> None:
    """Two workers that probe at the same seconds: what the one did later is at another line, and was another call."""
    probe = json.dumps({"timestamp": 1_760_000_000, "model": "gpt-4o", "input_tokens": 5, "output_tokens": 1}) + "\n"
    minutes = [probe.replace("1760000000", str(1_760_000_000 + 60 * number)) for number in range(12)]
    (tmp_path / "a.jsonl").write_text("".join(minutes))
    (tmp_path / "b.jsonl").write_text("".join(minutes[4:]))
    store.ingest(tmp_path / "a.jsonl")
    store.ingest(tmp_path / "b.jsonl")
    assert calls(store) == 20


def test_records_of_the_same_times_and_counts_but_other_bytes_stay_apart(store: Store, tmp_path: Path) -> None:
    lines = records(20)
    (tmp_path / "a.jsonl").write_text("".join(lines))
    others = [json.dumps({**json.loads(line), "worker": 2}) + "\n" for line in lines[6:]]
    (tmp_path / "b.jsonl").write_text("".join(others))
    store.ingest(tmp_path / "a.jsonl")
    store.ingest(tmp_path / "b.jsonl")
    assert calls(store) == 34


def test_two_records_in_a_row_are_too_few_to_prove_that_they_moved(store: Store, tmp_path: Path) -> None:
    lines = records(20)
    (tmp_path / "a.jsonl").write_text("".join(lines))
    (tmp_path / "b.jsonl").write_text("".join(lines[18:]))
    store.ingest(tmp_path / "a.jsonl")
    store.ingest(tmp_path / "b.jsonl")
    assert calls(store) == 22


def test_a_log_that_writes_the_day_alone_is_read_in_memory_of_its_own_size(store: Store, tmp_path: Path) -> None:
    """Thousands of records that are alike are compared with none of each other."""
    day = json.dumps({"timestamp": "2026-03-02", "model": "gpt-4o", "input_tokens": 5, "output_tokens": 1}) + "\n"
    (tmp_path / "a.jsonl").write_text(day * 20_000)
    store.ingest(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text(day * 20_001)
    store.ingest(tmp_path / "b.jsonl")
    assert calls(store) == 20_001
