"""What if: the rest of the plan is priced as one plan, by a form that needs no script, with an address a choice."""

from __future__ import annotations

import re
from decimal import Decimal
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from dashboard_company import NOW_US, company
from starlette.testclient import TestClient

from app.control import findings as decisions
from app.plan import store
from app.web.server import create_app

if TYPE_CHECKING:
    from dashboard_company import Company
    from httpx import Response

PATH = "/savings/what-if"


def ask(made: Company, path: str = PATH, **keys: Any) -> Response:
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        return reader.get(path, params=keys or None)


def rows_of(made: Company, **keys: Any) -> dict[str, dict[str, Any]]:
    return {row["fingerprint"]: row for row in ask(made, f"{PATH}.json", **keys).json()["rows"]}


def figure(html: str, label: str) -> str:
    found = re.search(rf"<dt>{label}[^<]*</dt><dd[^>]*>([^<]*)</dd>", html)
    assert found is not None
    return unescape(found[1])


@pytest.fixture(scope="module")
def made() -> Company:
    return company(no_access_control=True)


def test_the_whole_plan_stands_there_first(made: Company) -> None:
    plan = store.latest(made.deps.warehouse, made.deps.control, now_us=NOW_US)
    assert plan is not None
    members = {item.fingerprint: item for item in plan.findings if item.in_joint}
    rows = rows_of(made)
    assert list(rows) == list(members)
    for key, row in rows.items():
        assert row["left_out"] is False
        assert Decimal(row["share_usd"]) == Decimal(plan.monthly(members[key].allocated_usd) or "")
        assert Decimal(row["counts_usd"]) == Decimal(plan.monthly(members[key].last_in_usd) or "")


def test_each_finding_left_out_lowers_the_saving_by_what_hung_on_it(made: Company) -> None:
    whole = rows_of(made)
    total = sum(Decimal(row["share_usd"]) for row in whole.values())
    for key, row in whole.items():
        rest = rows_of(made, without=key)
        assert rest[key] | {"headline": ""} == row | {"headline": "", "left_out": True, "share_usd": None}
        others = sum(Decimal(item["share_usd"]) for item in rest.values() if item["share_usd"] is not None)
        assert float(total - others) == pytest.approx(float(row["counts_usd"]), abs=1e-5)


def test_nothing_done_saves_nothing_and_every_tick_is_kept(made: Company) -> None:
    keys = list(rows_of(made))
    html = ask(made, without=",".join(keys)).text
    assert figure(html, "Saved by this choice") == "$0.00"
    assert len(re.findall(r'<input type="checkbox"[^>]* checked>', html)) == len(keys)
    assert all(row["share_usd"] is None for row in rows_of(made, without=",".join(keys)).values())


def test_the_form_needs_no_script_and_has_a_short_address(made: Company) -> None:
    first, second = list(rows_of(made))[:2]
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        sent = reader.get(f"{PATH}?without={first}&without={second}", follow_redirects=False)
        assert (sent.status_code, sent.headers["location"]) == (303, f"{PATH}?without={first},{second}")
        twin = reader.get(f"{PATH}.json?without={first}&without={second}").json()["rows"]
    assert {row["fingerprint"] for row in twin if row["left_out"]} == {first, second}


def test_every_ready_choice_says_itself_that_it_is_chosen(made: Company) -> None:
    html = ask(made).text
    links = re.findall(r'<p class="ways choices">(.*?)</p>', html, re.DOTALL)[0]
    addresses = [unescape(href) for href in re.findall(r'<a href="([^"]+)"', links)]
    assert len(addresses) > 2
    for address in addresses:
        shown = re.findall(r'<p class="ways choices">(.*?)</p>', ask(made, address).text, re.DOTALL)[0]
        [chosen] = re.findall(r'<a href="([^"]+)" aria-current="true"', shown)
        assert unescape(chosen) == address


def test_a_finding_that_the_total_does_not_hold_is_named_and_passed_over(made: Company) -> None:
    asked = ask(made, without="no-such-finding")
    assert asked.status_code == 200
    assert "no-such-finding" in asked.text
    assert ask(made, f"{PATH}.json", without="no-such-finding").status_code == 400


def test_a_dismissed_finding_is_no_choice() -> None:
    made = company(no_access_control=True)
    gone = next(iter(rows_of(made)))
    decisions.set_status(made.deps.control, gone, "dismissed", now_us=NOW_US, reason="not wanted")
    assert gone not in rows_of(made)


def test_before_an_analysis_the_page_says_what_it_needs() -> None:
    made = company(no_access_control=True, planned=False)
    assert "No analysis yet" in ask(made).text
    assert ask(made, f"{PATH}.json").json()["rows"] == []


def test_savings_leads_there(made: Company) -> None:
    assert f'href="{PATH}"' in ask(made, "/savings").text
