"""What is not sold by the token, from its record through the whole pipeline to the dollars and the price row."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from tests.cases.driven import driven

TRANSCRIPT = {"type": "tokens", "input_tokens": 10**6, "output_tokens": 0, "total_tokens": 10**6}
TRANSCRIPT["input_token_details"] = {"audio_tokens": 10**6, "text_tokens": 0}
GROUNDED = {"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}
GROUNDED["groundingMetadata"] = {"webSearchQueries": ["a", "b"]}
RANKED = [{"index": 0, "relevance_score": 0.9}]

CALLS = {
    "seconds": ({"model": "whisper-1"}, {"text": "x", "usage": {"type": "duration", "seconds": 3600}}, "0.36"),
    "sound": ({"model": "gpt-4o-transcribe"}, {"text": "x", "usage": TRANSCRIPT}, "6"),
    "characters": ({"model": "tts-1", "voice": "alloy", "input": "x" * 10**6}, {}, "15"),
    "pages": (
        {"model": "mistral-ocr-2512"},
        {"model": "mistral-ocr-2512", "pages": [], "usage_info": {"pages_processed": 500}},
        "1",
    ),
    "annotated pages": (
        {"model": "mistral-ocr-2512"},
        {
            "model": "mistral-ocr-2512",
            "pages": [],
            "usage_info": {"pages_processed": 500},
            "document_annotation": "{}",
        },
        None,
    ),
    "searches of a response": (
        {"model": "gpt-5", "input": "x"},
        {
            "object": "response",
            "model": "gpt-5-2025-08-07",
            "output": [{"type": "web_search_call", "action": {"type": "search"}}, {"type": "file_search_call"}],
            "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
        },
        "0.0125",
    ),
    "moderation": (
        {"input": "x"},
        {"id": "modr-1", "model": "omni-moderation-latest", "results": [{"categories": {"a": False}}]},
        "0",
    ),
    "search units": (
        {"model": "rerank-v3.5", "query": "q", "documents": ["d"]},
        {"id": "r", "results": RANKED, "meta": {"billed_units": {"search_units": 2}}},
        "0.004",
    ),
    "grounding": (
        {"contents": []},
        {
            "modelVersion": "gemini-3-flash-preview",
            "candidates": [GROUNDED],
            "usageMetadata": {"promptTokenCount": 10**6, "totalTokenCount": 10**6},
        },
        "0.528",
    ),
    "rented cache": (
        {"contents": []},
        {
            "name": "cachedContents/abc",
            "model": "models/gemini-2.5-pro",
            "createTime": "2026-11-20T10:00:00Z",
            "expireTime": "2026-11-20T20:00:00Z",
            "usageMetadata": {"totalTokenCount": 100_000},
        },
        "4.625",  # read once at $1.25 a million, kept ten hours at $4.50
    ),
    "image of a size": (
        {"model": "dall-e-3", "prompt": "x"},
        {"created": 1795168800, "data": [{"url": "u"}]},
        None,
    ),
    "reserved capacity": (
        {"contents": []},
        {
            "modelVersion": "gemini-2.5-pro",
            "usageMetadata": {
                "promptTokenCount": 9,
                "totalTokenCount": 9,
                "trafficType": "PROVISIONED_THROUGHPUT",
            },
        },
        "0.00001125",  # its list-price value: bought capacity is never paid by the token
    ),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    home = tmp_path_factory.mktemp("units")
    lines = [
        {"id": name, "timestamp": "2026-11-20T10:00:00Z", "request": request, "response": response}
        for name, (request, response, _) in CALLS.items()
    ]
    (home / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with driven([home / "log.jsonl"], home / "store") as outcome:
        assert outcome.rejected == []
        yield {row["source_record"]: row for row in outcome.requests}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_call_costs_its_units_or_is_unpriced(stored, name):
    usd, row = CALLS[name][2], stored[name]
    if usd is None:
        assert (row["cost_state"], row["cost_usd"]) == ("unpriced", None)
        return
    assert (row["cost_state"], Decimal(row["cost_usd"])) == ("priced", Decimal(usd))
    assert row["price_row"]
