"""Killed at random moments against cruel servers, every item is there once, charged once, and nothing is stuck."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from soak_batch import soak


@pytest.mark.soak
@pytest.mark.parametrize("phase", ["submission", "settling"])
def test_kill_minus_nine_loses_nothing_and_pays_nothing_twice(phase: str, tmp_path: Path) -> None:
    kills = 30 if os.environ.get("HALVE_SOAK") == "full" else 5
    report = soak(kills=kills, seed=11, phase=phase, folder=tmp_path)
    assert report["problems"] == []
    assert report["kills"] == kills
