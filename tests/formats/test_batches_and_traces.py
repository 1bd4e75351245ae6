from __future__ import annotations

import pytest

from app.core.usage import Rejected, tokens_in

BODY = {
    "id": "chatcmpl-0123456789abcdef",
    "object": "chat.completion",
    "created": 1772445600,
    "model": "gpt-5-2025-08-07",
    "choices": [],
    "usage": {"prompt_tokens": 2000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 1200}},
}


def test_a_batch_line_is_a_batch_call_with_its_own_id(one):
    line = {"id": "batch_req_1", "custom_id": "r-1", "response": {"status_code": 200, "body": BODY}, "error": None}
    event = one(line)
    assert event.is_batch is True
    assert (event.tok_input, event.tok_cache_read, event.tok_output) == (800, 1200, 100)
    assert (event.source_record, event.tags["custom_id"]) == ("batch_req_1", "r-1")
    assert event.provider_response_id == BODY["id"]


@pytest.mark.parametrize(
    ("line", "free"),
    [
        ({"id": "b", "custom_id": "r", "response": None, "error": {"code": "batch_expired", "message": "late"}}, True),
        ({"id": "b", "custom_id": "r", "response": {"status_code": 400, "body": {"error": {"message": "x"}}}}, True),
        ({"id": "b", "custom_id": "r", "response": {"status_code": 500, "body": {"error": {"message": "x"}}}}, False),
    ],
)
def test_a_batch_row_that_failed_is_a_failed_call(one, line, free):
    event = one(line)
    assert (event.status, event.is_batch, event.not_billed) == ("error", True, free)
    assert tokens_in(event) is None
    assert event.error


def test_anthropic_results_are_batch_calls_and_unfinished_rows_are_free(read):
    message = {"id": "msg_1", "model": "claude-x", "content": [], "usage": {"input_tokens": 9, "output_tokens": 1}}
    items = read(
        {"custom_id": "a", "result": {"type": "succeeded", "message": message}},
        {"custom_id": "b", "result": {"type": "errored", "error": {"error": {"type": "invalid", "message": "no"}}}},
        {"custom_id": "c", "result": {"type": "expired"}},
    )
    assert [item.is_batch for item in items] == [True, True, True]
    assert [item.not_billed for item in items] == [False, True, True]
    assert items[0].tok_input == 9
    assert items[1].error == "invalid: no"


def test_a_prefix_hash_trace_keeps_relative_times_and_blocks(one):
    event = one({"timestamp": 1500, "input_length": 1100, "output_length": 6, "hash_ids": [7, 8, 9]})
    assert (event.start_us, event.prefix_hashes, event.prefix_block_tokens) == (1_500_000, [7, 8, 9], 512)
    assert (event.tok_input, event.tok_output) == (1100, 6)


@pytest.mark.parametrize("record", [{"timestamp": 1, "hash_ids": ["a"]}, {"hash_ids": [1]}, {"timestamp": 1}, []])
def test_a_prefix_hash_line_that_cannot_be_replayed_is_rejected(read, record):
    assert isinstance(read(record, form="prefix_hash_trace")[0], Rejected)


def test_a_text_trace_keeps_the_text_and_knows_no_tokens(one):
    event = one({"timestamp": 1760587752017385, "input": "user: Hi", "output": "", "session_id": "s"})
    assert [part.text for part in event.prompt] == ["user: Hi"]
    assert (event.session_id, event.start_us, event.output) == ("s", 1760587752017385, "")
    assert tokens_in(event) is None


def answered(number: int) -> dict:
    usage = {"prompt_tokens": 10 + number, "completion_tokens": 2, "total_tokens": 12 + number}
    body = {"id": f"chatcmpl-{number:029d}z", "object": "chat.completion", "created": 1_790_000_000, "model": "gpt-4o"}
    return {
        "custom_id": f"row-{number}",
        "response": {"status_code": 200, "body": {**body, "choices": [], "usage": usage}},
    }


def test_a_line_of_a_batch_needs_neither_an_id_nor_an_error_to_be_of_a_batch(read):
    (event,) = read(answered(1))
    assert (event.is_batch, event.tok_input, event.tags["custom_id"]) == (True, 11, "row-1")


def test_results_that_a_job_holds_are_a_call_each(read):
    events = read({"id": "batch_1", "object": "batch", "status": "completed", "results": [answered(1), answered(2)]})
    assert [(event.is_batch, event.tok_input, event.source_record) for event in events] == [
        (True, 11, f"chatcmpl-{1:029d}z"), (True, 12, f"chatcmpl-{2:029d}z"),
    ]  # fmt: skip


@pytest.mark.parametrize("place", ["response", "dest", "output"])
def test_answers_that_a_gemini_job_holds_are_a_call_each(read, place):
    rows = [
        {
            "response": {
                "candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": count, "candidatesTokenCount": 2, "totalTokenCount": count + 2},
                "modelVersion": "gemini-2.5-flash",
            }
        }
        for count in (10, 20)
    ]
    rows.append({"error": {"code": 3, "message": "bad"}})
    held = {"inlinedResponses": {"inlinedResponses": rows}} if place == "response" else {"inlinedResponses": rows}
    events = read({"name": "batches/1", "metadata": {"state": "BATCH_STATE_SUCCEEDED"}, place: held})
    assert [(event.is_batch, event.tok_input, event.status) for event in events] == [
        (True, 10, "ok"), (True, 20, "ok"), (True, None, "error"),
    ]  # fmt: skip
    assert len({event.source_record for event in events}) == 3
