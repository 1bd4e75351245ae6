from __future__ import annotations

import json

import pytest

from app.core.usage import Rejected, tokens_in, tokens_out

CONVERSE = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Done."}]}},
    "stopReason": "end_turn",
    "usage": {
        "inputTokens": 87,
        "outputTokens": 640,
        "totalTokens": 3031,
        "cacheReadInputTokens": 2000,
        "cacheWriteInputTokens": 304,
        "cacheDetails": [{"ttl": "1h", "inputTokens": 200}, {"ttl": "5m", "inputTokens": 104}],
    },
    "metrics": {"latencyMs": 1830},
}
REQUEST = {
    "modelId": "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
    "messages": [
        {"role": "user", "content": [{"text": "See"}, {"image": {"format": "png", "source": {"bytes": "AA=="}}}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "42"}]}}]},
    ],
    "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}, {"cachePoint": {"type": "default"}}]},
    "inferenceConfig": {"maxTokens": 512, "temperature": 0.1, "topP": 0.9, "stopSequences": ["END"]},
    "additionalModelRequestFields": {"thinking": {"type": "enabled"}},
}


def log(**more):
    return {
        "schemaType": "ModelInvocationLog",
        "schemaVersion": "1.0",
        "timestamp": "2026-03-02T10:00:00Z",
        "accountId": "111122223333",
        "identity": {"arn": "arn:aws:iam::111122223333:user/ann"},
        "region": "eu-central-1",
        "requestId": "0f1a2b3c-1111-4222-8333-944455556666",
        "operation": "Converse",
        "modelId": REQUEST["modelId"],
        "input": {"inputContentType": "application/json", "inputTokenCount": 87},
        "output": {"outputContentType": "application/json", "outputTokenCount": 640},
        **more,
    }


def test_converse_classes_stand_beside_each_other_and_writes_are_split_by_lifetime(one):
    event = one(CONVERSE)
    assert (event.tok_input, event.tok_cache_read, event.tok_output) == (87, 2000, 640)
    assert (event.tok_cache_write_5m, event.tok_cache_write_1h) == (104, 200)
    assert tokens_in(event) + tokens_out(event) == event.tok_total_reported == 3031
    assert (event.provider, event.finish_reason, event.output, event.warnings) == ("aws", "end_turn", "Done.", None)


def test_what_boto3_adds_names_the_request_and_its_retries(one):
    metadata = {"RequestId": "0f1a2b3c-1111-4222-8333-944455556666", "HTTPStatusCode": 200, "RetryAttempts": 2}
    event = one({**CONVERSE, "ResponseMetadata": metadata})
    assert (event.source_record, event.http_status, event.attempt) == (one(log()).source_record, 200, 3)


def test_a_total_that_leaves_the_cache_out_is_no_contradiction(one):
    event = one({**CONVERSE, "usage": {**CONVERSE["usage"], "totalTokens": 727}})
    assert tokens_in(event) == 2391
    assert (event.tok_total_reported, event.warnings) == (None, None)
    assert one({**CONVERSE, "usage": {**CONVERSE["usage"], "totalTokens": 5}}).warnings == ["sum_mismatch"]


def test_a_converse_request_gives_parts_parameters_and_cache_marks(one):
    event = one({"request": REQUEST, "response": CONVERSE})
    assert [(part.role, part.kind) for part in event.prompt] == [
        ("tools", "tool"),
        ("system", "text"),
        ("user", "text"),
        ("user", "image"),
        ("assistant", "tool_use"),
        ("user", "tool_result"),
    ]
    assert (event.max_tokens, event.temperature, event.top_p, event.stop) == (512, 0.1, 0.9, '["END"]')
    assert event.model == REQUEST["modelId"]
    params = json.loads(event.params)
    assert params["cache_marks"] == [[0, ""], [1, "1h"]]
    assert params["additionalModelRequestFields"] == {"thinking": {"type": "enabled"}}


STREAM = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "hm"}}}},
    {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "Hel"}}},
    {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "lo"}}},
    {"contentBlockStart": {"contentBlockIndex": 2, "start": {"toolUse": {"name": "f", "toolUseId": "t"}}}},
    {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"toolUse": {"input": '{"a":'}}}},
    {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"toolUse": {"input": "1}"}}}},
    {"messageStop": {"stopReason": "tool_use"}},
    {"metadata": {"usage": {"inputTokens": 9, "outputTokens": 7, "totalTokens": 16}, "metrics": {"latencyMs": 300}}},
]


def test_a_converse_stream_is_one_call(one):
    event = one(STREAM, form="bedrock_converse")
    assert (event.tok_input, event.tok_output, event.finish_reason, event.stream) == (9, 7, "tool_use", True)
    assert event.output.startswith('["Hello",{"toolUse"')
    cut = one(STREAM[:4], form="bedrock_converse")
    assert (cut.status, tokens_in(cut)) == ("aborted", None)


