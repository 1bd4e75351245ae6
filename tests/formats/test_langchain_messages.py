from __future__ import annotations

import pytest

from app.core.usage import Rejected, tokens_in, tokens_out

USAGE = {
    "input_tokens": 5200,
    "output_tokens": 90,
    "total_tokens": 5290,
    "input_token_details": {"cache_read": 100, "cache_creation": 5000},
    "output_token_details": {"reasoning": 30},
}


def message(usage=USAGE, **more):
    return {
        "type": "ai",
        "id": "run--7d0c9a0e",
        "content": "Yes.",
        "response_metadata": {
            "id": "msg_01ABCDEFGHIJKLMNOP",
            "model_name": "claude-sonnet-4-5-20250929",
            "model_provider": "anthropic",
            "stop_reason": "end_turn",
        },
        "usage_metadata": usage,
        **more,
    }


def test_its_counters_hold_everything(one):
    event = one(message())
    assert (event.tok_input, event.tok_cache_read, event.tok_cache_write_5m) == (100, 100, 5000)
    assert (event.tok_output, event.tok_reasoning) == (60, 30)
    assert tokens_in(event) + tokens_out(event) == event.tok_total_reported == 5290
    assert (event.provider, event.model) == ("anthropic", "claude-sonnet-4-5-20250929")
    assert (event.provider_response_id, event.source_record) == ("msg_01ABCDEFGHIJKLMNOP", "run--7d0c9a0e")
    assert (event.finish_reason, event.output, event.warnings) == ("end_turn", "Yes.", None)


@pytest.mark.parametrize("summed", [5000, 0])
def test_ephemeral_details_split_the_writes_and_are_no_more_of_them(one, summed):
    split = {"cache_read": 100, "cache_creation": summed}
    split |= {"ephemeral_5m_input_tokens": 3000, "ephemeral_1h_input_tokens": 2000}
    event = one(message({**USAGE, "input_token_details": split}))
    assert (event.tok_cache_write_5m, event.tok_cache_write_1h, event.tok_input) == (3000, 2000, 100)
    assert tokens_in(event) == 5200


def test_audio_is_told_apart(one):
    usage = {"input_tokens": 50, "output_tokens": 20, "total_tokens": 70}
    usage |= {"input_token_details": {"audio": 30}, "output_token_details": {"audio": 15}}
    event = one(message(usage))
    assert (event.tok_input, event.tok_input_audio, event.tok_output, event.tok_output_audio) == (20, 30, 5, 15)


@pytest.mark.parametrize("form", ["plain", "constructor", "run"])
def test_a_message_is_found_where_dumps_put_it(one, form):
    wrapped = {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": message()}
    run = {"run_id": "r-1", "start_time": "2026-03-02T10:00:00Z", "output": wrapped, "tags": ["feature:search"]}
    event = one({"plain": message(), "constructor": wrapped, "run": run}[form])
    assert (event.tok_input, event.model) == (100, "claude-sonnet-4-5-20250929")
    if form == "run":
        assert (event.source_record, event.tags, event.start_us) == ("r-1", {"feature": "search"}, 1772445600_000000)


def test_a_persons_message_is_no_call(read):
    (item,) = read({"type": "human", "content": "x"}, form="langchain_messages")
    assert isinstance(item, Rejected)
    assert item.benign
