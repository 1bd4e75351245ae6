"""A running service takes what OpenTelemetry's exporter and plain clients push, and refuses the rest in order."""

from __future__ import annotations

import gzip
import json
import re
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from google.rpc.status_pb2 import Status
from made_exports import export, protobuf, span
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from app.main.source_list import command_list
from app.settings import Settings

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from bench_push import Service

if TYPE_CHECKING:
    from collections.abc import Iterator

PROTOBUF = "application/x-protobuf"
READ_WITHIN_S = 60


class Running(Service):
    """The service, and what it has stored so far."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        self.start()
        self.client = httpx2.Client(base_url=self.url, headers={"authorization": f"Bearer {self.key}"}, timeout=60)

    def post(self, path: str, body: bytes, kind: str = "application/json", **headers: str) -> httpx2.Response:
        return self.client.post(path, content=body, headers={"content-type": kind, **headers})

    def settled(self) -> None:
        """Wait until everything that was acknowledged is read."""
        deadline = time.monotonic() + READ_WITHIN_S
        while self.waiting():
            assert time.monotonic() < deadline, "the inbox is not read"
            time.sleep(0.2)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    service = Running(tmp_path_factory.mktemp("push") / "data")
    yield service
    service.client.close()
    service.kill()


def stored_spans(service: Running, feature: str) -> list[dict[str, Any]]:
    """The requests of a feature as the page's twin gives them, once nothing waits any more."""
    import duckdb

    service.settled()
    copy = service.data.parent / "copy.duckdb"
    deadline = time.monotonic() + READ_WITHIN_S
    while True:  # the last transaction may still be on its way into the file
        copy.write_bytes((service.data / "warehouse.duckdb").read_bytes())
        wal = service.data / "warehouse.duckdb.wal"
        if wal.exists():
            (copy.parent / "copy.duckdb.wal").write_bytes(wal.read_bytes())
        with duckdb.connect(str(copy)) as store:
            found = store.execute(
                "SELECT source, tok_input, tok_cache_read, tok_output, tags, parent_id FROM requests "
                "WHERE json_extract_string(tags, 'feature') = ? ORDER BY start_us",
                [feature],
            ).fetchall()
        if found or time.monotonic() > deadline:
            names = ("source", "tok_input", "tok_cache_read", "tok_output", "tags", "parent_id")
            return [dict(zip(names, row, strict=True)) for row in found]
        time.sleep(0.3)


@pytest.mark.parametrize("packed", [Compression.NoCompression, Compression.Gzip])
def test_opentelemetrys_own_exporter_hands_in_an_agents_calls(running: Running, packed: Compression) -> None:
    feature = f"sdk {packed.value}"
    exporter = OTLPSpanExporter(
        endpoint=f"{running.url}/v1/traces", headers={"authorization": f"Bearer {running.key}"}, compression=packed
    )
    provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("made")
    with tracer.start_as_current_span("invoke_agent") as agent:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 300})
        for number in range(3):
            with tracer.start_as_current_span("chat gpt-5") as call:
                call.set_attributes(
                    {
                        "gen_ai.operation.name": "chat",
                        "gen_ai.request.model": "gpt-5",
                        "gen_ai.usage.input_tokens": 100,
                        "gen_ai.usage.cache_read.input_tokens": 60,
                        "gen_ai.usage.output_tokens": number,
                        "feature": feature,
                    }
                )
    provider.shutdown()
    found = stored_spans(running, feature)
    assert [(row["source"], row["tok_input"], row["tok_cache_read"]) for row in found] == [("bench", 40, 60)] * 3
    assert sorted(row["tok_output"] for row in found) == [0, 1, 2]
    assert all(json.loads(row["tags"])["service"] == "shop" and row["parent_id"] for row in found)