def test_the_logs_own_counters_count_without_any_body(one):
    event = one(log(inferenceRegion="eu-west-1", requestMetadata={"team": "support", "feature": "search"}))
    assert (event.tok_input, event.tok_output, event.tok_cache_read) == (87, 640, None)
    assert (event.provider, event.model, event.region) == ("aws", REQUEST["modelId"], "eu-central-1")
    assert (event.account, event.user) == ("111122223333", "arn:aws:iam::111122223333:user/ann")
    assert event.tags == {"team": "support", "feature": "search"}
    assert event.source_record == "0f1a2b3c-1111-4222-8333-944455556666"
    assert event.prompt is None


def test_bodies_tell_what_the_log_leaves_out(one):
    given = {
        "inputBodyJson": {key: value for key, value in REQUEST.items() if key != "modelId"},
        "inputTokenCount": 87,
        "cacheReadInputTokenCount": 2000,
        "cacheWriteInputTokenCount": 304,
    }
    event = one(log(input=given, output={"outputBodyJson": CONVERSE, "outputTokenCount": 640}))
    assert (event.tok_input, event.tok_cache_read) == (87, 2000)
    assert (event.tok_cache_write_5m, event.tok_cache_write_1h) == (104, 200)
    assert (event.max_tokens, event.output) == (512, "Done.")
    assert event.end_us - event.start_us == 1_830_000
    assert event.warnings is None


CLAUDE = {
    "id": "msg_bdrk_0123456789abcdef",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5-20250929",
    "content": [{"type": "text", "text": "Yes."}],
    "stop_reason": "end_turn",
    "usage": {
        "input_tokens": 10,
        "cache_read_input_tokens": 50,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "output_tokens": 8,
        "output_tokens_details": {"thinking_tokens": 3},
    },
}


@pytest.mark.parametrize("as_log", [True, False])
def test_calls_of_bought_capacity_are_marked_by_the_models_arn(one, as_log):
    arn = "arn:aws:bedrock:us-east-1:123456789012:provisioned-model/abc123"
    event = one(log(modelId=arn) if as_log else {"request": {**REQUEST, "modelId": arn}, "response": CONVERSE})
    assert (event.model, event.service_tier) == (arn, "provisioned")
    assert one(log()).service_tier is None


def invoked(body, fresh, answer, model="anthropic.claude-sonnet-4-5-20250929-v1:0", request=None, **counts):
    return log(
        operation="InvokeModelWithResponseStream" if isinstance(body, list) else "InvokeModel",
        modelId=model,
        input={"inputBodyJson": request or {}, "inputTokenCount": fresh, **counts},
        output={"outputBodyJson": body, "outputTokenCount": answer},
    )


def test_a_claude_body_splits_writes_and_thinking_and_the_log_names_the_model(one):
    request = {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Is it?"}],
    }
    counts = {"cacheReadInputTokenCount": 50, "cacheWriteInputTokenCount": 30}
    event = one(invoked(CLAUDE, 10, 8, request=request, **counts))
    assert (event.tok_input, event.tok_cache_read) == (10, 50)
    assert (event.tok_cache_write_5m, event.tok_cache_write_1h) == (10, 20)
    assert (event.tok_output, event.tok_reasoning) == (5, 3)
    assert (event.model, event.max_tokens) == ("anthropic.claude-sonnet-4-5-20250929-v1:0", 9)
    assert event.provider_response_id == "msg_bdrk_0123456789abcdef"
    assert event.prompt[0].text == "Is it?"


def test_a_body_that_was_cut_down_to_its_counters_still_splits_the_writes(one):
    split = {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}
    body = {
        "usage": {"input_tokens": 7, "output_tokens": 9, "cache_creation": split, "cache_creation_input_tokens": 30}
    }
    event = one(invoked(body, 7, 9, cacheWriteInputTokenCount=30))
    assert (event.tok_input, event.tok_output) == (7, 9)
    assert (event.tok_cache_write_5m, event.tok_cache_write_1h) == (10, 20)


def test_a_stream_of_claude_is_logged_as_a_list_of_events(one):
    metrics = {"inputTokenCount": 10, "outputTokenCount": 8, "invocationLatency": 900, "firstByteLatency": 200}
    events = [
        {"type": "message_start", "message": {**CLAUDE, "content": [], "usage": {"input_tokens": 10}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 8}},
        {"type": "message_stop", "amazon-bedrock-invocationMetrics": metrics},
    ]
    event = one(invoked(events, 10, 8))
    assert (event.tok_input, event.tok_output, event.stream, event.output) == (10, 8, True, "Yes.")
    assert event.end_us - event.start_us == 900_000


