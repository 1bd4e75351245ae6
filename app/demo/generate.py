"""Writes a month of the demo company's traffic as provider logs, the same bytes for the same arguments.

DIR/logs/<openai|anthropic|litellm>/<UTC date>.jsonl    what providers and gateway logged, in the order of start
DIR/manifest.json                                      what was made, and with which flaws
"""

from __future__ import annotations

import heapq
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import IO, TYPE_CHECKING

import msgspec

from app.core.errors import UsageError
from app.demo.clock import SECOND, ZONE, Span
from app.demo.wire import FOLDERS
from app.demo.workload import Scene
from app.demo.workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from app.demo.wire import Line
    from app.demo.workload import Workload

FLAWS = frozenset(workload.name for workload in WORKLOADS if workload.flaw)
NAMES = frozenset(workload.name for workload in WORKLOADS)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was made: `requests` asked for, `lines` written in all and of each workload, and the flaws that were on."""

    logs: str
    seed: int
    first_day: str
    days: int
    zone: str
    requests: int
    lines: int
    bytes: int
    flaws: tuple[str, ...]
    lines_by_workload: dict[str, int]


def generate(
    directory: Path,
    *,
    seed: int = 7,
    days: int = 30,
    requests: int = 200_000,
    last_day: date | None = None,
    flaws: frozenset[str] | None = None,
    only: frozenset[str] | None = None,
) -> Manifest:
    """Write the logs and the manifest below `directory`.

    Args:
        directory: where; logs of an earlier run in it are replaced.
        seed: equal seeds give equal arrivals, users, questions and answers, whatever flaws are on.
        days: whole days in the company's zone.
        requests: logical calls of all workloads together; attempts that a flaw repeats come on top.
        last_day: the last day; by default the last full one before now.
        flaws: the flaws that are on; None is all of them.
        only: the workloads to make, each as large as in the whole month; None is all of them.

    Raises:
        UsageError: a name that is no workload, or a number below one.
    """
    chosen = FLAWS if flaws is None else flaws
    _check(days, requests, chosen, only)
    last = last_day or datetime.now(ZONE).date() - timedelta(days=1)
    span = Span(last - timedelta(days=days - 1), days)
    wanted = [workload for workload in WORKLOADS if only is None or workload.name in only]
    streams = [workload.make(_scene(workload, span, requests, seed, chosen)) for workload in wanted]
    logs = directory / "logs"
    counts, size = _write(logs, heapq.merge(*streams, key=lambda line: line.start_us))
    manifest = Manifest(
        logs=str(logs),
        seed=seed,
        first_day=span.first.isoformat(),
        days=days,
        zone=str(ZONE),
        requests=requests,
        lines=counts.total(),
        bytes=size,
        flaws=tuple(sorted(chosen)),
        lines_by_workload={workload.name: counts[workload.name] for workload in wanted},
    )
    text = msgspec.json.format(msgspec.json.encode(asdict(manifest)))
    (directory / "manifest.json").write_bytes(text + b"\n")
    return manifest


def _scene(workload: Workload, span: Span, requests: int, seed: int, flaws: frozenset[str]) -> Scene:
    return Scene(workload.name, span, max(1, round(requests * workload.share)), seed, workload.name in flaws)


def _check(days: int, requests: int, flaws: frozenset[str], only: frozenset[str] | None) -> None:
    if days < 1 or requests < 1:
        raise UsageError("The demo needs at least one day and one request.")
    if unknown := flaws - FLAWS:
        raise UsageError(f"No such flaw: {', '.join(sorted(unknown))}. There are: {', '.join(sorted(FLAWS))}.")
    if unknown := (only or frozenset()) - NAMES:
        raise UsageError(f"No such workload: {', '.join(sorted(unknown))}. There are: {', '.join(sorted(NAMES))}.")


def _write(logs: Path, lines: Iterable[Line]) -> tuple[Counter[str], int]:
    """One file a folder and UTC day; lines arrive in the order of their start."""
    for folder in FOLDERS:
        (logs / folder).mkdir(parents=True, exist_ok=True)
        for old in (logs / folder).glob("????-??-??.jsonl"):
            old.unlink()
    counts: Counter[str] = Counter()
    size, day, files = 0, -1, dict[str, IO[bytes]]()
    with ExitStack() as stack:
        for line in lines:
            if line.start_us // (86_400 * SECOND) != day:
                day = line.start_us // (86_400 * SECOND)
                stack.close()
                files = {}
            file = files.get(line.folder)
            if file is None:
                name = f"{datetime.fromtimestamp(line.start_us // SECOND, UTC):%Y-%m-%d}.jsonl"
                file = files[line.folder] = stack.enter_context((logs / line.folder / name).open("wb"))
            file.write(line.data)
            file.write(b"\n")
            counts[line.workload] += 1
            size += len(line.data) + 1
    return counts, size
