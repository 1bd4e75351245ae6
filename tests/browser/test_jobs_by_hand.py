"""A reader looks at the jobs, asks for a run, moves a schedule, and opens the log of one job."""

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


@pytest.fixture
def workshop() -> Iterator[Site]:
    running = Site(company([], no_access_control=True, demo=True))
    running.start()
    yield running
    running.stop()


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["with scripts", "without"])
def test_a_run_is_asked_for_and_a_schedule_moved(windows: Callable, workshop: Site, options: dict[str, bool]) -> None:
    window = windows(workshop.url, **options)
    page = window.open("/")
    page.get_by_role("link", name="Jobs", exact=True).click()
    table = page.get_by_role("region", name="What runs when, table")
    expect(table).to_contain_text("Daily at")
    page.get_by_role("button", name="Run Weekly report now").click()
    expect(page.get_by_text("The run was asked for")).to_be_visible()
    expect(page.get_by_role("button", name="Run Weekly report now")).to_be_disabled()
    page.get_by_text("Change the schedule of Analyse").click()
    form = page.locator("form[action='/jobs/analysis/schedule']")
    form.get_by_label("When").fill("daily 04:45")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. The schedule holds from now on.")).to_be_visible()
    expect(table).to_contain_text("Daily at 04:45")
    table.get_by_role("link", name="Analyse").click()
    expect(page).to_have_url(re.compile(r"/jobs\?job=analysis$"))
    expect(page.get_by_role("heading", name="Runs of Analyse")).to_be_visible()
    expect(page.get_by_text("missed runs, late").first).to_be_visible()
    assert window.complaints == []
