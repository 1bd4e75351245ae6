"""Made exports: GenAI spans by number, as OTLP's JSON and as protobuf."""

from __future__ import annotations

from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

START_NS = 1_790_000_000_000_000_000


def span(number: int, *, tokens: tuple[int, int] = (10, 1), **attributes: str) -> dict[str, Any]:
    """The span of a chat call; its ids are made of its number."""
    texts = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", **attributes}
    counts = {"gen_ai.usage.input_tokens": tokens[0], "gen_ai.usage.output_tokens": tokens[1]}
    return {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "chat gpt-5",
        "startTimeUnixNano": str(START_NS + number * 1_000_000),
        "endTimeUnixNano": str(START_NS + number * 1_000_000 + 5_000_000),
        "attributes": [
            *({"key": key, "value": {"stringValue": text}} for key, text in texts.items()),
            *({"key": key, "value": {"intValue": str(count)}} for key, count in counts.items()),
        ],
    }


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    """An export request in OTLP's JSON."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def protobuf(given: dict[str, Any]) -> bytes:
    """The same request as protobuf."""
    request = ExportTraceServiceRequest()
    for item in given["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        scope = request.resource_spans.add().scope_spans.add()
        made = scope.spans.add(
            trace_id=bytes.fromhex(item["traceId"]),
            span_id=bytes.fromhex(item["spanId"]),
            name=item["name"],
            start_time_unix_nano=int(item["startTimeUnixNano"]),
            end_time_unix_nano=int(item["endTimeUnixNano"]),
        )
        for pair in item["attributes"]:
            value = made.attributes.add(key=pair["key"]).value
            if "intValue" in pair["value"]:
                value.int_value = int(pair["value"]["intValue"])
            else:
                value.string_value = pair["value"]["stringValue"]
    return request.SerializeToString()
