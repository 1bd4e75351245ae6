"""What Claude Code sends of its calls: nobody knows how they are billed, and one call is one wherever it was sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from app.core.hashing import hash64
from app.warehouse.merge import Unpriced
from app.warehouse.migrate import migrate
from app.warehouse.store import Warehouse
from ingest.formats import detect_format
from ingest.inbox import take_inbox
from ingest.install_key import install_key
from ingest.pipeline import ingest_paths
from ingest.push.checking import Signal, check_export
from ingest.push.journal import Journal
from ingest.push.taking import Taker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALL = {"model": "claude-sonnet-5", "input_tokens": 5, "output_tokens": 6, "cache_read_tokens": 70}
REQUEST = "req_011CUuv7hAzQ9dVbKbN5aXyZ"
SESSION = "0b5e1f1c-8f0e-4a6e-9d0c-2f4b6a8c0d1e"
START = 1_790_000_002_000_000_000


def listed(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"intValue": str(held)} if type(held) is int else {"stringValue": held}}
        for key, held in attributes.items()
    ]


def spans(
    name: str = "claude_code.llm_request", span_id: str = "00f067aa0ba902b7", **attributes: Any
) -> dict[str, Any]:
    made = {
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId": span_id,
        "name": name,
        "startTimeUnixNano": str(START),
        "endTimeUnixNano": str(START + 5_000_000),
        "attributes": listed(attributes),
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [made]}]}]}


def logs(**attributes: Any) -> dict[str, Any]:
    made = {
        "timeUnixNano": str(START),
        "body": {"stringValue": "claude_code.api_request"},
        "attributes": listed({"event.name": "api_request", **attributes}),
    }
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [made]}]}]}


def of_an_app(prompt: str = "What is claude_code?") -> dict[str, Any]:
    held = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", "ai.prompt": prompt}
    return spans("chat gpt-5", "00f067aa0ba902b6", **held)


def protobuf(export: dict[str, Any]) -> bytes:
    """The bytes of an export; JSON's ids are hex, and protobuf's own mapping reads base64."""
    if "resourceLogs" in export:
        return ParseDict(export, ExportLogsServiceRequest()).SerializeToString()
    made = ExportTraceServiceRequest()
    for one in export["resourceSpans"]:
        for group in one["scopeSpans"]:
            for span in group["spans"]:
                scope = made.resource_spans.add().scope_spans.add()
                bare = {name: held for name, held in span.items() if name not in ("traceId", "spanId")}
                kept = ParseDict(bare, scope.spans.add())
                kept.trace_id, kept.span_id = bytes.fromhex(span["traceId"]), bytes.fromhex(span["spanId"])
    return made.SerializeToString()


class Desk:
    """A warehouse, and a journal to push into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Warehouse(folder, memory_limit="256MB")
        migrate(self.store)
        self.journal = Journal(folder)
        self.journal.start()

    def push(self, source: str, export: dict[str, Any], *, as_json: bool = True) -> None:
        signal: Signal = "logs" if "resourceLogs" in export else "traces"
        body = json.dumps(export).encode() if as_json else protobuf(export)
        pushed = check_export(source, signal, body, as_json=as_json).pushed
        assert pushed is not None
        self.journal.add(pushed).result(timeout=30)
        Taker(self.folder, install_key(self.folder), "shared").take()
        take_inbox(self.store, Unpriced(), self.folder)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.store.session() as session:
            return session.connection.execute(sql).fetchall()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.journal.close()
    made.store.close()


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize(
    ("export", "billing"),
    [
        (spans(**CALL), "unknown"),
        (logs(**CALL, **{"session.id": SESSION, "event.sequence": 3}), "unknown"),
        (of_an_app(), "api"),
    ],
    ids=["spans", "logs", "an app that writes about it"],
)
def test_nobody_knows_how_claude_code_is_billed_whichever_way_it_comes(desk, export, billing, as_json):
    desk.push("laptop", export, as_json=as_json)
    assert desk.rows("SELECT source, billing FROM sources") == [("laptop", billing)]
    assert len(desk.rows("SELECT * FROM requests")) == 1


def test_a_file_with_spans_of_claude_code_is_of_unknown_billing_and_other_programs_in_it_are_read(desk):
    file = desk.folder / "traces.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in (of_an_app(), of_an_app(), spans(**CALL))))
    other = spans(span_id="00f067aa0ba902b8", **CALL)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    single = desk.folder / "console.jsonl"
    single.write_text(json.dumps(other) + "\n")
    ingest_paths([file, single], warehouse=desk.store, pricer=Unpriced(), data_dir=desk.folder)
    assert desk.rows("SELECT source, billing FROM sources") == [("claude_code_telemetry", "unknown")]
    assert desk.rows("SELECT model FROM requests ORDER BY model") == [
        ("claude-sonnet-5",), ("claude-sonnet-5",), ("gpt-5",),
    ]  # fmt: skip
    assert detect_format([of_an_app()]).name == "otlp_genai"


SAME_CALL = {
    "spans": (spans(**CALL),) * 2,
    "spans of a request": (spans(**CALL, request_id=REQUEST),) * 2,
    "events of a request": (logs(**CALL, request_id=REQUEST),) * 2,
    "events by their place": (logs(**CALL, **{"session.id": SESSION, "event.sequence": 3}),) * 2,
    "a span and an event": (spans(**CALL, request_id=REQUEST), logs(**CALL, request_id=REQUEST)),
}


@pytest.mark.parametrize("kind", SAME_CALL)
def test_one_call_pushed_to_two_sources_is_one_row_with_both_origins(desk, kind):
    for source, export in zip(("laptop", "office"), SAME_CALL[kind], strict=True):
        desk.push(source, export)
    assert desk.rows("SELECT source, tok_input, tok_cache_read, tok_output, warnings FROM requests") == [
        ("laptop", 5, 70, 6, None)
    ]
    assert desk.rows("SELECT source FROM request_origins ORDER BY source") == [("laptop",), ("office",)]


def test_a_call_under_its_sources_own_key_of_earlier_rules_is_known_when_it_comes_again(desk):
    desk.push("laptop", logs(**CALL, request_id=REQUEST))
    with desk.store.writing() as session:
        for table in ("requests", "request_origins"):
            former = hash64(b"src\0laptop\0" + REQUEST.encode())
            session.connection.execute(f"UPDATE {table} SET request_key = ?", [former])
    desk.push("laptop", spans(**CALL, request_id=REQUEST))
    assert desk.rows("SELECT tok_input FROM requests") == [(5,)]


def test_short_ids_of_requests_and_sessions_stay_apart(desk):
    held = {"session.id": "s", "event.sequence": 3}
    for source in ("laptop", "office"):
        desk.push(source, logs(**CALL, request_id="req_7"))
        desk.push(source, logs(**CALL, **held))
    assert len(desk.rows("SELECT * FROM requests")) == 4
