"""Bench of the whole ingest: a file of made request and response pairs against DuckDB's own read of the same file.

    python tools/bench_ingest.py [--megabytes 2048] [--keep FILE] [--workers 2]

Prints one line of JSON: rows per second, CPU seconds, peak of the summed PSS of the process tree, the ratio to DuckDB.
Everything is on: parse, token classes, price, fingerprints, merge, until the closed store lies in its files. The made
file lies under the temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# fmt: off
WORDS = (
    "order",
    "refund",
    "invoice",
    "shipment",
    "customer",
    "account",
    "renewal",
    "discount",
    "warranty",
    "contract",
    "ticket",
    "escalation",
    "delay",
    "package",
    "address",
    "payment",
    "subscription",
    "upgrade",
    "credit",
    "policy",
    "return",
    "damaged",
    "missing",
    "replacement",
    "agent",
    "reply",
    "summary",
    "detail",
    "question",
    "answer",
    "language",
    "tone",
    "polite",
    "short",
    "friendly",
    "product",
    "device",
    "battery",
    "screen",
    "keyboard",
)
# fmt: on
MODELS = (("gpt-4o-mini-2024-07-18", 3), ("gpt-4o-2024-08-06", 1), ("gpt-4.1-2025-04-14", 1))
START_S = 1_760_000_000


def make(path: Path, size: int, seed: int = 11) -> int:
    """Write pairs of about 2.5 KB until `size` bytes are reached; returns their number."""
    rng = random.Random(seed)
    systems = [sentence(rng, 130) for _ in range(12)]
    sentences = [sentence(rng, 14) for _ in range(5_000)]
    models = [model for model, weight in MODELS for _ in range(weight)]
    rows = written = 0
    with path.open("w", encoding="utf-8", buffering=1 << 20) as file:
        while written < size:
            line = json.dumps(pair(rng, rows, systems, sentences, models), separators=(",", ":")) + "\n"
            file.write(line)
            written += len(line)
            rows += 1
    return rows


def pair(
    rng: random.Random, number: int, systems: list[str], sentences: list[str], models: list[str]
) -> dict[str, Any]:
    """One logged exchange: a shared system prompt, a text of the user's own, an answer."""
    feature = number % len(systems)
    user = f"Ticket {rng.getrandbits(48):x} of customer {rng.randrange(10**7)}\n" + "\n".join(
        rng.choice(sentences) for _ in range(3)
    )
    answer = " ".join(rng.choice(sentences) for _ in range(3))
    prompt_tokens = (len(systems[feature]) + len(user)) // 4
    at = START_S + number * 0.4
    return {
        "timestamp": at,
        "latency_ms": 300 + rng.randrange(2000),
        "user": f"user-{rng.randrange(50_000)}",
        "tags": {"feature": f"feature-{feature}", "environment": "production"},
        "request": {
            "model": models[number % len(models)],
            "messages": [{"role": "system", "content": systems[feature]}, {"role": "user", "content": user}],
            "temperature": 0.2,
            "max_tokens": 400,
        },
        "response": {
            "id": f"chatcmpl-{rng.getrandbits(120):030x}",
            "object": "chat.completion",
            "created": int(at),
            "model": models[number % len(models)],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": len(answer) // 4,
                "total_tokens": prompt_tokens + len(answer) // 4,
                "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
            },
            "service_tier": "default",
        },
    }


def sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words)) + "."


class PeakMemory:
    """Samples the summed PSS of this process and its children."""

    def __init__(self) -> None:
        self.peak = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(1.0):
            self.peak = max(self.peak, sum(pss(pid) for pid in tree(os.getpid())))


def tree(root: int) -> list[int]:
    """A process and all its descendants."""
    found = [root]
    for pid in found:
        try:
            tasks = list(Path(f"/proc/{pid}/task").iterdir())
            for task in tasks:
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def pss(pid: int) -> int:
    """Proportional set size in bytes; 0 for a process that has gone."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0


def cpu_seconds() -> float:
    """CPU time of this process and of the children that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def bench_halve(file: Path, folder: Path, workers: int) -> dict[str, float]:
    """Ingest the file with everything on."""
    from app.warehouse.migrate import migrate
    from app.warehouse.store import Warehouse
    from ingest.pipeline import ingest_paths

    warehouse = Warehouse(folder, memory_limit="384MB", threads=2)
    migrate(warehouse)
    pricer = make_pricer(folder)
    cpu, wall = cpu_seconds(), time.perf_counter()
    with PeakMemory() as memory:
        summary = ingest_paths([file], warehouse=warehouse, pricer=pricer, data_dir=folder, workers=workers)
        # Where the last checkpoint falls is a matter of chance, and closing makes it: without it, two builds that do
        # the same work differ by two seconds.
        warehouse.close()
    took, spent = time.perf_counter() - wall, cpu_seconds() - cpu
    if summary.stored != summary.read:
        raise SystemExit(f"not everything was stored: {summary}")
    size = sum(entry.stat().st_size for entry in folder.glob("*.duckdb"))
    return {
        "rows": summary.stored,
        "seconds": round(took, 2),
        "rows_per_s": round(summary.stored / took),
        "cpu_s": round(spent, 2),
        "cpu_us_per_row": round(spent / summary.stored * 1e6, 1),
        "peak_pss_mb": round(memory.peak / 2**20),
        "store_mb": round(size / 2**20),
    }


def make_pricer(folder: Path) -> Any:
    """The product's pricer with its own price book."""
    from app.pricing.book import PriceBook
    from app.warehouse.priced import Pricer

    return Pricer(PriceBook.load(folder / "prices"))


def bench_duckdb(file: Path, folder: Path) -> dict[str, float]:
    """DuckDB's own read of the same file into a table, all of it compressed with zstd."""
    import duckdb

    settings = {"threads": 2, "memory_limit": "2GB", "storage_compatibility_version": "v1.5.0"}
    connection = duckdb.connect(str(folder / "own.duckdb"), config=settings)
    connection.execute("PRAGMA force_compression = 'zstd'")
    cpu, wall = cpu_seconds(), time.perf_counter()
    connection.execute(
        "CREATE TABLE pairs AS SELECT * FROM read_json($file, format = 'newline_delimited')", {"file": str(file)}
    )
    connection.execute("CHECKPOINT")
    took, spent = time.perf_counter() - wall, cpu_seconds() - cpu
    ((rows,),) = connection.execute("SELECT count(*) FROM pairs").fetchall()
    connection.close()
    return {"rows_per_s": round(rows / took), "seconds": round(took, 2), "cpu_s": round(spent, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=2048)
    parser.add_argument("--keep", type=Path, help="make the file here, or use it if it is there")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--without-duckdb", action="store_true")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="halve-bench-"))
    try:
        file = given.keep or folder / "pairs.jsonl"
        if not file.exists():
            make(file, given.megabytes * 2**20)
        data = folder / "data"
        halve = bench_halve(file, data, given.workers)
        report: dict[str, Any] = {"halve": halve}
        if not given.without_duckdb:
            own = bench_duckdb(file, folder)
            report |= {"duckdb": own, "ratio": round(halve["rows_per_s"] / own["rows_per_s"], 3)}
            report["cpu_ratio"] = round(own["cpu_s"] / halve["cpu_s"], 3)
        print(json.dumps(report))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
