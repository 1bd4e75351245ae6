"""The public data sets with known totals: the commands of docs/known-totals.md as they stand there, with their answers.

`check_all(data, check)` runs them from the folder of the data and hands every answer to `check(name, found, right)`.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "known-totals.md"
HALVE = Path(sys.executable).parent / "halve"
MOONCAKE = {"1m": 39_202, "5m": 71_228, "10m": 77_265, "30m": 77_953, "60m": 77_953}
AZURE_MAP = "--map 'timestamp=TIMESTAMP, input_tokens=ContextTokens, output_tokens=GeneratedTokens'"
AIDER_MAP = (
    "--map 'model=model, timestamp=date, input_tokens=prompt_tokens, output_tokens=completion_tokens, "
    "cost_usd=total_cost'"
)
Check = Callable[[str, object, object], None]


@dataclass
class Commands:
    """Runs commands from the folder of the data; `ran` is every one of them."""

    data: Path
    home: Path
    ran: list[str] = field(default_factory=list)

    def said(self, command: str) -> str:
        """What a command prints. Files that are no data set lie in `home`."""
        self.ran.append(command)
        name, *arguments = shlex.split(command)
        assert name == "halve"
        made = [str(self.home / one) if (self.home / one).is_file() else one for one in arguments]
        environment = {**os.environ, "HALVE_DATA_DIR": str(self.home / "store")}
        run = subprocess.run(
            [HALVE, *made], capture_output=True, text=True, check=False, cwd=self.data, env=environment
        )
        if run.returncode:
            raise SystemExit(f"{command} failed:\n{run.stderr}")
        return run.stdout

    def object(self, command: str) -> Any:
        return json.loads(self.said(command))

    def lines(self, command: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.said(command).splitlines()]


def check_all(data: Path, check: Check) -> None:
    """Every documented total; at last, that every documented command was run."""
    with tempfile.TemporaryDirectory(prefix="halve-known-totals-") as name:
        run = Commands(data, Path(name))
        for part in (claude_code, pi, langfuse, responses, usage_bodies, azure, traces, agents, bills):
            part(run, check)
    documented = set(re.findall(r"`(halve [^`]+ --json)`", PAGE.read_text(encoding="utf-8")))
    check("docs/known-totals.md: its commands are those that ran", set(run.ran) ^ documented, set())


def claude_code(run: Commands, check: Check) -> None:
    made = run.object("halve analyze claude_code --exclude 'edge_cases/**' --json")
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
        made = run.object(f"halve analyze claude_code/{part} --json")
        check(f"claude_code/{part}", (made["requests"], made["cost_usd"]), (count, usd))
    summary = run.object("halve ingest claude_code/edge_cases --json")
    texts = [path.read_text(encoding="utf-8") for path in (run.data / "claude_code" / "edge_cases").glob("*.jsonl")]
    accounted = sum(summary[name] for name in ("stored", "updated", "merged", "benign", "rejected"))
    whole = sum(1 for text in texts for line in text.splitlines() if line.strip())
    check(
        "claude_code/edge_cases: lines read and accounted for, rejected",
        (summary["read"], accounted, summary["rejected"]),
        (whole, whole, 4),
    )


def pi(run: Commands, check: Check) -> None:
    made = run.object("halve analyze pi_sessions/large-session.jsonl --json")
    unknown = made["unpriced"]["requests"]
    found = (made["cost_usd"], made["requests"] - unknown, unknown)
    check("pi_sessions: cost, priced, unknown", found, ("30.3301977", 439, 14))
    lines = run.lines("halve inspect pi_sessions/large-session.jsonl --json")
    ours = {line["origin"]["line"] - 1: line for line in lines if line["kind"] == "request"}
    with (run.data / "pi_sessions" / "usage_expected.csv").open(encoding="utf-8") as file:
        listed = {int(row["line"]): row for row in csv.DictReader(file)}
    check("pi_sessions: the lines are those of usage_expected.csv", ours.keys() ^ listed.keys(), set())
    check(
        "pi_sessions: lines with other classes or cost than there",
        [number for number, row in listed.items() if not _as_listed(ours[number], row)],
        [],
    )


def _as_listed(line: dict[str, Any], row: dict[str, str]) -> bool:
    tokens = Counter({name: count or 0 for name, count in line["tokens"].items()})
    written = sum(tokens[name] for name in tokens if name.startswith("cache_write"))
    classes = (tokens["input"], tokens["output"] + tokens["reasoning"], tokens["cache_read"], written)
    known = any(classes)
    # Their costs are sums of binary fractions: equal to the ninth digit.
    right = abs(Decimal(line["cost_usd"] or 0) - Decimal(row["cost_total"])) < Decimal("0.000000001")
    names = ("input", "output", "cache_read", "cache_write")
    return classes == tuple(int(row[name]) for name in names) and right and known == (line["cost_usd"] is not None)


def langfuse(run: Commands, check: Check) -> None:
    with (run.data / "langfuse" / "generations_expected.csv").open(encoding="utf-8") as file:
        listed = {row["obs_id"]: row["cost_total"] for row in csv.DictReader(file)}
    traces = run.lines("halve inspect 'langfuse/*.trace.json' --json")
    found = {line["source_record"]: line for line in traces if line["kind"] == "request"}
    check(
        "langfuse: generations of the traces are the listed ones",
        (len(found), found.keys() ^ listed.keys()),
        (21, set()),
    )
    differing = {
        (line["model"], line["cost_usd"], listed[name], tuple(line["warnings"]))
        for name, line in found.items()
        if not _near(line["cost_usd"], listed[name])
    }
    right = {("gpt-4o", "0.0001325", "2.5e-05", ("reported_cost_disagrees",))}
    check("langfuse: costs as listed, but for (model, ours, theirs)", differing, right)
    lines = run.lines("halve inspect langfuse --json")
    check("langfuse: generations, twins merged", sum(line["kind"] == "request" for line in lines), 22)
    refused = sorted(Path(line["origin"]["file"]).name for line in lines if line["kind"] == "rejected")
    chatml = sorted(path.name for path in (run.data / "langfuse").glob("*.chatml.json"))
    check("langfuse: chatml rejected by name", refused, chatml)


def _near(ours: str | None, theirs: str) -> bool:
    if ours is None or not theirs:
        return ours is None and not theirs
    return abs(Decimal(ours) - Decimal(theirs)) < Decimal("0.000000001")


def responses(run: Commands, check: Check) -> None:
    calls = [line for line in run.lines("halve inspect provider_responses --json") if line["kind"] == "request"]
    check("provider_responses: bodies read", len(calls), 391)
    check("provider_responses: sums that do not add up", sum("sum_mismatch" in line["warnings"] for line in calls), 0)


def usage_bodies(run: Commands, check: Check) -> None:
    """The bodies as calls of their provider, beside the library's own reading; differences are argued in the tests."""
    sys.path.insert(0, str(ROOT))
    from tests.formats import test_provider_usage as argued

    folder = run.data / "provider_usage"
    with (folder / "own_reading.csv").open(encoding="utf-8") as file:
        own = {row["line"]: row for row in csv.DictReader(file) if row["provider"]}
    given = {line: record for line, record in argued.bodies(folder).items() if line in own}
    with (run.home / "calls.jsonl").open("w", encoding="utf-8") as file:
        for line, record in given.items():
            call = {"id": line, "timestamp": "2025-11-06T12:00:00Z", "provider": own[line]["provider"]}
            body = {name: value for name, value in record["body"].items() if name != "file"}
            file.write(json.dumps({**call, "response": body}) + "\n")
    ours = {line["source_record"]: line for line in run.lines("halve inspect calls.jsonl --json")}
    check("provider_usage: bodies read", (len(ours), ours.keys() ^ given.keys()), (511, set()))
    read_otherwise, priced_otherwise, priced_by_us_alone = set(), set(), set()
    for line, record in given.items():
        flavour = (own[line]["provider"], own[line]["flavour"])
        usage, price = next(
            (reading["usage"], one)
            for reading in record["extracted"]
            for one in reading["extractors"]
            if (one["provider_id"], one["api_flavor"]) == flavour
        )
        tokens, cost = argued.ours(ours[line]["tokens"]), ours[line]["cost_usd"]
        if tokens != {name: usage.get(name, 0) for name in tokens}:
            read_otherwise.add(int(line))
        if own[line]["priced"] == "no":
            priced_by_us_alone |= set() if cost is None else {int(line)}
        elif cost is None or Decimal(cost) != argued.whole(price):
            priced_otherwise.add(int(line))
    check(
        "provider_usage: lines read otherwise are the argued ones", read_otherwise ^ argued.READ_OTHERWISE.keys(), set()
    )
    check(
        "provider_usage: lines priced otherwise are the argued ones",
        (priced_otherwise ^ argued.PRICED_OTHERWISE.keys(), priced_by_us_alone ^ argued.PRICED_BY_US_ALONE),
        (set(), set()),
    )


