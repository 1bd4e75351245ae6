"""Records in the bodies of OTLP's log records: read by the format that knows them, in JSON and protobuf alike."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from app.core.usage import TOKEN_CLASSES, Rejected, UsageEvent
from ingest.formats import FORMATS, format_named
from ingest.formats.bills import BILLS
from ingest.formats.format import Format, Origin
from ingest.mixture import parser_of
from ingest.otlp_protobuf import decoded
from tests.formats.every_format import UNITS

AT_US = 1_790_000_002_000_000
OTLP = ("otlp_genai", "claude_code_telemetry")
READ = [
    form
    for form in FORMATS
    if form not in BILLS and form.in_file is None and form.provider_logs and form.name not in OTLP
]
PLACE = Origin("s", "f.jsonl", 1)
MESSAGE = {
    "type": "message",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "Yes"}],
    "usage": {"input_tokens": 100, "output_tokens": 10},
}
CHAT = {
    "id": "chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz123",
    "object": "chat.completion",
    "created": 1_790_000_000,
    "model": "gpt-4o",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
}


def fill(target: Any, value: Any) -> None:
    """OTLP's own value of a JSON value."""
    if isinstance(value, dict):
        target.kvlist_value.SetInParent()
        for key, held in value.items():
            fill(target.kvlist_value.values.add(key=key).value, held)
    elif isinstance(value, list):
        target.array_value.SetInParent()
        for held in value:
            fill(target.array_value.values.add(), held)
    elif value is not None:
        kinds = {bool: "bool_value", int: "int_value", float: "double_value", str: "string_value"}
        setattr(target, kinds[type(value)], value)


def request(*bodies: Any, ids: tuple[bytes, bytes] = (b"", b"")) -> ExportLogsServiceRequest:
    made = ExportLogsServiceRequest()
    holder = made.resource_logs.add()
    fill(holder.resource.attributes.add(key="service.name").value, "shop")
    fill(holder.resource.attributes.add(key="deployment.environment.name").value, "prod")
    group = holder.scope_logs.add()
    for body in bodies:
        record = group.log_records.add(
            time_unix_nano=AT_US * 1000, observed_time_unix_nano=AT_US * 1000 + 7, trace_id=ids[0], span_id=ids[1]
        )
        fill(record.attributes.add(key="halve.feature").value, "search")
        fill(record.attributes.add(key="session.id").value, "session-1")
        fill(record.body, body)
    return made


def read(record: Any, name: str = "otlp_genai") -> list[Any]:
    return list(parser_of(format_named(name))(record, PLACE))


def of(made: ExportLogsServiceRequest) -> list[Any]:
    """The outcomes of an export, the same in both encodings."""
    found = read(decoded(made.SerializeToString()))
    in_json = read(json.loads(json.dumps(MessageToDict(made))))
    plain = [
        [msgspec.to_builtins(one, str_keys=True) for one in items if not is_rejected(one)] for items in (found, in_json)
    ]
    assert plain[0] == plain[1]
    assert len(found) == len(in_json)
    return found


def is_rejected(item: Any) -> bool:
    return isinstance(item, Rejected)


def calls(items: list[Any]) -> list[tuple[Any, ...]]:
    names = (*TOKEN_CLASSES, "model", "provider", "is_batch", "status", "units", "provider_response_id", "output")
    return [tuple(getattr(one, name) for name in names) for one in items if isinstance(one, UsageEvent)]


@pytest.mark.parametrize("form", READ, ids=lambda form: form.name)
def test_a_record_in_a_body_is_read_by_the_format_that_knows_it(form: Format) -> None:
    for unit in UNITS[form.name]:
        if len(unit) > 1:
            continue
        (record,) = unit
        expected = calls(read(record, form.name))
        for body in (record, json.dumps(record)):
            assert calls(of(request(body))) == expected, body


def test_the_log_record_says_what_the_record_in_it_does_not() -> None:
    message, chat = of(request(MESSAGE, json.dumps(CHAT)))
    assert message.start_us == AT_US
    assert chat.start_us == 1_790_000_000_000_000
    for event in (message, chat):
        assert event.tags == {"service": "shop", "environment": "prod", "feature": "search"}
        assert event.session_id == "session-1"


def test_what_a_shipper_wrapped_is_opened_in_a_body_too() -> None:
    plain, wrapped = of(request(CHAT)), of(request({"log": json.dumps(CHAT), "stream": "stdout"}))
    assert calls(wrapped) == calls(plain) != []


def test_a_body_under_a_span_stands_under_it() -> None:
    (event,) = of(request(CHAT, ids=(b"t" * 16, b"s" * 8)))
    assert (event.trace_id, event.parent_id) == ((b"t" * 16).hex(), (b"s" * 8).hex())


def test_a_record_without_an_id_that_is_sent_again_is_the_same_and_one_beside_it_another() -> None:
    first, again = of(request(MESSAGE)), of(request(MESSAGE))
    assert first[0].source_record == again[0].source_record
    later = request(MESSAGE)
    later.resource_logs[0].scope_logs[0].log_records[0].observed_time_unix_nano += 1
    assert of(later)[0].source_record != first[0].source_record


@pytest.mark.parametrize(
    "body",
    [
        "started",
        "",
        None,
        7,
        "{not json}",
        "[" * 5000 + "]" * 5000,
        {"level": "info", "message": "ready", "port": 80},
        {"input": "shoes", "results": 3},
        {"request": {"path": "/"}, "response": {"status": 500}},
        {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]},
        {"object": "chat.completion.chunk", "id": "chatcmpl-1", "choices": []},
        {"usage": {"cpu": 0.5}, "name": "worker"},
        [1, {"a": 2}],
    ],
)
def test_what_no_format_knows_and_what_tells_of_no_answer_stays_benign(body: Any) -> None:
    (item,) = of(request(body))
    assert isinstance(item, Rejected)
    assert item.benign


def test_attributes_of_a_call_win_over_its_body() -> None:
    made = request(CHAT, ids=(b"t" * 16, b"s" * 8))
    held = made.resource_logs[0].scope_logs[0].log_records[0].attributes
    for key, value in {"gen_ai.request.model": "gpt-5", "gen_ai.usage.input_tokens": 9}.items():
        fill(held.add(key=key).value, value)
    (event,) = of(made)
    assert (event.model, event.tok_input) == ("gpt-5", 9)
