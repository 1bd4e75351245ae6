"""What Sources says of what is pulled: how fresh, how complete, and what went wrong; seen by the next reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dashboard_company import MARKUP, NOW_US, Company, company
from starlette.testclient import TestClient

from app.control import sources
from app.web.server import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUR_US = 3_600_000_000


@pytest.fixture
def made() -> Company:
    return company(no_access_control=True, demo=True)


@pytest.fixture
def reader(made: Company) -> Iterator[TestClient]:
    with TestClient(create_app(made.deps), base_url="http://127.0.0.1") as one:
        yield one


def test_without_a_source_the_page_shows_no_empty_table(reader: TestClient) -> None:
    page = reader.get("/sources")
    assert page.status_code == 200
    assert "What is pulled" not in page.text


def test_a_source_is_shown_with_its_state_and_a_change_is_seen_at_once(made: Company, reader: TestClient) -> None:
    control = made.deps.control
    sources.save(control, sources.Source(MARKUP, "langfuse", {"url": "https://x.example", "key": "env:KEY"}), 1)
    assert "Not pulled yet" in reader.get("/sources").text
    sources.set_run_state(control, MARKUP, "running", NOW_US - HOUR_US)
    sources.advance(
        control, MARKUP, {"through_us": 1}, NOW_US, fresh_us=NOW_US, complete_us=NOW_US - HOUR_US, records=1_234
    )
    assert "Being pulled" in reader.get("/sources").text
    sources.set_run_state(control, MARKUP, "failed", NOW_US, f"the server said {MARKUP}")
    page = reader.get("/sources").text
    assert "Failed" in page
    assert "1,234" in page
    assert MARKUP not in page
    assert "env:KEY" not in page
    (row,) = reader.get("/sources.json?table=pulled").json()["rows"]
    assert row["state"] == "failed"
    assert row["error"] == f"the server said {MARKUP}"
    assert (row["fresh_until"], row["complete_until"]) == ("2026-11-18T11:06:40Z", "2026-11-18T10:06:40Z")