def test_json_and_protobuf_are_answered_in_their_own_encoding(running: Running) -> None:
    given = export(span(1))
    answer = running.post("/v1/traces", json.dumps(given).encode())
    assert (answer.status_code, answer.headers["content-type"], answer.json()) == (200, "application/json", {})
    answer = running.post("/v1/traces", gzip.compress(protobuf(given)), PROTOBUF, **{"content-encoding": "gzip"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, PROTOBUF)
    assert ExportTraceServiceResponse.FromString(answer.content) == ExportTraceServiceResponse()


@pytest.mark.parametrize("as_json", [True, False])
def test_spans_that_never_will_be_stored_are_counted_in_a_partial_success(running: Running, as_json: bool) -> None:
    given = export(span(2), {**span(3), "spanId": "0" * 16})
    if as_json:
        told = running.post("/v1/traces", json.dumps(given).encode()).json()["partialSuccess"]
        assert (told["rejectedSpans"], "trace id" in told["errorMessage"]) == ("1", True)
    else:
        answer = ExportTraceServiceResponse.FromString(running.post("/v1/traces", protobuf(given), PROTOBUF).content)
        assert answer.partial_success.rejected_spans == 1
        assert "trace id" in answer.partial_success.error_message


def test_plain_records_of_a_known_format_are_taken_and_their_lines_stay_one_call_when_sent_again(
    running: Running,
) -> None:
    line = {"timestamp": 1_790_000_000, "model": "gpt-5", "input_tokens": 9, "output_tokens": 1, "feature": "plain"}
    for _ in range(2):
        answer = running.post("/v1/ingest", json.dumps(line).encode() + b"\n", "application/x-ndjson")
        assert (answer.status_code, answer.json()) == (200, {"status": "kept", "source": "bench"})
    assert [row["tok_input"] for row in stored_spans(running, "plain")] == [9]


def test_metrics_are_answered_and_not_stored(running: Running) -> None:
    answer = running.post("/v1/metrics", b"{}")
    assert answer.status_code == 200
    assert "metrics" in answer.json()["partialSuccess"]["errorMessage"]


@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Bearer no"}, {"authorization": "Basic x"}, {"x-api-key": "no"}]
)
def test_without_a_key_for_logs_nothing_is_taken(running: Running, headers: dict[str, str]) -> None:
    answer = httpx2.post(
        f"{running.url}/v1/traces",
        content=protobuf(export(span(4))),
        headers={"content-type": PROTOBUF, **headers},
        timeout=60,
    )
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "halve keys create" in Status.FromString(answer.content).message


def test_who_sends_much_without_a_key_still_hears_why(running: Running) -> None:
    answer = httpx2.post(
        f"{running.url}/v1/traces", content=b" " * (8 * 2**20), headers={"content-type": PROTOBUF}, timeout=60
    )
    assert answer.status_code == 401


def test_the_same_key_is_taken_as_x_api_key(running: Running) -> None:
    headers = {"content-type": PROTOBUF, "x-api-key": running.key}
    answer = httpx2.post(f"{running.url}/v1/traces", content=protobuf(export(span(5))), headers=headers, timeout=60)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "kind", "status", "phrase"),
    [
        ("/v1/traces", b"{}", "text/plain", 415, "application/x-protobuf"),
        ("/v1/traces", b"{", "application/json", 400, "no OTLP export"),
        ("/v1/traces", b"\x0a\xff", PROTOBUF, 400, "no OTLP export"),
        ("/v1/ingest", b'{"what": 1}', "application/json", 400, "none that Halve knows"),
        ("/v1/ingest?format=nothing", b'{"what": 1}', "application/json", 400, "no format named"),
        ("/v1/ingest", b"{}", PROTOBUF, 415, "application/json"),
    ],
)
def test_what_can_never_be_read_is_refused_with_the_reason(
    running: Running, path: str, body: bytes, kind: str, status: int, phrase: str
) -> None:
    answer = running.post(path, body, kind)
    assert answer.status_code == status
    told = Status.FromString(answer.content).message if path == "/v1/traces" and kind == PROTOBUF else answer.text
    assert phrase in told
    assert "retry-after" not in answer.headers


def test_a_bomb_is_refused_before_it_is_unpacked(running: Running) -> None:
    bomb = gzip.compress(b" " * (256 * 1024 * 1024))
    before = running.memory_mb()
    answer = running.post("/v1/traces", bomb, **{"content-encoding": "gzip"})
    assert answer.status_code == 413
    assert running.memory_mb() - before < 100


@pytest.mark.parametrize(
    "body", [b"no gzip", gzip.compress(b"{}")[:-4], gzip.compress(b"{}") + b"more"], ids=["none", "cut", "and more"]
)
def test_damaged_gzip_is_refused(running: Running, body: bytes) -> None:
    assert running.post("/v1/traces", body, **{"content-encoding": "gzip"}).status_code == 400


def test_other_packing_is_refused_by_name(running: Running) -> None:
    answer = running.post("/v1/traces", b"{}", **{"content-encoding": "br"})
    assert answer.status_code == 415
    assert "br" in answer.text


