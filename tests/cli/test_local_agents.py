"""`halve analyze --claude-code --codex`: the sessions of this machine by project folder, not counted as paid."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from app.core.errors import UsageError
from ingest.connectors import local_logs
from tests.cli.halve_command import halve
from tests.formats.made_agent_records import codex
from tests.formats.made_answers import CLAUDE

if TYPE_CHECKING:
    from pathlib import Path


def claude_line(project: str) -> str:
    line = {
        "type": "assistant",
        "parentUuid": "p",
        "isSidechain": False,
        "userType": "external",
        "cwd": f"/home/dev/{project}",
        "sessionId": "s",
        "version": "2",
        "uuid": "u",
        "requestId": "req_1",
        "timestamp": "2026-03-02T10:00:00Z",
        "message": {**CLAUDE, "id": "msg_0123456789abcdefghijkl"},
    }
    return json.dumps(line) + "\n"


def rollout() -> str:
    return "".join(json.dumps(line) + "\n" for line in codex(1))


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A home folder with a Claude Code session and a Codex session of which an archived copy exists."""
    sessions = tmp_path / ".codex" / "sessions" / "2026" / "03" / "02"
    for folder in (sessions, tmp_path / ".codex" / "archived_sessions"):
        folder.mkdir(parents=True)
        (folder / "rollout-1.jsonl").write_text(rollout(), encoding="utf-8")
    projects = tmp_path / ".claude" / "projects" / "shop"
    projects.mkdir(parents=True)
    (projects / "s.jsonl").write_text(claude_line("shop"), encoding="utf-8")
    return tmp_path


def test_both_agents_are_read_at_once_and_copies_count_once(machine: Path) -> None:
    answer = halve(machine / "data", "analyze", "--claude-code", "--codex", "--json", HOME=str(machine))
    assert answer.code == 0, answer
    made = answer.json
    assert (made["requests"], made["basis"], made["paid_usd"]) == (4, "list-price value", "0")
    assert {row["name"] for row in made["by_feature"]} == {"shop", "x"}


def test_the_text_says_that_it_is_not_known_how_the_tokens_are_billed(machine: Path) -> None:
    answer = halve(machine / "data", "analyze", "--codex", HOME=str(machine))
    assert "List-price value: Halve was not told how these tokens are billed." in answer.out
    assert "halve sources billing NAME" in answer.out


def test_a_machine_without_sessions_is_told_where_was_looked(tmp_path: Path) -> None:
    answer = halve(tmp_path / "data", "analyze", "--codex", HOME=str(tmp_path))
    assert answer.code == 2
    assert "No Codex sessions found" in answer.err
    assert ".codex/sessions" in answer.err


def test_the_homes_that_the_agents_were_given_are_followed(tmp_path: Path) -> None:
    for name in ("a/projects", "b/projects", "codex/sessions"):
        (tmp_path / name).mkdir(parents=True)
    given = {"CLAUDE_CONFIG_DIR": f"{tmp_path}/a, {tmp_path}/b", "CODEX_HOME": f"{tmp_path}/codex"}
    assert local_logs.claude_code(given) == [f"{tmp_path}/a/projects", f"{tmp_path}/b/projects"]
    assert local_logs.codex(given) == [f"{tmp_path}/codex/sessions"]
    with pytest.raises(UsageError, match="Name the folder as PATH"):
        local_logs.codex({"CODEX_HOME": f"{tmp_path}/nowhere"})
