"""Prices in a browser: readable for everyone on every screen, and a search that needs no JavaScript."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from dashboard_company import company
from dashboard_site import Site
from price_office import with_prices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    deps = with_prices(tmp_path_factory.mktemp("data"))
    site = Site(replace(company(no_access_control=True, demo=True), deps=deps))
    site.start()
    yield site.url
    site.stop()


@pytest.mark.parametrize("screen", ["light", "dark", "phone"])
@pytest.mark.parametrize("path", ["/prices", "/prices?q=claude+sonnet", "/prices?q=nothing-such"])
def test_prices_are_accessible_silent_and_fit(windows: Callable, url: str, screen: str, path: str) -> None:
    window = windows(url, screen)
    page = window.open(path)
    found = Axe().run(page).response["violations"]
    assert [(item["id"], [node["target"] for node in item["nodes"]][:4]) for item in found] == []
    assert window.complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


@pytest.mark.parametrize("scripts", [True, False])
def test_search_shows_the_rates_of_a_model(windows: Callable, url: str, scripts: bool) -> None:
    page = windows(url, java_script_enabled=scripts).open("/prices")
    page.get_by_label("Model or provider").fill("claude-opus-5")
    page.get_by_role("button", name="Search").click()
    page.get_by_text("Every rate of what matches “claude-opus-5”", exact=False).first.wait_for()
    assert "q=claude-opus-5" in page.url
