"""`halve budgets`, with and without a running service."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from app.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def halve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("HALVE_DATA_DIR", str(tmp_path / "data"))
    return CliRunner()


def test_a_budget_is_set_listed_and_removed(halve: CliRunner) -> None:
    made = halve.invoke(
        main,
        ["budgets", "add", "Chat", "--amount", "1200.5", "--begins", "31", "--scope", "feature=chat", "--at", "80 95"],
    )
    assert (made.exit_code, made.output.split(".")[0]) == (0, "Chat is set")
    listed = halve.invoke(main, ["budgets", "list", "--json"])
    [row] = json.loads(listed.output)
    assert (row["name"], row["amount_usd"], row["begins"], row["thresholds"]) == (
        "Chat",
        "1200.5",
        "day 31",
        ["80", "95"],
    )
    assert (row["spent_usd"], row["requests"], row["forecast"]) == (None, 0, None), "no log says that nothing was spent"
    shown = halve.invoke(main, ["budgets", "list"]).output
    assert "feature chat" in shown
    assert "n/a" in shown
    assert halve.invoke(main, ["budgets", "remove", "Chat"]).output == "Chat is removed.\n"
    assert "No budgets yet." in halve.invoke(main, ["budgets", "list"]).output


def test_wrong_calls_say_what_is_wrong(halve: CliRunner) -> None:
    wrong = halve.invoke(main, ["budgets", "add", "Chat", "--amount", "lots"])
    assert wrong.exit_code == 2
    assert "'lots' is no amount" in wrong.output
    assert halve.invoke(main, ["budgets", "remove", "Chat"]).exit_code == 1
    halve.invoke(main, ["budgets", "add", "Chat", "--amount", "1"])
    again = halve.invoke(main, ["budgets", "add", "Chat", "--amount", "1"])
    assert again.exit_code == 1
    assert "stands already" in again.output
