"""Failed and aborted calls without usage: unknown, between nothing and what answered calls of their model cost."""

from __future__ import annotations

from typing import Any

import pytest
from dashboard_company import NOW_US, company
from starlette.testclient import TestClient

from app.analysis.lost_usage import LostUsage, bounds, lost_usage
from app.core import view as views
from app.web.server import create_app
from reports import weekly, weeks

USD = 10**12
AT_US = NOW_US - 4 * 86_400_000_000


def row(**given: Any) -> dict[str, Any]:
    return {
        "source": "litellm", "provider": "openai", "model": "gpt-5", "model_id": "gpt-5", "operation": "chat",
        "is_batch": False, "start_us": AT_US, "status": "ok", "cost_state": "priced", "cost_pusd": None,
        "input_pusd": None, "tok_input": None, "fullness": 1, "feature": "chat", "rule": "tag",
    } | given  # fmt: skip


def answered(count: int, **given: Any) -> list[dict[str, Any]]:
    """Calls that cost 1, 2, 3 … dollars."""
    return [
        row(cost_pusd=number * USD, input_pusd=number * USD, tok_input=number, **given)
        for number in range(1, count + 1)
    ]


def lost(count: int, **given: Any) -> list[dict[str, Any]]:
    return [row(**{"status": "aborted", "cost_state": "unknown"} | given) for _ in range(count)]


ROWS = [
    *answered(40),
    *lost(3),
    *lost(2, status="timeout"),
    *answered(19, model="rare", model_id="rare"),
    *lost(4, status="error", model="rare", model_id="rare"),
    *lost(7, status="error", cost_state="not_billed", cost_pusd=0),
    *lost(1, status="ok"),
    row(status="aborted", cost_pusd=5 * USD, input_pusd=5 * USD, tok_input=5),
]
for number, made in enumerate(ROWS, 1):
    made["request_key"] = number


@pytest.fixture(scope="module")
def store() -> Any:
    return company(ROWS, planned=False, no_access_control=True)


def test_what_they_cost_lies_between_nothing_and_the_dearest_tenth_of_the_answered(store: Any) -> None:
    period = views.period("all", "UTC", NOW_US)
    with store.deps.warehouse.session() as session:
        found = lost_usage(session, period)
    assert found == (
        LostUsage("openai", "rare", "error", 4, 19, None),
        LostUsage("openai", "gpt-5", "aborted", 3, 40, 3 * 36 * USD),
        LostUsage("openai", "gpt-5", "timeout", 2, 40, 2 * 36 * USD),
    )
    assert bounds(found) == (5, 180 * USD, 4)


def test_other_days_are_left_out(store: Any) -> None:
    with store.deps.warehouse.session() as session:
        assert lost_usage(session, views.period("2026-10", "UTC", NOW_US)) == ()


def test_sources_shows_them_beside_what_has_no_price(store: Any) -> None:
    with TestClient(create_app(store.deps), base_url="http://127.0.0.1") as reader:
        rows = reader.get("/sources.json?table=lost").json()["rows"]
        page = reader.get("/sources").text
    assert [(row["ending"], row["calls"], row["at_least_usd"], row["at_most_usd"]) for row in rows] == [
        ("error", 4, "0", None), ("aborted", 3, "0", "108"), ("timeout", 2, "0", "72"),
    ]  # fmt: skip
    assert "fewer than 20 answered calls have a price" in page


def test_the_weekly_report_says_how_much_may_be_missing(store: Any) -> None:
    with store.deps.warehouse.session() as session:
        document = weekly.build(session, weeks.named("2026-W46", "Europe/Berlin"), now_us=NOW_US)
    said = " ".join(next(part for part in document.sections if part.title == "How true is this").sentences)
    assert "5 calls failed or cut off without usage: between $0.00 and $180.00 beside the sum." in said
    assert "What 4 more calls cost is unknown." in said
