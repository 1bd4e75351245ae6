"""Pages and their twins: the same figures for people and machines, whatever a log calls its models."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from html import unescape
from typing import TYPE_CHECKING

import pytest
from dashboard_company import FORMULA, MARKUP, NOW_US, company, requests
from starlette.testclient import TestClient

from app.core.money import PICO_PER_USD, usd_text
from app.web.commands import Progress
from app.web.format import key_text
from app.web.pages import PAGES
from app.web.server import create_app

if TYPE_CHECKING:
    from dashboard_company import Company

AGENT = next(row for row in reversed(requests()) if row["feature"] == "coding-agent")
KEY = key_text(AGENT["request_key"])
ADDRESSES = ("/", "/savings", "/savings/f0support", "/requests", f"/requests/{KEY}", "/sources", "/jobs")
TABLES = (
    ("/", "by"),
    ("/", "daily"),
    ("/", "moved"),
    ("/?unit=tokens", "by"),
    ("/?by=model&period=7d", "by"),
    ("/savings", "findings"),
    ("/savings", "steps"),
    ("/savings", "potential"),
    ("/savings", "levers"),
    ("/savings/f0support", "evidence"),
    ("/requests?rows=50", "requests"),
    (f"/requests/{KEY}", "cost"),
    (f"/requests/{KEY}", "session"),
    ("/sources", "sources"),
    ("/sources", "unpriced"),
    ("/sources", "rejected"),
    ("/sources", "reasons"),
    ("/jobs", "jobs"),
    ("/jobs", "runs"),
    ("/jobs?job=analysis", "runs"),
)


def twin(path: str, suffix: str, table: str) -> str:
    base, _, query = path.partition("?")
    return f"{'/spend' if base == '/' else base}{suffix}?{query}{'&' if query else ''}table={table}"


def rows_on(html: str, caption: str) -> list[list[str]]:
    """The cells of the body of the table with a caption, as a reader sees them."""
    body = rf"<caption[^>]*>{re.escape(caption)}</caption>.*?<tbody>(.*?)(?:<tfoot>|</table>)"
    found = re.search(body, html, re.DOTALL)
    assert found is not None, f"no table {caption!r}"
    return [
        [unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]
        for row in re.findall(r"<tr>(.*?)</tr>", found[1], re.DOTALL)
    ]


@pytest.mark.parametrize("path", ADDRESSES)
def test_every_page_names_itself_and_says_how_far_the_data_reaches(client: TestClient, path: str) -> None:
    html = client.get(path).text
    assert len(re.findall(r"<h1[ >]", html)) == 1
    assert re.search(r"<title>[^<]+ · Halve</title>", html)
    assert "18 Nov 2026 11:49" in html  # complete to
    assert "Europe/Berlin" in html
    assert re.search(r"Tokens priced</b> 9\d\.\d%", html)


@pytest.mark.parametrize(("path", "table"), TABLES, ids=[f"{path} {table}" for path, table in TABLES])
def test_twins_hold_the_rows_of_the_table(client: TestClient, path: str, table: str) -> None:
    document = client.get(twin(path, ".json", table)).json()
    listed = list(csv.DictReader(io.StringIO(client.get(twin(path, ".csv", table)).text)))
    on_page = rows_on(client.get(path).text, document["caption"].replace("<", "&lt;"))
    assert len(document["rows"]) == len(listed) == len(on_page) > 0
    for row, line in zip(document["rows"], listed, strict=True):
        assert list(row) == list(line)
        for value, text in zip(row.values(), line.values(), strict=True):
            assert text.lstrip("'") == ("" if value is None else str(value)).lstrip("'")


def test_the_ranking_adds_up_to_what_was_paid_to_the_last_digit(client: TestClient) -> None:
    rows = client.get("/spend.json?period=all").json()["rows"]
    truth = sum(row.get("cost_pusd") or 0 for row in requests())
    assert sum(Decimal(row["cost_usd"] or 0) for row in rows) == Decimal(usd_text(truth) or 0)
    parts = ("input_usd", "cache_read_usd", "cache_write_usd", "output_usd", "reasoning_usd")
    for row in rows:
        if row["cost_usd"] is not None:
            assert sum(Decimal(row[part] or 0) for part in parts) == Decimal(row["cost_usd"])


@pytest.mark.parametrize("by", ["feature", "model", "provider", "source", "user", "api_key", "status"])
def test_every_grouping_adds_up_to_the_same_total(client: TestClient, by: str) -> None:
    rows = client.get(f"/spend.json?by={by}").json()["rows"]
    days = client.get(f"/spend.json?by={by}&table=daily").json()["rows"]
    one = client.get("/spend.json?by=environment").json()["rows"]
    total = sum(Decimal(row["cost_usd"] or 0) for row in one)
    assert sum(Decimal(row["cost_usd"] or 0) for row in rows) == total
    assert sum(Decimal(row["total_usd"] or 0) for row in days) == total


@pytest.mark.parametrize("by", ["feature", "model", "user"])
def test_a_share_of_a_twin_is_as_fine_as_its_dollars(by: str) -> None:
    """One request dearer than all others by far: their share is small, and neither 0 nor is the first one's 1."""
    rows = requests()
    rows[0] |= {
        "feature": "giant",
        "model_id": "giant-1",
        "user_hash": 1,
        "cost_pusd": 9 * 10**18,
        "input_pusd": 9 * 10**18,
    }
    made = company(rows, no_access_control=True, planned=False)
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as reader:
        found = reader.get(f"/spend.json?by={by}&period=all").json()["rows"]
    priced = [row for row in found if row["cost_usd"] not in (None, "0")]
    assert len(priced) > 1
    total = sum(Decimal(row["cost_usd"]) for row in priced)
    for row in priced:
        assert 0 < row["share"] < 1
        assert row["share"] == pytest.approx(float(Decimal(row["cost_usd"]) / total), rel=1e-9)


