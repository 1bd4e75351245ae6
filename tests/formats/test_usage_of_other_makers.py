"""Usage in or near OpenAI's shape as other makers fill it: details beside the counts, totals that leave some out."""

from __future__ import annotations

import pytest

CHAT = {
    "id": "e5cc70bb28c444948073e77776eb30ef",
    "object": "chat.completion",
    "created": 1772445600,
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
}


def answer(model, usage, **more):
    return {**CHAT, "model": model, "usage": usage, **more}


def test_a_research_is_charged_for_the_pages_it_read_its_reasoning_and_its_searches(one):
    usage = {
        "prompt_tokens": 1188,
        "completion_tokens": 4240,
        "total_tokens": 5428,
        "citation_tokens": 8014,
        "num_search_queries": 54,
        "reasoning_tokens": 92431,
        "cost": {"total_cost": 0.59962},
    }
    event = one(answer("sonar-deep-research", usage))
    assert (event.tok_input, event.tok_output, event.tok_reasoning) == (1188 + 8014, 4240, 92431)
    assert (event.units, event.cost_reported_usd, event.warnings) == ({"web_search": 54.0}, "0.59962", None)
    assert event.price_context == {"charge": "reported"}


def test_reasoning_named_beside_the_counts_is_inside_the_answer_unless_the_total_says_otherwise(one):
    usage = {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140, "reasoning_tokens": 30}
    inside = one(answer("databricks-claude", usage))
    assert (inside.tok_output, inside.tok_reasoning, inside.warnings) == (10, 30, None)
    beside = one(answer("grok-4.7", {**usage, "total_tokens": 170, "cached_prompt_text_tokens": 60}))
    assert (beside.tok_input, beside.tok_cache_read) == (40, 60)
    assert (beside.tok_output, beside.tok_reasoning, beside.warnings) == (40, 30, None)


def test_xai_says_what_it_charged_in_ticks(one):
    usage = {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140, "cost_in_usd_ticks": 37756000}
    for event in (
        one(answer("grok-4.7", usage)),
        one(
            {
                "id": "7b1dd2c9-6f0e-4d53-9d4a-0a1b2c3d4e5f",
                "object": "response",
                "created_at": 1772445600,
                "status": "completed",
                "model": "grok-4.7",
                "usage": {"input_tokens": 100, "output_tokens": 40, "total_tokens": 140, "cost_in_usd_ticks": 37756000},
            }
        ),
    ):
        assert (event.provider, event.cost_reported_usd) == ("x-ai", "0.0037756")
        assert event.price_context == {"charge": "reported"}


@pytest.mark.parametrize(
    "details",
    [
        {"cached_tokens": 0, "cache_creation_input_tokens": 700},
        {"cached_tokens": 0, "cache_creation": {"ephemeral_5m_input_tokens": 700}, "cache_creation_input_tokens": 700},
        {"cached_tokens": 700, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 700},
    ],
)
def test_tokens_written_to_alibabas_explicit_caches_leave_the_input(one, details):
    usage = {"prompt_tokens": 1000, "completion_tokens": 5, "total_tokens": 1005, "prompt_tokens_details": details}
    event = one(answer("qwen3-max", usage))
    assert (event.tok_input, event.tok_cache_read, event.tok_cache_write_5m) == (300, 0, 700)
    assert (event.tok_cache_write_30m, event.warnings) == (None, None)


def test_frames_that_openrouter_counts_are_pictures(one):
    usage = {
        "prompt_tokens": 90,
        "completion_tokens": 1,
        "prompt_tokens_details": {"video_tokens": 50, "image_tokens": 30},
    }
    event = one(answer("google/gemini-2.5-flash", usage))
    assert (event.tok_input, event.tok_input_image) == (10, 80)


def test_thoughts_that_googles_openai_endpoint_counts_in_the_total_alone_are_output(one):
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 500}
    event = one(answer("gemini-2.5-flash", usage))
    assert (event.tok_input, event.tok_output, event.tok_reasoning, event.warnings) == (10, 20, 470, None)
    other = one(answer("gpt-4o", usage))
    assert (other.tok_output, other.tok_reasoning, other.warnings) == (20, None, ["sum_mismatch"])


