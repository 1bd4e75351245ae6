"""Words of pages: commands look like commands, names stay whole, and nothing is offered or asked in vain."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from batch_office import Office
from dashboard_company import MARKUP, company
from starlette.testclient import TestClient

from app.warehouse.priced import Pricer
from app.web.pages import PAGES
from app.web.render import coded, whole
from app.web.server import create_app
from ingest.pipeline import ingest_paths
from tests.bills.made_bills import BOOK, Bill, charged, month

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPEN = [page.path for page in PAGES if "{" not in page.path]
COMMAND = re.compile(r"`|\bhalve [a-z]+\b")


def reader_of(deps: object) -> TestClient:
    return TestClient(create_app(deps), base_url="http://127.0.0.1")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def nothing() -> TestClient:
    """A dashboard of an empty store."""
    return reader_of(company([], no_access_control=True).deps)


@pytest.mark.parametrize("path", OPEN)
@pytest.mark.parametrize("filled", [False, True])
def test_a_command_stands_as_code_wherever_a_page_names_one(
    client: TestClient, nothing: TestClient, path: str, filled: bool
) -> None:
    html = (client if filled else nothing).get(path).text
    prose = re.sub(r"<(code|pre)\b.*?</\1>", "", html, flags=re.DOTALL)
    assert COMMAND.findall(re.sub(r"<[^>]+>", " ", prose)) == []


def test_backticks_mark_code_and_nothing_else_in_a_text_is_markup() -> None:
    assert coded(f"Run `halve <x>` {MARKUP}").startswith("Run <code>halve &lt;x&gt;</code> &lt;")
    assert coded("an odd ` one <b>") == "an odd ` one &lt;b&gt;"


def test_a_name_with_hyphens_stays_on_one_line_unless_it_is_too_long() -> None:
    assert whole("chat · claude-x-4-5") == '<span>chat · <span class="whole">claude-x-4-5</span></span>'
    assert whole("plain text <b>") == "plain text &lt;b&gt;"
    assert "whole" not in whole("a-" * 40 + "a")
    assert "<img" not in whole(f"{MARKUP} a-b")


def test_savings_offers_an_analysis_only_where_there_is_something_to_analyse(nothing: TestClient) -> None:
    empty = nothing.get("/savings").text
    assert "Nothing to analyse yet" in empty
    assert 'action="/analyse"' not in empty
    logged = reader_of(company(no_access_control=True, planned=False).deps).get("/savings").text
    assert "No analysis yet" in logged
    assert 'action="/analyse"' in logged


def test_the_price_book_stands_beside_the_figures_and_not_in_the_sub_title(client: TestClient) -> None:
    lead, _, rest = client.get("/savings").text.partition("</p>")
    assert "price book" not in lead.partition('class="lead"')[2]
    assert "Priced with price book made-1." in rest


@pytest.fixture
def billed(tmp_path: Path) -> Iterator[TestClient]:
    """A dashboard of a store that holds bills alone."""
    made = company([], no_access_control=True)
    bill = Bill(charged(month(days=2, calls_a_day=2)))
    for name, page in (("costs", bill.costs_page()), ("usage", bill.usage_page())):
        (tmp_path / f"{name}.json").write_text(json.dumps(page), encoding="utf-8")
    paths = sorted(tmp_path.glob("*.json"))
    ingest_paths(paths, warehouse=made.deps.warehouse, pricer=Pricer(BOOK), data_dir=tmp_path / "data")
    with reader_of(made.deps) as reader:
        yield reader


def test_a_source_of_bills_alone_is_complete_to_its_last_day_and_not_asked_how_it_is_billed(billed: TestClient) -> None:
    rows = billed.get("/sources.json").json()["rows"]
    assert [(row["complete_to"], row["billing"]) for row in rows] == [("2026-03-03", None)] * 2
    html = billed.get("/sources").text
    assert 'action="/sources/billing"' not in html
    assert "never" not in re.sub(r"<[^>]+>", " ", html.partition("What is here")[2].partition("</table>")[0])


@pytest.mark.parametrize(
    ("provider", "said", "unsaid"),
    [
        ("openai", "/v1/chat/completions", "--provider anthropic"),
        ("anthropic", "halve batch submit ticket-classify.jsonl --provider anthropic", "/v1/chat/completions"),
    ],
)
def test_the_change_for_a_batch_speaks_the_provider_of_its_feature(
    tmp_path: Path, provider: str, said: str, unsaid: str
) -> None:
    office = Office(tmp_path / "data", no_access_control=True)
    with office.runtime.warehouse.writing() as session:
        named = '"provider":"{}"'.format
        session.connection.execute(
            "UPDATE plan_findings SET provider = $provider, detail = replace(detail, $before, $after)",
            {"provider": provider, "before": named("openai"), "after": named(provider)},
        )
    html = reader_of(office.company.deps).get("/savings/f2classify").text
    office.close()
    assert said in html
    assert unsaid not in html


def test_a_page_of_batches_points_to_no_side(tmp_path: Path) -> None:
    office = Office(tmp_path / "data", rows=[], no_access_control=True)
    html = reader_of(office.company.deps).get("/batch").text
    office.close()
    assert "the address below" in html
    assert "on the right" not in html
