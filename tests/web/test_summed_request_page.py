"""The page of a request that sums calls says how many they are, and what its price rests on."""

from __future__ import annotations

import pytest
from dashboard_company import company, requests
from starlette.testclient import TestClient

from app.web.format import key_text
from app.web.server import create_app


@pytest.mark.parametrize(
    ("calls", "warnings", "said", "unsaid"),
    [
        (1200, "sum_of_calls", ("1,200, summed", "the average call decides here"), ("nobody counts",)),
        (0, "sum_of_calls", ("several, summed", "the true cost may be higher"), ("the average call",)),
        (7, None, ("7, summed",), ("the average call", "nobody counts")),
        (None, None, (), ("Calls in this row", "summed")),
    ],
)
def test_the_page_says_that_a_row_sums_calls(
    calls: int | None, warnings: str | None, said: tuple[str, ...], unsaid: tuple[str, ...]
) -> None:
    row = {**requests()[0], "calls_summed": calls, "warnings": warnings}
    with TestClient(
        create_app(company([row], planned=False, no_access_control=True).deps), base_url="http://127.0.0.1"
    ) as reader:
        html = reader.get(f"/requests/{key_text(row['request_key'])}").text
    speed = html.split("Tokens a second", 1)[1][:120]
    assert ("n/a" in speed) == (calls is not None)
    assert [one for one in said if one not in html] == []
    assert [one for one in unsaid if one in html] == []
