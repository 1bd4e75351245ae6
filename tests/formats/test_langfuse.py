from __future__ import annotations

import itertools
import json

import pytest

from app.core.usage import Rejected, UsageEvent, tokens_in


def generation(**fields):
    return {
        "id": "obs-1",
        "traceId": "t",
        "type": "GENERATION",
        "startTime": "2026-03-02T10:00:00.000Z",
        "model": "gpt-4o",
        **fields,
    }


def classes(event):
    return event.tok_input, event.tok_cache_read, event.tok_output, event.tok_reasoning


def test_details_that_add_up_to_the_total_stand_beside(one):
    usage = {"input": 560, "input_cached_tokens": 2560, "output": 92, "output_reasoning_tokens": 320, "total": 3532}
    assert classes(one(generation(usageDetails=usage))) == (560, 2560, 92, 320)


def test_details_that_the_total_leaves_out_are_inside(one):
    usage = {"total": 2061, "input": 6, "completion_details.reasoning": 1104, "output": 2055}
    assert classes(one(generation(usageDetails=usage))) == (6, None, 951, 1104)


def test_details_that_fit_neither_way_are_flagged(one):
    event = one(generation(usageDetails={"input": 10, "input_cached_tokens": 5, "output": 1, "total": 99}))
    assert event.warnings == ["sum_mismatch"]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "prompt_tokens_details": None},
            (100, None, 20, None),
        ),
        (
            {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 20},
            (10, 90, 20, None),
        ),
        (
            {"prompt_token_count": 100, "cached_content_token_count": 30, "candidates_token_count": 20,
             "thoughts_token_count": 5, "total_token_count": 125, "cache_tokens_details": []},
            (70, 30, 20, 5),
        ),
        (
            {"promptTokenCount": 100, "candidatesTokenCount": 500, "thoughtsTokenCount": 400, "totalTokenCount": 600},
            (100, None, 100, 400),
        ),
    ],
)  # fmt: skip
def test_raw_usage_of_a_provider_is_read_by_that_providers_convention(one, usage, expected):
    event = one(generation(usageDetails=usage))
    assert classes(event) == expected
    assert event.warnings is None


def test_a_call_whose_usage_was_never_reported_is_unknown(one):
    event = one(generation(usageDetails={}, inputUsage=0, outputUsage=0, totalUsage=0, totalCost=0))
    assert tokens_in(event) is None
    assert event.cost_reported_usd is None


def test_old_rows_with_three_numbers_are_read(one):
    event = one(generation(inputUsage=1200, outputUsage=15, totalUsage=1215, calculatedTotalCost=0.00011))
    assert classes(event) == (1200, None, 15, None)
    assert event.cost_reported_usd == "0.00011"


def test_a_blob_row_and_an_api_row_of_one_call_are_the_same(one):
    api = generation(usageDetails={"input": 5, "output": 1}, completionStartTime="2026-03-02T10:00:00.500Z")
    blob = {
        "id": "obs-1",
        "trace_id": "t",
        "type": "GENERATION",
        "start_time": "2026-03-02T10:00:00.000Z",
        "provided_model_name": "gpt-4o",
        "usage_details": json.dumps({"input": 5, "output": 1}),
        "completion_start_time": "2026-03-02T10:00:00.500Z",
    }
    assert one(blob) == one(api)


def test_parents_that_repeat_their_children_are_not_counted(read):
    rows = [
        generation(id="agent", usageDetails={"input": 30, "output": 3}),
        generation(id="step", type="SPAN", parentObservationId="agent"),
        generation(id="a", parentObservationId="step", usageDetails={"input": 10, "output": 1}),
        generation(id="b", parentObservationId="agent", usageDetails={"input": 20, "output": 2}),
        generation(id="tool", type="TOOL", parentObservationId="a"),
    ]
    for order in itertools.permutations(rows):
        items = read({"id": "t", "observations": list(order)})
        events = [item for item in items if isinstance(item, UsageEvent)]
        assert {event.source_record for event in events} == {"a", "b"}
        assert all(item.benign for item in items if isinstance(item, Rejected))


def test_a_parent_with_counters_of_its_own_is_a_call(read):
    rows = [
        generation(id="outer", usageDetails={"input": 500, "output": 20}),
        generation(id="inner", parentObservationId="outer", usageDetails={"input": 10, "output": 1}),
    ]
    assert len([item for item in read({"id": "t", "observations": rows}) if isinstance(item, UsageEvent)]) == 2


def test_parent_links_in_a_circle_end(read):
    rows = [
        generation(id="a", parentObservationId="b", usageDetails={"input": 1, "output": 1}),
        generation(id="b", type="SPAN", parentObservationId="a"),
    ]
    assert read({"id": "t", "observations": rows})


