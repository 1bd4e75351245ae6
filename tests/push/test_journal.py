"""The journal: safe before it is answered, read once, and read again after any crash without a double."""

from __future__ import annotations

import fcntl
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from made_exports import export, protobuf, span
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from app.core.errors import InputError, UnavailableError, UsageError
from app.main.push import Pushes
from app.warehouse.merge import Unpriced
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse
from ingest.inbox import take_inbox
from ingest.install_key import install_key
from ingest.pipeline import ingest_paths
from ingest.push.checking import check_export, check_records
from ingest.push.journal import Journal, Pushed, check_source, segments, waiting_bytes
from ingest.push.taking import LOCK, Taker
from tests.cli.halve_command import inside

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path)
    made.start()
    yield made
    made.close()


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    store = Warehouse(tmp_path, memory_limit="256MB")
    migrate(store)
    yield store
    store.close()


def keep(journal: Journal, *pushed: Pushed | None) -> None:
    for done in [journal.add(one) for one in pushed if one is not None]:
        done.result(timeout=30)


def take(tmp_path: Path, warehouse: Warehouse) -> Any:
    Taker(tmp_path, install_key(tmp_path), "shared").take()
    return take_inbox(warehouse, Unpriced(), tmp_path)


def rows(warehouse: Warehouse, columns: str = "source, source_record, tok_input") -> list[tuple[Any, ...]]:
    with warehouse.session() as session:
        return session.connection.execute(f"SELECT {columns} FROM requests ORDER BY ALL").fetchall()


def test_exports_in_both_encodings_are_the_same_rows(tmp_path, journal, warehouse):
    one, two = export(span(1, tokens=(7, 1))), export(span(1, tokens=(7, 1)), span(2, tokens=(8, 1)))
    keep(journal, check_export("app", "traces", json.dumps(one, indent=2).encode(), as_json=True).pushed)
    keep(journal, check_export("app", "traces", protobuf(two), as_json=False).pushed)
    done = take(tmp_path, warehouse)
    assert (done.read, done.stored, done.merged, done.rejected) == (3, 2, 1, 0)
    assert [row[2] for row in rows(warehouse)] == [7, 8]
    assert segments(tmp_path) == []


def test_requests_that_come_together_share_segments_and_sources_stay_apart(tmp_path, journal, warehouse):
    def push(number: int) -> None:
        body = protobuf(export(span(number, tokens=(number, 1))))
        keep(journal, check_export(f"app {number % 2} é", "traces", body, as_json=False).pushed)

    threads = [threading.Thread(target=push, args=(number,)) for number in range(1, 41)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.source for one in segments(tmp_path)} == {"app 0 é", "app 1 é"}
    take(tmp_path, warehouse)
    found = rows(warehouse)
    assert [row[2] for row in found if row[0] == "app 0 é"] == list(range(2, 41, 2))
    assert len(found) == 40


def test_a_crash_between_the_shard_and_the_end_of_its_segment_doubles_nothing(tmp_path, journal, warehouse):
    def again() -> None:
        keep(journal, check_export("app", "traces", protobuf(export(span(1, tokens=(7, 1)))), as_json=False).pushed)
        lines = b'{"timestamp":1790000000,"model":"gpt-5","input_tokens":5,"output_tokens":1}\n'
        keep(journal, check_records("own", lines).pushed)

    again()
    kept = {Path(one.path): Path(one.path).read_bytes() for one in segments(tmp_path)}
    take(tmp_path, warehouse)
    before = rows(warehouse)
    for path, body in kept.items():  # as if the process had died before it removed them
        path.write_bytes(body)
    take(tmp_path, warehouse)
    assert rows(warehouse) == before
    again()  # and the client, which saw no answer, sends them once more
    take(tmp_path, warehouse)
    assert rows(warehouse) == before
    assert len(before) == 2


def test_a_half_written_draft_is_no_segment_and_goes_at_the_next_start(tmp_path, journal, warehouse):
    (tmp_path / "inbox" / ".push-draft-push.1.YQ.spans.").write_bytes(b"half")
    assert segments(tmp_path) == []
    other = Journal(tmp_path)
    other.start()
    other.close()
    assert list((tmp_path / "inbox").iterdir()) == []


