"""What has no time is said where it is missing; days of which nothing is known are no zeros."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from dashboard_company import DAY_US, NOW_US, ZONE, Company, company, requests
from starlette.testclient import TestClient

from app.web.server import create_app
from reports import weekly, weeks

if TYPE_CHECKING:
    from collections.abc import Sequence

DATED = [row for row in requests() if row["cost_state"] == "priced"][-20:]
FIRST_US = min(row["start_us"] for row in DATED)
MAKER = {"start_us": None, "source": "loose"}
LOOSE = [
    {**DATED[0], **MAKER, "request_key": 1, "cost_pusd": 2 * 10**12},
    {**DATED[0], **MAKER, "request_key": 2, "cost_pusd": None, "cost_state": "unpriced"},
]
SAID = "Requests whose log gives no time, $2.00; 1 of them without a price."


def opened(rows: Sequence[dict[str, Any]]) -> tuple[Company, TestClient]:
    made = company(list(rows), planned=False, no_access_control=True)
    return made, TestClient(create_app(made.deps), base_url="http://127.0.0.1")


def test_requests_without_a_time_are_said_where_they_are_missing_and_only_there() -> None:
    _, reader = opened([*DATED, *LOOSE])
    page = reader.get("/").text
    assert "2 requests without a time not included" in page
    assert f"{SAID} They are in no day, and so in none of these figures." in page
    whole = reader.get("/?period=all").text
    assert "without a time not included" not in whole
    assert f"{SAID} They are in these sums and in no day." in whole
    assert "gives no time" not in reader.get("/?f=is,source,litellm").text, "filters hold for them too"
    assert "2 requests without a time are in no period but all time." in reader.get("/?period=2020-01").text
    _, reader = opened(DATED)
    assert "gives no time" not in reader.get("/").text


@pytest.mark.parametrize("week", ["2026-W46", "2026-W02"])
def test_the_weekly_report_says_what_has_no_time(week: str) -> None:
    for rows, there in (([*DATED, *LOOSE], True), (DATED, False)):
        made, _ = opened([{**row, "start_us": row["start_us"] and row["start_us"] - 4 * DAY_US} for row in rows])
        with made.deps.warehouse.session() as session:
            document = weekly.build(session, weeks.named(week, ZONE), now_us=NOW_US)
        told = "2 requests without a time stand in no week and are not in the sum ($2.00, 1 of them without a price)."
        assert (told in document.lead) == there


def test_days_before_the_store_begins_are_not_zero_dollars() -> None:
    _, reader = opened(DATED)
    days = reader.get("/spend.json?period=14d&table=daily").json()["rows"]
    first = datetime.fromtimestamp(FIRST_US // 10**6, UTC).date().isoformat()
    before = [row for row in days if row["day"] < first]
    assert before
    assert {value for row in before for key, value in row.items() if key != "day"} == {None}
    assert all(row["total_usd"] is not None for row in days if row["day"] >= first)


def test_a_store_that_begins_with_a_bill_begins_on_a_day() -> None:
    made, reader = opened(DATED)
    noon = int(datetime(2026, 11, 12, 12, tzinfo=UTC).timestamp()) * 10**6
    assert noon < FIRST_US
    with made.deps.warehouse.writing() as session:
        session.connection.execute(
            "INSERT INTO bill_facts (at_us, source, cost_state, provider, account, model_id, service_tier, is_batch, "
            "requests, cost_pusd) VALUES (?, 'bill', 'priced', 'openai', 'a', 'gpt-5', 'default', false, 0, 5)",
            [noon],
        )
    text = reader.get("/?period=28d").text
    assert "the store begins on 12 Nov 2026, later" in text
    assert "12 Nov 2026 1" not in text
