"""Fuzz every format for a while: damaged records must neither break nor hang a parser, nor fill memory.

`python tools/fuzz_formats.py --minutes 60` damages the made records of all formats by Hypothesis, in turns. `--bytes`
reads mutated bytes of files instead, led by coverage: it needs `pip install atheris`. `--format NAME` keeps to one
format. The first failure is shown with its smallest record, and the exit code is 1; else the slowest record and the
memory are said.
"""

from __future__ import annotations

import argparse
import io
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "formats")]
SLOW_S = 2.0  # of CPU; the made records take well under a millisecond
ROUND = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--format", dest="name", help="this format alone")
    parser.add_argument("--bytes", action="store_true", help="bytes of files, led by coverage (atheris)")
    asked = parser.parse_args()
    if asked.bytes:
        return by_coverage(asked.minutes * 60, asked.name)
    return by_structure(asked.minutes * 60, asked.name)


def by_structure(seconds: float, name: str | None) -> int:
    """Rounds of damaged records, format after format, until the time is over."""
    from every_format import STREAMS, UNITS

    from ingest.formats import FORMATS

    forms = [form for form in FORMATS if name in (None, form.name)]
    ends, number, slowest = time.monotonic() + seconds, 0, (0.0, "")
    while time.monotonic() < ends:
        form = forms[number % len(forms)]
        units = UNITS[form.name] + STREAMS.get(form.name, [])
        slowest = max(slowest, one_round(form, units, number))
        number += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{number * ROUND:,} damaged units of {len(forms)} formats, peak memory {peak} MB")
    print(f"slowest: {slowest[0] * 1000:.0f} ms CPU in {slowest[1]}")
    return 1 if slowest[0] > SLOW_S else 0


def one_round(form: Any, units: list[list[Any]], number: int) -> tuple[float, str]:
    """Some hundred damaged units of one format; raises with the smallest that breaks it."""
    from damage import check_item, damaged
    from hypothesis import HealthCheck, given, seed, settings
    from hypothesis import strategies as st

    slowest = 0.0

    @seed(number)
    @settings(max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def damage(data: st.DataObject) -> None:
        nonlocal slowest
        records = [data.draw(damaged(record)) for record in data.draw(st.sampled_from(units))]
        began = time.process_time()
        for item in parsed(form, records):
            check_item(item)
        slowest = max(slowest, time.process_time() - began)

    damage()
    return slowest, form.name


def parsed(form: Any, records: list[Any]) -> Any:
    from ingest.formats.format import Origin

    parse = form.parser()
    numbered = list(enumerate(records, 1))
    for line, record in form.gather(numbered) if form.gather is not None else numbered:
        try:
            form.detect(record)
            yield from parse(record, Origin("fuzz", "fuzz.jsonl", line))
        except RecursionError:  # nested as deep as the stack: readers take it for a rejected record
            continue


def by_coverage(seconds: float, name: str | None) -> int:
    """Bytes of a file of lines: the first names the format, the rest is read as a file is."""
    import atheris

    with atheris.instrument_imports(include=["ingest"]):
        from ingest.formats import FORMATS
        from ingest.reader import read_lines
        from ingest.records import Record
    from damage import check_item
    from every_format import STREAMS, UNITS

    forms = [form for form in FORMATS if name in (None, form.name)]

    def one(data: bytes) -> None:
        if not data:
            return
        form = forms[data[0] % len(forms)]
        records = [item.value for item in read_lines(io.BytesIO(data[1:]), 0, 0, None) if type(item) is Record]
        for item in parsed(form, records):
            check_item(item)

    with tempfile.TemporaryDirectory(prefix="halve-fuzz-") as corpus:
        for number, form in enumerate(forms):
            for nth, unit in enumerate(UNITS[form.name] + STREAMS.get(form.name, [])):
                lines = b"".join(json.dumps(record).encode() + b"\n" for record in unit)
                (Path(corpus) / f"{form.name}-{nth}").write_bytes(bytes([number]) + lines)
        limits = [f"-max_total_time={int(seconds)}", "-timeout=10", "-rss_limit_mb=1024", "-max_len=16384"]
        limits.append(f"-artifact_prefix={tempfile.gettempdir()}/")
        atheris.Setup([sys.argv[0], corpus, *limits], one)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
