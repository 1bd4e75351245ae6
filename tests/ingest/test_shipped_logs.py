"""Logs as shippers and loggers hand them on: the call inside is read as if it stood alone, or the file is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from made_logs import call

from app.core.usage import TOKEN_CLASSES, UsageEvent
from ingest.formats import FORMATS
from ingest.formats.bills import BILLS
from ingest.formats.format import Origin
from ingest.mixture import parser_of
from ingest.shipped import unpacked
from tests.formats.every_format import UNITS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from made_logs import Store

    from ingest.formats.format import Format

SINGLE = [form for form in FORMATS if form not in BILLS and form.in_file is None]

AT = "2026-03-02T10:00:00Z"
MESSAGE = {
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "Yes"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 100, "output_tokens": 10},
}
BEDROCK = {
    "schemaType": "ModelInvocationLog",
    "timestamp": AT,
    "accountId": "1",
    "requestId": "r",
    "operation": "Converse",
    "modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "input": {"inputTokenCount": 100},
    "output": {"outputTokenCount": 10},
}
OWN = {"model": "gpt-4o", "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}
SHIPPERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "docker": lambda line: {"log": line + "\n", "stream": "stdout", "time": AT},
    "fluent bit": lambda line: {"date": 1772445600.0, "log": line, "kubernetes": {"pod_name": "shop-1"}},
    "journald": lambda line: {"__REALTIME_TIMESTAMP": "1772445600000000", "MESSAGE": line, "PRIORITY": "6"},
    "elastic": lambda line: {"@timestamp": AT, "log.level": "info", "message": line},
    "a logger with an object": lambda line: {"@timestamp": AT, "level": "info", "message": json.loads(line)},
    "pino": lambda line: {"level": 30, "time": 1772445600000, "pid": 1, "msg": line},
    "cloudwatch": lambda line: {"timestamp": 1772445600000, "message": line, "ingestionTime": 1772445600001},
    "google cloud, text": lambda line: {"insertId": "a", "textPayload": line, "timestamp": AT},
    "google cloud, object": lambda line: {"insertId": "a", "jsonPayload": json.loads(line), "timestamp": AT},
    "datadog": lambda line: {"id": "AA", "content": {"timestamp": AT, "message": line, "attributes": {}}},
    "splunk": lambda line: {"preview": False, "result": {"_raw": line, "_time": AT}},
    "twice": lambda line: {"log": json.dumps({"message": line, "timestamp": AT}), "stream": "stdout"},
}
PREFIXES = {
    "kubernetes": f"{AT} stdout F ",
    "python": "2026-03-02 10:00:00,123 INFO shop.llm: ",
    "brackets": "[2026-03-02 10:00:00] INFO ",
    "syslog": "Mar  2 10:00:00 host shop[12]: ",
    "compose": "shop-1  | ",
}


@pytest.mark.parametrize("record", [call(0), OWN, MESSAGE, BEDROCK], ids=["exchange", "own line", "claude", "bedrock"])
@pytest.mark.parametrize("name", SHIPPERS)
def test_what_a_shipper_wrapped_is_read_with_its_time(
    store: Store, tmp_path: Path, name: str, record: dict[str, Any]
) -> None:
    (tmp_path / "shipped.jsonl").write_text(json.dumps(SHIPPERS[name](json.dumps(record))) + "\n")
    summary = store.ingest(tmp_path / "shipped.jsonl")
    assert (summary.stored, summary.rejected) == (1, 0)
    began = 1_760_000_000_000000 if "timestamp" in record and record is not BEDROCK else 1772445600_000000
    assert store.rows("SELECT tok_input, tok_output, start_us FROM requests") == [(100, 10, began)]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_objects_behind_a_prefix_are_read_and_other_lines_named(store: Store, tmp_path: Path, prefix: str) -> None:
    lines = [PREFIXES[prefix] + json.dumps(call(number)) for number in range(3)]
    (tmp_path / "app.log").write_text("\n".join([*lines, PREFIXES[prefix] + "started", lines[0][:90]]) + "\n")
    summary = store.ingest(tmp_path / "app.log")
    assert (summary.stored, summary.rejected) == (3, 2)
    assert store.one("SELECT sum(tok_input) FROM requests") == 303


@pytest.mark.parametrize("name", ["logEvents", "events", "data"])
def test_a_page_of_events_gives_all_of_them(store: Store, tmp_path: Path, name: str) -> None:
    events = [{"id": str(n), "timestamp": 1772445600000, "message": json.dumps({**BEDROCK, "requestId": f"r{n}"})}
              for n in range(4)]  # fmt: skip
    (tmp_path / "page.json").write_text(json.dumps({"messageType": "DATA_MESSAGE", name: events}, indent=1))
    assert store.ingest(tmp_path / "page.json").stored == 4


def test_a_list_response_of_whole_answers_gives_all_of_them(store: Store, tmp_path: Path) -> None:
    page = {"object": "list", "data": [call(n)["response"] for n in range(3)], "has_more": False}
    (tmp_path / "page.json").write_text(json.dumps(page, indent=2))
    assert store.ingest(tmp_path / "page.json").stored == 3


def test_lines_of_a_shipper_that_are_no_calls_are_named_one_by_one(store: Store, tmp_path: Path) -> None:
    lines = [SHIPPERS["docker"](text) for text in (json.dumps(call(0)), "listening on 8080", json.dumps({"a": 1}))]
    (tmp_path / "docker.log").write_text("".join(json.dumps(line) + "\n" for line in lines))
    summary = store.ingest(tmp_path / "docker.log")
    assert (summary.stored, summary.rejected) == (1, 2)


def test_text_that_only_looks_like_a_record_is_none_of_the_shippers() -> None:
    assert unpacked({"message": "hello {not json}"}, nothing) == []
    assert unpacked({"usage": {"prompt_tokens": 1}}, nothing) == []
    assert unpacked("text", nothing) == []


def nothing(record: Any) -> bool:
    """A judge that knows no layout."""
    return False


def told(form: Format, record: Any) -> list[tuple[Any, ...]]:
    """What the calls of a record are, but for their time."""
    names = (*TOKEN_CLASSES, "model", "provider", "is_batch", "status", "units", "provider_response_id")
    items = parser_of(form)(record, Origin("s", "f.jsonl", 1))
    return [tuple(getattr(one, name) for name in names) for one in items if isinstance(one, UsageEvent)]


@pytest.mark.parametrize("form", SINGLE, ids=lambda form: form.name)
@pytest.mark.parametrize("name", ["docker", "elastic", "splunk", "twice"])
def test_a_record_of_every_format_tells_the_same_in_a_shippers_wrapper(name: str, form: Format) -> None:
    for unit in UNITS[form.name]:
        if len(unit) == 1 and (expected := told(form, unit[0])):
            assert told(form, SHIPPERS[name](json.dumps(unit[0]))) == expected, unit[0]


def test_a_wrapped_result_of_a_batch_stays_one(store: Store, tmp_path: Path) -> None:
    result = {"custom_id": "a-1", "result": {"type": "succeeded", "message": MESSAGE}}
    lines = [json.dumps(SHIPPERS[name](json.dumps({**result, "custom_id": name}))) for name in ("docker", "elastic")]
    (tmp_path / "shipped.jsonl").write_text("\n".join(lines))
    assert store.ingest(tmp_path / "shipped.jsonl").stored == 2
    assert store.rows("SELECT DISTINCT is_batch, tok_input, tok_output FROM requests") == [(True, 100, 10)]
