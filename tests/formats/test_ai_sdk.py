from __future__ import annotations

import pytest

from app.core.usage import tokens_in, tokens_out

ANSWERED = {"id": "resp_0123456789abcdef0123456789abcdef", "timestamp": "2026-03-02T10:00:00Z", "modelId": "gpt-5"}


def result(usage, model="gpt-5", **more):
    return {"text": "Yes", "finishReason": "stop", "usage": usage, "response": {**ANSWERED, "modelId": model}, **more}


def test_cached_and_reasoning_tokens_are_inside_the_counts_of_openai(one):
    usage = {
        "inputTokens": 1200,
        "outputTokens": 80,
        "totalTokens": 1280,
        "cachedInputTokens": 1000,
        "reasoningTokens": 30,
    }
    event = one(result(usage))
    assert (event.provider, event.model, event.start_us) == ("openai", "gpt-5", 1772445600_000000)
    assert (event.tok_input, event.tok_cache_read, event.tok_output, event.tok_reasoning) == (200, 1000, 50, 30)
    assert (event.provider_response_id, event.finish_reason, event.warnings) == (ANSWERED["id"], "stop", None)


def test_version_5_passes_claudes_cached_tokens_on_beside_the_input(one):
    usage = {"inputTokens": 12, "outputTokens": 80, "totalTokens": 92, "cachedInputTokens": 1000}
    kept = {"anthropic": {"cacheCreationInputTokens": 700}}
    event = one(result(usage, "claude-sonnet-4-5", providerMetadata=kept))
    assert (event.tok_input, event.tok_cache_read, event.tok_cache_write_5m) == (12, 1000, 700)
    assert (event.provider, event.warnings) == ("anthropic", None)
    told = one(result({**usage, "inputTokens": 2000}, "claude-sonnet-4-5"))
    assert (told.tok_input, told.tok_cache_read, told.warnings) == (2000, 1000, ["convention_assumed"])


def test_version_6_says_what_is_inside(one):
    usage = {
        "inputTokens": 1712,
        "inputTokenDetails": {"noCacheTokens": 12, "cacheReadTokens": 1000, "cacheWriteTokens": 700},
        "outputTokens": 80,
        "outputTokenDetails": {"textTokens": 50, "reasoningTokens": 30},
        "totalTokens": 1792,
        "cachedInputTokens": 1000,
        "reasoningTokens": 30,
    }
    event = one(result(usage, "claude-sonnet-4-5"))
    assert (event.tok_input, event.tok_cache_read, event.tok_cache_write_5m) == (12, 1000, 700)
    assert (event.tok_output, event.tok_reasoning, event.tok_total_reported) == (50, 30, 1792)


def test_thoughts_of_gemini_and_grok_stand_beside_where_the_total_shows_it(one):
    usage = {
        "inputTokens": 555,
        "outputTokens": 190,
        "totalTokens": 1802,
        "reasoningTokens": 1057,
        "cachedInputTokens": 316,
    }
    event = one(result(usage, "grok-4-fast"))
    assert (event.tok_input, event.tok_cache_read, event.tok_output, event.tok_reasoning) == (239, 316, 190, 1057)


def test_each_step_of_a_result_is_a_call_of_its_own(one):
    first = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120}
    second = {"inputTokens": 300, "outputTokens": 10, "totalTokens": 310, "cachedInputTokens": 90}
    steps = [{"usage": usage, "response": ANSWERED} for usage in (first, second)]
    total = {"inputTokens": 400, "outputTokens": 30, "totalTokens": 430, "cachedInputTokens": 90}
    event = one(result(second, steps=steps, totalUsage=total))
    assert (tokens_in(event), tokens_out(event), event.tok_cache_read) == (400, 30, 90)
    assert [(part.model, part.tok_input, part.tok_cache_read, part.tok_output) for part in event.parts] == [
        ("gpt-5", 100, None, 20),
        ("gpt-5", 210, 90, 10),
    ]
    assert event.provider_response_id is None


@pytest.mark.parametrize(
    ("usage", "classes"),
    [
        ({"inputTokens": 12, "outputTokens": 5, "totalTokens": 17}, (12, 5)),
        ({"promptTokens": 12, "completionTokens": 5, "totalTokens": 17}, (12, 5)),
    ],
)
def test_a_programs_own_line_with_the_sdks_usage_is_no_call_of_bedrock(one, usage, classes):
    line = {"timestamp": "2026-03-02T10:00:00Z", "model": "gpt-4o", "usage": usage, "user": "u", "feature": "search"}
    event = one(line)
    assert (event.provider, event.tok_input, event.tok_output) == ("openai", *classes)
    assert (event.start_us, event.user, event.tags) == (1772445600_000000, "u", {"feature": "search"})


def test_converse_is_still_known_by_its_own_fields_and_models(one, read):
    usage = {"inputTokens": 12, "outputTokens": 5, "totalTokens": 17}
    answered = {"output": {"message": {"content": [{"text": "Yes"}]}}, "stopReason": "end_turn", "usage": usage}
    assert one(answered).provider == "aws"
    own = {"timestamp": "2026-03-02T10:00:00Z", "model": "anthropic.claude-sonnet-4-5-20250929-v1:0", "usage": usage}
    assert (one(own).provider, one(own).start_us) == ("aws", 1772445600_000000)
    assert read({"usage": {**usage, "cacheReadInputTokens": 9}, "stopReason": "x"})[0].tok_cache_read == 9
