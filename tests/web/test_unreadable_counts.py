"""A call whose count could not be read is not called a call without usage."""

from __future__ import annotations

import pytest
from dashboard_company import company, requests
from starlette.testclient import TestClient

from app.web.format import key_text
from app.web.server import create_app


@pytest.mark.parametrize(
    ("warnings", "said"),
    [("bad_number:input", "could not be read (bad_number under Warnings)"), (None, "holds no usage")],
)
def test_the_page_of_a_request_says_why_its_cost_is_unknown(warnings: str | None, said: str) -> None:
    row = {**requests()[0], "cost_state": "unknown", "cost_pusd": None, "warnings": warnings}
    with TestClient(
        create_app(company([row], planned=False, no_access_control=True).deps), base_url="http://127.0.0.1"
    ) as reader:
        html = reader.get(f"/requests/{key_text(row['request_key'])}").text
    assert said in html
    assert "unknown, not zero" in html
