"""Spend names what bills charge in a currency without an exchange rate: it is in no sum of dollars."""

from __future__ import annotations

from dashboard_company import NOW_US, company
from starlette.testclient import TestClient

from app.web.server import create_app

BILLED = f"""
INSERT INTO bill_lines (at_us, source, report, provider, class, kind, currency, cost, has_cost)
VALUES ({NOW_US - 10 * 86_400_000_000}, 'bill', 'focus', 'azure', 'input', 'usage', 'SEK', 7000.25, true),
    ({NOW_US - 10 * 86_400_000_000}, 'bill', 'focus', 'azure', 'other', 'other', 'SEK', 4, true),
    ({NOW_US - 10 * 86_400_000_000}, 'copy', 'focus', 'azure', 'input', 'usage', 'SEK', 7000.25, true)
"""


def test_spend_names_the_amount_in_the_period_of_the_bill_alone() -> None:
    made = company(no_access_control=True, planned=False)
    with made.deps.warehouse.writing() as session:
        session.connection.execute(BILLED)
        session.connection.execute("UPDATE bill_lines SET doubled_by = 'bill' WHERE source = 'copy'")
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        for period, said in (("28d", True), ("all", True), ("7d", False)):
            page = reader.get(f"/?period={period}").text
            assert ("Without an exchange rate" in page) is said
            assert page.count("7,000.25 SEK") == said
        empty = reader.get("/?period=2026-11&f=is,feature,nobody").text
        assert "Everything is filtered away" in empty