def azure(run: Commands, check: Check) -> None:
    for name, count, given, answered in (("code", 8_819, 18_059_974, 245_896), ("conv", 19_366, 22_361_870, 4_088_665)):
        made = run.object(f"halve analyze azure_llm_2023/AzureLLMInferenceTrace_{name}.csv {AZURE_MAP} --json")
        found = (made["requests"], made["tokens"]["input"], made["tokens"]["output"])
        check(f"azure_llm_2023/{name}: requests, tokens in and out", found, (count, given, answered))


def traces(run: Commands, check: Check) -> None:
    for ttl, hit in MOONCAKE.items():
        made = run.object(f"halve replay mooncake --ttl {ttl} --json")
        check(f"mooncake at {ttl}: hit blocks of all", (made["hit_blocks"], made["blocks"]), (hit, 121_877))
    with (run.data / "lmcache" / "published_prefix_hit_rates.csv").open(encoding="utf-8") as file:
        published = {row["session8"]: row for row in csv.DictReader(file) if row["published_prefix_hit_pct"]}
    found: dict[str, dict[str, Any]] = {}
    for suite in ("magagent", "taubench"):
        made = run.object(f"halve replay lmcache/{suite} --ttl unlimited --scope session --json")
        found |= {Path(row["name"]).name[:8]: row for row in made["by_scope"]}
    both = found.keys() & published.keys()
    near = [
        name
        for name in both
        if abs(100 * found[name]["hit_rate"] - float(published[name]["published_prefix_hit_pct"])) <= 1.5
    ]
    check("lmcache: sessions within 1.5 points of the published rate", len(near), 37)
    lost = [
        100 * (found[name]["hit_rate"] - found[name]["hash_only_hit_rate"])
        for name in both
        if found[name]["hash_only_hit_rate"] is not None
    ]
    if lost:
        average = sum(lost) / len(lost)
        print(f"      lmcache: the hash-only form finds {average:.1f} points less on average, {max(lost):.1f} at most")


