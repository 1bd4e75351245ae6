"""Make the demo company's logs by hand: python -m app.demo --out DIR --requests N --seed S."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

from app.core.errors import HalveError
from app.demo.generate import FLAWS, NAMES, generate


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m app.demo", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for logs/ and manifest.json")
    parser.add_argument("--requests", type=int, default=200_000, help="logical calls in all (default: 200000)")
    parser.add_argument("--days", type=int, default=30, help="whole days (default: 30)")
    parser.add_argument("--seed", type=int, default=7, help="equal seeds give equal traffic (default: 7)")
    parser.add_argument("--last-day", type=date.fromisoformat, help="YYYY-MM-DD (default: yesterday)")
    parser.add_argument("--flaws", help=f"comma-separated, or 'none' (default: all of {', '.join(sorted(FLAWS))})")
    parser.add_argument("--only", help=f"comma-separated workloads (default: all of {', '.join(sorted(NAMES))})")
    given = parser.parse_args(arguments)
    try:
        made = generate(
            given.out,
            seed=given.seed,
            days=given.days,
            requests=given.requests,
            last_day=given.last_day,
            flaws=_names(given.flaws),
            only=_names(given.only),
        )
    except HalveError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{made.lines} lines, {made.bytes / 1e6:.0f} MB, {made.days} days from {made.first_day}\n")
    for name, lines in made.lines_by_workload.items():
        sys.stdout.write(f"  {name:<18}{lines:>8}{'  flaw on' if name in made.flaws else ''}\n")
    sys.stdout.write(f"{made.logs}\n")
    return 0


def _names(text: str | None) -> frozenset[str] | None:
    if text is None:
        return None
    return frozenset() if text == "none" else frozenset(text.split(","))


if __name__ == "__main__":
    sys.exit(main())
