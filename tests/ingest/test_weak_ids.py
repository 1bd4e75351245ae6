"""A short response id names no call: the source's own id does, whatever the short one says in a later line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.ingest.made_logs import make_store

if TYPE_CHECKING:
    from pathlib import Path


def line(request: str, response: str, tokens: int) -> str:
    row = {"timestamp": 1_790_000_000, "model": "gpt-4o", "input_tokens": tokens, "output_tokens": 1}
    return json.dumps({**row, "request_id": request, "response_id": response}) + "\n"


@pytest.mark.parametrize(
    ("second", "requests"),
    [
        (("call-1", "a-2"), 1),  # the same call of the source, under another short id
        (("call-1", "a-1"), 1),
        (("call-2", "a-1"), 2),  # two calls that happen to have one short id
        (("call-2", "a-2"), 2),
    ],
)
def test_short_ids_neither_join_nor_part_calls(tmp_path: Path, second: tuple[str, str], requests: int) -> None:
    store = make_store(tmp_path / "data")
    for number, text in enumerate((line("call-1", "a-1", 100), line(*second, 250))):
        (tmp_path / f"{number}.jsonl").write_text(text, encoding="utf-8")
        store.ingest(tmp_path / f"{number}.jsonl", source="app")
    assert store.one("SELECT count(*) FROM requests") == requests
    assert store.one("SELECT sum(tok_input) FROM requests") == (250 if requests == 1 else 350)
    assert store.one("SELECT count(*) FROM requests WHERE warnings LIKE '%key_collision%'") == 0
    store.warehouse.close()
