"""A store in which nothing has a price: no page says that it cost, or could save, nothing."""

from __future__ import annotations

from dashboard_company import NOW_US, ZONE, Company, company, requests
from starlette.testclient import TestClient

from app.plan.analyse import analyse
from app.plan.window import DAY_US
from app.pricing.book import PriceBook
from app.web.server import create_app


def opened(tmp_path_factory) -> tuple[Company, TestClient]:
    rows = [
        {**row, "cost_state": "unknown", **{name: None for name in row if name.endswith("_pusd") or name[:4] == "tok_"}}
        for row in requests()[-40:]
    ]
    made = company(rows, planned=False, no_access_control=True)
    book = PriceBook.load(tmp_path_factory.mktemp("prices"))
    analyse(made.deps.warehouse, book, made.deps.control, from_us=NOW_US - 30 * DAY_US, to_us=NOW_US, zone=ZONE)
    return made, TestClient(create_app(made.deps), base_url="http://127.0.0.1")


def test_pages_name_the_gap_and_no_zero(tmp_path_factory) -> None:
    _, reader = opened(tmp_path_factory)
    spend = reader.get("/?period=all").text
    assert "could be saved" not in spend
    assert "without a tag or rule that names the feature; what they cost is not known." in spend
    assert "$0.00" not in spend.split('id="main"')[1]
    savings = reader.get("/savings").text
    assert "No request of this window has a price, so nothing can be said of savings" in savings
    assert "that is a result, not a gap" not in savings
    rows = reader.get("/spend.json?period=all&by=source").json()["rows"]
    assert {(row["cost_usd"], row["tokens_per_request"]) for row in rows} == {(None, None)}
