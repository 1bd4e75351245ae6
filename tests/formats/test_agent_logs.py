from __future__ import annotations

import pytest

from app.core.usage import Rejected, tokens_in

USAGE = {"input_tokens": 12, "cache_creation_input_tokens": 900, "cache_read_input_tokens": 41000, "output_tokens": 3}
LINE = {
    "parentUuid": "p",
    "isSidechain": False,
    "userType": "external",
    "cwd": "/home/dev/shop",
    "sessionId": "s-1",
    "version": "2.4.1",
    "gitBranch": "main",
    "type": "assistant",
    "uuid": "u-1",
    "timestamp": "2026-03-02T10:00:00.000Z",
    "requestId": "req_1",
    "message": {
        "id": "msg_1",
        "role": "assistant",
        "type": "message",
        "model": "claude-x",
        "content": [],
        "usage": USAGE,
    },
}


def test_a_line_is_a_snapshot_of_its_call_under_the_messages_id(one):
    event = one(LINE)
    assert (event.provider_response_id, event.source_record) == ("msg_1", "msg_1:req_1")
    assert (event.tok_input, event.tok_cache_read, event.tok_cache_write_5m, event.tok_output) == (12, 41000, 900, 3)
    assert event.tags == {"agent": "main", "project": "shop", "branch": "main"}
    assert event.start_us == 1772445600_000000


def test_a_subagents_line_is_a_call_of_its_own_and_marked(one):
    assert one({**LINE, "isSidechain": True}).tags["agent"] == "subagent"


def test_the_clients_placeholder_is_no_call(read):
    (item,) = read({**LINE, "message": {**LINE["message"], "model": "<synthetic>"}})
    assert isinstance(item, Rejected)
    assert item.benign
    assert "synthetic" in item.reason


@pytest.mark.parametrize("kind", ["user", "system", "summary", "progress", "file-history-snapshot"])
def test_lines_that_are_no_calls_are_benign(read, kind):
    (item,) = read({**LINE, "type": kind, "message": "x"}, form="claude_code")
    assert item == Rejected(f"a {kind} line is no call", benign=True)


@pytest.mark.parametrize(
    "record", ["massive error", 42, [1], {"silly": "this"}, {"type": "assistant"}, {"type": "new"}]
)
def test_lines_of_unknown_shape_are_named(read, record):
    (item,) = read(record, form="claude_code")
    assert isinstance(item, Rejected)
    assert not item.benign


def test_windows_paths_name_their_project(one):
    assert one({**LINE, "cwd": "C:\\work\\shop\\"}).tags["project"] == "shop"


PI = {
    "type": "message",
    "timestamp": "2026-03-02T10:00:00.000Z",
    "message": {
        "role": "assistant",
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "stopReason": "toolUse",
        "timestamp": 1772445599000,
        "content": [{"type": "text", "text": "Reading."}],
        "usage": {"input": 3, "output": 191, "cacheRead": 5, "cacheWrite": 1684, "cost": {"total": 0.009189}},
    },
}


def test_a_pi_message_has_classes_beside_each_other_and_its_cost(one):
    event = one(PI)
    assert (event.tok_input, event.tok_cache_read, event.tok_cache_write_5m, event.tok_output) == (3, 5, 1684, 191)
    assert event.cost_reported_usd == "0.009189"
    assert event.source_record == "2026-03-02T10:00:00.000Z/1772445599000"


def test_an_aborted_pi_message_with_zero_usage_is_unknown(one):
    usage = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0}}
    event = one({**PI, "message": {**PI["message"], "usage": usage, "stopReason": "aborted"}})
    assert event.status == "aborted"
    assert tokens_in(event) is None
    assert event.cost_reported_usd is None
