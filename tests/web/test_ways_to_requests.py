"""A count on a page is a way to the requests that were counted."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def listed(client: TestClient, href: str) -> int:
    total: int = client.get(unescape(href).replace("/requests?", "/requests.json?rows=1&")).json()["total"]
    return total


def test_requests_without_a_price_can_be_listed(client: TestClient) -> None:
    html = client.get("/sources").text
    ways = re.findall(r'<a href="(/requests\?[^"]*cost_state[^"]*)">([0-9,]+)</a>', html)
    assert ways
    for href, count in ways:
        assert listed(client, href) == int(count.replace(",", ""))


def test_a_day_of_the_chart_leads_to_that_day(client: TestClient) -> None:
    rows = client.get("/spend.json", params={"table": "daily"}).json()["rows"]
    html = client.get("/").text
    for row in rows[-5:]:
        assert f'href="/?period={row["day"]}..{row["day"]}"' in html
        one = client.get("/spend.json", params={"table": "daily", "period": f"{row['day']}..{row['day']}"}).json()[
            "rows"
        ]
        assert [item["total_usd"] for item in one] == [row["total_usd"]]


def test_what_moved_leads_to_its_requests_of_now(client: TestClient) -> None:
    now = {row["name"]: row["requests"] for row in client.get("/spend.json").json()["rows"]}
    moved = client.get("/").text.split("What moved")[-1]
    ways = re.findall(r'<td data-label="Feature"[^>]*><a href="(/requests\?[^"]+)">(.*?)</a>', moved)
    assert len(ways) > 3
    for href, name in ways:
        assert listed(client, href) == now[unescape(re.sub(r"<[^>]+>", "", name))]


def test_a_finding_leads_to_the_rates_that_price_it(client: TestClient) -> None:
    fingerprint = client.get("/savings.json").json()["rows"][0]["fingerprint"]
    html = client.get(f"/savings/{fingerprint}").text
    [(href, model)] = re.findall(r'<dt>Rates used</dt><dd><a href="([^"]+)">([^<]+)</a>', html)
    assert model in client.get(unescape(href)).text
