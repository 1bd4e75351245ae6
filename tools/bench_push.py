"""Pushed spans: rate, latency of acknowledgements, CPU a span and memory of a really running service.

Batches are encoded before the clock starts. `--seconds 600 --rate 5000` is the long run; `--unpaced`
sends as fast as answers come. What is stored is counted at the end: every acknowledged span exactly once. Memory is
the PSS of the service, sampled twice a second: the lowest and the highest of each half minute.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

HALVE = str(Path(sys.executable).with_name("halve"))
START_US = 1_790_000_000_000_000
SPAN_EVERY_US = 200  # the calls are spread over as much time as pushing them at the default rate takes
SOURCE = "bench"
START_S = 120


def batch(number: int, spans: int) -> bytes:
    """An encoded export of GenAI spans as an SDK would send it; ids are of the batch's number."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    for key, value in (("service.name", "bench"), ("deployment.environment.name", "prod")):
        resource.resource.attributes.add(key=key).value.string_value = value
    scope = resource.scope_spans.add()
    scope.scope.name = "opentelemetry.instrumentation.genai.openai"
    for place in range(spans):
        started = START_US + (number * spans + place) * SPAN_EVERY_US
        span = scope.spans.add(
            trace_id=(number + 1).to_bytes(8, "big") + place.to_bytes(8, "big"),
            span_id=(number + 1).to_bytes(4, "big") + (place + 1).to_bytes(4, "big"),
            name="chat gpt-5",
            kind=3,
            start_time_unix_nano=started * 1000,
            end_time_unix_nano=(started + 900_000) * 1000,
        )
        texts = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.response.model": "gpt-5-2025-08-07",
            "gen_ai.response.id": f"chatcmpl-{number:08x}{place:08x}",
            "server.address": "api.openai.com",
            "gen_ai.conversation.id": f"s-{number % 50}",
            "feature": f"feature-{place % 8}",
        }
        counts = {
            "gen_ai.usage.input_tokens": 1000 + place,
            "gen_ai.usage.cache_read.input_tokens": 512,
            "gen_ai.usage.output_tokens": 100,
            "gen_ai.request.max_tokens": 1024,
            "server.port": 443,
        }
        for key, text in texts.items():
            span.attributes.add(key=key).value.string_value = text
        for key, count in counts.items():
            span.attributes.add(key=key).value.int_value = count
        span.attributes.add(key="gen_ai.response.time_to_first_chunk").value.double_value = 0.25
        finish = span.attributes.add(key="gen_ai.response.finish_reasons").value.array_value
        finish.values.add().string_value = "stop"
    return request.SerializeToString()


class Service:
    """`halve serve` on a free port and a data folder of its own."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.environment = {**os.environ, "HALVE_DATA_DIR": str(data), "PYTHONUNBUFFERED": "1"}
        with socket.socket() as door:
            door.bind(("127.0.0.1", 0))
            self.port: int = door.getsockname()[1]
        made = [HALVE, "keys", "create", f"bench-{secrets.token_hex(4)}", "--scope", "ingest", "--source", SOURCE]
        self.key = subprocess.run(made, env=self.environment, capture_output=True, text=True, check=True).stdout.strip()
        self.said = data.parent / "serve.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.said.open("wb") as said:
            self.process = subprocess.Popen(
                [HALVE, "serve", "--port", str(self.port)],
                env=self.environment,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_S
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the service did not start: {self.said.read_text()}")
            time.sleep(0.1)

    def _answers(self) -> bool:
        with socket.socket() as door:
            return door.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        assert self.process is not None
        os.killpg(self.process.pid, how)
        self.process.wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key}", "content-type": "application/x-protobuf"}

    def cpu_s(self) -> float:
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        assert self.process is not None
        for line in Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def waiting(self) -> int:
        """Segments and shards that are not taken yet."""
        inbox = self.data / "inbox"
        return sum(1 for entry in inbox.iterdir() if not entry.name.startswith(".")) if inbox.is_dir() else 0


class Memory:
    """Samples the service's PSS; `lap` gives the lowest and the highest since the last one, in MB."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.seen = [service.memory_mb()]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def lap(self) -> tuple[int, int]:
        seen, self.seen = self.seen, [self.service.memory_mb()]
        return round(min(seen)), round(max(seen))

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            self.seen.append(self.service.memory_mb())


