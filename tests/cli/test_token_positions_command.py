"""From log lines to what doctor says of token positions."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

from splintr import Tokenizer

from tests.analysis.mixed_texts import KINDS
from tests.cli.halve_command import inside
from tests.ingest.made_logs import call

if TYPE_CHECKING:
    from pathlib import Path


def logs_of(prompts: int) -> str:
    """Chat calls billed by another vocabulary than ours: four tokens a message, three for the answer's opening."""
    rng, vocabulary, lines = Random(6), Tokenizer.from_pretrained("qwen3"), []
    for number in range(prompts):
        system, user = (rng.choice(KINDS)(rng, rng.randrange(30, 300)) for _ in range(2))
        tokens = 3 + sum(4 + len(vocabulary.encode_raw(text)) for text in (system, user))
        usage = {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}
        lines.append(json.dumps(call(number, system=system, user=user, usage=usage)) + "\n")
    return "".join(lines)


def test_doctor_says_how_far_off_positions_are_after_an_analysis(tmp_path: Path) -> None:
    data, log = tmp_path / "data", tmp_path / "chat.jsonl"
    log.write_text(logs_of(60), encoding="utf-8")
    assert inside(data, "ingest", log).code == 0
    before = inside(data, "doctor", "--json").json
    assert [row["message"] for row in before if row["name"].startswith("token positions")] == [
        "no prompts were analysed yet; `halve analyze` or the nightly analysis measures them"
    ]
    assert inside(data, "analyze", "--json").code == 0
    (check,) = [row for row in inside(data, "doctor", "--json").json if row["name"].startswith("token positions")]
    by_method = {row["method"]: row for row in check["errors"]}
    assert (check["name"], check["prompts"], check["method"]) == ("token positions, gpt-4o-mini", 60, "vocabulary")
    assert by_method["vocabulary"]["median"] < 0.05 < by_method["bytes"]["median"]
    assert check["message"] in " ".join(inside(data, "doctor").out.split())  # lines are wrapped


def test_without_kept_texts_positions_stay_by_bytes_and_doctor_says_why(tmp_path: Path) -> None:
    data, log = tmp_path / "data", tmp_path / "chat.jsonl"
    log.write_text(logs_of(60), encoding="utf-8")
    for command in (("ingest", log), ("analyze", "--json")):
        assert inside(data, *command, HALVE_TEXT="none").code == 0
    (check,) = [row for row in inside(data, "doctor", "--json").json if row["name"].startswith("token positions")]
    assert (check["method"], check["prompts"], check["errors"]) == ("bytes", 0, [])
    assert "not enough text" in check["message"]
