"""The reported cases about reports and alerts: each is driven by a named test, or waits with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from failure_cases import load

TESTS = Path(__file__).resolve().parents[1]
WAITING: dict[str, str] = {}


@pytest.mark.data
def test_every_case_about_reports_has_a_test_or_a_reason() -> None:
    named = {
        key
        for path in TESTS.rglob("test_*.py")
        if path != Path(__file__)
        for key in load("e")
        if key in path.read_text()
    }
    assert load("e")
    assert named | WAITING.keys() == load("e").keys()
    assert not named & WAITING.keys(), "a case that has its test waits no longer"
