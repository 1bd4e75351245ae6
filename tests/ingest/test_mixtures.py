"""Files that hold more than one layout: every record is read as what it is, or named; none by another's convention."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from made_logs import call

from app.core.usage import TOKEN_CLASSES, Rejected, UsageEvent
from ingest.formats import FORMATS
from ingest.formats.bills import BILLS
from ingest.formats.format import Format, Origin
from ingest.mixture import parser_of
from tests.formats.every_format import UNITS

if TYPE_CHECKING:
    from pathlib import Path

    from made_logs import Store

LOGS = [form for form in FORMATS if form not in BILLS]
# A format with a memory for one file means nothing by a stray line: those are named.
READ = [form for form in LOGS if form.in_file is None]


def read(form: Format, records: list[Any]) -> list[Any]:
    numbered = list(enumerate(records, 1))
    parse = parser_of(form)
    gathered = form.gather(numbered) if form.gather is not None else numbered
    return [item for line, record in gathered for item in parse(record, Origin("s", "f.jsonl", line))]


def said(items: list[Any]) -> list[tuple[Any, ...]]:
    return [
        (
            *(getattr(event, name) for name in TOKEN_CLASSES),
            event.model,
            event.provider,
            event.is_batch,
            event.status,
            event.start_us,
            event.units,
        )
        for event in items
        if isinstance(event, UsageEvent)
    ]


@pytest.mark.parametrize("form", LOGS, ids=lambda form: form.name)
def test_a_record_of_another_layout_is_read_as_its_own_or_named(form: Format) -> None:
    for other in READ:
        if other is form:
            continue
        for unit in UNITS[other.name]:
            items = read(form, unit)
            events = said(items)
            named = [item for item in items if isinstance(item, Rejected) and not item.benign]
            assert events == said(read(other, unit)) or (not events and named), (form.name, other.name)


def test_batch_lines_among_other_calls_keep_their_discount(store: Store, tmp_path: Path) -> None:
    body = call(2)["response"]
    row = {"id": "batch_req_0123456789abcdef01", "custom_id": "r", "response": {"status_code": 200, "body": body}}
    log = tmp_path / "mixed.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in (call(0), call(1), row)))
    assert store.ingest(log).rejected == 0
    assert store.rows("SELECT is_batch, count(*) FROM requests GROUP BY 1 ORDER BY 1") == [(False, 2), (True, 1)]


def test_records_that_come_late_in_another_layout_are_read_too(store: Store, tmp_path: Path) -> None:
    row = {"timestamp": "2026-03-02T10:00:00Z", "model": "gpt-4o", "input_tokens": 7, "output_tokens": 1}
    log = tmp_path / "grown.jsonl"
    noise = {"level": "info", "msg": "started"}
    log.write_text("".join(json.dumps(record) + "\n" for record in (*(call(n) for n in range(250)), row, noise)))
    summary = store.ingest(log)
    assert (summary.stored, summary.rejected) == (251, 1)
    assert store.one("SELECT start_us FROM requests WHERE tok_input = 7") == 1772445600_000000


def test_each_answer_of_a_list_is_a_call(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "lists.jsonl"
    bodies = [call(n)["response"] for n in range(6)]
    wrapped = [call(n) for n in range(6, 8)]
    log.write_text(json.dumps(bodies[:4]) + "\n" + json.dumps(bodies[4:] + wrapped) + "\n")
    assert store.ingest(log).stored == 8
    assert store.one("SELECT sum(tok_input) FROM requests") == sum(100 + n for n in range(8))


def test_chunks_of_several_answers_in_one_list_are_as_many_calls(store: Store, tmp_path: Path) -> None:
    def chunks(name: str, tokens: int) -> list[dict[str, Any]]:
        base = {
            "id": f"chatcmpl-{name:0>29}",
            "object": "chat.completion.chunk",
            "created": 1772445600,
            "model": "gpt-4o",
        }
        usage = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
        said = {**base, "choices": [{"index": 0, "delta": {"content": "Yes"}, "finish_reason": "stop"}]}
        return [said, {**base, "choices": [], "usage": usage}]

    log = tmp_path / "chunks.jsonl"
    log.write_text(json.dumps(chunks("7a7", 10) + chunks("8b8", 20)) + "\n")
    store.ingest(log)
    assert store.rows("SELECT tok_input FROM requests ORDER BY 1") == [(10,), (20,)]
