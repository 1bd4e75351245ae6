"""A real Chromium against a real server on loopback; without a Chromium the tests are skipped by name."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest
import uvicorn
from dashboard_company import NOW_US, Company, company
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from app.web.server import create_app

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


def chromium() -> str | None:
    """The path of a Chromium on this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("HALVE_CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on this machine: install one, or name it in HALVE_CHROMIUM")
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


class Site:
    """A running dashboard: its address, and the company behind it."""

    def __init__(self, made: Company) -> None:
        self.company = made
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        config = uvicorn.Config(create_app(made.deps), host="127.0.0.1", port=port, log_level="warning", lifespan="off")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    def start(self) -> None:
        self.thread.start()
        deadline = time.monotonic() + 20
        while not self.server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.02)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=10)


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
        self.page.wait_for_function("[...document.querySelectorAll('halve-chart')].every(c => 'drawn' in c.dataset)")


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Callable[..., Visit]]:
    """Opens browser windows: `visit("phone")`, `visit("light", java_script_enabled=False)`."""
    contexts: list[BrowserContext] = []

    def open_window(screen: str = "light", **options: object) -> Visit:
        context = browser.new_context(**{**SCREENS[screen], **options})  # type: ignore[arg-type]
        context.set_default_timeout(10_000)
        contexts.append(context)
        return Visit(context, site.url)

    yield open_window
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def now_us() -> int:
    return NOW_US
