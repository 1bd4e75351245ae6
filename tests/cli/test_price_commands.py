"""`halve prices import` and `halve prices check`: the difference first, nothing without --apply, both lists named."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from halve_command import inside

from app.warehouse.quoting import _CONTEXT, _UNITS, _USAGE

CASES = Path(os.environ.get("HALVE_DATA", "/nonexistent")).parent / "cases" / "cases.jsonl"
TABLE: dict[str, Any] = {
    "sample_spec": {},
    "gpt-4.1": {"litellm_provider": "openai", "input_cost_per_token": 3e-06, "output_cost_per_token": 8e-06},
    "azure/gpt-4.1": {"litellm_provider": "azure", "input_cost_per_token": 2e-06, "output_cost_per_token": 8e-06},
    "made-model": {"litellm_provider": "openai", "input_cost_per_token": "1e-06", "output_cost_per_token": 2e-06},
    "made-unit": {"litellm_provider": "openai", "input_cost_per_token": 3},
    "made-text": {"litellm_provider": "openai", "input_cost_per_token": "?"},
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "model_prices.json"
    path.write_text(json.dumps(TABLE), encoding="utf-8")
    return path


def quoted(data: Path, folder: Path, **line: Any) -> dict[str, Any]:
    file = folder / "quote.jsonl"
    file.write_text(json.dumps({"id": "q", **line}) + "\n", encoding="utf-8")
    answer = inside(data, "prices", "quote", str(file), "--json")
    found: dict[str, Any] = answer.lines[0]
    return found


def test_import_shows_the_difference_and_changes_nothing(tmp_path: Path, table: Path) -> None:
    data = tmp_path / "data"
    shown = inside(data, "prices", "import", str(table))
    assert shown.code == 0
    for words in (
        "New: the book has no price for these: 1", "openai/made-model standard: input 1, output 2",
        "Changed: the book has another rate: 1", "openai/gpt-4.1 standard: input 2 -> 3",
        "Held back: not taken over: 1", "per million in a field per token",
        "Refused: could not be read: 1", "made-text: input_cost_per_token is '?'",
        "Nothing was changed. Repeat with --apply",
    ):  # fmt: skip
        assert words in shown.out
    assert not (data / "prices" / "imported.yml").exists()


def test_applied_import_prices_what_follows_and_a_second_one_finds_nothing(tmp_path: Path, table: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    usage = {"in_text": 1_000_000}
    at = "2026-01-10T00:00:00Z"
    before = quoted(data, tmp_path, provider="openai", model="made-model", timestamp=at, usage=usage)
    applied = inside(data, "prices", "import", str(table), "--apply", "--as-of", "2026-06-01", "--json").json
    assert applied["applied"]["added"] == 1
    assert applied["applied"]["changed"] == 1
    after = quoted(data, tmp_path, provider="openai", model="made-model", timestamp=at, usage=usage)
    assert (before["usd"], after["usd"]) == (None, "1")
    again = inside(data, "prices", "import", str(table), "--as-of", "2026-06-01", "--json").json
    assert (again["counts"]["added"], again["counts"]["changed"]) == (0, 0)
    assert applied["price_book"] == again["price_book"]
    azure = quoted(data, tmp_path, provider="azure", model="gpt-4.1", timestamp="2026-07-01T00:00:00Z", usage=usage)
    assert azure["usd"] == "2"
    shown = inside(data, "prices", "show", "gpt-4.1")
    assert "openai/gpt-4.1@2026-06-01 standard" in shown.out
    assert "litellm of 2026-06-01" in shown.out


def test_import_can_be_narrowed(tmp_path: Path, table: Path) -> None:
    answer = inside(tmp_path / "data", "prices", "import", str(table), "--provider", "azure", "--json").json
    assert answer["counts"]["same"] == 1
    assert answer["counts"]["added"] == 0
    answer = inside(tmp_path / "data", "prices", "import", str(table), "--model", "made-*", "--json").json
    assert [item["name"] for item in answer["added"]] == ["made-model"]


def test_day_that_is_none_or_lies_ahead_is_a_wrong_call(tmp_path: Path, table: Path) -> None:
    inside(tmp_path, "prices", "import", str(table), "--as-of", "soon").failed(1, "'soon'")
    inside(tmp_path, "prices", "import", str(table), "--as-of", "2999-01-01").failed(2, "lies ahead")


def test_check_names_lists_rates_and_days_and_exits_with_success(tmp_path: Path, table: Path) -> None:
    data = tmp_path / "data"
    answer = inside(data, "prices", "check", "--against", str(table), "--provider", "openai", "--json")
    assert answer.code == 0
    document = answer.json
    assert [entry["name"] for entry in document["lists"]][1:] == ["litellm (model_prices.json)"]
    (found,) = [one for one in document["disagreements"] if one["other"] == "litellm"]
    assert (found["model"], found["class"], found["book_usd"], found["other_usd"]) == ("gpt-4.1", "input", "2", "3")
    assert found["unit"] == "USD per million tokens"
    inside(data, "prices", "import", str(table), "--apply", "--as-of", "2026-06-01")
    text = inside(data, "prices", "check", "--provider", "openai")
    assert "litellm (model_prices.json) as of 2026-06-01" in text.out
    assert "openai/gpt-4.1" in text.out


@pytest.mark.data
def test_case_of_custom_prices_in_scientific_notation(tmp_path: Path) -> None:
    lines = CASES.read_text(encoding="utf-8").splitlines()
    (case,) = [case for line in lines if (case := json.loads(line))["id"] == "LLMC-043"]
    given, expected = case["minimal_input"], case["expected"]
    file = tmp_path / "custom.json"
    file.write_text(json.dumps(given["record"]), encoding="utf-8")
    inside(tmp_path / "data", "prices", "import", str(file), "--apply")
    usage = {"in_text": given["usage"]["input_uncached"], "out": given["usage"]["output"]}
    found = quoted(tmp_path / "data", tmp_path, provider="azure_ai", model=given["record"]["model"], usage=usage)
    assert Decimal(found["usd"]) == Decimal(expected["cost_usd"])
    assert found["usd"] not in expected["wrong_values_to_reject"]
    shown = inside(tmp_path / "data", "prices", "show", given["record"]["model"], "--json").json
    rates = expected["rates_usd_per_1m"]
    standard = shown[0]["usd_per_mtok"]
    assert {name: Decimal(standard[name]) for name in standard if name in rates} == {
        name: Decimal(rate) for name, rate in rates.items() if name in standard
    }


def test_example_line_of_help_and_docs_is_priced_and_a_line_without_timestamp_says_so(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "lines.jsonl"
    shown = inside(data, "prices", "quote", "--help").out
    example = shown[shown.index("{") : shown.rindex("}") + 1]
    line = json.loads(example)
    docs = Path(__file__).parents[2].joinpath("docs/prices.md").read_text(encoding="utf-8")
    assert json.dumps(line) in docs
    named = (*_USAGE, *_UNITS, *_CONTEXT)
    for text in (shown, docs[docs.index("## What given usage would cost") :]):
        assert [key for key in named if not key.startswith("tok_") and key not in text] == []
    late = {**line, "id": "late", "time": line["timestamp"]}
    del late["timestamp"]
    file.write_text(f"{json.dumps(line)}\n{json.dumps(late)}\n", encoding="utf-8")
    priced, unpriced = inside(data, "prices", "quote", str(file), "--json").lines
    # a million tokens in batch: 1.25 in, 1.25 cached, 5 out
    assert (priced["usd"], priced["missing"]) == ("0.002875", None)
    assert (unpriced["usd"], unpriced["warning"], unpriced["missing"]) == (None, "no_time", "timestamp")
    assert "(no_time: the line has no field 'timestamp')" in inside(data, "prices", "quote", str(file)).out
