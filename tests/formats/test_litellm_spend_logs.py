from __future__ import annotations

import json

import pytest

from app.core.usage import tokens_in

ROW = {
    "request_id": "chatcmpl-1f6e0000-0000-4000-8000-000000000001",
    "call_type": "acompletion",
    "api_key": "88dc28d0f030c55e",
    "spend": 0.0045,
    "total_tokens": 1260,
    "prompt_tokens": 1200,
    "completion_tokens": 60,
    "startTime": "2026-03-02 10:00:00.000",
    "endTime": "2026-03-02T10:00:02.000000",
    "completionStartTime": "2026-03-02T10:00:00.500Z",
    "model": "anthropic/claude-sonnet-4-5-20250929",
    "custom_llm_provider": "anthropic",
    "user": "u-1",
    "team_id": "team-a",
    "end_user": "cust",
    "request_tags": '["feature:search", "beta"]',
    "cache_hit": "False",
    "metadata": json.dumps(
        {
            "user_api_key_alias": "web",
            "usage_object": {
                "prompt_tokens": 1200,
                "completion_tokens": 60,
                "total_tokens": 1260,
                "prompt_tokens_details": {
                    "cached_tokens": 240,
                    "cache_creation_tokens": 840,
                    "cache_creation_token_details": {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 800},
                },
            },
        }
    ),
    "status": "success",
}


def test_prompt_tokens_hold_the_cache_even_for_anthropic(one):
    event = one(ROW)
    assert (event.tok_input, event.tok_cache_read) == (120, 240)
    assert (event.tok_cache_write_5m, event.tok_cache_write_1h) == (40, 800)
    assert tokens_in(event) == 1200
    assert event.warnings is None


def test_writes_without_a_lifetime_have_the_default_of_who_served(one):
    def row(provider):
        usage = {"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": {"cache_creation_tokens": 40}}
        return {**ROW, "custom_llm_provider": provider, "metadata": {"usage_object": usage}, "total_tokens": 101}

    assert one(row("anthropic")).tok_cache_write_5m == 40
    assert one(row("openai")).tok_cache_write_30m == 40


def test_a_row_says_who_asked_for_what(one):
    event = one(ROW)
    assert (event.provider, event.model) == ("anthropic", "claude-sonnet-4-5-20250929")
    assert (event.user, event.api_key_alias) == ("cust", "web")
    assert event.tags == {"team": "team-a", "feature": "search", "beta": "true"}
    assert event.cost_reported_usd == "0.0045"
    assert event.start_us == 1772445600_000000
    assert event.first_token_us == 1772445600_500000


def test_an_answer_of_the_gateways_own_cache_is_not_billed_and_is_no_copy_of_the_first(one):
    event = one({**ROW, "cache_hit": "True", "spend": 0.0})
    assert event.not_billed is True
    assert event.provider_response_id is None
    assert event.tok_input == 120


def test_a_refused_call_that_has_tokens_all_the_same_is_not_free(one):
    failure = {"error_information": {"error_code": "400", "error_class": "BadRequestError"}}
    event = one({**ROW, "status": "failure", "prompt_tokens": 100, "completion_tokens": 7, "metadata": failure})
    assert (event.status, event.not_billed) == ("error", False)
    assert (event.tok_input, event.tok_output) == (100, 7)


def test_a_failure_with_zero_tokens_is_unknown_not_free(one):
    failure = {"error_information": {"error_code": "408", "error_class": "Timeout", "error_message": "slow"}}
    event = one({**ROW, "status": "failure", "prompt_tokens": 0, "completion_tokens": 0, "metadata": failure})
    assert (event.status, event.http_status, event.error) == ("timeout", 408, "Timeout: slow")
    assert tokens_in(event) is None
    assert event.not_billed is False


def test_a_refused_call_is_known_to_be_free(one):
    failure = {"error_information": {"error_code": "429", "error_class": "RateLimitError"}}
    event = one({**ROW, "status": "failure", "prompt_tokens": 0, "completion_tokens": 0, "metadata": failure})
    assert (event.status, event.not_billed) == ("error", True)


def test_stored_bodies_give_the_prompt_and_the_answer(one):
    body = {"model": "x", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9, "tool_choice": "auto"}
    answer = {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
    event = one({**ROW, "proxy_server_request": json.dumps({"body": body}), "response": json.dumps(answer)})
    assert [part.text for part in event.prompt] == ["Hi"]
    assert (event.max_tokens, event.params) == (9, '{"tool_choice":"auto"}')
    assert (event.output, event.finish_reason) == ("Hello", "stop")
    assert event.model == "claude-sonnet-4-5-20250929"


def test_the_model_asked_for_before_a_fallback_is_kept(one):
    event = one({**ROW, "metadata": {"original_model_group": "gpt-4o-mini", "attempted_retries": 2}})
    assert event.tags["requested_model"] == "gpt-4o-mini"
    assert event.attempt == 3


def test_a_page_of_the_api_gives_its_rows(read):
    page = {"data": [ROW, {**ROW, "request_id": "chatcmpl-2"}], "total": 2, "page": 1}
    assert [event.source_record for event in read(page)] == [ROW["request_id"], "chatcmpl-2"]


@pytest.mark.parametrize("spend", [None, "", "free", float("nan")])
def test_an_unreadable_spend_is_unknown(one, spend):
    assert one({**ROW, "spend": spend}).cost_reported_usd is None
