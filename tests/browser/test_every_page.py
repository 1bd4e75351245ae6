"""Every page in light, dark and on a phone: readable for everyone, silent console, nothing runs off the side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from dashboard_company import requests

from app.web.format import key_text

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.browser

AGENT = next(row for row in reversed(requests()) if row["feature"] == "coding-agent")
PATHS = {
    "spend": "/",
    "spend by model": "/?by=model&f=is,feature,support-chat",
    "tokens": "/?unit=tokens",
    "empty": "/?period=2020-01",
    "requests": "/requests",
    "one request": f"/requests/{key_text(AGENT['request_key'])}",
    "savings": "/savings",
    "dismissed": "/savings?status=dismissed",
    "one finding": "/savings/f0support",
    "sources": "/sources",
    "jobs": "/jobs",
    "runs of one job": "/jobs?job=analysis",
    "not found": "/nowhere",
    "way in": "/enter",
}


@pytest.mark.parametrize("screen", ["light", "dark", "phone"])
@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_a_page_is_accessible_silent_and_fits(visit: Callable, screen: str, path: str) -> None:
    window = visit(screen)
    page = window.open(path)
    window.wait_for_charts()
    found = Axe().run(page).response["violations"]
    assert [(item["id"], [node["target"] for node in item["nodes"]][:4]) for item in found] == []
    expected = ["error: Failed to load resource: the server responded with a status of 404 (Not Found)"]
    assert window.complaints == (expected if path == "/nowhere" else [])
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("path", ["/", "/savings"])
@pytest.mark.usefixtures("browser_libraries")
def test_charts_are_drawn_where_the_browser_libraries_are_there(visit: Callable, path: str) -> None:
    window = visit()
    page = window.open(path)
    window.wait_for_charts()
    assert page.locator("halve-chart svg path").count() > 5
    assert page.locator("details.figures").first.get_attribute("open") is None


def test_names_with_markup_are_shown_as_text_and_never_run(visit: Callable) -> None:
    window = visit()
    for path in ("/", "/?by=source&period=all", "/savings/f0support", "/sources", "/requests?period=all"):
        page = window.open(path)
        window.wait_for_charts()
        assert page.locator("img").count() == 0
        assert page.title().endswith("· Halve")
    assert window.complaints == []
