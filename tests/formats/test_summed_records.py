"""Records that sum several calls say so, with their number where the record counts them; no other record does."""

from __future__ import annotations

import pytest

from ingest.formats import column_map, format_named
from ingest.formats.format import Origin
from ingest.formats.generic_rows import with_map

ROW = {"timestamp": "2026-03-02T10:00:00Z", "model": "gpt-5", "input_tokens": 900_000, "output_tokens": 900}
SPEND = {
    "request_id": "batch_abc123", "call_type": "aretrieve_batch", "startTime": "2026-03-02T10:00:00Z",
    "endTime": "2026-03-02T10:00:01Z", "model": "gpt-5", "custom_llm_provider": "openai", "spend": 0.5,
    "prompt_tokens": 900_000, "completion_tokens": 900, "total_tokens": 900_900,
}  # fmt: skip
LOGGED = {
    "id": "batch_abc123", "call_type": "aretrieve_batch", "startTime": 1772445600.0, "endTime": 1772445601.0,
    "model": "gpt-5", "custom_llm_provider": "openai", "response_cost": 0.5, "model_map_information": {},
    "prompt_tokens": 900_000, "completion_tokens": 900, "total_tokens": 900_900, "metadata": {},
}  # fmt: skip
SDK = {"text": "Yes", "finishReason": "stop", "response": {"id": "resp_1", "modelId": "gpt-5"}}
STEP, ALL = ({"inputTokens": n, "outputTokens": 5, "totalTokens": n + 5} for n in (100, 400))


def batch(done):
    return {"object": "batch", "status": "completed", "request_counts": {"total": 41, "completed": done, "failed": 1}}


@pytest.mark.parametrize(
    ("more", "summed"),
    [
        ({}, None),
        ({"calls": 12}, 12),
        ({"requests": "12"}, 12),
        ({"num_requests": 12.0}, 12),
        ({"API Requests": 12}, 12),
        ({"n_requests": 1}, None),
        ({"requests": 0}, None),
        ({"requests": ["a", "b"]}, None),
        ({"requests": -3}, None),
        ({"requests": "chat"}, None),
        ({"calls": None, "request_count": 7}, 7),
    ],
)
def test_a_row_of_a_grouped_table_tells_its_calls_under_usual_names(read, more, summed):
    (event,) = read({**ROW, **more}, form="generic_rows")
    assert (event.calls_summed, event.tok_input) == (summed, 900_000)


def test_a_column_map_finds_and_takes_the_number_of_calls(read):
    rows = [{"day": "2026-03-02", "model": "gpt-5", "prompt_tokens": 900, "completion_tokens": 9, "api_requests": 30}]
    proposed = column_map.propose(list(rows[0]), rows)
    assert proposed.columns["calls"] == "api_requests"
    (event,) = read(*rows, form=with_map(proposed))
    assert (event.calls_summed, event.tok_input) == (30, 900)


@pytest.mark.parametrize(
    ("more", "summed"),
    [
        ({}, 0),
        ({"response": batch(40)}, 40),
        ({"response": batch(1)}, None),
        ({"response": batch(0)}, 0),
        ({"call_type": "_arealtime"}, 0),
        ({"call_type": "acompletion"}, None),
        ({"call_type": "acompletion", "response": batch(40)}, None),
        ({"call_type": None}, None),
    ],
)
@pytest.mark.parametrize(("form", "row"), [("litellm_spend_logs", SPEND), ("litellm_standard_logging", LOGGED)])
def test_litellms_row_of_a_batch_sums_its_lines(read, form, row, more, summed):
    (event,) = read({**row, **more}, form=form)
    assert (event.calls_summed, event.tok_input) == (summed, 900_000)


def test_a_batch_that_was_only_created_sums_nothing(read):
    row = {name: value for name, value in SPEND.items() if not name.endswith("_tokens")}
    (event,) = read({**row, "call_type": "acreate_batch"}, form="litellm_spend_logs")
    assert event.calls_summed is None


