"""Which spans of a trace are calls, which repeat the calls under them, and how each is named."""

from __future__ import annotations

import base64

import pytest
from made_spans import (
    CURRENT,
    PARENT,
    SPAN,
    TRACE,
    chat,
    export,
    span,
)

from app.core.usage import Rejected, SpanLink, UsageEvent, tokens_in


def test_spans_that_are_no_calls_are_kept_as_links_where_they_stand_under_something(read):
    root = span({"http.route": "/ask"}, spanId=PARENT, parentSpanId="")
    tool = span({"gen_ai.operation.name": "execute_tool"})
    items = read(export(root, tool))
    assert [item.benign for item in items] == [True, True]
    assert [type(item) for item in items] == [Rejected, SpanLink]
    assert (items[1].span_id, items[1].parent_id) == (SPAN, PARENT)


def test_of_a_program_that_traces_everything_only_what_may_stand_between_calls_is_kept(read):
    plain = {"http.route": "/ask"}
    spans = [
        span(plain, spanId="1" * 16, parentSpanId="9" * 16),
        span(plain, spanId="2" * 16, parentSpanId="1" * 16),
        span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}, spanId="3" * 16, parentSpanId="2" * 16),
        span({"db.system": "postgres"}, spanId="4" * 16, parentSpanId="3" * 16),
        span({"traceloop.span.kind": "task"}, spanId="5" * 16, parentSpanId="9" * 16),
    ]
    kept = {item.span_id[0] for item in read(export(*spans)) if isinstance(item, SpanLink)}
    assert kept == {"1", "2", "5"}


def test_fetching_a_stored_answer_reports_no_usage_of_its_own(read):
    (item,) = read(export(span({"gen_ai.operation.name": "fetch_response", "gen_ai.request.model": "m", **CURRENT})))
    assert isinstance(item, Rejected)
    assert item.benign


def test_an_agent_above_a_call_repeats_it_also_through_spans_between(read):
    agent = span({"gen_ai.operation.name": "invoke_agent", **CURRENT}, spanId="a" * 16, parentSpanId="")
    node = span({"openinference.span.kind": "CHAIN"}, spanId="b" * 16, parentSpanId="a" * 16)
    call = span({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **CURRENT}, parentSpanId="b" * 16)
    for order in ((agent, node, call), (call, node, agent)):
        items = read(export(*order))
        assert [item.source_record for item in items if isinstance(item, UsageEvent)] == [f"{TRACE}/{SPAN}"]
    (alone,) = [item for item in read(export(agent, node)) if isinstance(item, UsageEvent)]
    assert alone.provider_response_id is None


@pytest.mark.parametrize("wrong", ["", "0" * 32, "xyz", None, 7, "4bf92f35"])
def test_a_span_without_valid_ids_is_named_and_costs_no_other(read, wrong):
    bad = {**chat(), "traceId": wrong}
    good = chat(gen_ai__usage__input_tokens=5, gen_ai__usage__output_tokens=1)
    items = read(export(bad, good, "no span"))
    refused = [item for item in items if isinstance(item, Rejected)]
    assert sorted(item.reason.split()[0] for item in refused) == ["a", "span"]
    assert next(item for item in refused if item.part is not None).part == bad
    assert [tokens_in(item) for item in items if isinstance(item, UsageEvent)] == [5]


def test_ids_in_base64_are_the_same_ids(one):
    coded = {
        "traceId": base64.b64encode(bytes.fromhex(TRACE)).decode(),
        "spanId": base64.b64encode(bytes.fromhex(SPAN)).decode(),
    }
    assert one(export({**chat(), **coded})).source_record == f"{TRACE}/{SPAN}"
