"""Portkey, Cloudflare and vLLM: what their logs hold, and what cannot be told from them."""

from __future__ import annotations

import json

import pytest

from app.core.usage import Rejected, tokens_in

PORTKEY = {
    "id": "p-1",
    "trace_id": "t-1",
    "created_at": "2026-03-02T10:00:00Z",
    "request": {},
    "response": {},
    "is_success": True,
    "ai_org": "azure-openai",
    "ai_model": "gpt-5",
    "req_units": 900,
    "res_units": 100,
    "total_units": 1000,
    "request_url": "https://x.openai.azure.com/openai/chat/completions",
    "cost": 0.2125,
    "cost_currency": "USD",
    "response_time": 1500,
    "response_status_code": 200,
    "cache_status": "MISS",
    "prompt_slug": "greeting",
    "metadata": {"team": "web", "_user": "cust"},
}
CLOUDFLARE = {
    "id": "c-1",
    "cached": False,
    "created_at": "2026-03-02T10:00:00Z",
    "duration": 1500,
    "model": "gpt-5",
    "path": "chat/completions",
    "provider": "openai",
    "status_code": 200,
    "step": 0,
    "success": True,
    "tokens_in": 900,
    "tokens_out": 100,
    "cost": 0.002125,
    "metadata": json.dumps({"team": "web"}),
}
ANSWER = {
    "id": "chatcmpl-abcdefghijklmnop",
    "object": "chat.completion",
    "model": "gpt-5",
    "choices": [{"index": 0, "message": {"content": "Yo"}, "finish_reason": "stop"}],
    "usage": {
        "prompt_tokens": 900,
        "completion_tokens": 100,
        "total_tokens": 1000,
        "prompt_tokens_details": {"cached_tokens": 700},
    },
}


def test_portkeys_counts_and_its_cost_in_cents(one):
    event = one(PORTKEY)
    assert (event.tok_input, event.tok_output, event.tok_cache_read, event.tok_total_reported) == (900, 100, None, 1000)
    assert event.cost_reported_usd == "0.002125"
    assert (event.provider, event.model, event.user) == ("azure", "gpt-5", "cust")
    assert event.tags == {"team": "web", "prompt_name": "greeting"}
    assert event.end_us - event.start_us == 1_500_000
    assert event.warnings == ["cache_not_logged"]


@pytest.mark.parametrize("name", ["response", "response.body"])
def test_portkeys_exported_body_tells_the_cached_part_and_the_answers_id(one, name):
    event = one({**PORTKEY, name: ANSWER})
    assert (event.tok_input, event.tok_cache_read, event.tok_output) == (200, 700, 100)
    assert event.provider_response_id == "chatcmpl-abcdefghijklmnop"


@pytest.mark.parametrize("status", ["HIT", "SEMANTIC HIT"])
def test_an_answer_of_portkeys_cache_was_not_billed(one, status):
    event = one({**PORTKEY, "response": ANSWER, "cache_status": status})
    assert (event.not_billed, event.provider_response_id) == (True, None)


def test_portkeys_failures(one):
    none = {"req_units": 0, "res_units": 0, "total_units": 0, "cost": 0, "is_success": 0}
    refused = one({**PORTKEY, **none, "response_status_code": 401})
    assert (refused.status, refused.not_billed, tokens_in(refused)) == ("error", True, None)
    lost = one({**PORTKEY, **none, "response_status_code": 502})
    assert (lost.status, lost.not_billed, tokens_in(lost)) == ("error", False, None)


def test_a_portkey_total_that_does_not_add_up_is_flagged(one):
    assert one({**PORTKEY, "total_units": 1200}).warnings == ["cache_not_logged", "sum_mismatch"]


def test_a_cost_in_another_currency_is_not_taken_for_dollars(one):
    assert one({**PORTKEY, "cost_currency": "EUR"}).cost_reported_usd is None


def test_cloudflares_two_counts(one):
    event = one(CLOUDFLARE)
    assert (event.tok_input, event.tok_output, event.tok_cache_read) == (900, 100, None)
    assert (event.cost_reported_usd, event.not_billed, event.tags) == ("0.002125", False, {"team": "web"})
    assert event.end_us - event.start_us == 1_500_000


def test_an_answer_of_cloudflares_cache_was_not_billed(one):
    event = one({**CLOUDFLARE, "cached": True, "cost": 0})
    assert (event.not_billed, tokens_in(event)) == (True, 900)


def test_cloudflares_fallbacks_and_failures(one):
    failed = one({**CLOUDFLARE, "success": False, "status_code": 429, "tokens_in": 0, "tokens_out": 0})
    assert (failed.status, failed.not_billed, tokens_in(failed)) == ("error", True, None)
    assert one({**CLOUDFLARE, "step": 2}).attempt == 3


def test_cloudflares_pages_and_lists_give_their_entries(read):
    assert len(read({"result": [CLOUDFLARE, {**CLOUDFLARE, "id": "c-2"}], "success": True})) == 2
    assert len(read([CLOUDFLARE, CLOUDFLARE])) == 2


@pytest.mark.parametrize("form", ["portkey", "cloudflare_ai_gateway"])
def test_other_records_are_named(read, form):
    items = read(None, 5, {"a": 1}, [None], form=form)
    assert len(items) == 4
    assert all(isinstance(item, Rejected) and not item.benign for item in items)


def test_vllm_is_known_by_its_own_fields_and_has_cached_tokens(one):
    event = one({**ANSWER, "model": "deepseek-chat", "kv_transfer_params": None})
    assert (event.provider, event.tok_cache_read, event.tok_input) == ("vllm", 700, 200)
    assert one({**ANSWER, "model": "deepseek-chat"}).provider is None


@pytest.mark.data
def test_the_samples(one, sample):
    for name in ("portkey_log_export", "cloudflare_ai_gateway_log"):
        event = one(*sample(name))
        assert (event.tok_input, event.tok_output, event.cost_reported_usd) == (1408, 9, "0.00155")
    own = one(*sample("vllm_chat"))
    assert (own.tok_input, own.tok_cache_read, own.tok_output) == (16, 1024, 20)