def test_one_request_shows_its_exact_cost(client: TestClient) -> None:
    document = client.get(f"/requests/{KEY}.json").json()
    assert sum(Decimal(row["cost_usd"]) for row in document["rows"]) * PICO_PER_USD == AGENT["cost_pusd"]
    html = client.get(f"/requests/{KEY}").text
    assert f"${usd_text(AGENT['cost_pusd'])}" in html
    assert "Prefill" in html
    assert "Decode" in html


def test_an_unknown_cost_is_not_shown_as_zero(client: TestClient) -> None:
    row = next(row for row in requests() if row["model"] == "in-house-tune")
    document = client.get(f"/requests/{key_text(row['request_key'])}.json").json()
    assert [item["cost_usd"] for item in document["rows"]] == [None, None]
    html = client.get(f"/requests/{key_text(row['request_key'])}").text
    assert "its cost is unknown, not zero" in html
    assert "$0.00" not in html


def test_markup_in_names_stays_text_everywhere(client: TestClient) -> None:
    for path in (*ADDRESSES, f"/?f=is,feature,{MARKUP}", "/?by=source&period=all", "/requests?period=all&sort=time"):
        html = client.get(path).text
        assert "<img" not in html
    assert "&lt;img src=x" in client.get("/").text
    for path in ("/spend.json", "/spend.vl.json?period=7d", "/savings.json", "/savings.vl.json"):
        answer = client.get(path)
        assert answer.headers["content-type"] == "application/json"
        assert "<" not in answer.text
        json.loads(answer.text)


def test_characters_that_disguise_text_are_made_visible(client: TestClient) -> None:
    html = client.get(f"/requests/{KEY}").text
    assert "\u202e" not in html
    assert "\ufffdgpj.exe" in html


def test_text_that_a_spreadsheet_would_run_is_defused(client: TestClient) -> None:
    lines = client.get("/spend.csv").text
    assert f"'{FORMULA}".replace('"', '""') in lines
    assert re.search(r'(^|,|")=', lines, re.MULTILINE) is None
    header = client.get("/spend.csv?table=daily&by=feature").text.splitlines()[0]
    assert not any(name.startswith("=") for name in next(csv.reader([header])))


@pytest.mark.parametrize(
    "query",
    [
        "sort=cost_pusd;drop table requests",
        "by=cost_pusd) --",
        "f=is,model');drop table requests;--,x",
        "f=is,model,'; drop table requests; --",
        "f=not,feature,{relation}",
        "period='||1||'",
        "page=-1",
        "page=99999999999999999999",
    ],
)
def test_sorting_and_filter_values_are_never_sql(client: TestClient, query: str) -> None:
    assert client.get(f"/requests?{query}").status_code == 200
    assert client.get(f"/?{query}").status_code == 200
    assert len(client.get("/requests.json?rows=50").json()["rows"]) == 50


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/requests.json?sort=cost; DROP TABLE usage--", "sort="),
        ("/requests.csv?sort=-cost DESC; SELECT 1", "sort="),
        ("/spend.json?by=model) UNION SELECT api_key FROM keys --", "by="),
        ("/spend.json?f=is,metadata.k'\"],v", "metadata"),
        ("/spend.csv?period=yesterday", "yesterday"),
        ("/savings.json?status=anything", "status="),
        ("/spend.vl.json?unit=miles", "unit="),
    ],
)
def test_twins_refuse_what_they_cannot_use_because_nobody_reads_their_notices(
    client: TestClient, path: str, named: str
) -> None:
    answer = client.get(path)
    assert answer.status_code == 400
    assert named in answer.json()["error"]


