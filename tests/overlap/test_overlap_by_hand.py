"""Real logs of two tools about the same calls: found, shown on Sources, decided by page and by command."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from dashboard_company import ZONE, company
from starlette.testclient import TestClient

from app.cli import main
from app.main import overlaps, store
from app.main.runtime import opened
from app.settings import Settings
from app.web.format import key_text
from app.web.server import create_app

if TYPE_CHECKING:
    from pathlib import Path

CALLS = 40


def own_log(name: str, folder: Path, *, late_s: int, first: int = 0) -> str:
    """The documented generic layout, under ids of its own."""
    path = folder / f"{name}.jsonl"
    rows = [
        {
            "id": f"{name}-{number}",
            "timestamp": f"2026-03-02T10:{number:02}:{10 + late_s:02}Z",
            "provider": "openai",
            "model": "gpt-4o",
            "input_tokens": 1000 + 17 * number,
            "output_tokens": 50 + number,
        }
        for number in range(first, CALLS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HALVE_DATA_DIR", str(tmp_path / "data"))
    made = Settings(data_dir=tmp_path / "data")
    for name, late_s, first in (("gateway", 0, 0), ("traces", 1, 10)):
        run = CliRunner().invoke(
            main, ["ingest", own_log(name, tmp_path, late_s=late_s, first=first), "--source", name]
        )
        assert run.exit_code == 0, run.output
    return made


def count(settings: Settings) -> int:
    with opened(settings) as runtime, runtime.warehouse.session() as session:
        return int(session.connection.execute("SELECT sum(requests) FROM spend_hour").fetchall()[0][0])


def test_logs_of_two_tools_about_the_same_calls_count_once_and_a_command_names_the_primary(
    settings: Settings,
) -> None:
    assert count(settings) == CALLS
    run = CliRunner().invoke(main, ["sources", "primary", "traces"])
    assert (run.exit_code, run.output) == (
        0, "traces counts. Calls that gateway tells of too are in no sum a second time.\n",
    )  # fmt: skip
    assert count(settings) == CALLS
    run = CliRunner().invoke(main, ["sources", "separate", "traces", "gateway"])
    assert (run.exit_code, run.output) == (0, "traces and gateway both count.\n")
    assert count(settings) == 2 * CALLS - 10


def test_all_sources_that_tell_of_the_calls_of_the_one_that_counts_are_named(
    settings: Settings, tmp_path: Path
) -> None:
    path = own_log("app", tmp_path, late_s=2, first=10)
    assert CliRunner().invoke(main, ["ingest", path, "--source", "app"]).exit_code == 0
    run = CliRunner().invoke(main, ["sources", "primary", "gateway"])
    assert run.output == "gateway counts. Calls that app and traces tell of too are in no sum a second time.\n"


def test_sources_that_nobody_configured_are_listed_by_the_names_that_commands_take(settings: Settings) -> None:
    rows = json.loads(CliRunner().invoke(main, ["sources", "list", "--json"]).output)
    assert [(row["name"], row["kind"]) for row in rows] == [("gateway", "read"), ("traces", "read")]
    assert sum(row["records"] for row in rows) == 2 * CALLS - 10
    assert all(row["last_run_us"] for row in rows)
    text = CliRunner().invoke(main, ["sources", "list"]).output
    assert [line.split()[:2] for line in text.splitlines()[-2:]] == [["gateway", "read"], ["traces", "read"]]
    for row in rows:
        assert CliRunner().invoke(main, ["sources", "billing", row["name"], "api"]).exit_code == 0


def test_a_name_that_shares_no_calls_is_refused_in_words(settings: Settings) -> None:
    run = CliRunner().invoke(main, ["sources", "primary", "nobody"])
    assert run.exit_code == 1
    assert "No other source was found to tell of the calls of 'nobody'" in run.output
    run = CliRunner().invoke(main, ["sources", "separate", "gateway", "nobody"])
    assert run.exit_code == 1
    assert "were not found to tell of the same calls" in run.output


def test_doctor_agrees_with_what_is_held_out(settings: Settings) -> None:
    assert [check for check in store.doctor(settings) if not check["ok"] and "roll" in check["name"]] == []


def test_sources_says_so_and_its_form_decides(settings: Settings, tmp_path: Path) -> None:
    made = company([], no_access_control=True)
    with opened(settings) as runtime:
        commands = replace(
            made.deps.commands,
            decide_overlap=lambda one, other, counted: overlaps.decide(runtime, one, other, counted),
        )
        deps = replace(made.deps, warehouse=runtime.warehouse, control=runtime.control, commands=commands, zone=ZONE)
        with TestClient(create_app(deps), base_url="http://127.0.0.1") as reader:

            def rows() -> list[dict[str, Any]]:
                return reader.get("/sources.json?table=overlaps").json()["rows"]

            page = reader.get("/sources").text
            assert "100% of the calls of traces are in gateway too" in page
            assert "Until you say which one counts, traces (30 requests, $" in page
            assert re.search(r'Told twice, in no sum</b> <a href="/sources">30 requests</a>', reader.get("/").text)
            [row] = rows()
            assert (row["twins"], row["counts"], row["held_out"]) == (30, "gateway", 30)
            with runtime.warehouse.session() as session:
                [key] = session.connection.execute("SELECT min(request_key) FROM held_out").fetchall()[0]
            request = reader.get(f"/requests/{key_text(key)}")
            assert request.status_code == 200
            assert "This request is in no sum, because gateway tells of the same calls." in request.text

            def answer(**given: str) -> Any:
                form = {"one": "gateway", "other": "traces"} | given
                return reader.post("/sources/overlap", data=form, headers={"origin": "http://127.0.0.1"})

            assert answer(counted="").status_code == 400
            assert answer(counted="somebody").status_code == 404
            said = answer(counted="traces")
            assert "traces counts, as you said" in said.text
            assert "Told twice, in no sum" not in said.text
            assert [row["counts"] for row in rows()] == ["traces"]
            assert "Both count, as you said" in answer(counted="both").text
            assert [row["held_out"] for row in rows()] == [0]


def test_analyze_counts_such_calls_once_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALVE_DATA_DIR", str(tmp_path / "data"))
    observations = [
        {
            "id": f"trace-{number}",
            "name": "chat",
            "type": "GENERATION",
            "startTime": f"2026-03-02T10:{number:02}:10.500Z",
            "model": "gpt-4o",
            "usageDetails": {"input": 1000 + 17 * number, "output": 50 + number},
        }
        for number in range(CALLS)
    ]
    traces = tmp_path / "traces.jsonl"
    traces.write_text("".join(json.dumps(row) + "\n" for row in observations))
    logs = own_log("gateway", tmp_path, late_s=0)
    run = CliRunner().invoke(main, ["analyze", logs, str(traces), "--json"])
    assert run.exit_code == 0, run.output
    document = json.loads(run.output)
    assert document["requests"] == CALLS
    [held] = document["held_out"]
    assert held["requests"] == CALLS
    assert held["cost_usd"] == document["cost_usd"]
    shown = CliRunner().invoke(main, ["analyze", logs, str(traces)]).output
    assert f"In no sum: {CALLS} requests of {held['source']}" in " ".join(shown.split())