@pytest.mark.parametrize(
    ("more", "summed", "named"),
    [
        ({"usage": STEP}, None, "resp_1"),
        ({"usage": STEP, "totalUsage": STEP, "steps": [{"usage": STEP}]}, None, "resp_1"),
        ({"usage": STEP, "totalUsage": ALL}, 0, None),
        ({"usage": STEP, "totalUsage": ALL, "steps": [{}, {}, {}]}, 3, None),
        ({"usage": STEP, "totalUsage": ALL, "steps": [{"usage": STEP}, {"usage": STEP}]}, 2, None),
    ],
)
def test_a_result_of_several_steps_sums_them_and_is_not_the_last_ones_response(read, more, summed, named):
    (event,) = read({**SDK, **more})
    assert (event.calls_summed, event.provider_response_id) == (summed, named)


@pytest.mark.parametrize(("requests", "summed"), [(1, None), (5, 5), (0, None), ("x", None)])
def test_the_usage_of_an_agents_run_counts_its_requests(read, requests, summed):
    usage = {"requests": requests, "input_tokens": 5000, "output_tokens": 50, "total_tokens": 5050}
    (event,) = read({"timestamp": "2026-03-02T10:00:00Z", "model": "gpt-5", "usage": usage})
    assert (event.calls_summed, event.tok_input) == (summed, 5000)


@pytest.mark.parametrize(("first", "summed"), [(None, None), (500, None), (120, 0)])
def test_an_interaction_that_went_on_after_a_tool_sums_its_rounds(read, first, summed):
    usage = {"total_input_tokens": 500, "total_output_tokens": 9, "total_tokens": 509, "initial_input_tokens": first}
    (event,) = read({"id": "i-1", "object": "interaction", "model": "gemini-3-pro", "usage": usage, "steps": []})
    assert (event.calls_summed, event.tok_input) == (summed, 500)


def test_an_assistants_run_sums_its_steps(read):
    usage = {"prompt_tokens": 900, "completion_tokens": 9, "total_tokens": 909}
    run = {"id": "run_1", "object": "thread.run", "created_at": 1772445600, "model": "gpt-4o", "usage": usage}
    done, going = read(run, {**run, "id": "run_2", "usage": None})
    assert (done.calls_summed, going.calls_summed) == (0, None)


def span(operation, tokens=900):
    said = {
        "gen_ai.operation.name": operation, "gen_ai.request.model": "gpt-5", "gen_ai.usage.input_tokens": tokens,
        "gen_ai.usage.output_tokens": 9,
    }  # fmt: skip
    return {"traceId": "1" * 32, "spanId": "2" * 16, "name": operation, "attributes": said,
            "startTimeUnixNano": "1772445600000000000"}  # fmt: skip


@pytest.mark.parametrize(("operation", "summed"), [("chat", None), ("invoke_agent", 0), ("ai.generateText", 0)])
def test_a_span_above_calls_that_were_not_logged_sums_them(read, operation, summed):
    (event,) = read({"resourceSpans": [{"scopeSpans": [{"spans": [span(operation)]}]}]})
    assert (event.calls_summed, event.tok_input) == (summed, 900)


def counted(given, last):
    total = {"input_tokens": given, "output_tokens": 5, "total_tokens": given + 5}
    latest = None if last is None else {"input_tokens": last, "output_tokens": 5, "total_tokens": last + 5}
    info = {"total_token_usage": total, "last_token_usage": latest}
    payload = {"type": "token_count", "info": {name: value for name, value in info.items() if value is not None}}
    return {"timestamp": f"2026-03-02T10:00:{given % 60:02d}Z", "type": "event_msg", "payload": payload}


def test_a_counter_that_grew_by_more_than_its_latest_call_sums_several():
    def summed(*lines):
        parse, place = format_named("codex_cli").parser(), Origin("s", "rollout.jsonl", 1)
        return [(event.tok_input, event.calls_summed) for line in lines for event in parse(line, place)]

    assert summed(counted(900, None)) == [(900, 0)], "what stood before is not known"
    assert summed(counted(900, 300)) == [(300, None)]
    assert summed(counted(100, 100), counted(300, 200)) == [(100, None), (200, None)]
    assert summed(counted(100, 100), counted(900, 200)) == [(100, None), (800, 0)]