def test_a_body_above_the_limit_is_refused_also_without_a_length(running: Running) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * 2**20

    headers = {"content-type": "application/json"}
    answer = running.client.post("/v1/traces", content=endless(), headers=headers)
    assert answer.status_code == 413


def test_clients_that_dawdle_hold_up_nobody(running: Running) -> None:
    slow = []
    head = f"POST /v1/traces HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {running.key}\r\n"
    for _ in range(20):
        door = socket.create_connection(("127.0.0.1", running.port))
        door.sendall(f"{head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{{".encode())
        slow.append(door)
    try:
        with ThreadPoolExecutor(4) as threads:
            answers = list(
                threads.map(lambda n: running.post("/v1/traces", protobuf(export(span(n))), PROTOBUF), range(50, 90))
            )
        assert {answer.status_code for answer in answers} == {200}
    finally:
        for door in slow:
            door.close()


def test_a_client_that_goes_in_the_middle_leaves_the_service_whole(running: Running) -> None:
    head = f"POST /v1/traces HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {running.key}\r\n"
    with socket.create_connection(("127.0.0.1", running.port)) as door:
        door.sendall(f"{head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{{".encode())
    assert running.post("/v1/traces", protobuf(export(span(6))), PROTOBUF).status_code == 200


def test_keys_of_other_scopes_and_revoked_keys_open_nothing(running: Running, tmp_path: Path) -> None:
    import subprocess

    from bench_push import HALVE

    def halve(*arguments: str) -> str:
        done = subprocess.run(
            [HALVE, "keys", *arguments], env=running.environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    batch = halve("create", "for batches")
    logs = halve("create", "for logs", "--scope", "ingest", "--source", "other")
    body = protobuf(export(span(7)))

    def status(key: str) -> int:
        headers = {"authorization": f"Bearer {key}", "content-type": PROTOBUF}
        return httpx2.post(f"{running.url}/v1/traces", content=body, headers=headers, timeout=60).status_code

    assert (status(batch), status(logs)) == (401, 200)
    assert (
        httpx2.get(f"{running.url}/v1/files", headers={"authorization": f"Bearer {logs}"}, timeout=60).status_code
        == 401
    )
    assert httpx2.get(f"{running.url}/", headers={"authorization": f"Bearer {logs}"}, timeout=60).status_code == 401
    halve("revoke", "for logs")
    time.sleep(1.1)
    assert status(logs) == 401


def test_the_sources_page_says_what_is_pushed_and_how_fresh_it_is(running: Running) -> None:
    assert running.post("/v1/traces", protobuf(export(span(8, feature="fresh"))), PROTOBUF).status_code == 200
    assert stored_spans(running, "fresh")
    token = re.search(r"token=(\S+)", running.said.read_text())
    assert token is not None
    headers = {"authorization": f"Bearer {token[1]}"}
    answer = httpx2.get(f"{running.url}/sources.json?table=pushed", headers=headers, timeout=60)
    mine = [row for row in answer.json()["rows"] if row["source"] == "bench"]
    assert [row["key"].startswith("bench-") for row in mine] == [True]
    assert mine[0]["records"] > 0
    assert mine[0]["last_came"].startswith("20")
    page = httpx2.get(f"{running.url}/sources", headers=headers, timeout=60).text
    assert "What is pushed" in page


def test_the_running_service_lists_a_source_that_is_pushed(running: Running) -> None:
    assert running.post("/v1/traces", protobuf(export(span(9, feature="listed"))), PROTOBUF).status_code == 200
    stored = stored_spans(running, "listed")
    (mine,) = [row for row in command_list(Settings(data_dir=running.data)) if row["name"] == "bench"]
    assert (mine["kind"], mine["state"]) == ("pushed", None)
    assert mine["records"] >= len(stored) > 0
    assert mine["last_run_us"] > 0


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs", "/v1/metrics", "/v1/ingest"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_what_is_pushed_to_is_not_said_to_be_missing(running: Running, path: str, method: str) -> None:
    answer = running.client.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert f"{path} is there to push to: send a POST." in answer.json()["message"]


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/ingest"])
def test_gzip_that_no_header_names_is_told_to_look_like_gzip(running: Running, path: str) -> None:
    answer = running.post(path, gzip.compress(json.dumps(export(span(3))).encode()))
    assert answer.status_code == 400
    assert "looks like gzip" in answer.text
    assert "Content-Encoding: gzip" in answer.text
