"""Batches in a browser: hand a file in, see the estimate, schedule it for tonight, cancel; follow one to its end."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from batch_office import Office, chat, chats
from dashboard_company import MARKUP
from dashboard_site import Site
from playwright.sync_api import expect

from app.batch import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


class Place:
    """A running Halve with batches."""

    def __init__(self, folder: object) -> None:
        self.office = Office(folder, rows=[], no_access_control=True, demo=True)  # type: ignore[arg-type]
        self.site = Site(self.office.company)
        self.url = self.site.url
        self.site.start()

    def close(self) -> None:
        self.site.stop()
        self.office.close()


@pytest.fixture
def place(tmp_path: object) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.close()


def hand_in(page: Page, lines: bytes, name: str = "tickets.jsonl") -> None:
    page.get_by_label("Request lines").set_input_files([{"name": name, "mimeType": "text/plain", "buffer": lines}])
    page.get_by_role("button", name="Check and estimate").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Check {name}")


def test_a_file_is_checked_scheduled_for_tonight_and_cancelled(place: Place, windows: Callable) -> None:
    window = windows(place.url)
    page = window.open("/batch")
    hand_in(page, chats(25))
    expect(page.locator(".figures-row")).to_contain_text("Estimated cost")
    expect(page.get_by_role("heading", name="Estimate by model")).to_be_visible()
    page.get_by_label("Feature that the cost is booked on").fill("ticket-classify")
    expect(page.get_by_label(re.compile("Send at"))).to_have_value("02:00")
    page.get_by_role("button", name="Schedule").click()
    expect(page.locator("[data-live=state]")).to_have_text("Scheduled")
    expect(page.get_by_text("19 Nov 2026 02:00")).to_be_visible()
    page.get_by_role("button", name="Cancel the job").click()
    expect(page.locator("[data-live=state]")).to_have_text("Being cancelled")
    place.office.work(1)
    expect(page.get_by_role("heading", name="Cancelled", exact=True)).to_be_visible()
    expect(page.locator(".facts-row")).to_contain_text("Cancelled25")
    page.get_by_role("link", name="Batch", exact=True).first.click()
    expect(page.get_by_role("cell", name="Cancelled")).to_be_visible()
    assert window.complaints == []


def test_a_job_is_followed_by_events_and_ends_in_results(place: Place, windows: Callable) -> None:
    window = windows(place.url)
    page = window.open("/batch")
    hand_in(page, chats(12))
    page.get_by_role("button", name="Send now").click()
    expect(page.locator("[data-live=waiting]")).to_have_text("12")
    place.office.work(1)
    expect(page.locator("[data-live=sent]")).to_have_text("12")
    expect(page.locator("[data-live=state]")).to_have_text("At the provider")
    page.evaluate("document.body.dataset.kept = 'yes'")
    place.office.work(2)
    expect(page.locator("[data-live=note]")).to_contain_text("The provider")
    assert page.evaluate("document.body.dataset.kept") == "yes", "the page was loaded anew without need"
    place.office.work(30)
    place.office.work(1)
    expect(page.get_by_role("heading", name="Completed", exact=True)).to_be_visible()
    expect(page.locator(".figures-row")).to_contain_text("50.0% off")
    with page.expect_download() as found:
        page.get_by_role("link", name="Download the results").click()
    assert len(found.value.path().read_text(encoding="utf-8").splitlines()) == 12
    page.get_by_role("link", name="See the batch requests").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Requests")
    expect(page.locator("tbody tr")).to_have_count(12)
    assert window.complaints == []


def test_a_bad_file_shows_its_lines_and_offers_nothing_to_send(place: Place, windows: Callable) -> None:
    window = windows(place.url)
    page = window.open("/batch")
    hand_in(page, b"{broken\n" + chat("a").encode(), "bad.jsonl")
    expect(page.get_by_role("alert")).to_contain_text("1 line of 2")
    expect(page.get_by_role("cell", name="invalid JSON")).to_be_visible()
    expect(page.get_by_role("button", name="Schedule")).to_have_count(0)
    page.get_by_role("button", name="Discard the file").click()
    expect(page.get_by_text("The file was discarded")).to_be_visible()
    assert window.complaints == []


def test_a_job_is_followed_without_javascript(place: Place, windows: Callable) -> None:
    page = windows(place.url, java_script_enabled=False).open("/batch")
    hand_in(page, chats(3))
    page.get_by_role("button", name="Send now").click()
    expect(page.locator("[data-live=state]")).to_have_text("Waiting to be sent")
    place.office.work(1)
    expect(page.locator("[data-live=state]")).to_have_text("At the provider", timeout=12_000)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Addresses of a place where jobs stand everywhere."""
    made = Place(tmp_path_factory.mktemp("batches"))
    desk = made.office.company.deps.commands.batch
    assert desk is not None

    def file(name: str, lines: bytes) -> str:
        return str(desk.keep(name, io.BytesIO(lines)).id)

    day_us = 86_400_000_000
    now_us = made.office.now_us
    done = desk.submit(file("a", chats(40)), Order("demo", "tickets of Monday", "ticket-classify", zone="UTC"))
    made.office.until_settled(done.id)
    made.office.work(1)
    live = desk.submit(file("b", chats(300)), Order("demo", f"letters {MARKUP}", "newsletter", zone="UTC"))
    made.office.work(1)
    desk.submit(
        file("c", chats(1200)),
        Order("demo", "a long night", None, zone="UTC", start_us=now_us + day_us, needed_by_us=now_us + 3 * day_us),
    )
    stopped = desk.submit(file("d", chats(9)), Order("demo", "stopped", "docs-search", zone="UTC"))
    desk.cancel(stopped.id)
    made.office.work(1)
    yield {
        "url": made.url,
        "list": "/batch?feature=ticket-classify",
        "file": f"/batch/files/{file('nightly.jsonl', chats(200))}",
        "bad file": f"/batch/files/{file('bad.jsonl', b'{broken')}",
        "live job": f"/batch/jobs/{live.id}",
        "done job": f"/batch/jobs/{done.id}",
        "cancelled job": f"/batch/jobs/{stopped.id}",
    }
    made.close()


@pytest.mark.parametrize("screen", ["light", "dark", "phone"])
@pytest.mark.parametrize("name", ["list", "file", "bad file", "live job", "done job", "cancelled job"])
def test_a_page_is_accessible_silent_and_fits(shown: dict[str, str], windows: Callable, name: str, screen: str) -> None:
    window = windows(shown["url"], screen)
    # A stream of events never lets the network fall idle.
    window.page.goto(shown["url"] + shown[name], wait_until="load")
    found = Axe().run(window.page).response["violations"]
    assert [(item["id"], [node["target"] for node in item["nodes"]][:4]) for item in found] == []
    assert window.complaints == []
    assert window.page.evaluate("document.documentElement.scrollWidth") <= window.page.viewport_size["width"]
