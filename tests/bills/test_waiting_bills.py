"""Bills that were read more than once before anybody took the inbox in: each counts once."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from made_bills import BOOK

from app.warehouse.priced import Pricer
from ingest.inbox import take_inbox
from ingest.pipeline import write_shards

if TYPE_CHECKING:
    from decimal import Decimal
    from pathlib import Path

    from made_bills import Books

NOON = 1_795_780_800


def activity(day: str, name: str, usage: float) -> dict[str, Any]:
    """A line of a report that has no pages."""
    return {
        "date": day,
        "model": "openai/gpt-4.1",
        "model_permaslug": "openai/gpt-4.1-2025-04-14",
        "endpoint_id": name,
        "provider_name": "OpenAI",
        "usage": usage,
        "byok_usage_inference": 0.0,
        "requests": 5,
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "reasoning_tokens": 0,
        "cached_tokens": 400,
    }


def costs(value: float) -> dict[str, Any]:
    """A page of a report in buckets."""
    result = {
        "object": "organization.costs.result",
        "amount": {"value": value, "currency": "usd"},
        "line_item": "gpt-x, input",
        "project_id": "p",
    }
    data = [{"object": "bucket", "start_time": NOON - 43_200, "end_time": NOON + 43_200, "results": [result]}]
    return {"object": "page", "data": data, "has_more": False, "next_page": None}


def leave(books: Books, name: str, age_s: int, *records: Any) -> Path:
    """Read a file of a known age into the inbox, where it waits."""
    path: Path = books.folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    os.utime(path, (NOON - age_s, NOON - age_s))
    write_shards([path], books.folder / "data", source="bill")
    return path


def taken(books: Books) -> Decimal:
    take_inbox(books.warehouse, Pricer(BOOK), books.folder / "data")
    found: Decimal = books.sql("SELECT sum(cost) FROM billed")[0][0]
    return found


def test_a_file_that_was_read_thrice_counts_once(books: Books) -> None:
    for age_s in (60, 30, 30):
        leave(books, "a.jsonl", age_s, activity("2026-11-26", "x", 2.0), activity("2026-11-26", "y", 1.0))
    assert taken(books) == 3


def test_of_a_file_written_anew_the_newest_reading_counts(books: Books) -> None:
    leave(books, "a.jsonl", 30, activity("2026-11-26", "x", 4.0))
    leave(books, "a.jsonl", 60, activity("2026-11-26", "x", 2.0), activity("2026-11-26", "y", 1.0))
    assert taken(books) == 4


def test_a_page_that_was_pulled_twice_counts_as_it_came_last(books: Books) -> None:
    leave(books, "page.jsonl", 60, costs(2.0))
    leave(books, "page.jsonl", 30, costs(5.0))
    assert taken(books) == 5
