"""Compare totals on the public data sets and on the made month with the known truths, through the command line.

`python tools/validate.py` needs HALVE_DATA for the first part and says what it left out; `--full` makes the whole demo
month for the second part instead of a fifth of it. One line a check; exit code 1 if any fails.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

HALVE = Path(sys.executable).parent / "halve"
ROOT = Path(__file__).resolve().parents[1]
MOONCAKE = {"1m": 39_202, "5m": 71_228, "10m": 77_265, "30m": 77_953, "60m": 77_953}
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


def public_data(data: Path) -> None:
    made = halve("analyze", str(data / "claude_code"), "--exclude", "edge_cases/**", "--json")
    check("claude_code: requests, list-price value", (made["requests"], made["cost_usd"]), (169, "11.00438155"))
    tokens = {"input": 1866, "output": 30710, "cache_read": 12914585, "cache_write_5m": 559475, "cache_write_1h": 57373}
    check("claude_code: classes", {name: made["tokens"][name] for name in tokens}, tokens)
    check("claude_code: nothing paid", (made["basis"], made["paid_usd"]), ("list-price value", "0"))
    for part, count, usd in (
        ("short.jsonl", 1, "0.1444475"),
        ("subagent.jsonl", 12, "0.519593"),
        ("tool_heavy.jsonl", 4, "0.2266455"),
        ("main", 152, "10.11369555"),
    ):
        made = halve("analyze", str(data / "claude_code" / part), "--json")
        check(f"claude_code/{part}", (made["requests"], made["cost_usd"]), (count, usd))

    made = halve("analyze", str(data / "pi_sessions" / "large-session.jsonl"), "--json")
    check("pi: cost, unknown", (made["cost_usd"], made["unpriced"]["requests"]), ("30.3301977", 14))
    check("pi: priced", made["requests"] - made["unpriced"]["requests"], 439)

    lines = _lines("inspect", str(data / "langfuse"), "--json")
    calls = [line for line in lines if line["kind"] == "request"]
    check("langfuse: generations, twins merged", len(calls), 22)
    refused = [line["origin"]["file"] for line in lines if line["kind"] == "rejected"]
    chatml = sorted(path.name for path in (data / "langfuse").glob("*.chatml.json"))
    check("langfuse: chatml rejected by name", sorted(Path(file).name for file in refused), chatml)
    _langfuse_costs(data / "langfuse", calls)

    lines = _lines("inspect", str(data / "provider_responses"), "--json")
    calls = [line for line in lines if line["kind"] == "request"]
    check("provider_responses: bodies read", len(calls), 391)
    check("provider_responses: sums that do not add up", sum("sum_mismatch" in line["warnings"] for line in calls), 0)

    for ttl, hit in MOONCAKE.items():
        made = halve("replay", str(data / "mooncake"), "--ttl", ttl, "--json")
        check(f"mooncake at {ttl}: hit blocks of all", (made["hit_blocks"], made["blocks"]), (hit, 121_877))
    _published_hit_rates(data / "lmcache")


AZURE_MAP = "timestamp=TIMESTAMP, input_tokens=ContextTokens, output_tokens=GeneratedTokens"
AIDER_MAP = (
    "model=model, timestamp=date, input_tokens=prompt_tokens, output_tokens=completion_tokens, cost_usd=total_cost"
)


def agents_and_traces(data: Path) -> None:
    """Runs of agents with the figures that they published, and the production trace of two services."""
    runs = _lines("inspect", str(data / "swe_agent"), "--json")
    found = sorted((run["cost_reported_usd"], run["tokens"]["input"], run["tokens"]["output"]) for run in runs)
    right = [("0.01952", 7141, 243), ("0.53839", 52861, 326), ("1.26719", 122612, 1369)]
    check("swe_agent: dollars as published, tokens in and out", found, right)

    lines = _lines("inspect", str(data / "aider" / "aider_runs.csv"), "--map", AIDER_MAP, "--json")
    with (data / "aider" / "aider_runs.csv").open(encoding="utf-8") as file:
        published = sorted(Decimal(row["total_cost"] or 0) for row in csv.DictReader(file))
    reported = sorted(Decimal(line["cost_reported_usd"] or 0) for line in lines)
    check(f"aider: dollars of {len(published)} runs as published, ${sum(published)}", reported == published, True)

    for name, count, given, answered in (
        ("code", 8_819, 18_059_974, 245_896),
        ("conv", 19_366, 22_361_870, 4_088_665),
    ):
        path = data / "azure_llm_2023" / f"AzureLLMInferenceTrace_{name}.csv"
        made = halve("analyze", str(path), "--map", AZURE_MAP, "--json")
        found_here = (made["requests"], made["tokens"]["input"], made["tokens"]["output"])
        check(f"azure_llm_2023/{name}: requests, tokens in and out", found_here, (count, given, answered))

    edges = data / "claude_code" / "edge_cases"
    with tempfile.TemporaryDirectory(prefix="halve-validate-") as home:
        summary = halve("ingest", str(edges), "--json", HALVE_DATA_DIR=home)
    texts = [path.read_text(encoding="utf-8") for path in edges.glob("*.jsonl")]
    accounted = sum(summary[name] for name in ("stored", "updated", "merged", "benign", "rejected"))
    whole = sum(1 for text in texts for line in text.splitlines() if line.strip())
    check("claude_code/edge_cases: lines accounted for", (accounted, summary["rejected"]), (whole, 4))


def _lines(*arguments: str) -> list[dict[str, Any]]:
    run = subprocess.run([HALVE, *arguments], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def _langfuse_costs(folder: Path, calls: list[dict[str, Any]]) -> None:
    """Ours against Langfuse's own costs; a difference is shown, not judged: the two lists have other dates."""
    with (folder / "generations_expected.csv").open(encoding="utf-8") as file:
        listed = {row["obs_id"]: row["cost_total"] for row in csv.DictReader(file)}
    same = other = 0
    for call in calls:
        theirs = listed.get(call["source_record"])
        if theirs and call["cost_usd"] is not None:
            near = abs(Decimal(theirs) - Decimal(call["cost_usd"])) < Decimal("0.0000005")
            same, other = same + near, other + (not near)
    print(f"      langfuse: {same} costs as listed, {other} otherwise")


def _published_hit_rates(folder: Path) -> None:
    with (folder / "published_prefix_hit_rates.csv").open(encoding="utf-8") as file:
        published = [row for row in csv.DictReader(file) if row["published_prefix_hit_pct"]]
    found: dict[str, dict[str, Any]] = {}
    for suite in ("magagent", "taubench"):
        made = halve("replay", str(folder / suite), "--ttl", "unlimited", "--scope", "session", "--json")
        found |= {Path(row["name"]).name[:8]: row for row in made["by_scope"]}
    near, lost = 0, []
    for row in published:
        ours = found.get(row["session8"])
        if ours is None:
            continue
        near += abs(100 * ours["hit_rate"] - float(row["published_prefix_hit_pct"])) <= 1.5
        if ours["hash_only_hit_rate"] is not None:
            lost.append(100 * (ours["hit_rate"] - ours["hash_only_hit_rate"]))
    check("lmcache: sessions within 1.5 points of the published rate", near, 37)
    if lost:
        average = sum(lost) / len(lost)
        print(f"      lmcache: the hash-only form finds {average:.1f} points less on average, {max(lost):.1f} at most")


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
        public_data(Path(named).resolve())
        if full:
            agents_and_traces(Path(named).resolve())
    else:
        print("      public data sets: left out, HALVE_DATA does not name them")
    made_month(220_000 if full else 40_000)
    print(f"{len(failed)} checks failed" if failed else "every check holds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
