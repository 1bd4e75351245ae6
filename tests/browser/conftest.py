"""A real Chromium against a real server on loopback; without a Chromium the tests are skipped by name."""

from __future__ import annotations

import os
import shutil
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from dashboard_company import company
from dashboard_site import Site
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from app.web.render import vendor_urls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SCREENS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


def leave_out(reason: str) -> NoReturn:
    """Skip by name, or fail where HALVE_REQUIRE_BROWSER says that nothing may be left out."""
    if os.environ.get("HALVE_REQUIRE_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)


def chromium() -> str | None:
    """The path of a Chromium on this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("HALVE_CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser_libraries() -> None:
    """The front-end files that set-up fetches; without them pages work, but not by themselves."""
    if not {"htmx", "vega-interpreter"} <= set(vendor_urls()):
        leave_out("the browser libraries were not fetched: run tools/build_assets.py")


# How long a page may take says nothing here: a busy machine is no fault of the page.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        leave_out("no Chromium on this machine: install one, or name it in HALVE_CHROMIUM")
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    running = Site(company(no_access_control=True, demo=True))
    running.start()
    yield running
    running.stop()


class Visit:
    """One reader's browser window; everything that the console complains about is kept."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.url = url
        self.complaints: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))

    def _heard(self, message: object) -> None:
        kind = getattr(message, "type", "")
        if kind in ("error", "warning"):
            self.complaints.append(f"{kind}: {getattr(message, 'text', '')}")

    def open(self, path: str) -> Page:
        self.page.goto(self.url + path, wait_until="networkidle")
        return self.page

    def wait_for_charts(self) -> None:
        expect(self.page.locator("halve-chart:not([data-drawn])")).to_have_count(0, timeout=20_000)


@pytest.fixture
def windows(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Opens browser windows on a site: `windows(url, "phone")`, `windows(url, java_script_enabled=False)`."""
    contexts: list[BrowserContext] = []

    def open_window(url: str, screen: str = "light", **options: Any) -> Visit:
        given: dict[str, Any] = {**SCREENS[screen], **options}
        context = browser.new_context(**given)
        context.set_default_timeout(30_000)
        contexts.append(context)
        return Visit(context, url)

    yield open_window
    for context in contexts:
        context.close()


@pytest.fixture
def visit(windows: Callable[..., Visit], site: Site) -> Callable[..., Visit]:
    """Opens browser windows on the module's site: `visit("phone")`."""
    return partial(windows, site.url)
