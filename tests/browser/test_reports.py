"""Reading the weekly report in a browser and sending it to oneself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from dashboard_company import company
from dashboard_site import Site
from playwright.sync_api import expect
from report_office import DAYS, WEEK, Mailbox, mailbox, with_desk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def box() -> Iterator[Mailbox]:
    with mailbox() as running:
        yield running


@pytest.fixture(scope="module")
def site(box: Mailbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = company(no_access_control=True, demo=True)
    given = {"smtp_url": box.url, "mail_from": "halve@acme.example", "mail_to": "ana@acme.example"}
    running = Site(replace(made, deps=with_desk(made, tmp_path_factory.mktemp("data"), **given)))
    running.start()
    yield running
    running.stop()


def test_the_archive_is_opened_and_the_report_sent_to_me(visit: Callable, box: Mailbox) -> None:
    window = visit()
    page = window.open("/")
    page.get_by_role("link", name="Reports", exact=True).click()
    expect(page.get_by_role("heading", name="Reports", level=1)).to_be_visible()
    mail = page.frame_locator("iframe.mail")
    expect(mail.get_by_role("heading", level=1)).to_contain_text(f"LLM spend {DAYS}: $")
    picture = mail.locator("img.picture")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 1000

    page.get_by_label("Send this week's report to").fill("ana@acme.example")
    page.get_by_role("button", name="Send to me now").click()
    expect(page.get_by_text("The report is on its way")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="ana@acme.example")
    expect(row).to_contain_text("Sent")
    assert [str(mail["Subject"]).startswith(f"LLM spend {DAYS}") for mail in box.received] == [True]
    with page.expect_download() as download:
        row.get_by_role("link").click()
    assert download.value.suggested_filename.endswith(".eml")
    assert window.complaints == []


def test_a_link_of_the_mail_opens_the_page_it_speaks_of(visit: Callable) -> None:
    window = visit()
    page = window.open("/reports?week=2026-W45")
    page.frame_locator("iframe.mail").get_by_role("link", name="Open this week on the Spend page").first.click()
    expect(page.get_by_role("heading", name="Spend", level=1)).to_be_visible()
    assert page.url.endswith("/?period=2026-11-02..2026-11-08")
    assert window.complaints == []


@pytest.mark.parametrize("screen", ["light", "dark", "phone"])
def test_the_page_is_accessible_silent_and_fits(visit: Callable, screen: str) -> None:
    window = visit(screen)
    page = window.open("/reports")
    found = Axe().run(page).response["violations"]
    assert [(item["id"], [node["target"] for node in item["nodes"]][:4]) for item in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    mail = page.frame(url=f"**/reports/preview/{WEEK}")
    assert mail is not None
    assert mail.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert window.complaints == []


def test_the_mail_itself_is_accessible(visit: Callable) -> None:
    page = visit().open(f"/reports/preview/{WEEK}")
    found = Axe().run(page).response["violations"]
    assert [(item["id"], [node["target"] for node in item["nodes"]][:4]) for item in found] == []


# Whether the preview of a week was loaded and shows all of its mail without a bar of its own.
WHOLE = """week => {
  const frame = document.querySelector('iframe.mail'), mail = frame?.contentDocument;
  return mail?.body && mail.URL.endsWith(week) && frame.clientHeight > 1000
    && mail.documentElement.scrollHeight <= frame.clientHeight;
}"""


@pytest.mark.parametrize("screen", ["light", "phone"])
def test_the_preview_is_as_high_as_the_mail_also_for_another_week(visit: Callable, screen: str) -> None:
    page = visit(screen).open("/reports")
    page.wait_for_function(WHOLE, arg=WEEK)
    page.get_by_role("combobox", name="Week").select_option("2026-W45")
    page.wait_for_function(WHOLE, arg="2026-W45")