def test_rows_of_gemini_batches_in_openais_shape_are_batch_calls(one):
    body = answer("gemini-2.5-flash", {"promptTokens": 10, "completionTokens": 20, "totalTokens": 500})
    event = one({"key": "row-1", "response": body})
    assert (event.tok_input, event.tok_output, event.tok_reasoning) == (10, 20, 470)
    assert (event.is_batch, event.api_key, event.provider) == (True, None, "google")
    assert event.tags == {"custom_id": "row-1"}


def test_perplexitys_responses_name_cached_tokens_their_own_way(one):
    usage = {
        "input_tokens": 500,
        "output_tokens": 7,
        "total_tokens": 507,
        "input_tokens_details": {"cache_read_input_tokens": 200, "cache_creation_input_tokens": 0},
    }
    event = one({"object": "response", "model": "perplexity/sonar", "status": "completed", "usage": usage})
    assert (event.tok_input, event.tok_cache_read) == (300, 200)


def test_searches_that_perplexitys_responses_count_carry_a_fee(one):
    usage = {
        "input_tokens": 5,
        "output_tokens": 7,
        "total_tokens": 12,
        "tool_calls_details": {"search_web": {"invocation": 3}},
    }
    event = one({"object": "response", "model": "perplexity/sonar", "status": "completed", "usage": usage})
    assert event.units == {"web_search": 3.0}


def test_grok_without_a_total_counts_reasoning_beside_the_answer(one):
    usage = {"prompt_tokens": 100, "completion_tokens": 40, "completion_tokens_details": {"reasoning_tokens": 300}}
    event = one(answer("grok-4.7", usage))
    assert (event.tok_output, event.tok_reasoning, event.warnings) == (40, 300, None)
    other = one(answer("gpt-5", usage))
    assert (other.tok_output, other.tok_reasoning, other.warnings) == (0, 40, ["inconsistent_usage"])


@pytest.mark.parametrize(
    ("model", "usage", "searches"),
    [
        ("claude-sonnet-4-5", {"server_tool_use": {"web_search_requests": 2}}, 2.0),
        ("gemini-3-pro", {"prompt_tokens_details": {"web_search_requests": 3}}, 3.0),
        ("gemini-2.5-pro", {"prompt_tokens_details": {"web_search_requests": 3}}, 1.0),
    ],
)
def test_searches_behind_litellm_carry_the_providers_fee(one, model, usage, searches):
    counted = {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140, **usage}
    row = {
        "request_id": "chatcmpl-CVgXbYwT3pLk9QmZr5HsAdEfGjN2u",
        "startTime": "2026-03-02T10:00:00Z",
        "call_type": "acompletion",
        "spend": 0.1,
        "model": model,
        "metadata": {"usage_object": counted},
    }
    payload = {
        "id": "chatcmpl-CVgXbYwT3pLk9QmZr5HsAdEfGjN2u",
        "startTime": 1772445600.0,
        "response_cost": 0.1,
        "model_group": model,
        "model": model,
        "metadata": {"usage_object": counted},
    }
    for record in (row, payload):
        event = one(record)
        assert (event.units, event.tok_input, event.tok_output) == ({"web_search": searches}, 100, 40)


def test_size_of_the_search_that_perplexity_says_stands_in_the_price_context(one):
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    contexts = [
        one(answer("sonar", {**usage, **said})).price_context
        for said in ({"search_context_size": "High"}, {"search_context_size": None}, {"search_context_size": 7}, {})
    ]
    assert contexts == [{"search_context": "high"}, None, None, None]


@pytest.mark.parametrize(
    ("asked", "stream", "told", "context"),
    [
        ({"search_type": "pro"}, True, "low", "pro-low"),
        ({"search_type": "pro", "search_context_size": "high"}, True, None, "pro-high"),
        ({"search_type": "pro"}, True, None, "pro"),
        ({"search_type": "pro"}, False, "low", "low"),
        ({"search_type": "auto"}, True, "high", "auto-high"),
        ({"search_type": "fast"}, True, "medium", "medium"),
    ],
)
def test_pro_search_of_perplexity_is_told_apart_where_it_ran(one, asked, stream, told, context):
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "search_context_size": told}
    request = {"model": "sonar-pro", "messages": [], "stream": stream, "web_search_options": asked}
    record = {"url": "https://api.perplexity.ai/chat/completions", "request": request}
    event = one({**record, "response": answer("sonar-pro", usage)})
    assert event.price_context["search_context"] == context
