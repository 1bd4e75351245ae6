"""Why a model has no price: the reason of its records in every place, not "not in the price book" for all of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from app.main.background import Background
from app.main.runtime import opened
from app.main.serving import dependencies
from app.settings import Settings
from app.web.server import create_app
from tests.cli.halve_command import inside
from tests.ingest.made_logs import call

if TYPE_CHECKING:
    from pathlib import Path

DATED = "claude-sonnet-5-5"
RATE = "Give a rate with --prices FILE"
TIME = "log the time of the call"
MODEL = "Usage without a model cannot be priced"


def record(number: int, model: str = "gpt-4o-mini", **changes: Any) -> str:
    made = call(number, **changes)
    made["request"]["model"] = made["response"]["model"] = model
    return json.dumps(made) + "\n"


def undated(number: int) -> str:
    """An answer as it came, of a model whose rates change from day to day: nothing says when."""
    usage = {"input_tokens": 50, "output_tokens": 7}
    answer = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": DATED, "usage": usage}
    return json.dumps({**answer, "content": [{"type": "text", "text": "yes"}], "stop_reason": "end_turn"}) + "\n"


def unnamed(number: int) -> str:
    made = call(number)
    del made["request"]["model"], made["response"]["model"]
    return json.dumps(made) + "\n"


CASES = {
    "no_time": ([undated(1)], "the record has no time", TIME),
    "unknown_model": ([record(1, "our-own-model")], "not in the price book", RATE),
    "no_model": ([unnamed(1)], "no model is named", MODEL),
    "no_usage": ([record(1, usage=None)], "no usage logged", ""),
    "bad_number": ([record(1, usage={"prompt_tokens": -5, "completion_tokens": 1})], "a count is unreadable", ""),
}


@pytest.mark.parametrize("reason", CASES)
def test_the_reason_is_that_of_the_records_and_the_advice_fits_it(tmp_path: Path, reason: str) -> None:
    records, words, advice = CASES[reason]
    log = tmp_path / "calls.jsonl"
    log.write_text("".join([record(9), *records]), encoding="utf-8")
    (detail,) = inside(tmp_path / "home", "analyze", "--json", log).json["unpriced"]["details"]
    assert detail["reasons"] == {reason: 1}
    text = inside(tmp_path / "home", "analyze", log).out
    assert words in text
    assert [one for one in (RATE, TIME, MODEL) if one in text] == ([advice] if advice else [])


def test_two_reasons_of_one_model_are_both_said_and_pages_say_the_same(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    timeless = [undated(number) for number in range(3)]
    log.write_text("".join([*timeless, record(5, "our-own-model"), record(6, "our-own-model")]), encoding="utf-8")
    assert inside(tmp_path / "data", "ingest", log).code == 0
    settings = Settings(data_dir=tmp_path / "data")
    with opened(settings) as runtime:
        deps = dependencies(runtime, settings, Background(runtime, settings), demo=True, stopping=lambda: False)
        with TestClient(create_app(deps), base_url="http://127.0.0.1") as client:
            for page in ("/sources", "/prices"):
                rows = client.get(f"{page}.json?table=unpriced").json()["rows"]
                assert {row["model"]: (row["state"], row["reason"]) for row in rows} == {
                    DATED: ("unpriced", "the record has no time"),
                    "our-own-model": ("unpriced", "not in the price book"),
                }
            entries = {row["model"]: row["price_file_entry"] for row in rows}
            assert entries[DATED] is None
            assert "our-own-model" in entries["our-own-model"]
            assert client.get("/prices").text.count("FILL_IN, output") == 1


@pytest.mark.data
def test_the_published_record_without_a_time(tmp_path: Path, data_dir: Path) -> None:
    answer = inside(tmp_path, "analyze", data_dir.parent / "samples" / "anthropic_message.jsonl")
    assert "the record has no time" in answer.out
    assert "not in the price book" not in answer.out