def stored(data: Path) -> tuple[int, int]:
    """(rows, distinct spans) of the store; the service must be down."""
    import duckdb

    with duckdb.connect(str(data / "warehouse.duckdb"), read_only=True) as store:
        found = store.execute("SELECT count(*), count(DISTINCT source_record) FROM requests").fetchone()
    assert found is not None
    return int(found[0]), int(found[1])


async def send(service: Service, bodies: list[bytes], rate: float | None, clients: int) -> tuple[list[float], float]:
    """Latencies of all answers, and how long it took; `rate` is batches a second (None: as fast as answers come)."""
    latencies: list[float] = []
    todo = iter(enumerate(bodies))
    begun = time.monotonic()

    async def client(http: httpx2.AsyncClient) -> None:
        for number, body in todo:
            if rate is not None:
                await asyncio.sleep(max(0.0, begun + number / rate - time.monotonic()))
            sent = time.monotonic()
            while True:
                answer = await http.post("/v1/traces", content=body, headers=service.headers)
                if answer.status_code not in (429, 503):
                    break
                await asyncio.sleep(float(answer.headers["retry-after"]))
            answer.raise_for_status()
            latencies.append(time.monotonic() - sent)

    async with httpx2.AsyncClient(base_url=service.url, timeout=60) as http:
        await asyncio.gather(*(client(http) for _ in range(clients)))
    return latencies, time.monotonic() - begun


def main() -> None:
    """Run and print what was measured as JSON."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--rate", type=float, default=5_000, help="spans a second")
    options.add_argument("--batch", type=int, default=512)
    options.add_argument("--clients", type=int, default=4)
    options.add_argument("--unpaced", action="store_true")
    given = options.parse_args()
    count = max(1, round(given.seconds * given.rate / given.batch))
    with tempfile.TemporaryDirectory(prefix="halve-bench-push-") as folder:
        print(json.dumps(measured(given, count, Path(folder)), indent=2))


def measured(given: argparse.Namespace, count: int, folder: Path) -> dict[str, Any]:
    service = Service(folder / "data")
    service.start()
    try:
        asyncio.run(send(service, [batch(count, given.batch)], None, 1))  # what is loaded at first use
        watch = Memory(service)
        memory = []
        cpu, latencies, took = service.cpu_s(), [], 0.0
        # Bodies are made in slices, so that a long run does not hold all of them.
        slice_of = max(1, round(30 * given.rate / given.batch))
        for first in range(0, count, slice_of):
            bodies = [batch(number, given.batch) for number in range(first, min(count, first + slice_of))]
            rate = None if given.unpaced else given.rate / given.batch
            found, lasted = asyncio.run(send(service, bodies, rate, given.clients))
            latencies += found
            took += lasted
            memory.append(watch.lap())
        answered = service.cpu_s() - cpu
        begun = time.monotonic()
        while service.waiting() and time.monotonic() - begun < 600:
            time.sleep(0.5)
        behind = time.monotonic() - begun
        time.sleep(3)  # the transaction that removed the last shard, and what follows it
        whole = service.cpu_s() - cpu
        memory.append(watch.lap())
        watch.stop()
    finally:
        service.kill(signal.SIGTERM)
    rows, distinct = stored(service.data)
    spans = count * given.batch
    latencies.sort()
    return {
        "spans": spans,
        "spans_a_second": round(spans / took),
        "p50_ms": round(latencies[len(latencies) // 2] * 1000, 1),
        "p95_ms": round(latencies[int(len(latencies) * 0.95)] * 1000, 1),
        "worst_ms": round(latencies[-1] * 1000, 1),
        "cpu_us_a_span_while_sending": round(answered / spans * 1e6, 1),
        "cpu_us_a_span_until_stored": round(whole / spans * 1e6, 1),
        "read_behind_s": round(behind, 1),
        "memory_mb": memory,
        "stored": rows,
        "stored_once": rows == distinct == spans + given.batch,
    }


if __name__ == "__main__":
    main()
