from __future__ import annotations

import csv

import pytest

from app.core.hashing import request_key
from app.core.usage import Rejected, tokens_in, tokens_out

GENERATION = {
    "id": "gen-1772445600-AbCdEfGhIjKlMnOp",
    "upstream_id": "msg_x",
    "total_cost": 0.0021,
    "cache_discount": 0.001,
    "upstream_inference_cost": 0,
    "created_at": "2026-03-02T10:00:00.000Z",
    "model": "anthropic/claude-x",
    "streamed": True,
    "cancelled": False,
    "provider_name": "Anthropic",
    "latency": 700,
    "generation_time": 1900,
    "finish_reason": "stop",
    "tokens_prompt": 1100,
    "tokens_completion": 70,
    "native_tokens_prompt": 1300,
    "native_tokens_completion": 90,
    "native_tokens_reasoning": 30,
    "native_tokens_cached": 1000,
    "is_byok": False,
    "provider_responses": [{"status": 503}, {"status": 200}],
    "external_user": "cust",
    "session_id": "s",
}
ROW = {
    "generation_id": "gen-1772445600-AbCdEfGhIjKlMnOp",
    "created_at": "2026-03-02 10:00:00.000",
    "cost_total": "0.0021",
    "byok_usage_inference": "0",
    "tokens_prompt": "1300",
    "tokens_completion": "90",
    "tokens_reasoning": "30",
    "tokens_cached": "1000",
    "model_permaslug": "anthropic/claude-x-20260101",
    "provider_name": "Anthropic",
    "variant": "standard",
    "cancelled": "false",
    "streamed": "true",
    "user": "cust",
    "finish_reason_normalized": "stop",
    "generation_time_ms": "1900",
    "time_to_first_token_ms": "700",
    "api_key_name": "prod",
    "app_name": "bot",
}


def classes(event):
    return event.tok_input, event.tok_cache_read, event.tok_output, event.tok_reasoning


@pytest.mark.parametrize("record", [GENERATION, {"data": GENERATION}, ROW, [GENERATION]])
def test_native_counts_are_billed_and_hold_cached_and_reasoning_tokens(one, record):
    event = one(record)
    assert classes(event) == (300, 1000, 60, 30)
    assert (tokens_in(event), tokens_out(event)) == (1300, 90)
    assert (event.provider, event.cost_reported_usd, event.status) == ("openrouter", "0.0021", "ok")
    assert event.price_context == {"charge": "reported"}
    assert (event.first_token_us - event.start_us, event.end_us - event.start_us) == (700_000, 1_900_000)


def test_the_chat_answer_the_generation_and_the_exports_row_are_one_call(one):
    answer = {
        "id": GENERATION["id"],
        "object": "chat.completion",
        "created": 1772445600,
        "model": "anthropic/claude-x",
        "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1300, "completion_tokens": 90, "total_tokens": 1390, "cost": 0.0021},
    }
    keys = {request_key(one(record).provider_response_id, "any", "x") for record in (answer, GENERATION, ROW)}
    assert len(keys) == 1


def test_with_an_own_key_the_providers_bill_is_added_to_the_fee(one):
    assert one({**GENERATION, "is_byok": True, "upstream_inference_cost": 0.02}).cost_reported_usd == "0.0221"
    assert one({**ROW, "cost_total": "0.001", "byok_usage_inference": "0.02"}).cost_reported_usd == "0.021"
    assert one({**GENERATION, "upstream_inference_cost": 0.02}).cost_reported_usd == "0.0021"


def test_a_cancelled_answer_is_billed_as_far_as_it_came(one):
    event = one({**GENERATION, "cancelled": True, "finish_reason": None})
    assert (event.status, event.not_billed) == ("aborted", False)


def test_an_empty_answer_is_not_charged(one):
    empty = {**GENERATION, "native_tokens_completion": 0, "native_tokens_reasoning": 0, "total_cost": 0}
    assert one({**empty, "finish_reason": None}).not_billed is True
    assert one({**empty, "finish_reason": "error"}).not_billed is True
    assert one({**empty, "finish_reason": "stop"}).not_billed is False
    assert one({**empty, "finish_reason": None, "total_cost": 0.01}).not_billed is False


def test_an_answer_of_openrouters_cache_is_not_billed_and_a_call_of_its_own(one):
    event = one({**GENERATION, "response_cache_source_id": "gen-0", "total_cost": 0})
    assert (event.not_billed, event.provider_response_id) == (True, None)


def test_attempts_and_variants_are_kept(one):
    assert one(GENERATION).attempt == 2
    assert one({**ROW, "variant": "free"}).model == "anthropic/claude-x-20260101:free"


def test_what_is_neither_is_named(read):
    items = read(None, 5, {"data": {"a": 1}}, {"data": []}, form="openrouter_generation")
    assert all(isinstance(item, Rejected) and not item.benign for item in items)


@pytest.mark.data
def test_the_samples_are_one_call_of_1200_and_80(one, sample, data_dir):
    with (data_dir.parent / "samples" / "openrouter_activity_export.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    events = [one(*sample("openrouter_generation")), one(*rows), one(*sample("openrouter_chat"))]
    assert {classes(event) for event in events} == {(200, 1000, 48, 32)}
    assert {event.cost_reported_usd for event in events} == {"0.0013"}
    assert len({event.provider_response_id for event in events}) == 1


def test_pictures_of_an_answer_are_a_class_of_their_own(one):
    event = one({**GENERATION, "native_tokens_completion_images": 40})
    assert (event.tok_output, event.tok_reasoning, event.tok_output_image) == (20, 30, 40)
