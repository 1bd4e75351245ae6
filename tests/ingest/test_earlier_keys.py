"""Calls that were stored under the keys of earlier rules: reading them again adds no row and no dollar."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from app.core.hashing import hash64
from tests.ingest.test_response_ids import EVENT, INVOCATION, PACKED, SPAN, USED, UUID, chat, gemini, litellm

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ingest.made_logs import Store

CALLER_MADE = "chatcmpl-order-service-batch-7"
TABLES = ("requests", "segments", "request_parts", "request_origins")


def asked(record: dict[str, Any]) -> dict[str, Any]:
    """With a prompt, so that segments are stored."""
    return {**record, "request": {"model": "m", "messages": [{"role": "user", "content": "Where is it?"}]}}


def old_key(response_id: str, source: str, record: str) -> int:
    """The key of a call until 2026-11-30."""
    if response_id.startswith(("chatcmpl-", "resp_")) and len(response_id) >= len("chatcmpl-") + 11:
        return hash64(b"id\0" + response_id.encode())
    if "/" in record:
        return hash64(b"span\0" + record.encode())
    return hash64(b"src\0" + source.encode() + b"\0" + record.encode())


def store_as_before(store: Store, given_id: str) -> None:
    """Give the one stored call the key and the ids that earlier rules gave it."""
    ((key, source, record, plain),) = store.rows(
        "SELECT request_key, source, source_record, provider_response_id FROM requests"
    )
    former = given_id if record == plain else record
    with store.warehouse.writing() as session:
        for table in TABLES:
            session.connection.execute(
                f"UPDATE {table} SET request_key = ? WHERE request_key = ?", [old_key(given_id, source, former), key]
            )
        session.connection.execute(
            "UPDATE requests SET provider_response_id = ?, source_record = ?", [given_id, former]
        )


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "gemini": ({"response": gemini(USED), "feature": "search"}, EVENT),
    "row of a gateway": (litellm("row-1", "gemini", "gemini-2.5-flash"), "row-1"),
    "bedrock": (INVOCATION, UUID),
    "span of bedrock": (SPAN, UUID),
    "xai": (asked(chat(UUID, "grok-4.7", "api.x.ai")), UUID),
    "packed": (asked(chat(PACKED, "gpt-4o", "proxy")), PACKED),
    "packed row of a gateway": (litellm(PACKED, "openai", "gpt-4o"), PACKED),
    "weak, with its time": (asked(chat("chatcmpl-417", "qwen3-32b", "10.0.0.7:11434")), "chatcmpl-417"),
    "made by a caller": (asked(chat(CALLER_MADE, "qwen3-32b", "10.0.0.7:8000")), CALLER_MADE),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_under_an_earlier_key_is_known_when_it_is_read_again(store: Store, tmp_path: Path, kind: str) -> None:
    record, given_id = KINDS[kind]
    store.ingest(write(tmp_path / "a.jsonl", record), source="app")
    new = store.one("SELECT request_key FROM requests")
    store_as_before(store, given_id)
    before = store.everything()
    assert before["requests"][0][0] != new
    for name in ("b.jsonl", "c.jsonl"):
        summary = store.ingest(write(tmp_path / name, record), source="app")
        assert (summary.stored, summary.updated) == (0, 0)
        assert store.everything() == before


def test_a_fuller_snapshot_takes_the_place_of_a_call_under_an_earlier_key(store: Store, tmp_path: Path) -> None:
    whole = asked(chat(UUID, "grok-4.7", "api.x.ai"))
    short = {**whole, "response": {**whole["response"], "usage": {"prompt_tokens": 100}}}
    store.ingest(write(tmp_path / "a.jsonl", short), source="app")
    store_as_before(store, UUID)
    key = store.one("SELECT request_key FROM requests")
    assert store.ingest(write(tmp_path / "b.jsonl", whole), source="app").updated == 1
    assert store.rows("SELECT request_key, tok_input, tok_output FROM requests") == [(key, 100, 20)]
    assert store.rows("SELECT DISTINCT request_key FROM segments") == [(key,)]


def test_another_source_that_comes_together_with_it_joins_the_call_under_its_earlier_key(
    store: Store, tmp_path: Path
) -> None:
    record = {"response": gemini(USED), "feature": "search"}
    store.ingest(write(tmp_path / "a.jsonl", record), source="app")
    store_as_before(store, EVENT)
    store.ingest(
        write(tmp_path / "b.jsonl", record, {**record, "feature": None, "team": "core"}, litellm(EVENT, "gemini", "g")),
        source="app",
    )
    assert store.rows("SELECT count(*), sum(tok_input) FROM requests") == [(1, 100)]


def test_a_weak_id_that_came_again_is_another_call_than_the_one_under_the_earlier_key(
    store: Store, tmp_path: Path
) -> None:
    record = chat("chatcmpl-417", "qwen3-32b", "10.0.0.7:11434")
    store.ingest(write(tmp_path / "a.jsonl", record), source="app")
    store_as_before(store, "chatcmpl-417")
    later = {**record, "timestamp": "2026-03-02T11:00:00Z"}
    for name in ("b.jsonl", "c.jsonl"):
        store.ingest(write(tmp_path / name, record, later), source="app")
        assert store.rows("SELECT count(*), sum(tok_input) FROM requests") == [(2, 200)]


def test_an_id_that_a_caller_made_joins_no_other_source_under_its_earlier_key(store: Store, tmp_path: Path) -> None:
    record = chat(CALLER_MADE, "qwen3-32b", "10.0.0.7:8000")
    store.ingest(write(tmp_path / "a.jsonl", record), source="app")
    store_as_before(store, CALLER_MADE)
    store.ingest(write(tmp_path / "b.jsonl", record), source="other")
    assert store.rows("SELECT source FROM requests ORDER BY 1") == [("app",), ("other",)]
