"""A finding opened, dismissed with a reason and opened again, with and without JavaScript."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from dashboard_company import company
from dashboard_site import Site
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def own_site() -> Iterator[Site]:
    """A site of these tests alone, because they change what others would see."""
    running = Site(company(no_access_control=True))
    running.start()
    yield running
    running.stop()


def test_a_finding_is_opened_dismissed_with_a_reason_and_restored(windows: Callable, own_site: Site) -> None:
    window = windows(own_site.url)
    page = window.open("/savings")
    total = page.locator(".figures-row .figure").first.inner_text()
    page.get_by_role("link", name="Answer cache for docs-search").click()
    expect(page.get_by_role("heading", name="How the figure was worked out")).to_be_visible()
    expect(page.get_by_role("heading", name="Requests behind it")).to_be_visible()
    page.get_by_text("Dismiss it").click()
    page.get_by_label("Why?").fill("Answers must be fresh for legal reasons.")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("heading", name="Status: dismissed")).to_be_visible()
    expect(page.get_by_text("Answers must be fresh for legal reasons.").first).to_be_visible()
    page.get_by_role("link", name="Savings").first.click()
    assert page.locator(".figures-row .figure").first.inner_text() != total
    page.get_by_role("link", name=re.compile("^Dismissed 1")).click()
    page.get_by_role("link", name="Answer cache for docs-search").click()
    page.get_by_role("button", name="Open again").click()
    expect(page.get_by_role("heading", name="Status: open")).to_be_visible()
    page.get_by_role("link", name="Savings").first.click()
    assert page.locator(".figures-row .figure").first.inner_text() == total
    assert window.complaints == []


def test_all_of_it_works_without_javascript(windows: Callable, own_site: Site) -> None:
    window = windows(own_site.url, java_script_enabled=False)
    page = window.open("/")
    before = page.locator(".figures-row .figure").first.inner_text()
    expect(page.get_by_text("Figures of this chart")).to_be_visible()
    expect(page.locator("details.figures tbody tr").first).to_be_visible()
    page.get_by_label("Period", exact=True).select_option("7d")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page).to_have_url(re.compile(r"/\?period=7d$"))
    assert page.locator(".figures-row .figure").first.inner_text() != before
    page.get_by_role("link", name="Savings").first.click()
    page.get_by_role("link", name="Batch tier for ticket-classify").click()
    page.get_by_text("Dismiss it").click()
    page.get_by_label("Why?").fill("Not now.")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("heading", name="Status: dismissed")).to_be_visible()
    page.get_by_role("button", name="Open again").click()
    expect(page.get_by_role("heading", name="Status: open")).to_be_visible()
    page.locator("table").last.get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Why this cost?")).to_be_visible()
    expect(page.get_by_role("heading", name="Findings that this request is evidence for")).to_be_visible()
