"""The merge: once is enough, twice changes nothing, the fuller snapshot wins in any order."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_logs import call, line, lines, make_store

from app.warehouse.merge import Unpriced
from app.warehouse.texts import drop_unshared
from ingest.formats.column_map import from_argument
from ingest.inbox import take_inbox
from ingest.pipeline import write_shards
from ingest.quarantine import quarantined, replay_quarantine
from ingest.shard import discard, read_meta, waiting

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store


def usage(prompt: int, answer: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def test_reading_the_same_logs_twice_changes_nothing(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(lines(range(50)))
    assert store.ingest(log).stored == 50
    before = store.everything()
    again = store.ingest(log)
    assert (again.read, again.files, again.skipped) == (0, 0, 1)
    log.touch()
    reread = store.ingest(log)
    assert (reread.read, reread.merged) == (50, 50)
    (tmp_path / "copy.jsonl").write_text(log.read_text())
    assert store.ingest(tmp_path / "copy.jsonl").merged == 50
    assert store.everything() == before


def test_calls_without_any_id_survive_rotation_and_stay_apart(store: Store, tmp_path: Path) -> None:
    record = json.dumps({"timestamp": 1_760_000_000, "model": "gpt-4o", "input_tokens": 5, "output_tokens": 1}) + "\n"
    (tmp_path / "a.jsonl").write_text(record * 3)
    assert store.ingest(tmp_path / "a.jsonl").stored == 3
    (tmp_path / "a.jsonl").rename(tmp_path / "a.1.jsonl")
    assert store.ingest(tmp_path / "a.1.jsonl").merged == 3
    timeless = json.dumps({"model": "gpt-4o", "input_tokens": 5, "output_tokens": 1}) + "\n"
    for name in ("monday.jsonl", "tuesday.jsonl"):
        (tmp_path / name).write_text(timeless)
        assert store.ingest(tmp_path / name).stored == 1


def test_only_what_was_appended_is_read(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(lines(range(30)))
    store.ingest(log)
    with log.open("a") as file:
        file.write(lines(range(30, 33)))
    summary = store.ingest(log)
    assert (summary.read, summary.stored) == (3, 3)
    assert store.one("SELECT max(origin_line) FROM requests") == 33


def test_a_rewritten_file_is_read_again(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(lines(range(30)))
    store.ingest(log)
    log.write_text(lines(range(100, 140)))
    assert store.ingest(log).stored == 40


def test_a_torn_last_line_is_read_once_it_is_whole(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    last = line(3)
    log.write_text(lines(range(3)) + last[:80])
    first = store.ingest(log)
    assert (first.stored, first.rejected) == (3, 1)
    with log.open("a") as file:
        file.write(last[80:] + line(4))
    second = store.ingest(log)
    assert (second.stored, second.rejected) == (2, 0)


def test_a_growing_file_keeps_its_unfinished_line_for_the_next_time(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    last = line(3)
    log.write_text(lines(range(3)) + last[:80])
    assert store.ingest(log, growing=True).rejected == 0
    with log.open("a") as file:
        file.write(last[80:])
    assert store.ingest(log, growing=True).stored == 1
    assert store.one("SELECT count(*) FROM quarantine") == 0


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("together", [True, False])
def test_the_fullest_snapshot_of_a_call_wins_in_any_order(
    store: Store, tmp_path: Path, order: tuple[int, ...], together: bool
) -> None:
    snapshots = [
        line(1, usage=usage(100, 1)),
        line(1, usage=usage(100, 40), session_id="s-1"),
        line(1, usage=usage(90, 2)),
    ]
    files = []
    for number in order:
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_text(snapshots[number])
    if together:
        summary = store.ingest(*files)
        assert (summary.stored, summary.merged) == (1, 2)
    else:
        for file in files:
            store.ingest(file)
    assert store.rows("SELECT tok_input, tok_output, session_id FROM requests") == [(100, 40, "s-1")]
    assert store.one("SELECT count(*) FROM segments") == 2


def test_a_fuller_row_without_text_keeps_the_text_of_the_other(store: Store, tmp_path: Path) -> None:
    (tmp_path / "app.jsonl").write_text(line(1, usage=usage(100, 1), session_id="s-1"))
    bare = call(1, usage=usage(100, 40))
    del bare["request"]["messages"]
    (tmp_path / "gateway.jsonl").write_text(json.dumps(bare))
    store.ingest(tmp_path / "app.jsonl")
    segments = store.rows("SELECT * FROM segments ORDER BY pos")
    assert store.ingest(tmp_path / "gateway.jsonl").updated == 1
    assert store.rows("SELECT tok_output, session_id, exact_key IS NULL FROM requests") == [(40, "s-1", False)]
    assert [row[:-3] for row in store.rows("SELECT * FROM segments ORDER BY pos")] == [row[:-3] for row in segments]


def test_two_calls_whose_keys_collide_are_both_kept_and_flagged(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(line(1))
    store.ingest(tmp_path / "a.jsonl")
    with store.warehouse.writing() as session:
        session.connection.execute("UPDATE requests SET provider_response_id = 'chatcmpl-of-somebody-else-entirely'")
    (tmp_path / "a.jsonl").touch()
    for _ in range(2):
        store.ingest(tmp_path / "a.jsonl")
        (tmp_path / "a.jsonl").touch()
    assert store.one("SELECT count(DISTINCT request_key) FROM requests") == 2
    assert store.one("SELECT count(*) FROM requests WHERE warnings = 'key_collision'") == 1
    assert store.one("SELECT count(*) FROM segments") == 4


def test_shards_written_without_the_warehouse_are_taken_once(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(lines(range(20)))
    assert write_shards([log], store.data_dir) == 1
    assert write_shards([log], store.data_dir) == 1
    assert len(waiting(store.data_dir)) == 1
    assert take_inbox(store.warehouse, Unpriced(), store.data_dir).stored == 20
    assert waiting(store.data_dir) == []
    write_shards([log], store.data_dir)
    assert take_inbox(store.warehouse, Unpriced(), store.data_dir).read == 0
    assert store.ingest(log).skipped == 1


def test_worker_processes_store_what_one_process_does(store: Store, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(4):
        (logs / f"{number}.jsonl").write_text(lines(range(number * 90, number * 90 + 100)))
    store.ingest(logs)
    other = make_store(tmp_path / "other")
    (tmp_path / "other" / "install.key").write_bytes((store.data_dir / "install.key").read_bytes())
    assert other.ingest(logs, workers=2).stored == 370
    assert other.everything() == store.everything()
    other.warehouse.close()


def test_a_large_file_is_cut_into_chunks_without_loss(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(lines(range(300)))
    monkeypatch.setattr("ingest.plan.CHUNK_BYTES", 7000)
    monkeypatch.setattr("ingest.worker.ROWS_PER_SHARD", 8)
    assert store.ingest(log).stored == 300
    assert store.one("SELECT count(DISTINCT origin_line) FROM requests") == 300
    assert store.one("SELECT max(origin_line) FROM requests") == 300
    with log.open("a") as file:
        file.write(line(300))
    assert store.ingest(log).read == 1


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.lists(st.integers(0, 11), min_size=1, max_size=40), cuts=st.lists(st.integers(1, 39), max_size=3))
def test_any_order_and_any_cut_of_the_same_lines_gives_the_same_sums(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], cuts: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    store = make_store(folder / "data")
    pieces = [line(number % 4, usage=usage(100 + number % 4, number // 4 + 1)) for number in order]
    edges = [0, *sorted(cuts), len(pieces)]
    for number, (start, end) in enumerate(pairwise(edges)):
        (folder / f"{number}.jsonl").write_text("".join(pieces[start:end]))
        store.ingest(folder / f"{number}.jsonl")
    fullest = {number % 4: max(one // 4 + 1 for one in order if one % 4 == number % 4) for number in order}
    assert dict(store.rows("SELECT tok_input - 100, tok_output FROM requests")) == fullest
    store.warehouse.close()


def test_the_quarantine_is_read_again_from_its_source(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    good, bad = line(2), line(3)
    log.write_text(line(1) + good.replace('"response":{', '"response":[', 1) + bad[:100] + "\n")
    secret = "sk-" + "a1B2" * 8
    with log.open("a") as file:
        file.write('{"request": "' + secret + '", \n')
    assert store.ingest(log).rejected == 3
    places = quarantined(store.warehouse)
    assert [place.line for place in places] == [2, 3, 4]
    assert all(len(place.head.encode()) <= 512 and secret not in place.head for place in places)
    text = log.read_text().replace('"response":[', '"response":{')
    log.write_text(text)
    summary = replay_quarantine(store.warehouse, Unpriced(), store.data_dir)
    assert (summary.read, summary.stored, summary.rejected) == (3, 1, 2)
    assert [place.line for place in quarantined(store.warehouse)] == [3, 4]
    log.unlink()
    gone = replay_quarantine(store.warehouse, Unpriced(), store.data_dir)
    assert "is gone" in gone.problems[0]
    assert len(quarantined(store.warehouse)) == 2


def test_texts_that_few_share_go_after_a_day(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(lines(range(25)))
    store.ingest(tmp_path / "a.jsonl")
    now: int = store.one("SELECT max(seen_us) FROM contents")
    assert store.one("SELECT count(*) FROM contents") == 26
    assert drop_unshared(store.warehouse, now_us=now + 1) == 0
    assert drop_unshared(store.warehouse, now_us=now + 24 * 3600 * 1_000_000 + 1) == 25
    assert [row[0] for row in store.rows("SELECT text FROM contents")] == [call(0)["request"]["messages"][0]["content"]]


@pytest.mark.parametrize(("text", "kept"), [("none", 0), ("shared", 11), ("all", 11)])
def test_text_modes(store: Store, tmp_path: Path, text: str, kept: int) -> None:
    (tmp_path / "a.jsonl").write_text(lines(range(10)))
    store.ingest(tmp_path / "a.jsonl", text=text)
    assert store.one("SELECT count(*) FROM contents") == kept
    assert store.one("SELECT count(*) FROM lines") == 12


def test_shared_mode_keeps_later_texts_from_their_second_sighting(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.fingerprint.FIRST_TEXTS", 0)
    (tmp_path / "a.jsonl").write_text(lines(range(10)))
    store.ingest(tmp_path / "a.jsonl")
    assert [row[0] for row in store.rows("SELECT text FROM contents")] == [call(0)["request"]["messages"][0]["content"]]


def test_no_secret_is_stored_anywhere(store: Store, tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "Zz9" * 12
    record: dict[str, Any] = call(
        1, user=f"my key is {secret}", tags={"owner": secret}, session_id=secret, api_key=secret
    )
    record["error"] = f"401 for https://api.example/v1?key={secret}&x=1"
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n" + secret + "\n")
    store.ingest(tmp_path / "a.jsonl", text="all")
    for table in ("requests", "segments", "contents", "quarantine", "ingest_ledger", "lines"):
        stored = repr(store.rows(f"SELECT * FROM {table}"))
        assert secret not in stored, table
        assert "Zz9Zz9" not in stored, table
    assert store.rows("SELECT api_key_alias, api_key_hash IS NOT NULL FROM requests") == [("…9Zz9", True)]


def test_parts_billed_apart_are_kept_with_their_request(store: Store, tmp_path: Path) -> None:
    message = {
        "id": "msg_01aaaaaaaaaaaaaaaaaaaaaa",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 30,
            "output_tokens": 12,
            "iterations": [
                {"type": "message", "input_tokens": 10, "output_tokens": 5},
                {"type": "message", "input_tokens": 20, "output_tokens": 7},
            ],
        },
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(message) + "\n")
    for _ in range(2):
        store.ingest(tmp_path / "a.jsonl")
        (tmp_path / "a.jsonl").touch()
        assert store.rows("SELECT part, tok_input, tok_output FROM request_parts ORDER BY part") == [
            (0, 10, 5),
            (1, 20, 7),
        ]


def test_frames_of_a_shard_have_the_columns_of_the_facts(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(line(1))
    write_shards([tmp_path / "a.jsonl"], store.data_dir)
    (shard,) = waiting(store.data_dir)
    frame = pl.read_ipc(shard / "segments.arrow")
    assert frame["bytes_upto"].to_list() == [len(call(1)["request"]["messages"][0]["content"]), frame["bytes"].sum()]
    assert frame["tokens_upto"].to_list()[-1] == 101


def test_a_file_of_which_only_the_beginning_was_taken_is_gone_on_with(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(lines(range(300)))
    monkeypatch.setattr("ingest.plan.CHUNK_BYTES", 7000)
    write_shards([log], store.data_dir)
    first, second, *others = sorted(
        waiting(store.data_dir), key=lambda shard: read_meta(shard).chunks[0].chunk.byte_from
    )
    for shard in (*others, second) if len(others) % 2 else others:
        discard(shard)
    assert 0 < take_inbox(store.warehouse, Unpriced(), store.data_dir).stored < 300
    assert first.exists() is False
    store.ingest(log)
    assert store.one("SELECT count(*) FROM requests") == 300
    assert store.ingest(log).skipped == 1


def test_a_damaged_shard_is_set_aside_and_the_others_are_taken(store: Store, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_text(line(number))
        write_shards([tmp_path / f"{number}.jsonl"], store.data_dir)
    broken, torn, _ = waiting(store.data_dir)
    (broken / "meta.json").write_text("{")
    (torn / "requests.arrow").write_bytes(b"ARROW1 but no more")
    summary = take_inbox(store.warehouse, Unpriced(), store.data_dir)
    assert summary.stored == 1
    assert len(summary.problems) == 2
    assert all("damaged" in problem for problem in summary.problems)
    assert waiting(store.data_dir) == []
    assert store.ingest(tmp_path).stored == 2


def test_a_place_that_could_be_read_later_leaves_the_quarantine(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    last = line(3)
    log.write_text("not json\n" + lines(range(3)) + last[:80])
    store.ingest(log, format_name="openai_chat")
    assert store.rows("SELECT line FROM quarantine ORDER BY 1") == [(1,), (5,)]
    with log.open("a") as file:
        file.write(last[80:])
    store.ingest(log, format_name="openai_chat")
    assert store.rows("SELECT line FROM quarantine") == [(1,)]


def test_another_column_map_reads_an_unchanged_file_again(store: Store, tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("when,in,out,extra\n2026-03-02T10:00:00Z,10,5,7\n")
    first = from_argument("timestamp=when, input_tokens=in")
    assert store.ingest(table, column_map=first).stored == 1
    assert store.ingest(table, column_map=first).updated == 0
    assert (
        store.ingest(table, column_map=from_argument("timestamp=when, input_tokens=in, output_tokens=out")).updated == 1
    )
    assert store.rows("SELECT tok_input, tok_output FROM requests") == [(10, 5)]
