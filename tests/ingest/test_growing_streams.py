"""Logs of single stream events that grow: only what is new is read, and what comes of it is what the whole log says."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from made_logs import Store, line, make_store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FACTS = "provider_response_id, tok_input, tok_output, status, finish_reason, start_us IS NULL, warnings"


def chunks(number: int, *, usage: bool = True) -> list[dict[str, Any]]:
    """An answer of OpenAI's in chunks; with `usage` its counters come last, as they do where they are asked for."""
    base = {
        "id": f"chatcmpl-{number:029d}a",
        "object": "chat.completion.chunk",
        "model": "gpt-4o",
        "created": 1_790_000_000,
    }
    deltas: list[dict[str, Any]] = [{"role": "assistant"}, *({"content": f"word{number} "} for _ in range(6))]
    found = [{**base, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    found.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    counts = {"prompt_tokens": 100 + number, "completion_tokens": 10 + number, "total_tokens": 110 + 2 * number}
    return [*found, {**base, "choices": [], "usage": counts}] if usage else found


def events(number: int) -> list[dict[str, Any]]:
    """An answer of Anthropic's."""
    usage = {"input_tokens": 100 + number, "output_tokens": 1}
    message = {"id": f"msg_01{number:022d}", "type": "message", "model": "claude-sonnet-4-5", "usage": usage}
    text = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": f"word{number} "}}
    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 10 + number}}
    return [{"type": "message_start", "message": message}, *([text] * 4), ended, {"type": "message_stop"}]


def written(records: Sequence[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.mark.parametrize("usage", [True, False], ids=["with usage", "without"])
@pytest.mark.parametrize("broken_off", [False, True], ids=["whole", "the first broken off"])
def test_a_log_of_events_that_grew_is_read_from_its_last_whole_answer(
    store: Store, tmp_path: Path, *, usage: bool, broken_off: bool
) -> None:
    log = tmp_path / "log.jsonl"
    first = [chunks(0)[:3]] if broken_off else []
    answers = [*first, *(chunks(number, usage=usage) for number in range(1, 700))]
    log.write_bytes(written([record for answer in answers for record in answer]))
    assert store.ingest(log).stored == len(answers)
    again = store.ingest(log)
    assert (again.read, again.skipped) == (0, 1)
    with log.open("ab") as file:
        file.write(written(chunks(1000)))
    grown = store.ingest(log)
    assert grown.stored == 1
    assert grown.read <= 3
    again = store.ingest(log)
    assert (again.read, again.skipped) == (0, 1)
    assert store.rows("SELECT tok_output FROM requests WHERE tok_input = 1100") == [(1010,)]


@pytest.mark.parametrize("growing", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_a_log_of_events_read_while_it_grew_says_what_it_says_as_a_whole(
    tmp_path: Path, seed: int, *, growing: bool
) -> None:
    rng = random.Random(seed)
    records: list[dict[str, Any]] = []
    for number in range(1, 12):
        answer = rng.choice((chunks(number), chunks(number, usage=False), events(number)))
        records += answer if rng.random() < 0.8 else answer[: rng.randint(1, len(answer))]
        if rng.random() < 0.2:
            records.append(json.loads(line(number)))
    data = written(records)
    log = tmp_path / "log.jsonl"
    found = []
    for name, ends in (("whole", []), ("grown", sorted(rng.sample(range(400, len(data)), 6)))):
        store = make_store(tmp_path / name)
        for end in [*ends, len(data)]:
            log.write_bytes(data[:end])
            store.ingest(log, source="app", growing=growing)
        found.append((sorted(store.rows(f"SELECT {FACTS} FROM requests"), key=repr), store.rows("FROM quarantine")))
        store.warehouse.close()
    assert found[0] == found[1]
    assert found[0][1] == []


def test_a_log_whose_torn_last_line_was_named_is_whole_again_when_the_line_is(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    data = written([*chunks(1), *chunks(2)])
    log.write_bytes(data[:-30])
    assert store.ingest(log).rejected == 1
    log.write_bytes(data + written(chunks(3)))
    assert store.ingest(log).rejected == 0
    assert store.rows("SELECT count(*) FROM quarantine") == [(0,)]
    assert store.rows("SELECT tok_output FROM requests ORDER BY tok_input") == [(11,), (12,), (13,)]


def test_an_answer_of_which_the_counters_come_after_another_began_is_read_again_as_a_whole(
    store: Store, tmp_path: Path
) -> None:
    one, other = (
        [{"request_id": f"call-{number}", "timestamp": 1_760_000_000 + at, "chunk": chunk}
         for at, chunk in enumerate(chunks(number))]
        for number in (1, 2)
    )  # fmt: skip
    first = written(chunks(0))
    mixed = first + written([*one[:-1], other[0], one[-1], *other[1:]])
    log = tmp_path / "log.jsonl"
    log.write_bytes(mixed[:-700])
    store.ingest(log)
    log.write_bytes(mixed)
    assert store.ingest(log).read == 2
    assert store.one("SELECT max(byte_from) FROM ingest_ledger") == len(first)
    assert store.rows("SELECT tok_output, start_us FROM requests WHERE tok_input > 100 ORDER BY tok_input") == [
        (11, 1_760_000_000_000_000),
        (12, 1_760_000_000_000_000),
    ]
