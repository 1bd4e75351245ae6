"""The page of a request says how its token positions were found and how far off that is."""

from __future__ import annotations

import re
from html import unescape

from dashboard_company import company
from starlette.testclient import TestClient

from app.analysis.text_measures import measure_texts
from app.analysis.token_fits import fit_tokens
from app.web.server import create_app
from tests.analysis.mixed_texts import conversations


def parts_of(html: str) -> str:
    """The part of the page under the heading of the prompt's parts, as words."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", html.partition("Parts of the prompt")[2])))


def test_positions_are_shown_with_their_error_once_it_was_measured() -> None:
    open_company = company(no_access_control=True, demo=True)
    warehouse = open_company.deps.warehouse
    prompts = conversations(lambda text: len(text) // 2)
    for row in prompts.requests:
        row["request_key"] = int(str(row["request_key"])) + 5_000_000
    prompts.segments = [(int(str(key)) + 5_000_000, *rest) for key, *rest in prompts.segments]
    prompts.load(warehouse)
    page = f"/requests/{5_000_003:016x}"
    with TestClient(create_app(open_company.deps), base_url="http://127.0.0.1") as reader:
        before = parts_of(reader.get(page).text)
        assert "by share of bytes. How far off that is was not measured: too few texts are kept." in before
        measure_texts(warehouse)
        fit_tokens(warehouse, 0)
        after = parts_of(reader.get(page).text)
        assert "Measured at 80 prompts that begin another one, half of the places are off by at most" in after
        assert "share of bytes" not in after
