from __future__ import annotations

import pytest

from app.core.errors import UsageError
from ingest.formats import FORMATS, detect_format, format_named

SAMPLES = {
    "openai_chat_completion": "openai_chat",
    "openai_chat_chunks": "openai_chat",
    "openrouter_chat": "openai_chat",
    "vllm_chat": "openai_chat",
    "openai_response": "openai_responses",
    "openai_embedding": "openai_embeddings",
    "openai_batch_output": "openai_batch_output",
    "openai_batch_error": "openai_batch_output",
    "anthropic_message": "anthropic_messages",
    "anthropic_stream_events": "anthropic_messages",
    "anthropic_batch_result": "anthropic_batch_results",
    "litellm_spend_logs": "litellm_spend_logs",
    "litellm_standard_logging_payload": "litellm_standard_logging",
    "helicone_request": "helicone",
    "openrouter_generation": "openrouter_generation",
    "portkey_log_export": "portkey",
    "cloudflare_ai_gateway_log": "cloudflare_ai_gateway",
    "vercel_ai_gateway_report": "vercel_ai_gateway",
    "codex_cli": "codex_cli",
    "anthropic_analytics_cost": "anthropic_cost_report",
    "anthropic_analytics_usage": "anthropic_usage_report",
    "anthropic_cost_report": "anthropic_cost_report",
    "anthropic_usage_report_messages": "anthropic_usage_report",
    "aws_cur2_bedrock": "aws_cur",
    "azure_cost_details": "azure_cost",
    "focus_1_2": "focus",
    "gcp_billing_export": "gcp_billing",
    "openai_org_costs": "openai_org_costs",
    "openai_org_usage_completions": "openai_org_usage",
    "openrouter_activity": "openrouter_activity",
    "otlp_claude_code_log": "claude_code_telemetry",
    "otlp_genai_span": "otlp_genai",
    "otlp_openinference_span": "otlp_genai",
    "otlp_openllmetry_span": "otlp_genai",
    "phoenix_span": "otel_spans",
    "mistral_batch_output": "openai_batch_output",
    "langfuse_observation_v2": "langfuse",
    "langfuse_blob_observation": "langfuse",
    "claude_code": "claude_code",
    "gemini_generate_content": "gemini_generate_content",
    "gemini_cli": "gemini_cli",
    "azure_apim_llm_log": "azure_apim_llm_log",
    "gemini_batch_output": "gemini_batch_output",
    "vertex_batch_output": "gemini_batch_output",
    "bedrock_converse": "bedrock_converse",
    "bedrock_invocation_log": "bedrock_invocation_log",
    "bedrock_batch_output": "bedrock_batch_output",
}


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_sample_is_recognised_by_its_content_alone(sample, name):
    found = detect_format(sample(name))
    assert found is not None
    assert found.name == SAMPLES[name]


@pytest.mark.data
def test_layouts_that_are_not_read_yet_are_not_mistaken_for_others(data_dir, sample):
    for path in sorted((data_dir.parent / "samples").glob("*.jsonl")):
        if path.stem not in SAMPLES:
            found = detect_format(sample(path.stem))
            assert found is None, (path.stem, found)


def test_names_are_unique_and_every_format_says_its_convention():
    assert len({form.name for form in FORMATS}) == len(FORMATS)
    assert all(form.title and form.convention.endswith(".") for form in FORMATS)


def test_traces_for_replay_alone_are_marked():
    assert {form.name for form in FORMATS if not form.provider_logs} == {"prefix_hash_trace", "text_trace"}


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UsageError, match="openai_chat"):
        format_named("nonsense")


def test_nothing_is_found_in_nothing_and_in_noise():
    assert detect_format([]) is None
    assert detect_format([1, "x", None, {"a": 1}, [[]]]) is None


def test_detection_reads_no_more_records_than_it_needs():
    def endless():
        while True:
            yield {"a": 1}

    assert detect_format(endless()) is None


KEPT = {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [], "usage": {"prompt_tokens": 1}}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("litellm_spend_logs", {"request_id": "r", "startTime": "2026-03-02", "spend": 1, "messages": []}),
        ("litellm_standard_logging", {"id": "r", "startTime": 1.0, "response_cost": 1, "model_group": "m"}),
        ("helicone", {"request_id": "r", "request_created_at": "x", "response_status": 200, "delay_ms": 1}),
        ("portkey", {"id": "r", "ai_org": "openai", "ai_model": "m", "req_units": 1, "request": {"model": "m"}}),
    ],
)
def test_a_gateways_row_is_its_own_even_where_it_kept_the_body(name, row):
    for field in ("response", "response_body"):
        assert detect_format([{**row, field: KEPT}]).name == name
