"""The Costs page: list, contract and reported side by side, why a report differs, and every version of the costs."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from dashboard_company import Company, company, requests
from starlette.testclient import TestClient

from app.core.money import usd_text
from app.warehouse import ledger
from app.warehouse.reprice import Slice
from app.web.server import create_app
from tests.ledger.books import by

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = requests()


@pytest.fixture(scope="module")
def made() -> Company:
    """The company, one of whose calls its gateway charged twice for."""
    made = company(planned=False, no_access_control=True)
    wrong = next(row for row in reversed(ROWS) if row["cost_state"] == "priced")
    with made.deps.warehouse.writing() as session:
        session.connection.execute("UPDATE requests SET cost_reported_pusd = cost_pusd WHERE cost_state = 'priced'")
        session.connection.execute(
            "UPDATE requests SET cost_reported_pusd = 5 * cost_pusd + 7000000 WHERE request_key = $key",
            {"key": wrong["request_key"]},
        )
        order = ledger.Order("reprice", 0, 1, "UTC", "ada", "a wrong row <b>", price_book="made-2", prices="/x/own.yml")
        version = ledger.one(session, ledger.begin(session, order, made.deps.now()))
        ledger.advance(session, version, by(""), Slice(0, 1, 0), made.deps.now())
    return made


@pytest.fixture
def reader(made: Company) -> Iterator[TestClient]:
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as opened:
        yield opened


def rows(reader: TestClient, table: str) -> list[dict[str, Any]]:
    answer = reader.get(f"/costs.json?period=all&table={table}")
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json()["rows"]
    return found


def test_reports_and_our_figures_are_compared_like_with_like(reader: TestClient) -> None:
    side = rows(reader, "side")
    known = [row for row in ROWS if row.get("cost_pusd") is not None]
    assert sum(Decimal(row["cost_usd"] or 0) for row in side) == Decimal(
        usd_text(sum(row["cost_pusd"] for row in known)) or 0
    )
    assert sum(row["differing"] for row in side) == 1
    (claim,) = rows(reader, "claims")
    assert Decimal(claim["difference_usd"]) == Decimal(claim["reported_usd"]) - Decimal(claim["cost_usd"])
    assert Decimal(claim["difference_usd"]) == sum(Decimal(row["same_difference_usd"] or 0) for row in side)
    assert claim["why"].endswith(".")
    assert reader.get(f"/requests/{claim['example']}").status_code == 200


def test_an_unfinished_version_is_said_and_what_people_wrote_is_escaped(reader: TestClient) -> None:
    html = reader.get("/costs?period=all").text
    assert "Version 1 is not finished." in html
    assert "a wrong row &lt;b&gt;" in html
    assert "1 of " in html
    (version,) = rows(reader, "versions")
    assert (version["version"], version["who"], version["state"]) == (1, "ada", "unfinished")
    assert version["what"] == "Price book made-2 with own.yml"


def test_filters_of_the_view_narrow_what_is_compared(reader: TestClient) -> None:
    model = rows(reader, "side")[0]["model"]
    answer = reader.get(f"/costs.json?period=all&table=side&f=is,model,{model}").json()["rows"]
    assert {row["model"] for row in answer} == {model}


def test_spend_leads_to_it(reader: TestClient) -> None:
    assert 'href="/costs"' in reader.get("/").text


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ({"priced": 3}, "All 3 reported costs agree with ours."),
        (
            {"priced": 3, "unpriced": 2},
            "3 of 5 reported costs can be compared, and all of those agree with ours. "
            "2 have no price of ours to compare with.",
        ),
        (
            {"unpriced": 1},
            "None of the 1 reported costs can be compared with ours. 1 has no price of ours to compare with.",
        ),
        (
            {"priced": 1, "partly": 2},
            "1 of 3 reported costs can be compared, and all of those agree with ours. "
            "2 more are not compared: a part has no price of ours, or the call was not billed.",
        ),
    ],
)
def test_only_reports_that_can_be_compared_are_said_to_agree(states: dict[str, int], said: str) -> None:
    cost = {"priced": 100, "partly": 60, "unpriced": None}
    kinds = [state for state, many in states.items() for _ in range(many)]
    made = [
        {**row, "cost_state": state, "cost_pusd": cost[state], "cost_reported_pusd": 100}
        for row, state in zip(ROWS, kinds, strict=False)
    ]
    company_of = company(made, planned=False, no_access_control=True)
    with TestClient(create_app(company_of.deps), base_url="http://127.0.0.1") as opened:
        assert said in opened.get("/costs?period=all").text


def test_what_a_report_is_off_by_and_how_many_are_off_have_names_of_their_own(client: TestClient) -> None:
    page = client.get("/costs").text
    side = page[page.index("side by side, table") :]
    labels = re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', side[: side.index("</thead>")])
    assert labels[-4:] == ["Reported", "Ours of these", "Reported − ours", "Reports off"]
