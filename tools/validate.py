"""Compare totals on the public data sets and on the made month with the known truths, through the command line.

`python tools/validate.py` needs HALVE_DATA for the first part, the commands of docs/known-totals.md, and says what it
left out; `--full` makes the whole demo month for the second part instead of a fifth of it. One line a check; exit code
1 if any fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

from known_totals import check_all

HALVE = Path(sys.executable).parent / "halve"
ROOT = Path(__file__).resolve().parents[1]
LEVER_OF_FLAW = {
    "support-chat": "prompt_caching",
    "ticket-classify": "batch",
    "coding-agent": "prompt_caching",
    "docs-search": "response_cache",
    "invoice-extract": "smaller_model",
    "sync-worker": "waste",
}
failed: list[str] = []


def halve(*arguments: str, **environment: str) -> Any:
    run = subprocess.run(
        [HALVE, *arguments], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    if run.returncode:
        raise SystemExit(f"halve {' '.join(arguments)} failed:\n{run.stderr}")
    return json.loads(run.stdout)


def check(name: str, found: object, right: object) -> None:
    same = found == right
    print(f"{'ok  ' if same else 'FAIL'}  {name}: {found}" + ("" if same else f", should be {right}"))
    if not same:
        failed.append(name)


def made_month(requests: int) -> None:
    sys.path.insert(0, str(ROOT))
    from app.demo.generate import FLAWS, generate
    from tests.demo.oracle import bill

    with tempfile.TemporaryDirectory(prefix="halve-validate-") as name:
        on = generate(Path(name) / "on", requests=requests, flaws=FLAWS)
        with_flaws = bill(Path(on.logs))
        without = bill(Path(generate(Path(name) / "off", requests=requests, flaws=frozenset()).logs))
        made = halve("analyze", on.logs, "--json", HALVE_ZONE=on.zone)
        check("made month: paid is the oracle's bill", Decimal(made["paid_usd"]), sum(with_flaws.values()).normalize())
        rows = made["plan"]["levers"]
        for flaw, lever in LEVER_OF_FLAW.items():
            truth = with_flaws[flaw] - without[flaw]
            found = [Decimal(row["p50"]) for row in rows if (row["feature"], row["lever"]) == (flaw, lever)]
            error = abs(found[0] / truth - 1) if len(found) == 1 else None
            shown = (
                "no single finding" if error is None else f"${found[0]:.2f} for ${truth:.2f}, {100 * error:.1f} % off"
            )
            check(f"made month: {flaw} by {lever} ({shown})", error is not None and error <= Decimal("0.15"), True)
        clean = [row["scope"] for row in rows if row["feature"] == "newsletter"]
        check("made month: nothing is claimed for the clean workload", clean, [])
        total = sum(Decimal(row["allocated_usd"]) for row in rows)
        check("made month: shares add up to the joint total", total <= Decimal(made["paid_usd"]), True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="the whole demo month")
    full = parser.parse_args().full
    named = os.environ.get("HALVE_DATA")
    if named:
        check_all(Path(named).resolve(), check)
    else:
        print("      public data sets: left out, HALVE_DATA does not name them")
    made_month(220_000 if full else 40_000)
    print(f"{len(failed)} checks failed" if failed else "every check holds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
