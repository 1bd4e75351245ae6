"""What a record itself says of its cost, through the merge: charges, claims, halves of usage, and reading twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from app.pricing.rules import overlay_from_rows
from app.warehouse.priced import Pricer
from ingest.pipeline import ingest_paths
from tests.ingest.made_logs import Store, call
from tests.pricing.own_book import book_with

if TYPE_CHECKING:
    from pathlib import Path

OWN = [{"provider": "openrouter", "model": "made/model", "input": "2", "output": "10"}]
COLUMNS = "cost_pusd, other_pusd, cost_state, price_row, warnings"


def generation(number: int, model: str, **usage: Any) -> dict[str, Any]:
    """An answer of OpenRouter's, which says what it charged."""
    counts = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    return {
        "id": f"gen-{number:024d}",
        "object": "chat.completion",
        "created": 1_772_445_600 + number,
        "model": model,
        "provider": "Made",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": None}],
        "usage": {**counts, **usage},
    }


def read(store: Store, path: Path, *records: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The stored costs after a file with these records was read at own rates."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    pricer = Pricer(book_with(overlay_from_rows(OWN)))
    ingest_paths([path], warehouse=store.warehouse, pricer=pricer, data_dir=store.data_dir, workers=0)
    return store.rows(f"SELECT {COLUMNS} FROM requests ORDER BY start_us")


@pytest.mark.parametrize(
    ("model", "usage", "row"),
    [
        ("made/none:free", {"cost": 0}, (0, 0, "priced", "as charged by openrouter", None)),
        ("made/none", {"cost": 0.01}, (10**10, 10**10, "priced", "as charged by openrouter", None)),
        ("made/model", {"cost": 0.0035}, (3_500_000_000, 500_000_000, "priced", None, None)),
        ("made/model", {"cost": 0.003}, (3_000_000_000, None, "priced", None, None)),
        ("made/model", {"cost": 0.002}, (3_000_000_000, None, "priced", None, "reported_cost_disagrees")),
        ("made/model", {}, (3_000_000_000, None, "priced", None, None)),
    ],
)
def test_a_charge_in_the_response_is_what_was_paid(
    store: Store, tmp_path: Path, model: str, usage: dict[str, Any], row: tuple[Any, ...]
) -> None:
    (found,) = read(store, tmp_path / "log.jsonl", generation(1, model, **usage))
    assert (found[0], found[1], found[2], found[4]) == (row[0], row[1], row[2], row[4])
    assert found[3] == row[3] or (row[3] is None and found[3].startswith("openrouter/made/model@"))


def test_a_charge_stays_when_the_call_is_read_again_more_fully(store: Store, tmp_path: Path) -> None:
    first = generation(1, "made/model", cost=0.0035)
    before = read(store, tmp_path / "first.jsonl", first)
    first["choices"][0]["finish_reason"] = "stop"
    assert read(store, tmp_path / "second.jsonl", first) == before
    assert store.one("SELECT count(*) FROM requests WHERE finish_reason = 'stop'") == 1


def test_warnings_of_an_earlier_pricing_are_not_repeated(store: Store, tmp_path: Path) -> None:
    record = call(1, request={"model": "our-own"})
    record["response"]["model"] = "our-own"
    record["response"]["choices"][0]["finish_reason"] = None
    (before,) = read(store, tmp_path / "first.jsonl", record)
    record["response"]["choices"][0]["finish_reason"] = "stop"
    (after,) = read(store, tmp_path / "second.jsonl", record)
    assert before[4] == after[4] == "unknown_model"


@pytest.mark.parametrize(
    ("usage", "state"),
    [
        ({"prompt_tokens": None, "completion_tokens": 10}, "unknown"),
        ({"prompt_tokens": 10, "completion_tokens": "ten"}, "unknown"),
        ({"prompt_tokens": 10, "completion_tokens": 0}, "priced"),
        ({"prompt_tokens": 10}, "unknown"),  # the answer ended, and nobody counted it
    ],
)
def test_half_a_usage_is_no_cost(store: Store, tmp_path: Path, usage: dict[str, Any], state: str) -> None:
    (found,) = read(store, tmp_path / "log.jsonl", call(1, usage=usage))
    assert found[2] == state
    assert (found[0] is None) == (state == "unknown")


@pytest.mark.parametrize(
    ("usage", "state"),
    [
        ({"cache_read_input_tokens": 9000, "output_tokens": 44}, "unknown"),
        ({"cache_creation_input_tokens": 900, "output_tokens": 44}, "unknown"),
        ({"cache_read_input_tokens": 9000}, "unknown"),
        ({"cache_read_input_tokens": 0, "input_tokens": None, "output_tokens": 44}, "unknown"),
        ({"cache_read_input_tokens": 9000, "input_tokens": 0, "output_tokens": 44}, "priced"),
    ],
)
def test_the_cached_part_of_a_prompt_alone_is_no_cost(
    store: Store, tmp_path: Path, usage: dict[str, Any], state: str
) -> None:
    message = {"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant", "content": []}
    (found,) = read(store, tmp_path / "log.jsonl", {**message, "model": "claude-sonnet-4-5-20250929", "usage": usage})
    assert found[2] == state
    assert (found[0] is None) == (state == "unknown")


def test_tags_are_stored_without_nul(store: Store, tmp_path: Path) -> None:
    read(store, tmp_path / "log.jsonl", call(1, tags={"feature\0": "a\0b", "literal": "\\u0000"}))
    assert json.loads(store.one("SELECT tags FROM requests")) == {"feature": "ab", "literal": "\\u0000"}


def test_answers_of_which_nobody_can_say_whose_output_is_whose_have_no_cost(store: Store, tmp_path: Path) -> None:
    def events(number: int) -> list[dict[str, Any]]:
        message = {"id": f"msg_01{number:022d}", "type": "message", "model": "claude-sonnet-4-5", "content": []}
        return [
            {"type": "message_start", "message": {**message, "usage": {"input_tokens": 1000, "output_tokens": 1}}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 10 * number}},
            {"type": "message_stop"},
        ]

    mixed = [event for pair in zip(events(1), events(2), strict=True) for event in pair]
    read(store, tmp_path / "log.jsonl", *mixed, *events(3))
    columns = "tok_input, tok_output, cost_state, cost_pusd IS NULL, warnings"
    assert store.rows(f"SELECT {columns} FROM requests ORDER BY provider_response_id") == [
        (1000, None, "unknown", True, "interleaved_stream"),
        (1000, None, "unknown", True, "interleaved_stream"),
        (1000, 30, "priced", False, None),
    ]
