"""Latency: what is not known is said and never a number, and every count leads to the calls behind it."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from dashboard_company import company, requests
from starlette.testclient import TestClient

from app.core.view import DIMENSIONS
from app.web.server import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator


def rows_of(reader: TestClient, **keys: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in reader.get("/latency.json", params=keys).json()["rows"]}


@pytest.fixture(scope="module")
def half_timed() -> Iterator[TestClient]:
    """The made company; its newsletter knows no time, its classifier only when answers ended."""
    rows = requests(days=20)
    for row in rows:
        if row["feature"] in ("newsletter", "ticket-classify"):
            row["first_token_us"] = None
        if row["feature"] == "newsletter":
            row["end_us"] = None
    made = company(rows, no_access_control=True, planned=False)
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        yield reader


def test_what_no_call_knows_is_null_and_counted(half_timed: TestClient) -> None:
    rows = rows_of(half_timed)
    mute, streamless, whole = rows["newsletter"], rows["ticket-classify"], rows["docs-search"]
    assert mute["calls"] > 0
    assert [mute[name] for name in ("duration_calls", "ttft_calls", "tpot_calls")] == [0, 0, 0]
    assert [value for name, value in mute.items() if name.endswith("_us")] == [None] * 10
    assert (streamless["ttft_calls"], streamless["ttft_p50_us"]) == (0, None)
    assert streamless["duration_calls"] == streamless["calls"]
    assert 0 < whole["ttft_p50_us"] <= whole["ttft_p95_us"] <= whole["ttft_p99_us"]
    assert whole["ttft_p50_us"] < whole["duration_p50_us"] <= whole["duration_p95_us"]


def test_the_page_says_of_how_many_calls_the_time_is_known(half_timed: TestClient) -> None:
    rows = rows_of(half_timed)
    calls, timed = (sum(row[name] for row in rows.values()) for name in ("calls", "duration_calls"))
    html = unescape(half_timed.get("/latency").text)
    assert timed < calls
    assert f"{timed:,} of {calls:,}" in html
    assert f"{sum(row['failed'] for row in rows.values()):,} failed calls are not in these figures" in html


@pytest.mark.parametrize("by", DIMENSIONS)
def test_every_dimension_tells_of_the_same_calls(half_timed: TestClient, by: str) -> None:
    known = [(row["calls"], row["failed"], row["batched"]) for row in rows_of(half_timed).values()]
    found = [(row["calls"], row["failed"], row["batched"]) for row in rows_of(half_timed, by=by).values()]
    assert [sum(column) for column in zip(*found, strict=True)] == [sum(column) for column in zip(*known, strict=True)]


@pytest.mark.parametrize("by", ["feature", "model", "status", "api_key"])
def test_a_count_leads_to_so_many_requests(half_timed: TestClient, by: str) -> None:
    html = half_timed.get("/latency", params={"by": by}).text
    links = re.findall(r'<td data-label="Calls"[^>]*><a href="([^"]+)">([0-9,]+)</a>', html)
    assert links
    for href, count in links:
        listed = unescape(href).replace("/requests?", "/requests.json?rows=1&")
        assert half_timed.get(listed).json()["total"] == int(count.replace(",", ""))


def test_a_store_whose_logs_have_no_times_says_so() -> None:
    rows = [row | {"first_token_us": None, "end_us": None} for row in requests(days=3)]
    made = company(rows, no_access_control=True, planned=False)
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        html = reader.get("/latency").text
    assert "No call of this view has a time." in html
    assert "0 ms" not in html
