"""Logs of coding agents through the pipeline: files that grow, copies, forks, and shapes that are no calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ingest.quarantine import quarantined
from tests.formats.made_agent_records import codex

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store

TOTALS = "SELECT count(*), sum(tok_input + tok_cache_read), sum(tok_output + tok_reasoning) FROM requests"


def text(lines: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_a_session_that_grows_is_read_whole_again_and_counted_once(store: Store, tmp_path: Path) -> None:
    log, lines = tmp_path / "rollout.jsonl", codex(1)
    for upto in range(1, len(lines) + 1):
        log.write_text(text(lines[:upto]))
        store.ingest(log)
    assert store.rows(TOTALS) == [(3, 3000, 270)]
    assert store.rows("SELECT DISTINCT session_id, model FROM requests") == [(lines[0]["payload"]["id"], "gpt-5")]


def test_a_line_that_is_still_written_waits_for_its_end(store: Store, tmp_path: Path) -> None:
    log, whole = tmp_path / "rollout.jsonl", text(codex(1))
    log.write_text(whole[:-40])
    store.ingest(log, growing=True)
    assert store.rows(TOTALS) == [(2, 2000, 180)]
    log.write_text(whole)
    store.ingest(log, growing=True)
    assert store.rows(TOTALS) == [(3, 3000, 270)]
    assert quarantined(store.warehouse) == []


def test_forks_and_copies_count_once_in_any_order_of_files(store: Store, tmp_path: Path) -> None:
    parent = codex(1)
    child = [
        {"timestamp": "2026-03-03T08:00:00Z", "type": "session_meta",
         "payload": {"id": "019c6000-0000-7000-8000-000000000002", "timestamp": "2026-03-03T08:00:00Z", "cwd": "/x",
                     "forked_from_id": parent[0]["payload"]["id"]}},
        *({**line, "timestamp": "2026-03-03T08:00:00.100Z"} for line in parent),
        {"timestamp": "2026-03-03T08:00:09Z", "type": "turn_context", "payload": {"model": "gpt-5", "cwd": "/x"}},
        {"timestamp": "2026-03-03T08:00:19Z", "type": "event_msg", "payload": {"type": "token_count", "info": {
            "total_token_usage": {"input_tokens": 3500, "cached_input_tokens": 1200, "output_tokens": 290,
                                  "reasoning_output_tokens": 30, "total_tokens": 3790},
            "last_token_usage": {"input_tokens": 500, "cached_input_tokens": 0, "output_tokens": 20,
                                 "reasoning_output_tokens": 0, "total_tokens": 520}}}},
    ]  # fmt: skip
    for name, lines in (("b-child", child), ("c-parent", parent), ("d-copy", parent)):
        (tmp_path / f"{name}.jsonl").write_text(text(lines))
        store.ingest(tmp_path / f"{name}.jsonl")
    assert store.rows(TOTALS) == [(4, 3500, 290)]


@pytest.mark.data
def test_every_line_of_odd_sessions_is_a_call_no_call_or_named(store: Store, data_dir: Path) -> None:
    folder = data_dir / "claude_code" / "edge_cases"
    summary = store.ingest(folder)
    lines = sum(bool(line.strip()) for path in folder.glob("*.jsonl") for line in path.read_text().splitlines())
    assert summary.read == lines
    assert [(place.line, place.reason) for place in quarantined(store.warehouse)] == [
        (13, "no Claude Code line: not a JSON object"),
        (14, "no Claude Code line: it has no type"),
        (15, "no Claude Code line: not a JSON object"),
        (16, "no Claude Code line: not a JSON object"),
    ]
