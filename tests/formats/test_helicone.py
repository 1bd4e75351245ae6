from __future__ import annotations

import pytest

from app.core.usage import tokens_in

NOWHERE = "00000000-0000-0000-0000-000000000000"
ROW = {
    "request_id": "r-1",
    "response_id": "a-1",
    "request_created_at": "2026-03-02T10:00:00.000Z",
    "response_created_at": "2026-03-02 10:00:02.500",
    "response_status": 200,
    "request_path": "https://oai.helicone.ai/v1/chat/completions",
    "request_user_id": "cust-1",
    "request_properties": {"feature": "search", "Helicone-Session-Id": "s-4", "Helicone-Prompt-Mode": "x"},
    "request_model": "gpt-4o",
    "model": "gpt-4o-2024-08-06",
    "provider": "OPENAI",
    "target_url": "https://api.openai.com/v1/chat/completions",
    "delay_ms": 2500,
    "time_to_first_token": 400,
    "prompt_tokens": 400,
    "completion_tokens": 60,
    "total_tokens": 460,
    "prompt_cache_read_tokens": 300,
    "cache_reference_id": NOWHERE,
    "cache_enabled": False,
}
# gpt-4o: 2.50, cached 1.25, answer 10 a million
BESIDE = 0.001975  # 400 fresh, 300 cached, 60
INSIDE = 0.001225  # 100 fresh, 300 cached, 60


def classes(event):
    return event.tok_input, event.tok_cache_read, event.tok_output


@pytest.mark.parametrize(("cost", "fresh"), [(BESIDE, 400), (INSIDE, 100)])
def test_the_rows_own_cost_says_whether_cached_tokens_are_inside(one, cost, fresh):
    event = one({**ROW, "cost": cost})
    assert classes(event) == (fresh, 300, 60)
    assert event.warnings is None


def test_without_proof_cached_tokens_stand_beside_as_the_product_writes_them_and_that_is_said(one):
    for row in (ROW, {**ROW, "cost": 5}, {**ROW, "cost": 0.001, "model": "my-own-model"}):
        event = one(row)
        assert classes(event) == (400, 300, 60)
        assert event.warnings == ["convention_assumed"]


def test_more_cached_tokens_than_prompt_tokens_can_only_stand_beside(one):
    event = one({**ROW, "prompt_cache_read_tokens": 900, "cost": None})
    assert classes(event) == (400, 900, 60)
    assert event.warnings is None


def test_a_row_says_who_and_when(one):
    event = one({**ROW, "cost": BESIDE})
    assert (event.provider, event.model, event.user, event.session_id) == (
        "openai",
        "gpt-4o-2024-08-06",
        "cust-1",
        "s-4",
    )
    assert event.tags == {"feature": "search", "prompt-mode": "x"}
    assert (event.first_token_us - event.start_us, event.end_us - event.start_us) == (400_000, 2_500_000)


def test_a_kept_body_says_more_than_the_columns(one):
    answer = {
        "id": "chatcmpl-abcdefghijkl",
        "object": "chat.completion",
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": {"content": "Yo"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 400,
            "completion_tokens": 60,
            "total_tokens": 460,
            "prompt_tokens_details": {"cached_tokens": 300},
        },
    }
    question = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
    event = one({**ROW, "request_body": question, "response_body": answer})
    assert classes(event) == (100, 300, 60)
    assert (event.provider_response_id, event.source_record, event.output) == ("chatcmpl-abcdefghijkl", "r-1", "Yo")
    assert event.warnings is None


def test_a_note_in_place_of_a_body_is_no_body(one):
    event = one({**ROW, "cost": BESIDE, "response_body": {"helicone_message": "fetching body"}, "request_body": ""})
    assert classes(event) == (400, 300, 60)
    assert (event.status, event.provider_response_id) == ("ok", None)


def test_an_answer_of_helicones_cache_was_not_billed(one):
    zeros = {"prompt_tokens": 0, "completion_tokens": 0, "prompt_cache_read_tokens": 0, "cost": 0}
    event = one({**ROW, **zeros, "cache_reference_id": "r-0"})
    assert event.not_billed is True
    assert tokens_in(event) is None


@pytest.mark.parametrize(
    ("status", "ended", "free"),
    [(-3, "aborted", False), (-1, "timeout", False), (429, "error", True), (500, "error", False)],
)
def test_how_a_call_ended(one, status, ended, free):
    zeros = {"prompt_tokens": 0, "completion_tokens": 0, "prompt_cache_read_tokens": 0}
    event = one({**ROW, **zeros, "response_status": status})
    assert (event.status, event.not_billed, tokens_in(event)) == (ended, free, None)


def test_pages_and_lists_give_their_rows(read):
    assert len(read({"data": [ROW, {**ROW, "request_id": "r-2"}], "error": None})) == 2
    assert len(read([ROW, {**ROW, "request_id": "r-2"}])) == 2
    items = read(None, [5], {"a": 1}, form="helicone")
    assert all(not item.benign for item in items)


@pytest.mark.data
def test_the_sample_has_its_cached_tokens_inside(one, sample):
    event = one(*sample("helicone_request"))
    assert classes(event) == (128, 1280, 9)
    assert event.tok_total_reported == 1417
    assert event.warnings is None


@pytest.mark.parametrize(
    ("provider", "model", "written"),
    [
        ("ANTHROPIC", "claude-sonnet-4-5-20250929", "tok_cache_write_5m"),
        ("OPENAI", "gpt-5.6-sol", "tok_cache_write_30m"),
    ],
)
def test_written_tokens_have_the_lifetime_that_their_maker_sells(one, provider, model, written):
    event = one(
        {
            **ROW,
            "target_url": "",
            "provider": provider,
            "model": model,
            "prompt_cache_read_tokens": 0,
            "prompt_cache_write_tokens": 1000,
        }
    )
    writes = {
        name: getattr(event, name) for name in ("tok_cache_write_5m", "tok_cache_write_30m", "tok_cache_write_1h")
    }
    assert {name: value for name, value in writes.items() if value} == {written: 1000}