def test_what_is_damaged_in_a_segment_is_named_with_its_place_and_costs_no_other(tmp_path, journal, warehouse):
    good, bad = protobuf(export(span(1, tokens=(7, 1)))), protobuf(export({**span(2, tokens=(8, 1)), "traceId": "00"}))
    checked = check_export("app", "traces", bad, as_json=False)
    assert (checked.rejected, "trace id" in checked.message) == (1, True)
    keep(journal, check_export("app", "traces", good, as_json=False).pushed, checked.pushed)
    (first, *_) = segments(tmp_path)
    with Path(first.path).open("ab") as file:
        file.write(b"\x00\x00\x00\x09torn")
    done = take(tmp_path, warehouse)
    assert (done.stored, done.rejected) == (1, 2)
    with warehouse.session() as session:
        found = session.connection.execute("SELECT file, line, reason, head FROM quarantine ORDER BY reason").fetchall()
    assert [(file.startswith("pushed 20"), line > 0) for file, line, _, _ in found] == [(True, True)] * 2
    reasons = " ".join(reason for _, _, reason, _ in found)
    assert "breaks off" in reasons
    assert "no valid trace id" in reasons
    assert all("gen_ai" in head for _, _, reason, head in found if "valid" in reason), "the head is the span's own"


def test_a_folder_that_cannot_be_written_fails_what_was_added_and_nothing_else(tmp_path, journal):
    keep(journal, Pushed("app", "spans", b"one"))
    (tmp_path / "inbox").rename(tmp_path / "moved")
    with pytest.raises(UnavailableError, match="cannot be written"):
        journal.add(Pushed("app", "spans", b"two")).result(timeout=30)
    (tmp_path / "moved").rename(tmp_path / "inbox")
    keep(journal, Pushed("app", "spans", b"three"))
    assert waiting_bytes(tmp_path) == 4 + 3 + 4 + 5


def test_logs_of_claude_code_are_told_from_others(tmp_path, journal, warehouse):
    record = {
        "timeUnixNano": "1790000002000000000",
        "body": {"stringValue": "claude_code.api_request"},
        "attributes": [
            {"key": key, "value": {"intValue": "3"} if key.endswith(("sequence", "tokens")) else {"stringValue": "x"}}
            for key in ("event.name", "event.sequence", "session.id", "model", "input_tokens", "output_tokens")
        ],
    }
    record["attributes"][0]["value"] = {"stringValue": "api_request"}
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).encode()
    checked = check_export("me", "logs", body, as_json=True)
    assert checked.pushed is not None
    assert checked.pushed.kind == "agent-logs-json"
    keep(journal, checked.pushed)
    take(tmp_path, warehouse)
    with warehouse.session() as session:
        assert session.connection.execute("SELECT source, billing FROM sources").fetchall() == [("me", "unknown")]


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b"{", b'{"resourceMetrics": []}', b"[" * 5000])
def test_what_is_no_export_is_refused(body):
    with pytest.raises(InputError):
        check_export("app", "traces", body, as_json=True)


def test_an_empty_export_is_nothing_to_keep():
    assert check_export("app", "traces", b"{}", as_json=True).pushed is None
    assert check_export("app", "traces", b"", as_json=False).pushed is None
    assert check_export("app", "traces", b'{"resourceSpans": []}', as_json=True).pushed is None


@pytest.mark.parametrize("body", [b"hello", b'{"what": 1}', b'[{"what": 1}]', b"\xff\xfe{"])
def test_records_of_no_known_layout_are_refused(body):
    with pytest.raises(InputError):
        check_records("app", body)


def test_records_may_be_lines_a_list_or_one_object(tmp_path, journal, warehouse):
    row = {"timestamp": 1_790_000_000, "model": "gpt-5", "input_tokens": 5, "output_tokens": 1}
    bodies = [
        "".join(json.dumps({**row, "request_id": f"a{n}"}) + "\n" for n in range(3)),
        json.dumps([{**row, "request_id": f"b{n}"} for n in range(2)], indent=1),
        json.dumps({**row, "request_id": "c"}, indent=1),
    ]
    keep(journal, *(check_records("own", body.encode()).pushed for body in bodies))
    done = take(tmp_path, warehouse)
    assert (done.read, done.stored, done.rejected) == (6, 6, 0)


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\nb", "é" * 31])
def test_a_source_that_cannot_be_a_files_name_is_refused(name):
    with pytest.raises(UsageError):
        check_source(name)


def test_only_one_reads_the_journal_at_a_time(tmp_path, journal):
    keep(journal, check_export("app", "traces", protobuf(export(span(1))), as_json=False).pushed)
    taker = Taker(tmp_path, install_key(tmp_path), "shared")
    with (tmp_path / "inbox" / LOCK).open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert taker.take() == 0
    assert taker.take() == 1


def test_what_a_service_left_is_read_by_the_next_command_that_holds_the_warehouse(tmp_path, journal, warehouse):
    keep(journal, check_export("app", "traces", protobuf(export(span(1, tokens=(7, 1)))), as_json=False).pushed)
    log = tmp_path / "own.jsonl"
    log.write_text('{"timestamp":1790000000,"model":"gpt-5","input_tokens":5,"output_tokens":1}\n')
    ingest_paths([log], warehouse=warehouse, pricer=Unpriced(), data_dir=tmp_path)
    assert sorted(row[2] for row in rows(warehouse)) == [5, 7]