@pytest.mark.parametrize("value", ["x' OR '1'='1", "a'); DELETE FROM usage; --"])
def test_llmc_152_a_value_is_compared_and_never_run(client: TestClient, value: str) -> None:
    """With the two tests around it: identifiers come from fixed lists, values are bound."""
    before = client.get("/requests.json?period=all&rows=50").json()
    answer = client.get("/requests.json", params={"period": "all", "f": f"is,feature,{value}"})
    assert answer.status_code == 200
    assert answer.json()["rows"] == []
    assert client.get("/requests.json?period=all&rows=50").json() == before


def test_a_form_that_sends_every_field_ends_at_the_short_address(client: TestClient) -> None:
    answer = client.get("/?period=28d&compare=prev&by=model", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?by=model")
    added = client.get("/?add=model&value=gpt-5, the big one", follow_redirects=False)
    assert added.headers["location"] == "/?f=is,model,gpt-5%5C,+the+big+one"
    days = client.get("/?from=2026-11-02&to=2026-11-08", follow_redirects=False)
    assert days.headers["location"] == "/?period=2026-11-02..2026-11-08"


def test_what_an_address_says_in_vain_is_named_on_the_page(client: TestClient) -> None:
    html = client.get("/?period=yesterday&colour=blue").text
    assert "&#39;yesterday&#39; is no period" in html
    assert "does not know &#39;colour=blue&#39;" in html


def test_htmx_is_told_the_short_address(client: TestClient) -> None:
    answer = client.get("/?period=28d&compare=prev&by=model", headers={"HX-Request": "true"}, follow_redirects=False)
    assert answer.status_code == 200
    assert answer.headers["hx-push-url"] == "/?by=model"


def test_no_comparison_is_invented_where_the_store_begins_too_late(client: TestClient) -> None:
    html = client.get("/?period=91d").text
    assert "No comparison: the store begins on" in html
    assert "What moved" not in html
    assert "/?period=28d" not in html  # the default is never written into an address
    assert 'href="/" hx-get="/"' in html
    assert "Compare the last 28 days with the 28 before" in html


def test_the_three_kinds_of_emptiness_are_told_apart(client: TestClient) -> None:
    nothing = TestClient(create_app(company([], no_access_control=True).deps), base_url="http://127.0.0.1")
    assert "No logs yet" in nothing.get("/").text
    assert "No logs yet" in nothing.get("/requests").text
    assert "Nothing to analyse yet" in nothing.get("/savings").text
    assert "No source yet" in nothing.get("/sources").text
    other_days = client.get("/?period=2025-01").text
    assert "No requests in this period" in other_days
    assert "/?period=2026-11" in other_days
    filtered = client.get("/?f=is,model,none-of-them").text
    assert "Everything is filtered away" in filtered
    assert "Clear the filters" in filtered


def test_progress_is_on_the_page_while_logs_are_read(client: TestClient, open_company: Company) -> None:
    open_company.deeds.progress = Progress("reading logs", "support.jsonl", 30, 120)
    try:
        html = client.get("/").text
    finally:
        open_company.deeds.progress = Progress()
    assert "Reading logs." in html
    assert 'value="25"' in html
    assert 'http-equiv="refresh"' in html


def test_pages_never_reach_into_the_future_or_another_zone(client: TestClient) -> None:
    document = client.get("/spend.json?period=today").json()
    assert document["zone"] == "Europe/Berlin"
    assert document["from_us"] <= NOW_US < document["to_us"]
    assert (document["to_us"] - document["from_us"]) == 24 * 3_600_000_000


def test_an_address_that_leads_nowhere_is_a_page_that_says_so(client: TestClient) -> None:
    for path in ("/nowhere", "/requests/zz", "/requests/0000000000000000", "/savings/none"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert answer.text.count("<h1>") == 1
    assert "error" in client.get("/requests/zz.json").json()


def test_the_health_check_answers(client: TestClient) -> None:
    assert client.get("/healthz").text == "ok"


def test_every_page_has_a_template_and_a_distinct_address() -> None:
    assert len({page.path for page in PAGES}) == len({page.name for page in PAGES}) == len(PAGES)


def test_a_finding_gets_an_owner_and_loses_it_again() -> None:
    own = company(no_access_control=True)
    with TestClient(create_app(own.deps), base_url="http://127.0.0.1", headers={"sec-fetch-site": "same-origin"}) as it:
        fingerprint = it.get("/savings.json").json()["rows"][0]["fingerprint"]
        page = it.post(f"/savings/{fingerprint}/owner", data={"owner": "  Ana  Marković "}).text
        assert 'name="owner" value="Ana Marković"' in page
        assert "<dt>Owner</dt><dd>Ana Marković</dd>" in page
        assert "given to: Ana Marković" in page
        assert "<dt>Owner</dt>" not in it.post(f"/savings/{fingerprint}/owner", data={"owner": " "}).text
        assert it.post("/savings/nothing/owner", data={"owner": "Ana"}).status_code == 404
