"""`halve batch …` as somebody at a terminal uses it, with the demo provider and with a peer."""

from __future__ import annotations

import json

import duckdb
import pytest
from click.testing import CliRunner
from world import chats

from app.cli import main


@pytest.fixture
def halve(tmp_path, monkeypatch):
    monkeypatch.setenv("HALVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HALVE_ALLOW_HOSTS", "127.0.0.1")

    def run(*arguments, code=0):
        found = CliRunner().invoke(main, ["batch", *arguments])
        assert found.exit_code == code, found.output
        return found.output

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "night.jsonl"
    path.write_bytes(b"\n".join(chats(3)))
    return str(path)


def test_a_file_becomes_results_in_its_own_order(halve, file, tmp_path, monkeypatch):
    monkeypatch.setattr("app.batch.providers.demo.WORKS_US", 0)
    job = json.loads(halve("submit", file, "--provider", "demo", "--feature", "nightly", "--json"))
    assert (job["status"], job["submitted"], job["label"]) == ("queued", 3, "night.jsonl")
    out = tmp_path / "out.jsonl"
    assert halve("results", job["id"], "--wait", "--output", str(out)) == ""
    assert [json.loads(line)["custom_id"] for line in out.read_text().splitlines()] == ["row-1", "row-2", "row-3"]
    assert halve("results", job["id"]) == out.read_text()
    assert [job["id"], "demo", "completed", "3", "3", "0", "0"] in [line.split() for line in halve("list").splitlines()]
    assert "3 succeeded" in halve("show", job["id"])


def test_made_up_answers_are_never_counted_as_paid(halve, file, tmp_path, monkeypatch):
    monkeypatch.setattr("app.batch.providers.demo.WORKS_US", 0)
    job = json.loads(halve("submit", file, "--provider", "demo", "--json"))
    halve("results", job["id"], "--wait", "--output", str(tmp_path / "out.jsonl"))
    with duckdb.connect(str(tmp_path / "data" / "warehouse.duckdb"), read_only=True) as store:
        assert store.execute("SELECT source, billing FROM sources").fetchall() == [("batch-demo", "free")]
        assert store.execute("SELECT count(*), count(cost_pusd) FROM requests").fetchall() == [(3, 3)]


def test_a_real_sdk_is_behind_the_command(halve, file, openai, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-mine")
    openai.clock = lambda: 1_790_000_000.0
    job = json.loads(
        halve("submit", file, "--provider", "openai", "--base-url", openai.url, "--key", "env:MY_KEY", "--json")
    )
    halve("advance")
    assert [len(openai.rows(one["input_file_id"])) for one in openai.batches.values()] == [3]
    assert openai.keys == {"sk-mine"}
    assert json.loads(halve("show", job["id"], "--json"))["status"] == "submitted"


def test_a_job_for_tonight_waits_and_can_be_cancelled(halve, file):
    told = halve("submit", file, "--provider", "demo", "--at", "02:00", "--zone", "Europe/Berlin", "--json")
    job = json.loads(told)
    assert (job["status"], job["zone"]) == ("scheduled", "Europe/Berlin")
    halve("advance")
    assert json.loads(halve("show", job["id"], "--json"))["status"] == "scheduled"
    halve("cancel", job["id"])
    halve("advance")
    assert json.loads(halve("show", job["id"], "--json"))["outcome"] == "cancelled"


def test_what_is_wrong_is_said_with_the_right_exit_code(halve, file, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "OPENAI_API_KEY" in halve("submit", file, "--provider", "openai", code=2)
    assert "no batch provider" in halve("submit", file, "--provider", "nobody", code=2)
    assert "at the latest" in halve("submit", file, "--provider", "demo", "--needed-by", "02:00", code=2)
    assert "no time" in halve("submit", file, "--provider", "demo", "--at", "late", code=2)
    bad = tmp_path / "bad.jsonl"
    bad.write_text("not json\n")
    assert "line 1: invalid JSON" in halve("submit", str(bad), "--provider", "demo", code=1)
    assert "No batch job" in halve("show", "batch_none", code=1)
    job = json.loads(halve("submit", file, "--provider", "demo", "--json"))
    assert "not complete yet" in halve("results", job["id"], code=1)


def test_a_small_estimate_keeps_its_digits(halve, file):
    job = json.loads(halve("submit", file, "--provider", "demo", "--json"))
    said = halve("show", job["id"])
    assert "estimate: prompts $0.0" in said
    assert "$0.0000 " not in said
    assert "$0.0000)" not in said


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "our-own-model"])
def test_an_estimate_that_is_unknown_says_why(halve, tmp_path, monkeypatch, model):
    monkeypatch.setenv("MY_KEY", "sk-mine")
    path = tmp_path / "own.jsonl"
    rows = [json.loads(row) for row in chats(3)]
    path.write_text("".join(json.dumps({**row, "body": {**row["body"], "model": model}}) + "\n" for row in rows))
    said = halve("submit", str(path), "--provider", "openai", "--key", "env:MY_KEY")
    assert f"estimate: unknown, because the price book has no batch rate of openai for {model}" in said
    assert "--provider are right" in said
    assert "unknown and unknown" not in said
