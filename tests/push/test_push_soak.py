"""Killed again and again, the service keeps what it acknowledged and doubles nothing of what is sent again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from soak_push import soak


@pytest.mark.soak
def test_every_span_of_an_answered_export_is_stored_exactly_once(tmp_path: Path) -> None:
    full = os.environ.get("HALVE_SOAK") == "full"
    kills, spans = (10, 10_000) if full else (5, 2_000)
    report = soak(kills=kills, spans=spans, seed=7, folder=tmp_path)
    assert report["kills"] == kills
    assert report["stored"] == report["distinct"] == spans
    assert report["tokens"] == report["tokens_sent"]
