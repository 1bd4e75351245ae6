"""OTLP in JSON and in protobuf is the same export: both give the same calls, whatever their attributes hold."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
from google.protobuf.json_format import MessageToDict
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from app.core.usage import Rejected
from ingest.formats import format_named
from ingest.formats.format import Origin
from ingest.otlp_protobuf import decoded

NAMES = [
    "gen_ai.operation.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "gen_ai.response.id",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.total_tokens",
    "gen_ai.input.messages",
    "gen_ai.response.finish_reasons",
    "gen_ai.request.stop_sequences",
    "llm.token_count.prompt",
    "error.type",
    "metadata",
    "tag.tags",
    "feature",
    "user.id",
    "langfuse.observation.usage_details",
    "mlflow.chat.tokenUsage",
    "ai.model.provider",
    "x",
]
TEXT = st.sampled_from(["chat", "gpt-5", "12", "", '{"input": 3}', "[1]", "true", 'é\n"', "NaN"])
SCALAR = (
    TEXT.map(lambda held: ("string_value", held))
    | st.booleans().map(lambda held: ("bool_value", held))
    | (st.integers(-5, 3000) | st.sampled_from([2**63 - 1, -(2**63)])).map(lambda held: ("int_value", held))
    | st.floats(width=64).map(lambda held: ("double_value", held))
    | st.binary(max_size=6).map(lambda held: ("bytes_value", held))
    | st.just((None, None))
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda held: ("array_value", held))
        | st.lists(st.tuples(st.sampled_from(["a", "content", "role"]), inner), max_size=2).map(
            lambda held: ("kvlist_value", held)
        )
    ),
    max_leaves=4,
)
ATTRIBUTES = st.lists(st.tuples(st.sampled_from(NAMES), VALUE), max_size=7)
ID = st.binary(min_size=8, max_size=8)
SPAN = st.fixed_dictionaries(
    {
        "trace": st.binary(min_size=16, max_size=16),
        "span": ID,
        "parent": st.just(b"") | ID,
        "name": st.sampled_from(["chat gpt-5", "claude_code.llm_request", ""]),
        "start": st.sampled_from([0, 1_790_000_000_123_456_789, 1_790_000_000_000_000_000, 2**64 - 1]),
        "end": st.sampled_from([0, 1_790_000_001_000_000_000, 1_789_999_999_000_000_000]),
        "failed": st.booleans(),
        "attributes": ATTRIBUTES,
        "event": ATTRIBUTES,
    }
)


def fill(target: Any, value: tuple[str | None, Any]) -> None:
    kind, held = value
    if kind == "array_value":
        target.array_value.SetInParent()
        for item in held:
            fill(target.array_value.values.add(), item)
    elif kind == "kvlist_value":
        target.kvlist_value.SetInParent()
        for key, item in held:
            fill(target.kvlist_value.values.add(key=key).value, item)
    elif kind is not None:
        setattr(target, kind, held)


def put(target: Any, attributes: list[tuple[str, Any]]) -> None:
    for key, value in attributes:
        fill(target.add(key=key).value, value)


def traces(given_spans: list[dict[str, Any]], resource: list[tuple[str, Any]]) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    holder = request.resource_spans.add()
    put(holder.resource.attributes, resource)
    group = holder.scope_spans.add()
    for one in given_spans:
        span = group.spans.add(
            trace_id=one["trace"],
            span_id=one["span"],
            parent_span_id=one["parent"],
            name=one["name"],
            start_time_unix_nano=one["start"],
            end_time_unix_nano=one["end"],
        )
        put(span.attributes, one["attributes"])
        event = span.events.add(name="gen_ai.choice")
        put(event.attributes, one["event"])
        if one["failed"]:
            span.status.code = 2
            span.status.message = "broken"
    return request


def in_json(message: Any) -> Any:
    """The message as OTLP's JSON has it: protobuf's own mapping, but ids in hex and enumerations as numbers."""

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(item) for item in value]
        if isinstance(value, dict):
            return {
                name: base64.b64decode(held).hex() if name in ("traceId", "spanId", "parentSpanId") else walk(held)
                for name, held in value.items()
            }
        return value

    return json.loads(json.dumps(walk(MessageToDict(message, use_integers_for_enums=True))))


def outcomes(record: Any) -> list[Any]:
    found = []
    for item in format_named("otlp_genai").parse(record, Origin("s", "f", 1)):
        if isinstance(item, Rejected):
            found.append((type(item).__name__, item.reason, getattr(item, "span_id", None)))
        else:
            found.append(msgspec.structs.asdict(item))
    return found


@settings(max_examples=40, deadline=None)
@given(st.lists(SPAN, min_size=1, max_size=3), ATTRIBUTES)
def test_spans_of_both_encodings_are_the_same_calls(
    spans: list[dict[str, Any]], resource: list[tuple[str, Any]]
) -> None:
    request = traces(spans, resource)
    assert outcomes(decoded(request.SerializeToString())) == outcomes(in_json(request))


@settings(max_examples=25, deadline=None)
@given(st.lists(SPAN, min_size=1, max_size=2), VALUE)
def test_log_records_of_both_encodings_are_the_same_calls(
    records: list[dict[str, Any]], body: tuple[str | None, Any]
) -> None:
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add().scope_logs.add()
    for one in records:
        record = group.log_records.add(
            trace_id=one["trace"], span_id=one["span"], time_unix_nano=one["start"], event_name=one["name"]
        )
        put(record.attributes, one["attributes"])
        fill(record.body, body)
    assert outcomes(decoded(request.SerializeToString())) == outcomes(in_json(request))


def test_log_records_whose_ids_read_as_broken_attributes_of_spans_are_read() -> None:
    """Field 9 is a log record's trace id and a span's attributes: most ids are no attribute."""
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add().scope_logs.add()
    for number in range(50):
        record = group.log_records.add(
            trace_id=(0xFFFF << 112 | number).to_bytes(16, "big"),
            span_id=b"\xff" * 8,
            time_unix_nano=1_790_000_000 * 10**9,
        )
        usage = ("gen_ai.usage.input_tokens", ("int_value", number))
        put(record.attributes, [("gen_ai.request.model", ("string_value", "gpt-5")), usage])
    found = outcomes(decoded(request.SerializeToString()))
    assert [one["tok_input"] for one in found] == list(range(50))


def test_a_first_span_without_ids_does_not_hide_the_others() -> None:
    blank = {"trace": b"", "span": b"", "parent": b"", "name": "", "start": 0, "end": 0, "failed": False}
    held = [("gen_ai.request.model", ("string_value", "gpt-5")), ("gen_ai.usage.input_tokens", ("int_value", 5))]
    whole = {**blank, "trace": b"t" * 16, "span": b"s" * 8, "attributes": held, "event": []}
    found = outcomes(decoded(traces([{**blank, "attributes": [], "event": []}, whole], []).SerializeToString()))
    assert [one["tok_input"] for one in found if isinstance(one, dict)] == [5]
