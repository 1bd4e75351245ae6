"""The same logs give the same document twice, names of templates included."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from app import settings
from app.main import offline
from reports.analysis import document

if TYPE_CHECKING:
    from pathlib import Path


def exchange(number: int) -> dict[str, object]:
    asked = "Clean the address and answer in one line of plain text."
    return {
        "timestamp": f"2026-11-0{number % 7 + 1}T10:00:00Z",
        "request": {
            "model": "gpt-4.1-mini",
            "messages": [{"role": "system", "content": asked}, {"role": "user", "content": f"Street {number}"}],
        },
        "response": {
            "id": f"chatcmpl-{number:029x}",
            "object": "chat.completion",
            "created": 1_793_527_200 + number,
            "model": "gpt-4.1-mini",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22},
        },
    }


def test_untagged_features_keep_their_name(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    log.write_text("\n".join(json.dumps(exchange(number)) for number in range(20)), encoding="utf-8")
    first, second = (document(offline.analyze([str(log)], settings.load({}))) for _ in range(2))
    assert first["by_feature"] == second["by_feature"]
    assert [row["name"].split(" ")[0] for row in first["by_feature"]] == ["template"]
    assert first["plan"]["levers"] == second["plan"]["levers"]
