"""The reported attacks through logs, read by a real Halve and looked at in a real browser: text stays text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.cases.driven import write_logs
from tests.cases.failure_cases import load
from tests.cli.halve_command import halve, service, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.data

CASES = load("h")


@pytest.fixture
def visited(tmp_path: Path) -> Iterator[str]:
    """The link of a running Halve that has read the records of both cases."""
    data, logs = tmp_path / "data", tmp_path / "logs"
    for name in ("LLMC-145", "LLMC-146"):
        write_logs(CASES[name]["minimal_input"], logs / name)
    response = CASES["LLMC-146"]["minimal_input"]["record"]
    said = response["choices"][0]["message"]["content"]
    exchange = {
        "timestamp": response["created"],
        "feature": said,
        "request": {"model": "gpt-4o", "messages": [{"role": "user", "content": said}]},
        "response": {**response, "id": "chatcmpl-h02-asked-0000000000000001"},
    }
    (logs / "asked.jsonl").write_text(json.dumps(exchange), encoding="utf-8")
    assert halve(data, "ingest", logs, HALVE_TEXT="all").code == 0
    with service(data) as link:
        wait_for((data / "halve.sock").exists, "the service runs")
        yield link


def test_llmc_145_and_146_markup_in_logs_is_shown_and_never_runs(visited: str, windows: Callable[..., Any]) -> None:
    window = windows(visited)
    home = urlsplit(visited)
    called: list[str] = []
    opened: list[str] = []
    window.page.on("request", lambda request: called.append(request.url))
    window.page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    window.page.goto(visited, wait_until="networkidle")
    site = f"{home.scheme}://{home.netloc}"
    seen = ""
    for path in ("/?period=all", "/?period=all&by=model", "/?period=all&by=user", "/requests?period=all", "/sources"):
        window.page.goto(site + path, wait_until="networkidle")
        seen += window.page.inner_text("body")
    links = window.page.goto(f"{site}/requests?period=all") and window.page.eval_on_selector_all(
        "table a", "found => found.map(one => one.getAttribute('href'))"
    )
    for link in {link for link in links if link.startswith("/requests/")}:
        window.page.goto(site + link, wait_until="networkidle")
        seen += window.page.inner_text("body")
        assert window.page.locator("img[src^='http'], main script, main svg[onload], b[onmouseover]").count() == 0
        assert window.page.locator("a[href^='javascript:']").count() == 0
    assert "<svg onload=alert(1)>" in seen
    assert "attacker.example" in seen
    assert opened == []
    assert {urlsplit(address).netloc for address in called} == {home.netloc}
    assert window.complaints == []
    policy = window.page.goto(site + "/").headers["content-security-policy"]
    assert "unsafe-inline" not in policy
