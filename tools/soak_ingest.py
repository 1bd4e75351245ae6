"""Soak of the ingest: killed with SIGKILL at random moments and resumed, it must end as an undisturbed run does.

    python tools/soak_ingest.py [--kills 50] [--seed 1] [--calls 12000]

Prints one line of JSON; exit code 1 and the differences where the tables differ. Every kill hits either the
coordinating process alone, so that its workers are orphaned, or the whole group.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Text mode `all`: what `shared` keeps depends on which worker saw a text first, and is no part of the promise.
CHILD = """
import sys
from pathlib import Path
import ingest.plan
from app.pricing.book import PriceBook
from app.warehouse.migrate import migrate
from app.warehouse.priced import Pricer
from app.warehouse.store import Warehouse
from ingest.pipeline import ingest_paths

if __name__ == "__main__":
    ingest.plan.CHUNK_BYTES = 256 * 1024
    data = Path(sys.argv[2])
    warehouse = Warehouse(data, memory_limit="256MB")
    migrate(warehouse)
    pricer = Pricer(PriceBook.load(data.parent))
    ingest_paths([sys.argv[1]], warehouse=warehouse, pricer=pricer, data_dir=data, text="all", workers=2)
    warehouse.close()
"""


def make_logs(folder: Path, calls: int, seed: int) -> None:
    """Logs with everything that may be counted twice: partial snapshots, copies in other files, torn lines."""
    rng = random.Random(seed)
    folder.mkdir(parents=True)
    lines: list[str] = []
    for number in range(calls):
        snapshots = 1 + (number % 5 == 0)
        lines += [json.dumps(call(number, answer_tokens=10 + 30 * part, rng=rng)) for part in range(snapshots)]
        if number % 97 == 0:
            lines.append(lines[-1][: len(lines[-1]) // 2])
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "b.jsonl").write_text("\n".join(rng.sample(lines, len(lines) // 4)) + "\n")
    (folder / "c.json").write_text(json.dumps([json.loads(line) for line in lines[:50] if line.endswith("}")]))


def call(number: int, answer_tokens: int, rng: random.Random) -> dict[str, Any]:
    """One logged exchange; the same number is the same call."""
    user = f"question {number} about " + " ".join(f"topic{(number * 31 + step) % 997}" for step in range(40))
    return {
        "timestamp": 1_760_000_000 + number,
        "user": f"user-{number % 50}",
        "tags": {"feature": f"feature-{number % 7}"},
        "request": {
            "model": "gpt-4o-mini",
            "messages": [
                {"role": "system", "content": f"You help with feature {number % 7}.\nBe brief."},
                {"role": "user", "content": user},
            ],
        },
        "response": {
            "id": f"chatcmpl-{number:024d}",
            "model": "gpt-4o-mini-2024-07-18",
            "object": "chat.completion",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 60, "completion_tokens": answer_tokens, "total_tokens": 60 + answer_tokens},
        },
        "metadata": {"shard": rng.randrange(3)},
    }


def start(logs: Path, data: Path) -> subprocess.Popen[bytes]:
    """One ingest in a process group of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    script = data.parent / "child.py"
    script.write_text(CHILD)
    command = [sys.executable, str(script), str(logs), str(data)]
    return subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.PIPE)


def run_to_the_end(logs: Path, data: Path) -> float:
    """An undisturbed ingest; returns its seconds. Waits a little where an orphan still holds the store."""
    began = time.monotonic()
    for attempt in range(20):
        process = start(logs, data)
        _, said = process.communicate()
        if process.returncode == 0:
            return time.monotonic() - began
        if b"cannot be opened" not in said or attempt == 19:
            raise SystemExit(f"the ingest failed: {said.decode(errors='replace')}")
        time.sleep(0.3)
    raise AssertionError


def contents_of(data: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All that must be equal, in an order of its own. Which of several equal records was met first may differ."""
    from app.warehouse.store import Warehouse

    queries = {
        "requests": "SELECT * EXCLUDE (origin_file, origin_line, fullness) FROM requests",
        "segments": "SELECT * FROM segments",
        "lines": "SELECT * FROM lines",
        "texts": "SELECT hash, text FROM contents",
        "quarantine": "SELECT source, path, line, reason, head FROM quarantine",
        "sources": "SELECT * FROM sources",
    }
    warehouse = Warehouse(data, memory_limit="256MB")
    with warehouse.session() as session:
        found = {name: sorted(session.connection.execute(sql).fetchall(), key=repr) for name, sql in queries.items()}
    warehouse.close()
    return found


def soak(kills: int, seed: int, calls: int, folder: Path) -> dict[str, Any]:
    """Kill an ingest `kills` times, let it end, and compare it with an undisturbed one."""
    rng = random.Random(seed)
    logs, calm, rough = folder / "logs", folder / "calm" / "data", folder / "rough" / "data"
    make_logs(logs, calls, seed)
    for data in (calm, rough):
        data.mkdir(parents=True)
        (data / "install.key").write_bytes(bytes(range(32)))
    took = run_to_the_end(logs, calm)
    rounds = done = 0
    while done < kills:
        if rounds:
            shutil.rmtree(rough)
            rough.mkdir()
            (rough / "install.key").write_bytes(bytes(range(32)))
        rounds += 1
        done += kill_until_done(logs, rough, rng, took, kills - done)
        run_to_the_end(logs, rough)
        differences = compare(contents_of(calm), contents_of(rough))
        if differences:
            return {"kills": done, "rounds": rounds, "differences": differences}
    return {"kills": done, "rounds": rounds, "differences": {}, "requests": calls}


def kill_until_done(logs: Path, data: Path, rng: random.Random, took: float, most: int) -> int:
    """Kill one ingest again and again until it gets through or `most` kills are reached; returns the kills."""
    for count in range(most):
        process = start(logs, data)
        try:
            process.communicate(timeout=rng.uniform(0.05, took))
        except subprocess.TimeoutExpired:
            whole = rng.random() < 0.5
            os.killpg(process.pid, signal.SIGKILL) if whole else os.kill(process.pid, signal.SIGKILL)
            process.wait()
            if process.stderr is not None:
                process.stderr.close()
            continue
        if process.returncode == 0:
            return count
    return most


def compare(
    calm: dict[str, list[tuple[Any, ...]]], rough: dict[str, list[tuple[Any, ...]]]
) -> dict[str, dict[str, Any]]:
    """What differs between two stores, by table, with a few rows of each side."""
    found = {}
    for name, rows in calm.items():
        if rows != rough[name]:
            missing, extra = set(rows) - set(rough[name]), set(rough[name]) - set(rows)
            found[name] = {
                "calm": len(rows),
                "rough": len(rough[name]),
                "missing": [repr(row) for row in list(missing)[:3]],
                "extra": [repr(row) for row in list(extra)[:3]],
            }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=12_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="halve-soak-") as folder:
        report = soak(given.kills, given.seed, given.calls, Path(folder))
    print(json.dumps(report, indent=None if not report["differences"] else 1))
    raise SystemExit(1 if report["differences"] else 0)


if __name__ == "__main__":
    main()
