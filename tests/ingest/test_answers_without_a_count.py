"""An answer whose tokens nobody counted is of unknown cost: its prompt alone would be a wrong one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.halve_command import inside

if TYPE_CHECKING:
    from pathlib import Path


def chat(usage: dict[str, Any], finish: str | None = "stop") -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": "some words"}}
    record = {"id": "chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012", "object": "chat.completion", "created": 1_782_864_000}
    return {**record, "model": "gpt-4o-2024-08-06", "choices": [choice], "usage": usage}


def message(usage: dict[str, Any]) -> dict[str, Any]:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "some words"}]}
    record = {"id": "msg_01AbCdEfGhIjKlMnOpQrStUv", "model": "claude-sonnet-4-5-20250929", "stop_reason": "end_turn"}
    return {**answer, **record, "usage": usage, "timestamp": "2026-07-01T00:00:00Z"}


EMBEDDING = {
    "object": "list",
    "model": "text-embedding-3-small",
    "created": 1_782_864_000,
    "data": [{"object": "embedding", "index": 0, "embedding": [0.1]}],
    "usage": {"prompt_tokens": 1000, "total_tokens": 1000},
}


@pytest.mark.parametrize(
    ("record", "state", "cost"),
    [
        (chat({"prompt_tokens": 1000}), "unknown", None),
        (chat({"prompt_tokens": 1000, "completion_tokens": None, "total_tokens": 1400}), "unknown", None),
        (chat({"prompt_tokens": 1000, "completion_tokens": 0, "total_tokens": 1000}), "priced", "0.0025"),
        (chat({"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}), "priced", "0.0035"),
        (message({"input_tokens": 1000}), "unknown", None),
        (message({"input_tokens": 1000, "output_tokens": 10}), "priced", "0.00315"),
        (EMBEDDING, "priced", "0.00002"),
    ],
    ids=["chat", "chat null", "chat zero", "chat whole", "message", "message whole", "embedding"],
)
def test_an_answer_without_a_count_has_no_cost(
    tmp_path: Path, record: dict[str, Any], state: str, cost: str | None
) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps(record) + "\n")
    answer = inside(tmp_path / "data", "inspect", tmp_path / "log.jsonl", "--json")
    (line,) = map(json.loads, answer.out.splitlines())
    assert (line["cost_state"], line["cost_usd"]) == (state, cost)
