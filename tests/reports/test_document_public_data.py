"""What the documents of public logs must say, to the last digit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app import settings
from app.main import offline
from reports.analysis import document

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.data


def test_agent_sessions_with_cache_writes_of_two_lifetimes(data_dir: Path) -> None:
    made = document(offline.analyze([str(data_dir / "claude_code")], settings.load({}), exclude=["edge_cases/**"]))
    assert (made["requests"], made["cost_usd"], made["paid_usd"]) == (169, "11.00438155", "0")
    assert made["basis"] == "list-price value"
    known = {name: value for name, value in made["tokens"].items() if value is not None}
    assert known == {
        "input": 1866, "cache_read": 12_914_585, "cache_write_5m": 559_475, "cache_write_1h": 57_373, "output": 30_710,
    }  # fmt: skip
    assert {row["name"] for row in made["by_feature"]} == {"spotter", "spotter-dov"}


def test_aborted_calls_without_usage_are_unknown_and_not_free(data_dir: Path) -> None:
    made = document(offline.analyze([str(data_dir / "pi_sessions")], settings.load({})))
    assert (made["requests"], made["cost_usd"]) == (453, "30.3301977")
    assert made["unpriced"]["requests"] == 14
    assert {item["cost_state"] for item in made["unpriced"]["details"]} == {"unknown"}
