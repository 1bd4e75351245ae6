"""Reading: layouts, compressions, and lines that are no clean JSON."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from typing import TYPE_CHECKING

import polars as pl
import pytest
import zstandard
from made_logs import call, line, lines

from app.core.errors import InputError, UsageError
from ingest.connectors.files import find
from ingest.formats.column_map import from_argument

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from made_logs import Store


def test_lines_documents_and_compressed_files_give_the_same_calls(store: Store, tmp_path: Path) -> None:
    text = lines(range(5))
    records = [call(number) for number in range(5)]
    forms = {
        "a.jsonl": text.encode(),
        "b.jsonl.gz": gzip.compress(text.encode()),
        "c.jsonl.zst": zstandard.compress(text.encode()),
        "i.jsonl.bz2": bz2.compress(text.encode()),
        "j.jsonl.xz": lzma.compress(text.encode()),
        "d.json": json.dumps(records).encode(),
        "e.json": json.dumps(records, indent=2).encode(),
        "f.json": "\n".join(json.dumps(record, indent=1) for record in records).encode(),
        "g.jsonl": b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
        "h.json": ("[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n").encode(),
    }
    for name, data in forms.items():
        (tmp_path / name).write_bytes(data)
        summary = store.ingest(tmp_path / name)
        first = name == "a.jsonl"
        assert (summary.stored, summary.merged, summary.rejected) == ((5, 0, 0) if first else (0, 5, 0)), name
    assert store.one("SELECT count(*) FROM requests") == 5


def test_two_compressed_members_in_one_file_are_both_read(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(line(1).encode()) + gzip.compress(line(2).encode()))
    (tmp_path / "b.zst").write_bytes(zstandard.compress(line(3).encode()) + zstandard.compress(line(4).encode()))
    assert store.ingest(tmp_path / "a.gz", tmp_path / "b.zst").stored == 4
    (tmp_path / "c.bz2").write_bytes(bz2.compress(line(5).encode()) + bz2.compress(line(6).encode()))
    padded = lzma.compress(line(7).encode()) + bytes(8) + lzma.compress(line(8).encode()) + bytes(4)
    (tmp_path / "d.xz").write_bytes(padded)
    assert store.ingest(tmp_path / "c.bz2", tmp_path / "d.xz").stored == 4


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress], ids=["bz2", "xz"])
def test_a_packed_file_of_many_megabytes_is_read_in_steps(
    store: Store, tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    long = lines(range(3)).replace("\n", " " * 3_000_000 + "\n")
    (tmp_path / "a.jsonl.x").write_bytes(pack(long.encode()))
    assert store.ingest(tmp_path / "a.jsonl.x").stored == 3


def test_a_torn_line_costs_itself_and_the_record_behind_it_is_salvaged(store: Store, tmp_path: Path) -> None:
    torn = line(2)[:150] + line(3)
    (tmp_path / "a.jsonl").write_text(line(1) + torn + line(4))
    summary = store.ingest(tmp_path / "a.jsonl")
    assert (summary.stored, summary.rejected) == (3, 1)
    assert store.rows("SELECT line FROM quarantine") == [(2,)]
    kept = store.rows("SELECT provider_response_id FROM requests ORDER BY 1")
    assert [row[0][-1] for row in kept] == ["1", "3", "4"]


def test_an_inner_object_of_a_torn_line_is_not_taken_for_a_record(store: Store, tmp_path: Path) -> None:
    whole = json.dumps({"wrapper": call(2), "note": "x"})
    cut = whole[: whole.index(', "note"')]
    (tmp_path / "a.jsonl").write_text(line(1) + cut + "\n")
    assert store.ingest(tmp_path / "a.jsonl").stored == 1


def test_two_records_on_one_line_are_two_calls(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(line(1) + line(2).strip() + line(3))
    summary = store.ingest(tmp_path / "a.jsonl")
    assert (summary.stored, summary.rejected) == (3, 0)


def test_nul_bytes_bad_utf8_nan_and_lone_surrogates_cost_only_themselves(store: Store, tmp_path: Path) -> None:
    good = line(1).encode()
    bad_text = line(2).encode().replace(b"question 2", b"question \xff")
    not_a_number = line(3).replace('"latency_ms":500', '"latency_ms":NaN').encode()
    surrogate = line(4).replace("question 4", "question \\ud800").encode()
    nul = line(5).replace("question 5", "question \\u0000").encode()
    data = good + b"\x00" * 40 + b"\n" + bad_text + not_a_number + surrogate + nul
    (tmp_path / "a.jsonl").write_bytes(data)
    summary = store.ingest(tmp_path / "a.jsonl", text="all")
    assert (summary.stored, summary.rejected) == (5, 1)
    assert store.rows("SELECT line FROM quarantine") == [(2,)]
    assert store.one("SELECT count(*) FROM contents WHERE contains(text, chr(0))") == 0


def test_a_damaged_gz_keeps_what_came_before_the_damage(store: Store, tmp_path: Path) -> None:
    packed = gzip.compress(lines(range(400)).encode())
    (tmp_path / "a.jsonl.gz").write_bytes(packed[: len(packed) * 2 // 3])
    summary = store.ingest(tmp_path / "a.jsonl.gz")
    assert 0 < summary.stored < 400
    assert summary.rejected >= 1
    assert any("damaged" in problem for problem in summary.problems)


def test_a_document_that_breaks_off_keeps_its_whole_elements(store: Store, tmp_path: Path) -> None:
    text = json.dumps([call(number) for number in range(6)])
    (tmp_path / "a.json").write_text(text[: len(text) - 300])
    summary = store.ingest(tmp_path / "a.json")
    assert (summary.stored, summary.rejected) == (5, 1)


def test_a_stream_logged_event_by_event_is_one_call(store: Store, tmp_path: Path) -> None:
    start = {"id": "msg_01aaaaaaaaaaaaaaaaaaaaaa", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    events = [
        {
            "type": "message_start",
            "message": start | {"content": [], "usage": {"input_tokens": 30, "output_tokens": 1}},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 12}},
        {"type": "message_stop"},
    ]
    again = json.loads(json.dumps(events).replace("01aaa", "02bbb"))
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events + again))
    sse = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    (tmp_path / "b.sse").write_text(sse)
    summary = store.ingest(tmp_path / "a.jsonl", tmp_path / "b.sse")
    assert (summary.stored, summary.merged) == (2, 1)
    assert store.rows("SELECT DISTINCT tok_input, tok_output FROM requests") == [(30, 12)]


def test_tables_are_read_through_a_column_map(store: Store, tmp_path: Path) -> None:
    rows = [{"when": f"2026-03-02T10:00:0{n}Z", "in": 100 + n, "out": 7, "which": "gpt-4o"} for n in range(3)]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=";")
    writer.writeheader()
    writer.writerows(rows)
    (tmp_path / "a.csv").write_text(text.getvalue())
    pl.DataFrame(rows).write_parquet(tmp_path / "b.parquet")
    columns = from_argument("timestamp=when, input_tokens=in, output_tokens=out, model=which")
    for name in ("a.csv", "b.parquet"):
        summary = store.ingest(tmp_path / name, column_map=columns, source=name)
        assert (summary.stored, summary.rejected) == (3, 0), name
    assert store.one("SELECT sum(tok_input) FROM requests") == 2 * 303


def test_a_line_above_the_limit_is_named_and_the_next_one_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.reader.MAX_RECORD_BYTES", 4096)
    (tmp_path / "a.jsonl").write_text(line(1) + line(2, user="x" * 9000) + line(3))
    summary = store.ingest(tmp_path / "a.jsonl")
    assert (summary.stored, summary.rejected) == (2, 1)
    assert "longer than the limit" in summary.problems[0]


def test_folders_globs_and_exclusions(tmp_path: Path) -> None:
    for name in ("a.jsonl", "edge_cases/b.jsonl", "edge_cases/deep/c.json.gz", "d/e.csv", "d/notes.md", ".git/f.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")

    def names(*paths: Path | str, exclude: tuple[str, ...] = ()) -> list[str]:
        return [found.path.relative_to(tmp_path).as_posix() for found in find(paths, exclude)]

    assert names(tmp_path) == ["a.jsonl", "d/e.csv", "edge_cases/b.jsonl", "edge_cases/deep/c.json.gz"]
    assert names(tmp_path, exclude=("edge_cases/**",)) == ["a.jsonl", "d/e.csv"]
    assert names(tmp_path, exclude=("edge_cases/*",)) == ["a.jsonl", "d/e.csv", "edge_cases/deep/c.json.gz"]
    assert names(tmp_path, exclude=("*.jsonl",)) == ["d/e.csv", "edge_cases/deep/c.json.gz"]
    assert names(tmp_path, exclude=("**/c.json.gz",)) == ["a.jsonl", "d/e.csv", "edge_cases/b.jsonl"]
    assert names(f"{tmp_path}/**/*.jsonl") == ["a.jsonl", "edge_cases/b.jsonl"]
    assert names(tmp_path / "d/notes.md", tmp_path / "d/notes.md") == ["d/notes.md"]


def test_wrong_paths_are_named(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        store.ingest(tmp_path / "nothing.jsonl")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "picture.png").write_bytes(b"\x89PNG")
    with pytest.raises(InputError, match="holds no log"):
        store.ingest(tmp_path / "empty")
    with pytest.raises(UsageError, match="No path"):
        store.ingest()


def test_a_file_of_no_known_layout_is_rejected_by_name_and_looked_at_again(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"colour": "red"}\n{"colour": "blue"}\n')
    (tmp_path / "b.json").write_bytes("ä".encode("utf-16"))
    for _ in range(2):
        summary = store.ingest(tmp_path / "a.jsonl", tmp_path / "b.json")
        assert (summary.read, summary.rejected, summary.files) == (2, 2, 2)
        assert "halve inspect" in summary.problems[0]
        assert "UTF-16" in summary.problems[1]
    assert store.one("SELECT count(*) FROM quarantine") == 2


def test_an_unreadable_file_does_not_stop_the_others(store: Store, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.jsonl").write_text(line(1))
    (tmp_path / "logs" / "b.jsonl").symlink_to(tmp_path / "logs" / "b.jsonl")
    summary = store.ingest(tmp_path / "logs" / "a.jsonl", tmp_path / "logs")
    assert summary.stored == 1


def test_a_log_that_turns_to_stream_events_late_has_one_call_for_each_answer(store: Store, tmp_path: Path) -> None:
    usage = {"input_tokens": 30, "cache_read_input_tokens": 0, "output_tokens": 1}
    message = {"id": "msg_01aaaaaaaaaaaaaaaaaaaaaa", "type": "message", "model": "claude-sonnet-4-5", "usage": usage}
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 12}},
        {"type": "message_stop"},
    ]
    told = "".join(json.dumps({"request_id": "r", "chunk": event}) + "\n" for event in events)
    (tmp_path / "a.jsonl").write_text(lines(range(300)) + told + lines(range(300, 310)))
    summary = store.ingest(tmp_path / "a.jsonl")
    assert (summary.stored, summary.rejected) == (311, 0)
    assert store.rows("SELECT tok_input, tok_output FROM requests WHERE provider = 'anthropic'") == [(30, 12)]


def test_an_answer_that_was_read_while_it_streamed_is_completed_when_the_log_has_grown(
    store: Store, tmp_path: Path
) -> None:
    answers = [
        {"candidates": [{"content": {"parts": [{"text": "a"}]}}], "modelVersion": "gemini-2.5-flash"},
        {"candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "STOP"}]},
    ]
    chunks = [
        {
            "timestamp": f"2026-03-02T10:00:0{number}Z",
            "chunk": {**answer, "modelVersion": "gemini-2.5-flash", "usageMetadata": usage},
        }
        for number, (answer, usage) in enumerate(
            zip(answers * 2, [{"promptTokenCount": 9, "candidatesTokenCount": n} for n in (1, 2, 3, 4)], strict=True)
        )
    ]
    log = tmp_path / "a.jsonl"
    log.write_text("".join(json.dumps(chunk) + "\n" for chunk in chunks[:3]))
    store.ingest(log)
    log.write_text("".join(json.dumps(chunk) + "\n" for chunk in chunks))
    store.ingest(log)
    assert store.rows("SELECT tok_input, tok_output FROM requests ORDER BY start_us") == [(9, 2), (9, 4)]
