from __future__ import annotations

import pytest

CHAT = {
    "id": "chatcmpl-0123456789abcdef",
    "object": "chat.completion",
    "created": 1772445600,
    "model": "gpt-4",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 30, "completion_tokens": 2, "total_tokens": 32},
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5-20250929",
    "content": [],
    "usage": {"input_tokens": 4, "output_tokens": 2},
}


def asked(model):
    return {"model": model, "messages": [{"role": "user", "content": "x"}]}


@pytest.mark.parametrize("name", ["url", "path"])
def test_the_called_path_at_azure_names_the_deployment(one, name):
    path = "/openai/deployments/team%20chat/chat/completions?api-version=2025-04-01-preview"
    address = {"url": f"https://acme.openai.azure.com{path}"}
    if name == "path":
        address = {"host": "acme.openai.azure.com", "path": path}
    event = one({**address, "request": {"messages": []}, "response": CHAT})
    assert (event.provider, event.model, event.price_context) == ("azure", "gpt-4", {"deployment": "team chat"})


@pytest.mark.parametrize(
    ("model", "answered", "deployment"),
    [
        ("team-chat", "gpt-4", {"deployment": "team-chat"}),
        ("gpt-4o", "gpt-4o-2024-08-06", None),
        ("gpt-4o", "gpt-4o", None),
    ],
)
def test_a_request_at_azure_names_a_deployment_where_the_answer_has_another_name(one, model, answered, deployment):
    call = {"host": "acme.openai.azure.com", "path": "/openai/v1/chat/completions"}
    event = one({**call, "request": asked(model), "response": {**CHAT, "model": answered}})
    assert event.price_context == deployment
    assert one({"request": asked(model), "response": {**CHAT, "model": answered}}).price_context is None


def test_a_span_of_azure_names_a_deployment_too(one):
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "azure.ai.openai",
        "gen_ai.request.model": "team-chat",
        "gen_ai.response.model": "gpt-4",
    }
    span = {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "00000000000000d1",
        "name": "chat team-chat",
        "startTimeUnixNano": "1772445600000000000",
        "endTimeUnixNano": "1772445601000000000",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
        + [{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "30"}}],
    }
    event = one({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert (event.provider, event.model, event.price_context) == ("azure", "gpt-4", {"deployment": "team-chat"})


def test_a_claude_body_at_bedrock_gets_the_called_models_route_and_region(one):
    url = (
        "https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke"
    )
    event = one({"url": url, "request": asked(None), "response": MESSAGE})
    assert (event.provider, event.region) == ("aws", "eu-central-1")
    assert event.model == "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("us-east5-aiplatform.googleapis.com", "us-east5"),
        ("aiplatform.eu.rep.googleapis.com", "eu"),
        ("aiplatform.googleapis.com", None),
    ],
)
def test_a_vertex_host_names_the_region_unless_it_is_the_global_one(one, host, region):
    event = one({"host": host, "request": asked(None), "response": MESSAGE})
    assert (event.provider, event.region, event.model) == ("google", region, "claude-sonnet-4-5-20250929")
    assert one({"host": host, "region": "us", "request": asked(None), "response": MESSAGE}).region == "us"


@pytest.mark.parametrize(
    ("url", "provider", "region"),
    [
        ("https://eu.api.openai.com/v1/chat/completions", "openai", "eu"),
        ("https://api.openai.com/v1/chat/completions", "openai", None),
        ("https://us.api.x.ai/v1/chat/completions", "x-ai", "us"),
        ("https://api.x.ai/v1/chat/completions", "x-ai", None),
        ("https://aiplatform.googleapis.com/v1/projects/p/locations/us/publishers/google/models/m", "google", "us"),
        ("https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/m", "google", None),
    ],
)
def test_an_address_names_the_place_that_a_price_depends_on(one, url, provider, region):
    event = one({"url": url, "request": asked("gpt-4"), "response": CHAT})
    assert (event.provider, event.region) == (provider, region)


def test_a_spans_host_names_the_region_too(one):
    told = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5.6-sol"}
    told["server.address"] = "eu.api.openai.com"
    span = {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "00000000000000d2",
        "name": "chat gpt-5.6-sol",
        "startTimeUnixNano": "1772445600000000000",
        "endTimeUnixNano": "1772445601000000000",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items()],
    }
    assert one({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).region == "eu"


def test_groq_and_fireworks_are_known_by_what_only_they_write(one):
    groq = {**CHAT, "model": "openai/gpt-oss-120b", "x_groq": {"id": "req_1"}}
    assert one(groq).provider == "groq"
    timed = {**CHAT, "model": "openai/gpt-oss-120b", "usage": {**CHAT["usage"], "queue_time": 0.1, "prompt_time": 0.2}}
    assert one(timed).provider == "groq"
    assert one({**CHAT, "model": "accounts/fireworks/models/deepseek-v3p1"}).provider == "fireworks"


def test_perplexity_splits_what_it_charged(one):
    cost = {"input_tokens_cost": 0.001, "output_tokens_cost": 0.002, "request_cost": 0.005, "total_cost": 0.008}
    event = one({**CHAT, "model": "sonar-pro", "usage": {**CHAT["usage"], "cost": cost}})
    assert (event.provider, event.cost_reported_usd, event.warnings) == ("perplexity", "0.008", None)


def test_groqs_older_streams_tell_their_usage_apart(one):
    chunk = {"object": "chat.completion.chunk", "id": "chatcmpl-0123456789abcdef", "model": "openai/gpt-oss-120b"}
    event = one(
        [
            {**chunk, "choices": [{"index": 0, "delta": {"content": "ok"}}], "x_groq": {"id": "req_1"}},
            {
                **chunk,
                "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                "x_groq": {"usage": CHAT["usage"]},
            },
        ],
        form="openai_chat",
    )
    assert (event.provider, event.tok_input, event.tok_output) == ("groq", 30, 2)


@pytest.mark.parametrize("name", ["prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens"])
def test_cached_tokens_are_read_under_each_servers_name(one, name):
    event = one({**CHAT, "usage": {**CHAT["usage"], name: 20}})
    assert (event.tok_input, event.tok_cache_read) == (10, 20)
