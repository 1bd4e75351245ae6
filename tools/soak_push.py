"""OpenTelemetry's own exporter against a service that is killed at random moments and started again.

Every span of an export that was answered is stored exactly once; every other export is sent again, and doubles nothing.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench_push import Service, stored
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

BATCH = 100
EXPORT_S = 5.0
READ_WITHIN_S = 180


def made_spans(count: int) -> list[ReadableSpan]:
    """Finished spans of chat calls, as the SDK makes them."""
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "soak"}))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("soak")
    for number in range(count):
        with tracer.start_as_current_span("chat gpt-5") as call:
            call.set_attributes(
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.provider.name": "openai",
                    "gen_ai.request.model": "gpt-5",
                    "gen_ai.usage.input_tokens": 1 + number % 97,
                    "gen_ai.usage.output_tokens": 1,
                }
            )
    return list(kept.get_finished_spans())


class Killer(threading.Thread):
    """Kills the service and starts it again, each time a random while after it was asked to."""

    def __init__(self, service: Service, chance: random.Random) -> None:
        super().__init__(daemon=True)
        self.service = service
        self.chance = chance
        self.asked = threading.Semaphore(0)
        self.kills = 0
        self.ending = False

    def run(self) -> None:
        while True:
            self.asked.acquire()
            if self.ending:
                return
            # In the middle of an answer, or of the reading that follows it.
            time.sleep(self.chance.choice((self.chance.uniform(0, 0.05), self.chance.uniform(0, 3))))
            self.service.kill(signal.SIGKILL)
            self.kills += 1
            self.service.start()


def soak(kills: int, spans: int, seed: int, folder: Path) -> dict[str, Any]:
    """Run; returns what was sent, answered, sent again and stored."""
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    chance = random.Random(seed)
    made = made_spans(spans)
    batches = [made[at : at + BATCH] for at in range(0, spans, BATCH)]
    service = Service(folder / "data")
    service.start()
    killer = Killer(service, chance)
    killer.start()
    moments = sorted(chance.sample(range(len(batches)), kills))
    exporter = OTLPSpanExporter(
        endpoint=f"{service.url}/v1/traces", headers={"authorization": f"Bearer {service.key}"}, timeout=EXPORT_S
    )
    unanswered = []
    try:
        for number, batch in enumerate(batches):
            if number in moments:
                killer.asked.release()
            if exporter.export(batch) is not SpanExportResult.SUCCESS:
                unanswered.append(batch)
        _until(lambda: killer.kills == kills, "every kill happened")
        again = len(unanswered)
        while unanswered:
            unanswered = [batch for batch in unanswered if exporter.export(batch) is not SpanExportResult.SUCCESS]
        _until(lambda: not service.waiting(), "everything is read")
    finally:
        killer.ending = True
        killer.asked.release()
        killer.join()
        exporter.shutdown()
        service.kill(signal.SIGTERM)
    rows, distinct = stored(service.data)
    return {
        "spans": spans,
        "kills": killer.kills,
        "exports": len(batches),
        "sent_again": again,
        "stored": rows,
        "distinct": distinct,
        "tokens": tokens(service.data),
        "tokens_sent": sum(int(span.attributes["gen_ai.usage.input_tokens"]) for span in made if span.attributes),
    }


def tokens(data: Path) -> int:
    """The input tokens of everything stored; the service must be down."""
    import duckdb

    with duckdb.connect(str(data / "warehouse.duckdb"), read_only=True) as store:
        found = store.execute("SELECT sum(tok_input) FROM requests").fetchone()
    return int(found[0]) if found and found[0] is not None else 0


def _until(holds: Any, what: str) -> None:
    deadline = time.monotonic() + READ_WITHIN_S
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit(f"not within {READ_WITHIN_S} s: {what}")
        time.sleep(0.1)


def main() -> None:
    """Run and print the report."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=10)
    options.add_argument("--spans", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="halve-soak-push-") as folder:
        print(json.dumps(soak(given.kills, given.spans, given.seed, Path(folder)), indent=2))


if __name__ == "__main__":
    main()
