"""CPU and memory of the whole analysis, and the pages meanwhile: attribution, roll-ups, levers and plan.

Makes the demo month scaled to --requests, reads it, then analyses it in this process while a second thread asks for
pages. Prints one line of CPU seconds, the memory above the idle process, and the slowest page.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

PAGES = ("/", "/requests", "/savings", "/sources")


def resident_mb() -> float:
    """Private and shared pages of this process, proportionally, in MB."""
    for line in Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the kernel gives no Pss")


class Watch(threading.Thread):
    """Looks at memory ten times a second, and at the pages one after another."""

    def __init__(self, client: object) -> None:
        super().__init__(daemon=True)
        self.client, self.peak, self.pages, self.done = client, resident_mb(), [], False
        self.cpu = 0.0

    def run(self) -> None:
        turn = 0
        while not self.done:
            began, cpu = time.perf_counter(), time.thread_time()
            path = PAGES[turn % len(PAGES)]
            answer = self.client.get(path)
            assert answer.status_code == 200, path
            self.pages.append(time.perf_counter() - began)
            self.cpu += time.thread_time() - cpu
            self.peak = max(self.peak, resident_mb())
            turn += 1
            time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    wanted = parser.parse_args().requests

    from starlette.testclient import TestClient

    from app import settings as settings_module
    from app.demo.generate import generate
    from app.main.background import Background
    from app.main.refresh import analyse_window, attribute_and_sum, now_us
    from app.main.runtime import opened
    from app.main.serving import commands
    from app.web.deps import Deps
    from app.web.server import create_app

    with tempfile.TemporaryDirectory(prefix="halve-bench-") as name:
        home = Path(name)
        made = generate(home, requests=wanted)
        settings = replace(settings_module.load(), data_dir=home / "store")
        with opened(settings) as runtime:
            work = Background(runtime, settings)
            from ingest.pipeline import ingest_paths

            ingest_paths([made.logs], warehouse=runtime.warehouse, pricer=runtime.pricer, data_dir=settings.data_dir)
        with opened(settings) as runtime:
            work = Background(runtime, settings)
            deps = Deps(
                warehouse=runtime.warehouse,
                control=runtime.control,
                commands=commands(runtime, work),
                zone="UTC",
                now=now_us,
                no_access_control=True,
            )
            client = TestClient(create_app(deps), base_url="http://localhost")
            for path in PAGES:
                client.get(path)
            idle = resident_mb()
            watch = Watch(client)
            watch.start()
            cpu, wall = time.process_time(), time.perf_counter()
            attribute_and_sum(runtime, "UTC")
            first = time.process_time() - cpu
            result = analyse_window(runtime, "UTC", days=30)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            watch.done = True
            watch.join()
            assert result is not None
            slowest = sorted(watch.pages)[int(0.95 * (len(watch.pages) - 1))]
            print(
                f"analysis of {result.requests:,} requests: {cpu - watch.cpu:.1f} CPU s (attribution and roll-ups "
                f"{first:.1f}), {wall:.1f} s wall, {watch.peak - idle:.0f} MB above idle ({idle:.0f} MB), "
                f"pages meanwhile p95 {1000 * slowest:.0f} ms of {len(watch.pages)}, {len(result.findings)} findings"
            )


if __name__ == "__main__":
    main()
