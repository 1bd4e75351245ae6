"""Prices that change and history that is priced anew under kills: no call is lost, doubled or wrongly priced."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from soak_reprice import soak


@pytest.mark.soak
def test_killed_re_pricings_leave_one_right_price_a_call_and_the_history_as_it_was(tmp_path: Path) -> None:
    full = os.environ.get("HALVE_SOAK") == "full"
    kills, calls = (30, 30_000) if full else (3, 3_000)
    report = soak(kills=kills, calls=calls, seed=7, folder=tmp_path)
    assert report["kills"] == kills
    assert report["sent"] > calls
    assert report["looks"] > 0, "the figures of a version were kept on the way"
    for name in ("lost", "doubled", "wrongly_priced", "images_twice", "versions_without_an_end"):
        assert report[name] == 0, name
    assert (report["rewritten_figures"], report["rollups_apart"]) == (0, 0)
