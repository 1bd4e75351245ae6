"""Soak of batch jobs: killed with SIGKILL at random moments against cruel servers, everything must be there once.

    python tools/soak_batch.py [--kills 30] [--seed 1] [--phase submission|settling|both]
    python tools/soak_batch.py --volume 60000 [--bytes 4096]

Prints one line of JSON; exit code 1 where an item is missing, twice at the provider, twice charged, or stuck.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "batch")]

from peers.anthropic_peer import AnthropicPeer  # noqa: E402
from peers.openai_peer import OpenAIPeer  # noqa: E402
from world import World, chat, message  # noqa: E402

from app.control import batches  # noqa: E402

CHILD = """
import random, sys, time
from dataclasses import replace
from pathlib import Path
from app import batch
from app.batch import pauses
from app.control import batches, migrate, open_control
from app.main.batches import make_desk
from app.settings import Settings

if __name__ == "__main__":
    data = Path(sys.argv[1])
    control = open_control(data)
    migrate(control)
    desk = make_desk(control, Settings(data_dir=data, allow_hosts="127.0.0.1", text="none"))
    # Pauses are shortened, their order is not; the listing delay is above that of the server.
    pauses.LONGEST_S = 20
    desk = replace(desk, poll_us=150_000, listing_us=2_600_000, jitter=lambda: 0.1 * random.random() - 0.98)
    while any(job.state != "settled" for job in batches.jobs(control)):
        batch.advance(desk)
        time.sleep(0.02)