def test_a_batch_merges_field_by_field_in_any_order(one):
    events = [
        {"id": "2", "type": "generation-update", "timestamp": "2026-03-02T10:00:05.000Z",
         "body": {"id": "o", "endTime": "2026-03-02T10:00:05.000Z", "model": None,
                  "usageDetails": {"input": 1000, "output": 100}}},
        {"id": "1", "type": "generation-create", "timestamp": "2026-03-02T10:00:00.000Z",
         "body": {"id": "o", "traceId": "t", "startTime": "2026-03-02T10:00:00.000Z", "model": "gpt-4o",
                  "metadata": {"feature": "search"}}},
        {"id": "2", "type": "generation-update", "timestamp": "2026-03-02T10:00:05.000Z",
         "body": {"id": "o", "usageDetails": {"input": 1000, "output": 100}}},
        {"id": "0", "type": "trace-create", "timestamp": "2026-03-02T10:00:00.000Z", "body": {"id": "t"}},
    ]  # fmt: skip
    read_orders = [one({"batch": list(order)}) for order in itertools.permutations(events)]
    assert all(event == read_orders[0] for event in read_orders)
    event = read_orders[0]
    assert (event.tok_input, event.tok_output, event.model) == (1000, 100, "gpt-4o")
    assert event.tags["feature"] == "search"


def test_a_traces_user_session_and_tags_reach_its_calls(one):
    trace = {"id": "t", "userId": "u", "sessionId": "s", "name": "support", "tags": ["feature:help"], "release": "r1"}
    event = one({**trace, "observations": [generation(usageDetails={"input": 1}, environment="prod", name="answer")]})
    assert (event.user, event.session_id) == ("u", "s")
    assert event.tags == {
        "feature": "help",
        "environment": "prod",
        "name": "answer",
        "trace_name": "support",
        "release": "r1",
    }


def test_messages_of_the_input_are_the_prompt(one):
    messages = [{"role": "system", "content": "Rules"}, {"role": "user", "content": "Hi"}]
    event = one(generation(input=json.dumps(messages), output={"role": "assistant", "content": "Yo"}))
    assert [(part.role, part.text) for part in event.prompt] == [("system", "Rules"), ("user", "Hi")]
    assert event.output == '{"role":"assistant","content":"Yo"}'


def test_a_chatml_rendering_is_rejected_by_name(read):
    (item,) = read({"obs-1": {"input": {"success": True, "data": []}, "output": {"success": True, "data": []}}})
    assert "ChatML rendering" in item.reason
    assert item.benign is False


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"id": "s", "traceId": "t", "name": "helpful", "value": 1, "dataType": "NUMERIC", "source": "API"}, "score"),
        ({"id": "s", "trace_id": "t", "name": "ok", "string_value": "yes", "data_type": "CATEGORICAL"}, "score"),
        ({"id": "t", "timestamp": "2026-03-02T10:00:00Z", "session_id": None, "release": None, "tags": []}, "trace"),
    ],
)
def test_other_rows_of_exports_are_passed_over_by_name(read, row, what):
    for record in (row, {"data": [row]}, [row]):
        assert read(record) == [Rejected(f"a Langfuse {what} is no call", benign=True)]


def test_the_providers_id_of_the_answer_is_found_where_instruments_keep_it(one):
    kept = one(generation(metadata={"attributes": {"gen_ai.response.id": "chatcmpl-abcdefghijkl"}}))
    assert kept.provider_response_id == "chatcmpl-abcdefghijkl"
    callback = one(generation(id="time-10-00-00-123456_chatcmpl-abcdefghijkl"))
    assert callback.provider_response_id == "chatcmpl-abcdefghijkl"
    assert one(generation()).provider_response_id is None


@pytest.mark.data
@pytest.mark.parametrize("name", ["langfuse_observation_v2", "langfuse_blob_observation"])
def test_the_samples_of_the_api_and_of_exports_are_the_same_call(one, sample, name):
    event = one(*sample(name))
    assert classes(event) == (560, 2560, 92, 320)
    assert (event.tok_total_reported, event.cost_reported_usd) == (3532, "0.011504")


@pytest.mark.parametrize(
    ("asked", "attributes", "served"),
    [
        (None, None, None),
        ("flex", None, "flex"),
        ("priority", {"openai.response.service_tier": "default"}, "default"),
        (None, {"gen_ai.openai.response.service_tier": "flex"}, "flex"),
        (None, {"openai.request.service_tier": "priority"}, "priority"),
    ],
)
def test_the_tier_is_the_one_that_served_else_the_one_asked_for(one, asked, attributes, served):
    row = generation(modelParameters={"service_tier": asked}, metadata={"attributes": attributes})
    assert one(row).service_tier == served


@pytest.mark.parametrize("raw", [False, True])
def test_searches_that_langfuse_charges_for_are_no_tokens(one, raw):
    counters = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    usage = {**(counters if raw else {"input": 10, "output": 5, "total": 15}), "web_search_queries": 3}
    event = one(generation(model="gemini-3-flash-preview", usageDetails=usage))
    assert (classes(event)[0], classes(event)[2], event.units) == (10, 5, {"web_search": 3.0})
    assert event.warnings is None
