"""A reader looks at the jobs, asks for a run, moves a schedule, and opens the log of one job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from dashboard_company import company
from dashboard_site import Site
from playwright.sync_api import expect

from app.control import job_runs, schedules

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
    expect(table).to_contain_text("now asked for")
    table.get_by_role("link", name="Analyse").click()
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


@pytest.mark.usefixtures("browser_libraries")
def test_the_outcome_of_a_run_appears_by_itself_and_typing_is_kept(windows: Callable, workshop: Site) -> None:
    window = windows(workshop.url)
    page = window.open("/jobs")
    page.get_by_role("button", name="Run Weekly report now").click()
    table = page.get_by_role("region", name="What runs when, table")
    expect(table).to_contain_text("now asked for")
    table.get_by_role("link", name="Weekly report").click()
    when = page.locator("form[action='/jobs/report/schedule']").get_by_label("When")
    when.fill("daily 04")
    control = workshop.company.deps.control
    wish = next(item for item in schedules.all_schedules(control) if item.job == "report")
    assert wish.asked_us is not None
    job_runs.claim(
        control,
        job="report",
        period=f"asked {wish.asked_us}",
        cause="asked",
        scheduled_us=wish.asked_us,
        first_us=wish.asked_us,
        missed=0,
        late=False,
        holder="h",
        now_us=wish.asked_us,
        lease_us=wish.asked_us + 1,
    )
    expect(page.get_by_role("region", name="Runs of Weekly report, table")).to_contain_text("Running")
    job_runs.finish(
        control,
        job_runs.newest(control, job="report")[0].id,
        "h",
        state="ok",
        error=None,
        lines="Nothing was due.",
        now_us=wish.asked_us + 2_000_000,
    )
    expect(page.get_by_role("region", name="Runs of Weekly report, table")).to_contain_text("Nothing was due.")
    expect(when).to_have_value("daily 04")
    expect(page.locator("#job-runs[hx-trigger]")).to_have_count(0)
    assert window.complaints == []
