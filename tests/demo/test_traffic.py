"""The made month: the same bytes for the same seed, the shape that was asked for, and usage that adds up."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.core.errors import UsageError
from app.demo.__main__ import main
from app.demo.generate import FLAWS, NAMES, Manifest, generate

LAST = date(2026, 11, 29)
REQUESTS = 6_000
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return generate(tmp_path_factory.mktemp("month"), seed=3, requests=REQUESTS, last_day=LAST)


@pytest.fixture(scope="module")
def records(month: Manifest) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for file in sorted(Path(month.logs).rglob("*.jsonl")):
        found[file.parent.name] += [json.loads(line) for line in file.read_bytes().splitlines()]
    return found


def _digest(logs: str) -> str:
    total = hashlib.sha256()
    for file in sorted(Path(logs).rglob("*.jsonl")):
        total.update(file.relative_to(logs).as_posix().encode() + file.read_bytes())
    return total.hexdigest()


def _usage(record: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = (
        record["response"].get("usage", {}) if "request" in record else _metadata(record)["usage_object"]
    )
    return found


def _metadata(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row["metadata"])
    return found


def _start(record: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(record.get("timestamp") or record["startTime"])


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(tmp_path: Path) -> None:
    made = [
        generate(tmp_path / name, seed=seed, days=5, requests=1_500, last_day=LAST)
        for name, seed in (("first", 1), ("again", 1), ("other", 2))
    ]
    assert _digest(made[0].logs) == _digest(made[1].logs)
    assert _digest(made[0].logs) != _digest(made[2].logs)


def test_the_bytes_depend_on_no_process(tmp_path: Path) -> None:
    made = generate(tmp_path / "here", seed=4, days=2, requests=800, last_day=LAST)
    for hash_seed in ("1", "2"):
        out = tmp_path / hash_seed
        arguments = f"--out {out} --seed 4 --days 2 --requests 800 --last-day {LAST}".split()
        said = subprocess.run(
            [sys.executable, "-m", "app.demo", *arguments],
            check=True, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": hash_seed},
        ).stdout  # fmt: skip
        assert f"{made.lines} lines" in said
        assert _digest(str(out / "logs")) == _digest(made.logs)


def test_the_command_names_a_wrong_flaw_and_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--out", str(tmp_path), "--flaws", "laziness"]) == 2
    assert "No such flaw: laziness" in capsys.readouterr().err


def test_a_second_run_replaces_the_logs_of_the_first(tmp_path: Path) -> None:
    generate(tmp_path, days=5, requests=900, last_day=LAST)
    short = generate(tmp_path, days=2, requests=300, last_day=LAST)
    lines = sum(len(file.read_text().splitlines()) for file in Path(short.logs).rglob("*.jsonl"))
    assert lines == short.lines


def test_every_feature_is_there_with_the_number_of_requests_that_was_asked_for(month: Manifest) -> None:
    assert set(month.lines_by_workload) == NAMES
    assert len(NAMES) >= 8
    assert sum(month.lines_by_workload.values()) == month.lines
    # Retries of the worker come on top, a session of the agent is never cut in half.
    assert REQUESTS <= month.lines <= 1.1 * REQUESTS


def test_the_manifest_stands_beside_the_logs_and_counts_them(month: Manifest) -> None:
    logs = Path(month.logs)
    manifest = json.loads((logs.parent / "manifest.json").read_text())
    files = list(logs.rglob("*"))
    lines = sum(len(file.read_text().splitlines()) for file in files if file.is_file())
    assert manifest["lines"] == lines == month.lines
    assert manifest["bytes"] == sum(file.stat().st_size for file in files if file.is_file())
    assert all(file.suffix == ".jsonl" for file in files if file.is_file())


def test_every_day_of_the_span_has_traffic_and_no_other_day(records: dict[str, list[dict[str, Any]]]) -> None:
    days = {_start(record).astimezone(BERLIN).date() for rows in records.values() for record in rows}
    assert days == {LAST - timedelta(days=n) for n in range(30)}


def test_lines_stand_in_the_file_of_their_day_in_the_order_of_their_start(month: Manifest) -> None:
    for file in Path(month.logs).rglob("*.jsonl"):
        starts = [_start(json.loads(line)).astimezone(UTC) for line in file.read_bytes().splitlines()]
        assert starts == sorted(starts)
        assert {start.date().isoformat() for start in starts} == {file.stem}


def test_by_default_the_month_ends_with_the_last_full_day(tmp_path: Path) -> None:
    before = datetime.now(BERLIN).date()
    made = generate(tmp_path, days=2, requests=50)
    ends = {day - timedelta(days=1) for day in (before, datetime.now(BERLIN).date())}
    assert date.fromisoformat(made.first_day) + timedelta(days=1) in ends


def test_people_rest_at_night_and_at_the_weekend_and_jobs_do_not(records: dict[str, list[dict[str, Any]]]) -> None:
    office: Counter[bool] = Counter()
    nightly: Counter[int] = Counter()
    for record in records["openai"] + records["anthropic"]:
        local, feature = _start(record).astimezone(BERLIN), record.get("metadata", {}).get("feature")
        if feature == "invoice-extract":
            office[local.weekday() < 5 and 6 <= local.hour < 21] += 1
        if feature == "ticket-classify":
            nightly[local.hour] += 1
    assert office[True] > 20 * office[False]
    assert set(nightly) == {2}


def test_chat_usage_adds_up(records: dict[str, list[dict[str, Any]]]) -> None:
    usages = [usage for folder in ("openai", "litellm") for record in records[folder] if (usage := _usage(record))]
    assert len(usages) > 0.5 * REQUESTS
    for usage in usages:
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
        assert 0 <= usage["prompt_tokens_details"]["cached_tokens"] <= usage["prompt_tokens"]
        assert 0 <= usage["completion_tokens_details"]["reasoning_tokens"] <= usage["completion_tokens"]


def test_cached_tokens_of_automatic_caches_come_in_steps_and_only_on_long_prompts(
    records: dict[str, list[dict[str, Any]]],
) -> None:
    cached = [(_usage(record)["prompt_tokens_details"]["cached_tokens"], _usage(record)["prompt_tokens"])
              for record in records["openai"] if _usage(record)]  # fmt: skip
    hits = [(read, prompt) for read, prompt in cached if read]
    assert hits
    assert all(read % 128 == 0 and 1024 <= read <= prompt for read, prompt in hits)


def test_a_refused_call_has_an_error_and_no_usage(records: dict[str, list[dict[str, Any]]]) -> None:
    refused = [record for record in records["openai"] if record["status"] != 200]
    assert refused
    assert all(set(record["response"]) == {"error"} for record in refused)


def test_one_workload_tells_nobody_who_it_is(records: dict[str, list[dict[str, Any]]]) -> None:
    silent = [record for record in records["openai"] if "metadata" not in record]
    assert len(silent) > 100
    assert all(not {"user", "api_key_id", "api_key_alias", "session_id"} & set(record) for record in silent)


def test_one_model_is_in_no_price_list(records: dict[str, list[dict[str, Any]]]) -> None:
    own = [record for record in records["litellm"] if record["model"] == "harbourline-summary-7b"]
    assert 0 < len(own) < 0.01 * REQUESTS
    assert all(record["spend"] == 0.0 and record["total_tokens"] > 0 for record in own)


def test_response_ids_are_never_used_twice(records: dict[str, list[dict[str, Any]]]) -> None:
    ids = [record.get("request_id") or record["response"].get("id") for rows in records.values() for record in rows]
    known = [one for one in ids if one]
    assert len(known) == len(set(known))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"flaws": frozenset({"moderation"})}, "No such flaw: moderation"),
        ({"only": frozenset({"support"})}, "No such workload: support"),
        ({"days": 0}, "at least one day"),
    ],
)
def test_a_wrong_wish_is_named(tmp_path: Path, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        generate(tmp_path, **arguments)
    assert not list(tmp_path.iterdir())


def test_flaws_are_on_unless_somebody_switches_them_off(month: Manifest, tmp_path: Path) -> None:
    assert set(month.flaws) == FLAWS
    assert generate(tmp_path, days=1, requests=50, flaws=frozenset()).flaws == ()
