"""Pictures of every page of a running dashboard into ./shots, and what is wider than its screen.

python tools/shots.py [http://127.0.0.1:8080] [--token TOKEN] [--screen light|dark|laptop|wide|phone ...]
                      [--page NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import Error, sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

OUT = Path("shots")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
SCREENS = {
    "light": {"viewport": {"width": 1360, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1360, "height": 900}, "color_scheme": "dark"},
    "laptop": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "wide": {"viewport": {"width": 1680, "height": 1050}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light", "device_scale_factor": 2},
}


def addresses(context: BrowserContext, base: str) -> dict[str, str]:
    """The pages by name; one request, one finding and one batch job are taken from their lists."""
    pages = {
        "spend": "/",
        "spend-by-model": "/?by=model",
        "savings": "/savings",
        "what-if": "/savings/what-if",
        "requests": "/requests",
        "latency": "/latency",
        "batch": "/batch",
        "budgets": "/budgets",
        "reports": "/reports",
        "sources": "/sources",
        "reconciliation": "/reconciliation",
        "prices": "/prices",
        "prices-search": "/prices?q=claude+opus",
        "costs": "/costs",
        "jobs": "/jobs",
        "job": "/jobs?job=analysis",
    }
    for name, listed, page in (
        ("request", "/requests.json?rows=1", "/requests/{key}"),
        ("finding", "/savings.json", "/savings/{fingerprint}"),
        ("batch-job", "/batch.json", "/batch/jobs/{id}"),
    ):
        answer = context.request.get(f"{base}{listed}")
        for row in json.loads(answer.text())["rows"][:1] if answer.ok else []:
            pages[name] = page.format_map(row)
    return pages


# What a reader has to push aside to see: the page itself, or a table, a line of code, a row of links in it.
WIDER = """() => [document.scrollingElement, ...document.querySelectorAll('.scroll, pre, nav')]
    .filter(item => item.scrollWidth > item.clientWidth + 1)
    .map(item => [item, item.getAttribute('aria-label') || item.localName])
    .map(([item, name]) => `${name}: ${item.scrollWidth} in ${item.clientWidth} px`)"""


def shoot(page: Page, base: str, path: str, to: Path) -> list[str]:
    """One full-page picture; what the console complained about, and what is wider than its place."""
    complaints: list[str] = []
    page.on(
        "console",
        lambda said: complaints.append(f"console: {said.text}") if said.type in ("error", "warning") else None,
    )
    page.goto(base + path, wait_until="networkidle")
    charts = page.locator("halve-chart:not([data-drawn])")
    if charts.count():
        page.wait_for_timeout(1500)
    page.screenshot(path=str(to), full_page=True)
    return [*complaints, *(f"wider: {said}" for said in page.evaluate(WIDER))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", nargs="?", default="http://127.0.0.1:8080")
    parser.add_argument("--token", default="", help="the access token, where the dashboard asks for one")
    parser.add_argument("--screen", action="append", choices=SCREENS, help="only this one; may be given again")
    parser.add_argument("--page", action="append", help="only this page; may be given again")
    given = parser.parse_args()
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = os.environ.get("HALVE_CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)
    if chromium is None:
        sys.exit("No Chromium on this machine. Install one, or name it in HALVE_CHROMIUM.")
    OUT.mkdir(exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        for screen in given.screen or SCREENS:
            context = browser.new_context(**SCREENS[screen])
            try:
                if given.token:
                    context.new_page().goto(f"{given.base}/enter?token={given.token}")
                for name, path in addresses(context, given.base).items():
                    if given.page and name not in given.page:
                        continue
                    to = OUT / f"{name}-{screen}.png"
                    page = context.new_page()
                    complaints = shoot(page, given.base, path, to)
                    page.close()
                    print(to, *(f"\n  {said}" for said in complaints))
            except Error as error:
                sys.exit(f"The dashboard at {given.base} could not be pictured: {error.message.splitlines()[0]}")
            finally:
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