BODIES = {
    "llama": (
        "meta.llama3-1-70b-instruct-v1:0",
        {"prompt": "Is it?", "max_gen_len": 50, "top_p": 0.9},
        {"generation": "Yes.", "prompt_token_count": 12, "generation_token_count": 3, "stop_reason": "stop"},
    ),
    "titan": (
        "amazon.titan-text-express-v1",
        {"inputText": "Is it?", "textGenerationConfig": {"maxTokenCount": 50}},
        {
            "inputTextTokenCount": 12,
            "results": [{"tokenCount": 3, "outputText": "Yes.", "completionReason": "FINISH"}],
        },
    ),
    "nova": (
        "amazon.nova-lite-v1:0",
        {"messages": [{"role": "user", "content": [{"text": "Is it?"}]}], "inferenceConfig": {"max_new_tokens": 50}},
        {
            "output": {"message": {"content": [{"text": "Yes."}]}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 12, "outputTokens": 3, "totalTokens": 15, "cacheReadInputTokenCount": 0},
        },
    ),
    "mistral": (
        "mistral.mistral-large-2402-v1:0",
        {"prompt": "Is it?", "max_tokens": 50},
        {"outputs": [{"text": "Yes.", "stop_reason": "stop"}]},
    ),
    "cohere": (
        "cohere.command-text-v14",
        {"prompt": "Is it?", "max_tokens": 50},
        {"generations": [{"text": "Yes.", "finish_reason": "COMPLETE"}]},
    ),
}


@pytest.mark.parametrize("maker", sorted(BODIES))
def test_every_makers_body_is_read_and_the_log_counts(one, maker):
    model, request, body = BODIES[maker]
    event = one(invoked(body, 12, 3, model, request))
    assert (event.model, event.tok_input, event.tok_output) == (model, 12, 3)
    assert (event.output, event.max_tokens, event.prompt[-1].text) == ("Yes.", 50, "Is it?")
    assert event.warnings is None


@pytest.mark.parametrize("maker", ["llama", "titan", "nova"])
def test_bodies_that_count_stand_alone(one, maker):
    _, request, body = BODIES[maker]
    event = one({"request": request, "response": body})
    assert (event.provider, event.tok_input, event.tok_output) == ("aws", 12, 3)


def test_a_titan_embedding_has_no_answer(one):
    event = one({"embedding": [0.1], "inputTextTokenCount": 5})
    assert (event.operation, event.tok_input, event.tok_output) == ("embedding", 5, None)


@pytest.mark.parametrize(
    ("code", "status", "free"),
    [
        ("ThrottlingException", "error", True),
        ("ModelTimeoutException", "timeout", False),
        ("InternalServerException", "error", False),
    ],
)
def test_a_refused_call_cost_nothing_and_another_failure_is_unknown(one, code, status, free):
    record = log(errorCode=code, input={"inputBodyS3Path": "s3://logs/data/a_input.json.gz"})
    del record["output"]
    event = one(record)
    assert (event.status, event.not_billed, event.error, tokens_in(event)) == (status, free, code, None)


def test_an_entry_of_cloudwatch_holds_the_log_as_text(one):
    event = one({"timestamp": 1772445600000, "message": json.dumps(log()), "logStreamName": "aws/bedrock/x"})
    assert (event.tok_input, event.model) == (87, REQUEST["modelId"])


def test_lines_of_a_batch_are_known_by_their_record(read):
    good, bad = read(
        {"recordId": "CALL0000001", "modelInput": {"max_tokens": 9, "messages": []}, "modelOutput": CLAUDE},
        {"recordId": "CALL0000002", "modelInput": {}, "error": {"errorCode": 400, "errorMessage": "bad request"}},
    )
    assert (good.is_batch, good.tags["custom_id"], good.tok_input, good.tok_cache_read) == (True, "CALL0000001", 10, 50)
    assert (good.provider, good.model) == ("aws", "claude-sonnet-4-5-20250929")
    assert (bad.status, bad.not_billed, bad.http_status, bad.error) == ("error", True, 400, "400: bad request")


def test_a_batch_line_of_no_known_body_is_named(read):
    (item,) = read({"recordId": "a", "modelInput": {}, "modelOutput": {"silly": 1}})
    assert isinstance(item, Rejected)


@pytest.mark.data
def test_the_samples_have_the_classes_that_their_maker_gave_them(sample, read):
    (converse,) = read(*sample("bedrock_converse"))
    logged, throttled = read(*sample("bedrock_invocation_log"))
    assert (converse.tok_cache_write_1h, converse.tok_cache_write_5m) == (2048, 256)
    assert (logged.tok_input, logged.tok_cache_read, logged.tok_cache_write_5m) == (87, 15872, 2304)
    assert tokens_in(converse) == tokens_in(logged) == 18263
    assert converse.tok_output == logged.tok_output == 640
    assert throttled.not_billed
    good, failed = read(*sample("bedrock_batch_output"))
    assert (good.tok_input, good.tok_output, failed.not_billed) == (42, 3, True)


def test_writes_that_the_details_leave_out_have_the_default_lifetime(one):
    used = {**CONVERSE["usage"], "cacheDetails": [{"ttl": "1h", "inputTokens": 200}]}
    event = one({**CONVERSE, "usage": used})
    assert (event.tok_cache_write_5m, event.tok_cache_write_1h, event.warnings) == (104, 200, None)
