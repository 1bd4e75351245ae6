"""Prices that change and history that is priced anew, while a service takes in calls and is killed at random moments.

After each kill the same command is given again. In the end every acknowledged call stands once, at the price of
the book that its row names, worked out here from the rates of the files; each version's figures can be read back; the
roll-ups say what the facts say.
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
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import httpx2
from bench_push import HALVE, Service

from app.warehouse import rollup
from app.warehouse.store import Warehouse

MODELS = ("made-1", "made-2", "made-3")
FIRST_S = 1_790_000_000
BATCH = 50
TRIES = 40
FIGURES = "SELECT request_key, fullness, cost_pusd, price_book FROM requests"
AS_OF = """
SELECT
    r.request_key,
    coalesce(l.fullness, r.fullness),
    CASE WHEN l.request_key IS NULL THEN r.cost_pusd ELSE l.cost_pusd END
FROM requests r
LEFT JOIN (
    SELECT request_key, fullness, cost_pusd FROM cost_ledger WHERE version > $version
    QUALIFY row_number() OVER (PARTITION BY request_key ORDER BY version) = 1
) l ON l.request_key = r.request_key
"""


def rates(number: int) -> dict[str, tuple[int, int]]:
    """USD per million tokens (input, output) of each model in price file `number`; the third is not in each."""
    known = {model: (1 + number + place, 10 + 2 * number + place) for place, model in enumerate(MODELS)}
    if number % 3 == 0:
        del known[MODELS[2]]
    return known


def write_prices(path: Path, number: int) -> None:
    """Put price file `number` in the place of the one before it, at once."""
    lines = [
        f"  - {{provider: unassigned, model: {model}, input: {one}, output: {other}}}"
        for model, (one, other) in rates(number).items()
    ]
    fresh = path.with_suffix(".new")
    fresh.write_text("rates:\n" + "\n".join(lines) + "\n", encoding="utf-8")
    fresh.replace(path)


def call(number: int) -> dict[str, Any]:
    """A logged call: its number is in its id, and decides model and tokens."""
    usage = {"prompt_tokens": 1 + number % 997, "completion_tokens": 1 + number % 89}
    usage["total_tokens"] = sum(usage.values())
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}
    return {
        "id": f"chatcmpl-{number:029d}",
        "object": "chat.completion",
        "created": FIRST_S + number * 60,
        "model": MODELS[number % len(MODELS)],
        "choices": [choice],
        "usage": usage,
    }


def cost_pusd(number: int, prices: int) -> int | None:
    """What call `number` costs by price file `prices`; a USD a million tokens is a million pico-USD a token."""
    known = rates(prices).get(MODELS[number % len(MODELS)])
    return None if known is None else ((1 + number % 997) * known[0] + (1 + number % 89) * known[1]) * 1_000_000


@dataclass
class Sender(threading.Thread):
    """Pushes calls without end; what is not acknowledged is sent again."""

    service: Service
    first: int
    acknowledged: int = 0
    sent_again: int = 0
    ending: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.acknowledged = self.first

    def run(self) -> None:
        headers = {"authorization": f"Bearer {self.service.key}", "content-type": "application/x-ndjson"}
        with httpx2.Client(base_url=self.service.url, timeout=20) as http:
            while not self.ending.is_set():
                numbers = range(self.acknowledged, self.acknowledged + BATCH)
                body = "".join(json.dumps(call(number)) + "\n" for number in numbers)
                try:
                    taken = http.post("/v1/ingest", content=body.encode(), headers=headers).status_code == 200
                except httpx2.HTTPError:
                    taken = False
                if taken:
                    self.acknowledged += BATCH
                else:
                    self.sent_again += 1
                time.sleep(0.2)

    __hash__ = threading.Thread.__hash__


@dataclass
class Soak:
    """One run: the service, the price file that stands, and which book each file made."""

    folder: Path
    chance: random.Random
    service: Service
    file: Path
    books: dict[str, int] = field(default_factory=dict)
    kept: dict[int, dict[int, tuple[int, int | None]]] = field(default_factory=dict)
    number: int = 0
    kills: int = 0

    def halve(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [HALVE, *words], env=self.service.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def priced_anew(self, *, kill: bool) -> dict[str, Any]:
        """Give the command until it says that it is done; the service or the command is killed once on the way."""
        for _ in range(TRIES):
            running = self.halve("prices", "reprice", "--apply", "--json")
            if kill:
                kill = False
                time.sleep(self.chance.uniform(0, 5))
                if self.chance.random() < 0.25:
                    running.kill()
                else:  # where the service is gone before the command asked it, the command does the work itself
                    self.service.kill(signal.SIGKILL)
                self.kills += 1
            said, problem = running.communicate()
            self.stand()
            if running.returncode == 0:
                done: dict[str, Any] = json.loads(said)
                self.books[done["price_book"]] = self.number
                return done
            if (
                "begun and not finished" in problem
            ):  # with a price file that has changed since: the message says the way
                self.halve("prices", "rollback", "--apply", "--json").communicate()
            time.sleep(0.5)
        raise SystemExit(f"prices reprice did not get through: {problem}")

    def stand(self) -> None:
        """Start the service where it does not run."""
        if self.service.process is None or self.service.process.poll() is not None:
            self.service.start()

    def round(self) -> None:
        """A new price file or imported rates, and history priced by it, with a kill on the way."""
        self.number += 1
        write_prices(self.file, self.number)
        if self.number % 4 == 0:
            table = self.folder / "table.csv"
            table.write_text(f"provider,model,input,output\nopenai,imported-1,{self.number},9\n", encoding="utf-8")
            self.halve("prices", "import", str(table), "--apply", "--json").communicate()
        done = self.priced_anew(kill=True)
        if self.number % 3 == 0:
            self.look(int(done["version"]))

    def look(self, version: int) -> None:
        """Keep the figures of a copy of the store as it stands after a version."""
        self.service.kill(signal.SIGKILL)
        copy = self.folder / "copy"
        shutil.copytree(self.service.data, copy, ignore=shutil.ignore_patterns("*.sock"))
        with duckdb.connect(str(copy / "warehouse.duckdb")) as store:
            (newest,) = store.execute("SELECT max(version) FROM cost_versions").fetchone() or (0,)
            if newest == version:
                found = store.execute(FIGURES).fetchall()
                self.kept[version] = {int(key): (int(full), cost) for key, full, cost, _ in found}
        shutil.rmtree(copy)
        self.service.start()


def soak(kills: int, calls: int, seed: int, folder: Path) -> dict[str, Any]:
    """Run; returns what was sent, what stands and what is wrong."""
    file = folder / "prices.yml"
    write_prices(file, 0)
    service = Service(folder / "data")
    service.environment["HALVE_PRICES"] = str(file)
    log = folder / "calls.jsonl"
    log.write_text("".join(json.dumps(call(number)) + "\n" for number in range(calls)), encoding="utf-8")
    run = Soak(folder, random.Random(seed), service, file)
    subprocess.run([HALVE, "ingest", str(log)], env=service.environment, check=True, capture_output=True)
    service.start()
    sender = Sender(service, calls)
    sender.start()
    try:
        run.priced_anew(kill=False)
        while run.kills < kills:
            run.round()
        sender.ending.set()
        sender.join()
        _until_read(service)
        last = run.priced_anew(kill=False)
    finally:
        sender.ending.set()
        if service.process is not None and service.process.poll() is None:
            service.kill(signal.SIGTERM)
    return {
        "kills": run.kills,
        "versions": last["version"],
        "sent": sender.acknowledged,
        "sent_again": sender.sent_again,
        "looks": len(run.kept),
        **judged(run, sender.acknowledged, last["price_book"]),
    }


def _until_read(service: Service) -> None:
    deadline = time.monotonic() + 120
    while service.waiting() and time.monotonic() < deadline:
        time.sleep(0.2)


def judged(run: Soak, sent: int, book: str) -> dict[str, Any]:
    """What is wrong with the store: everything here is 0 where nothing is."""
    with duckdb.connect(str(run.service.data / "warehouse.duckdb"), read_only=True) as store:
        rows = store.execute("SELECT provider_response_id, cost_pusd, price_book FROM requests").fetchall()
        numbers = [int(name.removeprefix("chatcmpl-")) for name, _, _ in rows]
        wrong = sum(
            1
            for number, (_, cost, named) in zip(numbers, rows, strict=True)
            if named != book or cost != cost_pusd(number, run.number)
        )
        twice = store.execute("SELECT count(*) - count(DISTINCT (request_key, version)) FROM cost_ledger").fetchone()
        unended = store.execute("SELECT count(*) FROM cost_versions WHERE ending IS NULL").fetchone()
        rewritten = 0
        for version, figures in run.kept.items():
            as_of = {
                int(key): (int(full), cost) for key, full, cost in store.execute(AS_OF, {"version": version}).fetchall()
            }
            rewritten += sum(1 for key, figure in figures.items() if as_of.get(key) != figure)
    warehouse = Warehouse(run.service.data)
    try:
        with warehouse.writing() as session:
            apart = rollup.differences(session)
    finally:
        warehouse.close()
    return {
        "lost": sent - len(set(numbers) & set(range(sent))),
        "doubled": len(numbers) - len(set(numbers)),
        "wrongly_priced": wrong,
        "images_twice": (twice or (0,))[0],
        "versions_without_an_end": (unended or (0,))[0],
        "rewritten_figures": rewritten,
        "rollups_apart": len(apart),
    }


def main() -> None:
    """Run and print the report."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=30)
    options.add_argument("--calls", type=int, default=30_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    os.environ.pop("HALVE_PRICES", None)
    with tempfile.TemporaryDirectory(prefix="halve-soak-reprice-") as folder:
        json.dump(soak(given.kills, given.calls, given.seed, Path(folder)), sys.stdout, indent=2)


if __name__ == "__main__":
    main()