"""
LISTED_AFTER_S = 2.0
KILLS_A_ROUND = 3
PROVIDERS = ("openai", "anthropic")
STUCK_AFTER_S = 240.0


def start(data: Path) -> subprocess.Popen[bytes]:
    """A process that advances jobs until all are settled."""
    script = data.parent / "child.py"
    script.write_text(CHILD)
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "OPENAI_API_KEY": "sk-soak",
        "ANTHROPIC_API_KEY": "sk-soak",
    }
    return subprocess.Popen(
        [sys.executable, str(script), str(data)], env=environment, start_new_session=True, stderr=subprocess.PIPE
    )


class Round:
    """One job from hand-in to charged results, with kills on the way."""

    def __init__(self, provider: str, folder: Path, seed: int, items: int) -> None:
        self.provider, self.items, self.random = provider, items, random.Random(seed)
        self.peer: Any = OpenAIPeer() if provider == "openai" else AnthropicPeer()
        self.peer.random = random.Random(seed)
        self.peer.listed_after_s = LISTED_AFTER_S
        self.peer.works_s = 1.0
        self.peer.slow_s = 0.2
        self.peer.chance = {
            "drop_before": 0.04, "500_before": 0.04, "drop_after": 0.1, "500_after": 0.1,
            "torn": 0.2, "cut": 0.2, "short": 0.2,
        }  # fmt: skip
        self.failed_once: set[str] = set()
        self.peer.fate = self.fate
        self.world = World(folder / "data", clock=lambda: time.time_ns() // 1000)  # type: ignore[arg-type]
        make = chat if provider == "openai" else message
        lines = [make(f"row-{number}", f"question {number}") for number in range(items)]
        limit = 60 if provider == "openai" else None
        self.job = self.world.submit(lines, provider, base_url=self.peer.url, max_attempts=9, queued_tokens=limit)
        if limit is not None:
            # Parts of a few items, all of them sent at once.
            batches.update_job(self.world.control, self.job.id, queued_tokens=None)

    def fate(self, _safe_id: str, body: dict[str, Any]) -> str:
        """Every seventh question fails once with a 5xx."""
        text = body["messages"][0]["content"]
        good, bad = ("ok", "500") if self.provider == "openai" else ("succeeded", "errored:api_error")
        if int(text.split()[1]) % 7 == 0 and text not in self.failed_once:
            self.failed_once.add(text)
            return bad
        return good

    def run(self, kills: int, phase: str) -> int:
        """Kill up to `kills` times inside the phase, then let it end; returns the kills."""
        done, began = 0, time.monotonic()
        while True:
            if time.monotonic() - began > STUCK_AFTER_S:
                raise SystemExit(f"stuck: {self.world.view(self.job)}")
            process = start(self.world.data)
            if done < kills and self.wait_for(phase, process):
                time.sleep(self.random.uniform(0.0, 0.5))
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    done += 1
            try:
                said = process.communicate(timeout=STUCK_AFTER_S)[1]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise SystemExit(f"stuck: {self.world.view(self.job)}") from None
            if process.returncode == 0:
                return done
            if process.returncode != -signal.SIGKILL:
                raise SystemExit(f"it failed: {said.decode(errors='replace')[-2000:]}")

    def wait_for(self, phase: str, process: subprocess.Popen[bytes]) -> bool:
        """Wait until a part is in the phase; False where the process ended before."""
        wanted = {
            "submission": {"queued", "submitting"},
            "settling": {"submitted", "settling"},
            "both": {"queued", "submitting", "submitted", "settling"},
        }[phase]
        while process.poll() is None:
            if any(part.state in wanted for part in self.world.view(self.job).parts):
                # Python and the SDK take a while to come up; the kill should meet the work, not the imports.
                time.sleep(self.random.uniform(0.3, 2.0))
                return True
            time.sleep(0.05)
        return False

    def problems(self) -> list[str]:
        """What is wrong at the end."""
        field = "response" if self.provider == "openai" else "result"
        found = []
        answered = Counter(
            body["messages"][0]["content"] for _, body in self.peer.sent() if body["messages"][0]["content"]
        )
        failing = {f"question {number}" for number in range(0, self.items, 7)}
        for number in range(self.items):
            text = f"question {number}"
            wanted = 2 if text in failing else 1
            if answered[text] != wanted:
                found.append(f"{text} was sent {answered[text]} times instead of {wanted}")
        results = [line["custom_id"] for line in self.world.results(self.job) if line.get(field) is not None]
        if results != [f"row-{number}" for number in range(self.items)]:
            found.append(f"results: {len(results)} of {self.items}")
        charged = self.world.requests("provider_response_id", "tok_input")
        ids = [name for name, tokens in charged if tokens is not None]
        if Counter(ids) != Counter(self.peer.charged()) or len(ids) != self.items:
            found.append(f"{len(ids)} charged, {len(self.peer.charged())} billed by the provider, {self.items} asked")
        return found

    def close(self) -> None:
        self.world.close()
        self.peer.close()


PEER = """
import sys, time
sys.path[:0] = sys.argv[1:3]
from peers.openai_peer import OpenAIPeer
peer = OpenAIPeer()
print(peer.url, flush=True)
sys.stdin.read()
"""
VOLUME = """
import json, resource, sys, time
from dataclasses import replace
from pathlib import Path
from app import batch
from app.control import batches, migrate, open_control
from app.main.batches import make_desk
from app.main.runtime import opened
from app.settings import Settings
from ingest.inbox import take_inbox

