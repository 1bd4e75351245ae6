from __future__ import annotations

import pytest

from app.core.usage import Rejected, tokens_in, tokens_out
from ingest.formats import detect_format

PAYLOAD = {
    "id": "chatcmpl-5b7c0000-0000-4000-8000-000000000009",
    "trace_id": "t-1",
    "session_id": "sess-3",
    "litellm_call_id": "c-1",
    "call_type": "acompletion",
    "stream": False,
    "response_cost": 0.0052,
    "cost_breakdown": {"total_cost": 0.0052, "service_tier": "flex"},
    "status": "success",
    "status_fields": {"llm_api_status": "success"},
    "custom_llm_provider": "openai",
    "total_tokens": 1100,
    "prompt_tokens": 1000,
    "completion_tokens": 100,
    "startTime": 1772445600.25,
    "endTime": 1772445602.5,
    "completionStartTime": 1772445601.0,
    "model_map_information": {"model_map_key": "gpt-5"},
    "model": "openai/gpt-5",
    "model_id": "dep-1",
    "model_group": "gpt-5",
    "metadata": {
        "user_api_key_hash": "0011aabb",
        "user_api_key_alias": "search-key",
        "user_api_key_org_id": "org-1",
        "user_api_key_team_id": "team-9",
        "user_api_key_team_alias": "Search",
        "user_api_key_user_id": "bea",
        "requester_metadata": {"feature": "search"},
        "usage_object": {
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "total_tokens": 1100,
            "prompt_tokens_details": {"cached_tokens": 600},
            "completion_tokens_details": {"reasoning_tokens": 40},
        },
    },
    "cache_hit": None,
    "saved_cache_cost": 0.0,
    "request_tags": ["environment:prod"],
    "end_user": "cust-1",
    "messages": [{"role": "user", "content": "Hi"}],
    "response": {"choices": [{"message": {"content": "Yo"}, "finish_reason": "stop"}]},
    "model_parameters": {"max_tokens": 50, "temperature": 0.5},
    "hidden_params": {"model_id": "dep-1"},
}


def test_classes_come_from_the_usage_object(one):
    event = one(PAYLOAD)
    assert (event.tok_input, event.tok_cache_read, event.tok_output, event.tok_reasoning) == (400, 600, 60, 40)
    assert tokens_in(event) + tokens_out(event) == event.tok_total_reported == 1100
    assert event.warnings is None


def test_a_payload_says_who_asked_for_what_and_when(one):
    event = one(PAYLOAD)
    assert (event.provider, event.model, event.service_tier, event.account) == ("openai", "gpt-5", "flex", "org-1")
    assert (event.user, event.api_key, event.api_key_alias) == ("cust-1", "0011aabb", "search-key")
    assert event.tags == {"team": "Search", "litellm_user": "bea", "feature": "search", "environment": "prod"}
    assert (event.start_us, event.first_token_us, event.end_us) == (
        1772445600_250000, 1772445601_000000, 1772445602_500000,
    )  # fmt: skip
    assert (event.max_tokens, event.temperature, event.finish_reason, event.output) == (50, 0.5, "stop", "Yo")
    assert [part.text for part in event.prompt] == ["Hi"]
    assert event.cost_reported_usd == "0.0052"


def test_an_answer_of_the_gateways_own_cache_costs_nothing_and_is_no_copy_of_the_first(one):
    event = one({**PAYLOAD, "cache_hit": True, "response_cost": 0.0, "saved_cache_cost": 0.0052})
    assert event.not_billed is True
    assert event.provider_response_id is None
    assert tokens_in(event) == 1000


def failed(**error):
    return {
        **PAYLOAD,
        "status": "failure",
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "total_tokens": 0,
        "response_cost": 0.0,
        "response": None,
        "metadata": {},
        "error_str": "gone",
        "error_information": error,
    }


def test_a_failure_without_tokens_is_unknown_and_a_refusal_is_free(one):
    slow = one(failed(error_code="408", error_class="Timeout", error_message="slow"))
    assert (slow.status, slow.not_billed, tokens_in(slow), slow.error) == ("timeout", False, None, "Timeout: slow")
    refused = one(failed(error_code="429"))
    assert (refused.status, refused.not_billed, refused.error) == ("error", True, "gone")


def wrapped_in_list(payload):
    return [payload, {**payload, "id": "chatcmpl-2"}]


def wrapped_in_arguments(payload):
    return {"kwargs_of": "a callback", "standard_logging_object": payload}


def wrapped_in_page(payload):
    return {"data": [payload]}


@pytest.mark.parametrize("wrap", [wrapped_in_list, wrapped_in_arguments, wrapped_in_page, lambda one: one])
def test_wrappers_are_seen_through(read, wrap):
    record = wrap(PAYLOAD)
    assert detect_format([record]).name == "litellm_standard_logging"
    events = read(record)
    assert events[0].source_record == PAYLOAD["id"]
    assert len(events) == (2 if isinstance(record, list) else 1)


def test_what_is_no_payload_is_named(read):
    items = read(5, [PAYLOAD, "x", {"a": 1}], None, {"startTime": 1}, form="litellm_standard_logging")
    assert [isinstance(item, Rejected) and not item.benign for item in items] == [True, False, True, True, True, True]


@pytest.mark.data
def test_the_sample_adds_up_to_its_own_total_and_cost(one, sample):
    event = one(*sample("litellm_standard_logging_payload"))
    assert (event.tok_input, event.tok_cache_read) == (87, 15872)
    assert (event.tok_cache_write_5m, event.tok_cache_write_1h) == (256, 2048)
    assert (event.tok_output, event.tok_reasoning, event.cost_reported_usd) == (128, 512, "0.0169932")
