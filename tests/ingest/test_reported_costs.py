"""When the cost that a log reports is flagged: further from ours than 1 % and $0.000001, at the very edge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.halve_command import inside

if TYPE_CHECKING:
    from pathlib import Path

PRICES = "rates:\n  - {provider: made, model: made-1, input: 1, output: 1}\n"


@pytest.mark.parametrize(
    ("tokens", "reported", "flagged"),
    [
        (1_000_000, "1", False),
        (1_000_000, "1.01", False),  # exactly 1 % off
        (1_000_000, "0.99", False),
        (1_000_000, "1.010001", True),
        (1_000_000, "0.989999", True),
        (1_000_000, "0", True),
        (1, "0.000002", False),  # twice ours, but no more than $0.000001 away
        (1, "0.0000021", True),
        (1, "0", False),
    ],
)
def test_a_reported_cost_is_flagged_beyond_one_percent_and_a_millionth(
    tmp_path: Path, tokens: int, reported: str, flagged: bool
) -> None:
    prices, log = tmp_path / "prices.yml", tmp_path / "log.jsonl"
    prices.write_text(PRICES, encoding="utf-8")
    call = {"timestamp": "2026-11-10T10:00:00Z", "provider": "made", "model": "made-1", "input_tokens": tokens}
    log.write_text(json.dumps({**call, "output_tokens": 0, "cost_usd": reported}), encoding="utf-8")
    (line,) = inside(tmp_path / "data", "inspect", log, "--prices", prices, "--json").lines
    assert ("reported_cost_disagrees" in line["warnings"]) == flagged
    assert line["cost_usd"] == ("1" if tokens > 1 else "0.000001"), "a report never takes the place of our figure"