def agents(run: Commands, check: Check) -> None:
    runs = run.lines("halve inspect swe_agent --json")
    found = sorted((one["cost_reported_usd"], one["tokens"]["input"], one["tokens"]["output"]) for one in runs)
    right = [("0.01952", 7141, 243), ("0.53839", 52861, 326), ("1.26719", 122612, 1369)]
    check("swe_agent: dollars as published, tokens in and out", found, right)

    (names,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (run.home / "aider.yml").write_text(names, encoding="utf-8")
    lines = run.lines(f"halve inspect aider/aider_runs.csv {AIDER_MAP} --prices aider.yml --json")
    with (run.data / "aider" / "aider_runs.csv").open(encoding="utf-8") as file:
        published = sorted(Decimal(row["total_cost"] or 0) for row in csv.DictReader(file))
    reported = sorted(Decimal(line["cost_reported_usd"] or 0) for line in lines)
    check(f"aider: dollars of {len(published)} runs as published, ${sum(published)}", reported == published, True)
    priced = [line for line in lines if line["cost_usd"] is not None and line["cost_reported_usd"] is not None]
    near = Decimal("0.0001")  # some are rounded there, some are cut
    same = [one for one in priced if abs(Decimal(one["cost_usd"]) - Decimal(one["cost_reported_usd"])) <= near]
    check("aider: runs that list prices reproduce to the fourth digit", len(same), 6)


def bills(run: Commands, check: Check) -> None:
    name = "openai_usage/openai_usage_completions_cookbook_2025-01.json"
    counts: Counter[str] = Counter()
    for bucket in json.loads((run.data / name).read_text(encoding="utf-8"))["data"]:
        for result in bucket["results"]:
            counts.update({key: value for key, value in result.items() if type(value) is int})
    made = run.object(f"halve analyze {name} --json")
    tokens = made["tokens"]
    found = {
        "input_tokens": tokens["input"] + tokens["cache_read"],
        "input_cached_tokens": tokens["cache_read"],
        "output_tokens": tokens["output"],
        "input_audio_tokens": tokens["input_audio"],
        "output_audio_tokens": tokens["output_audio"],
        "num_model_requests": made["requests"],
    }
    check("openai_usage: counts are those of the file, and no cost", (found, made["cost_usd"]), (dict(counts), None))

    lines = run.lines("halve inspect focus/focus_sample.csv --json")
    sums = tuple(sum(Decimal(line[name] or 0) for line in lines) for name in ("cost", "effective_cost"))
    right = (Decimal("20.520226728990"), Decimal("14.976514185860"))
    check("focus: billed and effective cost", sums, right)
    made = run.object("halve analyze focus/focus_sample.csv --json")
    other = sum(Decimal(row["cost_usd"]) for row in made["other_services"])
    check("focus: all of it other services, no model's cost", (other, made["cost_usd"]), (right[0], None))
