"""Exports of Langfuse with one observation a line: a generation above others that repeats theirs is counted once."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store

TRACE = "9f3a8e7d6c5b4a392817060504030201"


def observation(name: str, kind: str, above: str | None, prompt: int = 0, answer: int = 0) -> dict[str, Any]:
    usage = {"input": prompt, "output": answer, "total": prompt + answer} if prompt else {}
    return {
        "id": name,
        "trace_id": TRACE,
        "project_id": "p",
        "type": kind,
        "parent_observation_id": above,
        "start_time": "2026-03-02T10:00:00.000Z",
        "end_time": "2026-03-02T10:00:03.000Z",
        "provided_model_name": "gpt-4o" if kind == "GENERATION" else None,
        "usage_details": usage,
    }


AGENT = observation("agent", "GENERATION", None, 300, 30)
STEP = observation("step", "SPAN", "agent")
FIRST, SECOND = (
    observation("first", "GENERATION", "step", 100, 10),
    observation("second", "GENERATION", "step", 200, 20),
)
ROWS = (AGENT, STEP, FIRST, SECOND)


def counted(store: Store) -> list[tuple[Any, ...]]:
    return store.rows("SELECT source_record, tok_input FROM requests ORDER BY source_record")


@pytest.mark.parametrize("order", list(itertools.permutations(ROWS)), ids=lambda rows: "-".join(r["id"] for r in rows))
def test_in_any_order_of_lines(store: Store, tmp_path: Path, order: tuple[dict[str, Any], ...]) -> None:
    log = tmp_path / "observations.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in order))
    store.ingest(log)
    assert counted(store) == [("first", 100), ("second", 200)]


def test_over_several_exports_under_a_name_of_ones_own(store: Store, tmp_path: Path) -> None:
    for number, rows in enumerate(([AGENT], [STEP, FIRST], [SECOND], [AGENT, SECOND])):
        log = tmp_path / f"{number}.jsonl"
        log.write_text("".join(json.dumps(row) + "\n" for row in rows))
        store.ingest(log, source="our-langfuse")
    assert counted(store) == [("first", 100), ("second", 200)]


def test_a_generation_with_counters_of_its_own_stays(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "observations.jsonl"
    own = observation("agent", "GENERATION", None, 7, 3)
    log.write_text("".join(json.dumps(row) + "\n" for row in (own, STEP, FIRST, SECOND)))
    store.ingest(log)
    assert counted(store) == [("agent", 7), ("first", 100), ("second", 200)]
