"""Killed at random moments and resumed, an ingest ends as an undisturbed one does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from soak_ingest import soak


@pytest.mark.soak
def test_kill_minus_nine_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    full = os.environ.get("HALVE_SOAK") == "full"
    report = soak(kills=50 if full else 5, seed=5, calls=12_000 if full else 6_000, folder=tmp_path)
    assert report["differences"] == {}
    assert report["kills"] == (50 if full else 5)