def test_more_than_is_kept_is_full_until_it_is_read(tmp_path):
    pushes = Pushes(tmp_path, "shared", most_waiting_bytes=2_000)
    pushes.journal.start()
    desk = pushes.desk()
    try:
        assert not desk.full()
        for number in range(1, 12):
            done = desk.export("app", "traces", protobuf(export(span(number))), False).done
            assert done is not None
            done.result(timeout=30)
        assert any(desk.full() for _ in range(20))
        assert pushes.take() > 0
        assert not any(desk.full() for _ in range(20))
    finally:
        pushes.journal.close()


def claude_logs() -> bytes:
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    scope.scope.name = "com.anthropic.claude_code.events"
    record = scope.log_records.add(time_unix_nano=1_790_000_002_000_000_000)
    record.body.string_value = "claude_code.api_request"
    for key, text in {"event.name": "api_request", "session.id": "s", "model": "claude-sonnet-5"}.items():
        record.attributes.add(key=key).value.string_value = text
    counts = {"event.sequence": 4, "input_tokens": 5, "output_tokens": 6, "cache_read_tokens": 70}
    for key, count in counts.items():
        record.attributes.add(key=key).value.int_value = count
    return request.SerializeToString()


def test_logs_in_protobuf_are_read_as_logs(tmp_path, journal, warehouse):
    checked = check_export("me", "logs", claude_logs(), as_json=False)
    assert checked.pushed is not None
    assert checked.pushed.kind == "agent-logs"
    keep(journal, checked.pushed)
    assert take(tmp_path, warehouse).stored == 1
    assert rows(warehouse, "source_record, tok_input, tok_cache_read, tok_output") == [("s:4", 5, 70, 6)]


def test_files_of_the_collector_are_read_whatever_they_hold(tmp_path, warehouse):
    folder = tmp_path / "collector"
    folder.mkdir()
    exports = [protobuf(export(span(number, tokens=(number, 1)))) for number in (1, 2, 3)]
    for name, bodies in (("traces.bin", exports), ("logs.bin", [claude_logs()])):
        (folder / name).write_bytes(b"".join(len(body).to_bytes(4, "big") + body for body in bodies))
    (folder / "traces.json").write_text(json.dumps(export(span(9, tokens=(9, 1)))) + "\n")
    files = [folder / name for name in ("traces.bin", "logs.bin", "traces.json")]
    done = ingest_paths(files, warehouse=warehouse, pricer=Unpriced(), data_dir=tmp_path)
    assert (done.stored, done.rejected) == (5, 0)
    assert rows(warehouse, "source, tok_input") == [
        ("claude_code_telemetry", 5),
        ("otlp_genai", 1),
        ("otlp_genai", 2),
        ("otlp_genai", 3),
        ("otlp_genai", 9),
    ]
    again = ingest_paths(files, warehouse=warehouse, pricer=Unpriced(), data_dir=tmp_path)
    assert (again.skipped, again.read) == (3, 0)


def test_a_segment_that_trips_the_reader_is_set_aside_and_holds_up_no_other(tmp_path, journal, warehouse):
    keep(journal, check_export("app", "traces", protobuf(export(span(1, tokens=(7, 1)))), as_json=False).pushed)
    keep(journal, check_export("app", "traces", json.dumps(export(span(2))).encode(), as_json=True).pushed)
    tripping = next(one for one in segments(tmp_path) if one.kind == "spans-json")
    Path(tripping.path).unlink()
    Path(tripping.path).mkdir()  # as a file system may leave it: neither readable nor gone
    done = take(tmp_path, warehouse)
    assert done.stored == 1
    assert segments(tmp_path) == []


def test_what_is_set_aside_is_told_and_waits_once_more_at_the_next_start(tmp_path, journal, warehouse):
    keep(journal, check_export("app", "traces", protobuf(export(span(1, tokens=(7, 1)))), as_json=False).pushed)
    (unread,) = (Path(one.path) for one in segments(tmp_path))
    unread.rename(unread.with_name(f".damaged-{unread.name}"))  # as a version does that trips over it
    assert take(tmp_path, warehouse).stored == 0
    warehouse.close()
    told = inside(tmp_path, "doctor")
    assert told.code == 1
    assert "1 files in the inbox" in told.out
    journal.close()
    pushes = Pushes(tmp_path, "shared")
    pushes.start()
    assert pushes.take() == 1
    pushes.journal.close()
    store = Warehouse(tmp_path, memory_limit="256MB")
    assert take_inbox(store, Unpriced(), tmp_path).stored == 1
    store.close()
    assert "nothing is set aside" in inside(tmp_path, "doctor").out
