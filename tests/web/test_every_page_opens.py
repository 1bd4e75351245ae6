"""Every page opens on every kind of store, wired as `halve serve` wires it: a template may read only what is there."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from app.main.background import Background
from app.main.refresh import analyse_window, attribute_and_sum
from app.main.runtime import opened
from app.main.serving import dependencies
from app.settings import Settings
from app.web.format import key_text
from app.web.pages import PAGES
from app.web.server import create_app
from ingest.pipeline import ingest_paths
from tests.bills.made_bills import Bill, charged, month

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.main.runtime import Runtime

STORES = ("empty", "one log", "bills only")
CALLS = month(days=2, calls_a_day=4)


def _read(runtime: Runtime, folder: Path, kind: str) -> None:
    log, bill = folder / "calls.jsonl", Bill(charged(CALLS))
    made = {
        "empty": {},
        "one log": {log: [*(call.logged() for call in CALLS), CALLS[0].logged(number=9_999, model="no-such-model")]},
        "bills only": {folder / "costs.jsonl": [bill.costs_page()], folder / "usage.jsonl": [bill.usage_page()]},
    }[kind]
    for path, records in made.items():
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        ingest_paths([path], warehouse=runtime.warehouse, pricer=runtime.pricer, data_dir=runtime.data_dir)
    attribute_and_sum(runtime, "UTC")
    analyse_window(runtime, "UTC")


@contextmanager
def _dashboard(folder: Path, kind: str) -> Iterator[tuple[TestClient, Runtime]]:
    settings = Settings(data_dir=folder / "store")
    with opened(settings) as runtime:
        _read(runtime, folder, kind)
        work = Background(runtime, settings)
        deps = dependencies(runtime, settings, work, demo=True, stopping=lambda: False)
        with TestClient(create_app(deps), base_url="http://127.0.0.1") as reader:
            yield reader, runtime


@pytest.fixture(scope="module", params=STORES)
def dashboard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple]:
    with _dashboard(tmp_path_factory.mktemp("pages"), request.param) as made:
        yield made


@pytest.mark.parametrize("path", [page.path for page in PAGES if "{" not in page.path])
@pytest.mark.parametrize("asked", ["", "?period=all", "?period=2020-01"])
def test_a_page_opens_whatever_the_store_holds(dashboard: tuple[TestClient, Runtime], path: str, asked: str) -> None:
    answer = dashboard[0].get(path + asked)
    assert answer.status_code == 200, answer.text


def test_a_search_of_prices_opens(dashboard: tuple[TestClient, Runtime]) -> None:
    reader = dashboard[0]
    for asked in ("gpt-4o", "nothing-of-that-name"):
        assert reader.get(f"/prices?q={asked}").status_code == 200


def test_pages_of_one_thing_open_for_everything_there_is_and_say_so_where_there_is_nothing(
    dashboard: tuple[TestClient, Runtime],
) -> None:
    reader, runtime = dashboard
    with runtime.warehouse.session() as session:
        keys = [row[0] for row in session.connection.execute("SELECT request_key FROM requests").fetchall()]
        findings = [row[0] for row in session.connection.execute("SELECT fingerprint FROM plan_findings").fetchall()]
    there = [f"/requests/{key_text(key)}" for key in keys] + [f"/savings/{fingerprint}" for fingerprint in findings]
    assert {path: reader.get(path).status_code for path in there} == dict.fromkeys(there, 200)
    missing = [page.path for page in PAGES if "{" in page.path]
    for path in missing:
        gone = path.partition("{")[0] + "0000000000000000"
        assert reader.get(gone).status_code == 404, gone
