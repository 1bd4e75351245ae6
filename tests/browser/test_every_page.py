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
    "costs": "/costs",
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


BROKEN_WORDS = r"""() => {
  const broken = [];
  const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, around = node.parentElement;
    if (!around.offsetParent || around.closest('svg, code, pre')) continue;
    for (const word of node.data.matchAll(/[A-Za-z_]{2,20}/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = [...range.getClientRects()].filter(box => box.width > 0).map(box => Math.round(box.top));
      if (new Set(lines).size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""


@pytest.mark.parametrize("screen", ["light", "phone"])
def test_no_word_is_broken_inside(visit: Callable, screen: str) -> None:
    window = visit(screen)
    for path in ("/", "/requests", "/savings", "/savings/f1search", "/sources", "/jobs"):
        page = window.open(path)
        assert (path, page.evaluate(BROKEN_WORDS)) == (path, [])


def test_a_phone_shows_what_a_finding_is_worth_without_a_sideways_scroll(visit: Callable) -> None:
    page = visit("phone").open("/savings")
    amounts = page.locator("table.stacked td[data-label='Share of the plan']")
    assert amounts.count() == 3
    for amount in amounts.all():
        box = amount.bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    page = visit().open("/sources")
    cut = "() => [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).length"
    assert page.evaluate(cut) == 0


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