def lines(count, size):
    rules = "Answer in one word. " * (size // 2 // 20)
    for number in range(count):
        text = f"question {number} " + f"{number:08x} " * ((size - len(rules) - 220) // 9)
        body = {"model": "gpt-4o-mini", "max_tokens": 100, "messages": [
            {"role": "system", "content": rules}, {"role": "user", "content": text}]}
        yield json.dumps({"custom_id": f"row-{number}", "method": "POST", "url": "/v1/chat/completions",
                          "body": body}).encode()

def main():
    data, url, count, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    control = open_control(data)
    migrate(control)
    settings = Settings(data_dir=data, allow_hosts="127.0.0.1", text="none")
    desk = replace(make_desk(control, settings), poll_us=200_000)
    steps, began, cpu = {}, time.monotonic(), time.process_time()
    job = batch.submit(desk, lines(count, size), batch.Order("openai", base_url=url, feature="volume"))
    steps["taken in"] = time.monotonic() - began
    bytes_in = job.bytes
    with opened(settings) as runtime:
        while batches.job(control, job.id).state != "settled":
            batch.advance(desk)
            take_inbox(runtime.warehouse, runtime.pricer, data)
            time.sleep(0.05)
        steps["settled and charged"] = time.monotonic() - began
        with runtime.warehouse.session() as session:
            charged = session.connection.execute(
                "SELECT count(*), count(cost_pusd), sum(tok_input) FROM requests WHERE is_batch").fetchall()[0]
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    view = batch.view(control, desk.folder, job.id)
    print(json.dumps({
        "items": count, "megabytes": round(bytes_in / 1e6, 1), "parts": len(view.parts),
        "succeeded": view.counts.succeeded, "requests": charged[0], "priced": charged[1],
        "seconds": {name: round(value, 1) for name, value in steps.items()},
        "cpu_seconds": round(own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, 1),
        "megabytes_of_memory": round(own.ru_maxrss / 1024), "of_the_largest_worker": round(children.ru_maxrss / 1024),
    }))

if __name__ == "__main__":
    main()
"""


class Watched:
    """The memory of a process and everything that it started, sampled while it runs.

    PSS counts a page that several processes share once over all of them, so its sum is what the machine gives.
    """

    EVERY_S = 0.1

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.peak_mb, self.at_peak = 0.0, dict[str, float]()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(self.EVERY_S):
            found = {f"{name} {pid}": pss for pid in tree(self.pid) if (pss := pss_mb(pid)) for name in [name_of(pid)]}
            if sum(found.values()) > self.peak_mb:
                self.peak_mb, self.at_peak = sum(found.values()), found


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for one in found:
        for listed in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += map(int, listed.read_text().split())
            except OSError:
                continue  # it ended meanwhile
    return found


def pss_mb(pid: int) -> float:
    """Proportional set size of a process in MB; 0 where it has ended."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1024


def name_of(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return "ended"
    if "--multiprocessing-fork" in words:
        return "worker"
    return "tracker" if "resource_tracker" in " ".join(words) else "halve"


def volume(items: int, size: int, folder: Path) -> dict[str, Any]:
    """One job of so many items of about `size` bytes, to the end; time, CPU and memory of Halve alone."""
    for name, text in (("peer.py", PEER), ("volume.py", VOLUME)):
        (folder / name).write_text(text)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "sk-volume"}
    peer = subprocess.Popen(
        [sys.executable, str(folder / "peer.py"), str(ROOT / "tests" / "batch"), str(ROOT)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True,
    )  # fmt: skip
    assert peer.stdout is not None
    try:
        url = peer.stdout.readline().strip()
        command = [sys.executable, str(folder / "volume.py"), str(folder / "data"), url, str(items), str(size)]
        (folder / "data").mkdir()
        run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with Watched(run.pid) as memory:
            said, complaints = run.communicate()
    finally:
        peer.communicate()
    if run.returncode:
        raise SystemExit(complaints[-3000:])
    found: dict[str, Any] = json.loads(said)
    found["peak_pss_megabytes"] = round(memory.peak_mb)
    found["at_the_peak"] = {name: round(pss) for name, pss in memory.at_peak.items()}
    return found


def soak(kills: int, seed: int, phase: str, folder: Path, items: int = 24) -> dict[str, Any]:
    """Rounds until so many kills are done, with one provider and the other in turn."""
    done = rounds = 0
    while done < kills:
        place = folder / f"round-{rounds}"
        one = Round(PROVIDERS[rounds % 2], place, seed + rounds, items)
        try:
            done += one.run(min(KILLS_A_ROUND, kills - done), phase)
            problems = one.problems()
        finally:
            one.close()
        rounds += 1
        if problems:
            return {"kills": done, "rounds": rounds, "problems": problems}
    return {"kills": done, "rounds": rounds, "problems": []}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phase", choices=["submission", "settling", "both"], default="both")
    parser.add_argument("--volume", type=int, default=0, metavar="ITEMS", help="measure one large job instead")
    parser.add_argument("--bytes", type=int, default=4096, help="size of one request line of --volume")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="halve-soak-") as folder:
        if given.volume:
            print(json.dumps(volume(given.volume, given.bytes, Path(folder))))
            return
        report = soak(given.kills, given.seed, given.phase, Path(folder))
    print(json.dumps(report))
    raise SystemExit(1 if report["problems"] else 0)


if __name__ == "__main__":
    main()
