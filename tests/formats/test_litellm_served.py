"""What decides the price of a call beside its tokens, as both of LiteLLM's layouts say it: tier, place, speed."""

from __future__ import annotations

from typing import Any

import pytest

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}


def spend_log(usage: dict[str, Any], basis: dict[str, Any] | None, asked: str | None, answered: str | None) -> Any:
    return {
        "request_id": "chatcmpl-1f6e0000-0000-4000-8000-000000000001",
        "call_type": "acompletion",
        "spend": 0.5,
        "startTime": "2026-03-02T10:00:00",
        "model": "gpt-5",
        "custom_llm_provider": "openai",
        "metadata": {"usage_object": {**USAGE, **usage}, "cost_breakdown": basis},
        "proxy_server_request": {"messages": [{"role": "user", "content": "Hi"}], "service_tier": asked},
        "response": {"id": "a", "service_tier": answered},
        "status": "success",
    }


def payload(usage: dict[str, Any], basis: dict[str, Any] | None, asked: str | None, answered: str | None) -> Any:
    return {
        "id": "chatcmpl-1f6e0000-0000-4000-8000-000000000001",
        "call_type": "acompletion",
        "response_cost": 0.5,
        "startTime": 1772445600.25,
        "model": "gpt-5",
        "model_group": "gpt-5",
        "custom_llm_provider": "openai",
        "metadata": {"usage_object": {**USAGE, **usage}},
        "cost_breakdown": basis,
        "messages": [{"role": "user", "content": "Hi"}],
        "response": {"id": "a", "service_tier": answered},
        "model_parameters": {"service_tier": asked},
        "status": "success",
    }


both = pytest.mark.parametrize("written", [spend_log, payload])


@both
@pytest.mark.parametrize(
    ("asked", "answered", "basis", "served"),
    [
        (None, None, {"service_tier": "flex"}, "flex"),
        ("priority", None, {"service_tier": None}, None),
        ("priority", "default", {"service_tier": None}, "default"),
        ("auto", "flex", {"service_tier": "flex"}, "flex"),
        ("flex", None, {"total_cost": 0.5}, "flex"),
        ("flex", None, None, "flex"),
        (None, None, None, None),
    ],
)
def test_the_tier_is_the_one_that_served_and_not_the_one_asked_for(one, written, asked, answered, basis, served):
    assert one(written({}, basis, asked, answered)).service_tier == served


@both
def test_usage_of_anthropic_says_how_it_was_served(one, written):
    usage = {"service_tier": "priority", "inference_geo": "us", "speed": "fast"}
    event = one(written(usage, {"service_tier": None}, None, None))
    assert event.service_tier == "priority"
    assert event.price_context == {"inference_geo": "us", "speed": "fast"}


@both
def test_a_call_of_a_batch_is_one(one, written):
    event = one(written({"service_tier": "batch"}, None, None, None))
    assert event.is_batch is True
    assert one({**written({}, None, None, None), "call_type": "aretrieve_batch"}).is_batch is True
    assert one(written({}, None, None, None)).is_batch is False


@both
def test_residency_and_region_are_those_that_the_gateway_charged_for(one, written):
    event = one(written({}, {"data_residency": "eu", "vertex_location": "europe-west1"}, None, None))
    assert (event.region, event.price_context) == ("europe-west1", {"inference_geo": "eu"})
