"""What stands on pages in words: windows are named, nothing asked in vain goes unsaid, long tables are whole."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from typing import TYPE_CHECKING

import polars as pl
import pytest
from dashboard_company import DAY_US, NOW_US, company, requests
from starlette.testclient import TestClient

from app.analysis import requests as listed
from app.analysis import spend
from app.analysis.coverage import priced, reach
from app.analysis.figures import Figures
from app.core.view import DIMENSIONS, Filter, View, period, replace_period
from app.web.server import create_app

if TYPE_CHECKING:
    from dashboard_company import Company
    from pytest import MonkeyPatch  # noqa: PT013  a type


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", html)))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/requests?sort=drop", "does not know 'sort=drop'"),
        ("/requests?page=-5", "does not know 'page=-5'"),
        ("/requests?page=0", "does not know 'page=0'"),
        ("/requests?page=99999999", "does not know 'page=99999999'"),
        ("/?unit='", 'does not know "unit=\'"'),
        ("/savings?status=zzz", "does not know 'status=zzz'"),
        ("/requests?page=1000", "The list ends before this page"),
    ],
)
def test_a_value_that_a_page_cannot_use_is_named(client: TestClient, path: str, said: str) -> None:
    assert said in text_of(client.get(path).text)


@pytest.mark.parametrize("path", ["/requests?sort=-time&page=2", "/?unit=tokens", "/?unit=usd", "/savings?status=done"])
def test_a_value_that_a_page_knows_is_used_without_a_word(client: TestClient, path: str) -> None:
    assert "does not know" not in client.get(path).text


def test_the_window_of_a_sum_is_named_beside_it(client: TestClient) -> None:
    savings, spend = text_of(client.get("/savings").text), text_of(client.get("/").text)
    assert re.search(
        r"Paid per 30 days ?\$[\d.,k]+? ?21 Oct – 18 Nov 2026 \(28 days\): [\d,]+ requests analysed", savings
    )
    assert (
        "of the plan's own window, 21 Oct – 18 Nov 2026 (28 days): 3 open findings, each dollar counted once" in spend
    )
    assert "4 Nov" not in spend.partition("Tokens priced")[2].partition("of")[0]
    assert re.search(r"Tokens priced 9\d\.\d% of 22 Oct – 18 Nov 2026, \d+ requests without a price", spend)
    assert re.search(r"Tokens priced 9\d\.\d% of the whole store, \d+ requests without a price", savings)


def test_findings_in_the_plan_and_beside_it_are_counted_apart(client: TestClient) -> None:
    assert "Open 3 in the plan, 1 potential" in text_of(client.get("/savings").text)


def test_a_finding_whose_figures_are_equal_says_why(client: TestClient) -> None:
    assert "equal here, because no other lever" in client.get("/savings/f0support").text
    assert "equal here" not in client.get("/savings/f3extract").text


@pytest.mark.parametrize("by", DIMENSIONS)
def test_rows_and_their_rest_add_up_to_what_is_asked_at_once(open_company: Company, by: str) -> None:
    now = period("all", "Europe/Berlin", NOW_US)
    for chosen in ((), (Filter("is", "feature", ("unassigned",)),), (Filter("is", "api_key", ("prod-1",)),)):
        view = View(now, filters=chosen)
        with open_company.deps.warehouse.session() as session:
            whole = spend.totals(session, view)
            for top in (0, 1, 2, 1000):
                assert spend.ranking(session, view, by=by, top=top).total == whole
            assert priced(session, view) == (whole.priced_share, whole.requests_unpriced)
            nothing = replace_period(view, period("2020-01", "Europe/Berlin", NOW_US))
            assert spend.ranking(session, nothing, by=by).total == spend.totals(session, nothing) == Figures(0)


def test_the_data_is_complete_to_where_the_slowest_live_source_ends() -> None:
    found = reach({"a": NOW_US, "b": NOW_US - DAY_US, "gone": NOW_US - 8 * DAY_US})
    assert found is not None
    assert (found.complete_us, found.slowest, found.newest_us, found.silent) == (
        NOW_US - DAY_US,
        "b",
        NOW_US,
        ("gone",),
    )
    assert reach({}) is None


def test_the_line_above_every_page_names_the_slowest_and_the_silent_source() -> None:
    rows = requests(days=20)
    for row in rows:
        row["source"] = {"gpt-5": "fast", "gpt-5-mini": "slow"}.get(row["model"], "silent")
    kept = [
        row
        for row in rows
        if row["start_us"] < {"fast": NOW_US, "slow": NOW_US - DAY_US}.get(row["source"], NOW_US - 9 * DAY_US)
    ]
    last = {source: max(row["start_us"] for row in kept if row["source"] == source) for source in ("fast", "slow")}
    assert last["slow"] < last["fast"]
    with TestClient(create_app(company(kept, no_access_control=True).deps), base_url="http://127.0.0.1") as reader:
        line = text_of(reader.get("/sources").text)
    assert re.search(r"Complete to 1[67] Nov 2026 \d\d:\d\d \(slow\)", line)
    assert "Newest 18 Nov 2026" in line
    assert "Silent for over 7 days silent" in line


def test_twins_of_the_list_hold_every_request_of_the_view_in_its_order(client: TestClient) -> None:
    answer = client.get("/requests.json?period=all&sort=time&page=3")
    document = answer.json()
    truth = sorted(row["start_us"] for row in requests())
    assert len(document["rows"]) == document["total"] == document["shown"] == len(truth)
    assert answer.headers["halve-rows"] == f"{len(truth)} of {len(truth)}"
    starts = [row["start"] for row in document["rows"]]
    assert starts == sorted(starts)
    lines = list(csv.DictReader(io.StringIO(client.get("/requests.csv?period=all&sort=time").text)))
    assert [row["key"] for row in lines] == [row["key"] for row in document["rows"]]
    assert len({row["key"] for row in lines}) == len(truth)


def test_twins_of_the_list_obey_filters_and_a_bound(client: TestClient) -> None:
    document = client.get("/requests.json?f=is,model,gpt-5&rows=7").json()
    assert (document["shown"], {row["model"] for row in document["rows"]}) == (7, {"gpt-5"})
    assert document["total"] > 7
    assert client.get("/requests.csv?rows=3").headers["halve-rows"].startswith("3 of ")
    for wrong in ("0", "-1", "many", "1000001"):
        refused = client.get(f"/requests.csv?rows={wrong}")
        assert refused.status_code == 400
        assert "cannot be used" in refused.json()["error"]


def test_blocks_of_a_long_list_join_without_a_gap(client: TestClient, monkeypatch: MonkeyPatch) -> None:
    whole = client.get("/requests.csv").text
    monkeypatch.setattr(listed, "BLOCK_ROWS", 7)
    assert client.get("/requests.csv").text == whole
    assert pl.read_csv(io.StringIO(whole))["key"].n_unique() == whole.count("\r\n") - 1


@pytest.mark.parametrize("path", ["/?unit=miles&period=all", "/requests?sort=drop&period=all", "/savings?status=zzz"])
def test_figures_beside_a_notice_can_still_be_had(client: TestClient, path: str) -> None:
    html = client.get(path).text
    named = set(re.findall(r'(?:href|src)="(/[^"]+\.(?:csv|json)[^"]*)"', html))
    assert named
    assert {address: client.get(unescape(address)).status_code for address in named} == dict.fromkeys(named, 200)
