"""Setting, reading, changing and removing a budget in a browser, and saying which of two sources counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from dashboard_company import ZONE, company, requests
from dashboard_site import Site
from playwright.sync_api import expect
from report_office import runtime_of, settings_of

from app.analysis import overlap
from app.analysis.budgets import terms_of
from app.control import budgets as kept
from app.main import budgets as deeds
from app.main import overlaps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.browser


def told_twice() -> list[dict[str, Any]]:
    """The company's month, a part of which a second source tells of too."""
    rows = requests()
    offset = max(row["request_key"] for row in rows) // 2
    again = [row for row in rows if row["source"] == "litellm" and row["tok_input"]][::3]
    return rows + [
        row | {"source": "traces", "request_key": row["request_key"] ^ offset ^ 0x5DEECE66D} for row in again
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = company(told_twice(), planned=False, no_access_control=True, demo=True)
    folder = tmp_path_factory.mktemp("data")
    runtime, settings = runtime_of(made, folder), settings_of(folder)
    with runtime.warehouse.writing() as session:
        overlap.compare(session)
        overlap.hold(session, {})
    commands = replace(
        made.deps.commands,
        budgets=deeds.desk(runtime, settings, now=made.deps.now),
        decide_overlap=lambda one, other, counted: overlaps.decide(runtime, one, other, counted),
    )
    running = Site(replace(made, deps=replace(made.deps, commands=commands)))
    running.start()
    yield running
    running.stop()


def test_a_budget_is_set_read_changed_and_removed(visit: Callable) -> None:
    window = visit()
    page = window.open("/")
    page.get_by_role("link", name="Budgets", exact=True).click()
    expect(page.get_by_role("heading", name="Budgets", level=1)).to_be_visible()
    page.get_by_label("Name", exact=True).fill("Support")
    page.get_by_label("Amount in USD").fill("20")
    page.get_by_label("Covers").select_option("feature")
    page.get_by_label("whose name is").fill("support-chat")
    page.get_by_role("button", name="Set the budget").click()
    expect(page.get_by_text("The budget is set.")).to_be_visible()
    card = page.locator("section.budget")
    expect(card).to_contain_text("Feature support-chat")
    expect(card).to_contain_text("of $20.00")
    expect(card.get_by_role("progressbar")).to_be_visible()

    card.get_by_text("Change or remove").click()
    card.get_by_label("Amount in USD").fill("1")
    card.get_by_role("button", name="Save").click()
    expect(page.locator("section.budget")).to_contain_text("of $1.00")
    expect(page.locator("section.budget b.worse")).to_be_visible()
    page.locator("section.budget").get_by_text("Change or remove").click()
    page.get_by_role("button", name="Remove Support").click()
    expect(page.get_by_text("The budget is removed")).to_be_visible()
    expect(page.locator("section.budget")).to_have_count(0)
    assert window.complaints == []


@pytest.mark.parametrize("screen", ["light", "dark", "phone"])
@pytest.mark.parametrize("path", ["/budgets", "/sources"])
def test_the_pages_are_accessible_and_fit(visit: Callable, site: Site, screen: str, path: str) -> None:
    window = visit(screen)
    control = site.company.deps.control
    if not kept.standing(control):
        for name, amount in (("All of it", "7"), ("More than enough", "900")):
            kept.add(control, terms_of(name=name, amount=amount, every="month", zone=ZONE), site.company.deps.now())
    page = window.open(path)
    for summary in page.locator("section.budget details summary").all():
        summary.click()
    found = Axe().run(page).response["violations"]
    assert [(item["id"], [node["target"] for node in item["nodes"]][:4]) for item in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert window.complaints == []


def test_the_source_that_counts_is_named_without_javascript_too(windows: Callable, site: Site) -> None:
    window = windows(site.url, java_script_enabled=False)
    page = window.open("/sources")
    question = page.locator("form.overlap")
    expect(question).to_contain_text("Until you say which one counts, traces")
    question.get_by_label("Which one counts?").select_option("litellm")
    question.get_by_role("button").click()
    expect(page.locator("form.overlap")).to_contain_text("litellm counts, as you said.")
    expect(page.get_by_text("Told twice, in no sum")).to_have_count(0)
