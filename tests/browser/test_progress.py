"""While logs are read: an empty page fills itself, a page with content takes nothing from its reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dashboard_company import company, fill, requests
from dashboard_site import Site
from playwright.sync_api import expect

from app.web.commands import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_libraries")]


@pytest.fixture
def fresh_site() -> Iterator[Site]:
    running = Site(company([], no_access_control=True))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def busy_site() -> Iterator[Site]:
    running = Site(company(no_access_control=True))
    running.start()
    yield running
    running.stop()


def test_the_first_page_fills_itself_when_the_first_logs_are_there(windows: Callable, fresh_site: Site) -> None:
    made = fresh_site.company
    made.deeds.progress = Progress("reading logs", "support.jsonl", 30, 120)
    window = windows(fresh_site.url)
    page = window.open("/")
    expect(page.get_by_role("heading", name="The first logs are being read")).to_be_visible()
    expect(page.get_by_text("25%")).to_be_visible()
    with made.deps.warehouse.writing() as session:
        fill(session, requests(days=3))
    expect(page.locator(".figures-row")).to_be_visible()
    made.deeds.progress = Progress()
    expect(page.get_by_role("link", name="Show the new figures")).to_be_visible()
    page.get_by_role("link", name="Show the new figures").click()
    expect(page.get_by_text("25%")).to_have_count(0)
    assert window.complaints == []


def test_progress_takes_nothing_from_who_is_writing(windows: Callable, busy_site: Site) -> None:
    busy_site.company.deeds.progress = Progress("analysing", "pricing levers")
    window = windows(busy_site.url)
    page = window.open("/savings/f1search")
    page.get_by_text("Dismiss it").click()
    page.get_by_label("Why?").fill("Because answers must")
    busy_site.company.deeds.progress = Progress("analysing", "adding up")
    expect(page.get_by_text("adding up")).to_be_visible()
    assert page.get_by_label("Why?").input_value() == "Because answers must"
    busy_site.company.deeds.progress = Progress()
    expect(page.get_by_role("link", name="Show the new figures")).to_be_visible()
    assert page.get_by_label("Why?").input_value() == "Because answers must"
    assert window.complaints == []
