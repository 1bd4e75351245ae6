"""Pages keep their answers while nothing changes, and never longer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from dashboard_company import NOW_US, company
from starlette.testclient import TestClient

from app.core.errors import InputError
from app.warehouse.rollup import rebuild
from app.web.kept import MOST, Kept
from app.web.server import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dashboard_company import Company

SAME = {"sec-fetch-site": "same-origin"}


@pytest.fixture
def own() -> Company:
    return company(no_access_control=True)


@pytest.fixture
def reader(own: Company) -> Iterator[TestClient]:
    with TestClient(create_app(own.deps), base_url="http://127.0.0.1", headers=SAME) as opened:
        yield opened


def merge_one(own: Company) -> None:
    """One more request, dated a minute ago, through the writer's door."""
    with own.deps.warehouse.writing() as session:
        session.connection.execute(
            "INSERT INTO requests BY NAME SELECT * REPLACE (424242 AS request_key, $at AS start_us) "
            "FROM (SELECT * FROM requests WHERE model_id = 'gpt-5' ORDER BY request_key LIMIT 1)",
            {"at": NOW_US - 60_000_000},
        )
        rebuild(session)


def lose_all(own: Company) -> None:
    """Delete everything in a transaction that fails."""
    with own.deps.warehouse.writing() as session:
        session.connection.execute("DELETE FROM requests")
        raise InputError("It failed.")


@pytest.mark.parametrize("path", ["/", "/requests", "/sources", "/requests?sort=-time&period=today"])
def test_a_merge_is_seen_by_the_next_reader(own: Company, reader: TestClient, path: str) -> None:
    before = reader.get(path).text
    assert reader.get(path).text == before
    merge_one(own)
    after = reader.get(path).text
    assert after != before
    assert "18 Nov 2026 12:05" in after  # the newest request, in the line above every page


def test_a_merge_that_failed_shows_nothing_of_itself(own: Company, reader: TestClient) -> None:
    before = reader.get("/").text
    with pytest.raises(InputError):
        lose_all(own)
    assert reader.get("/").text == before


def test_a_dismissal_is_seen_by_the_next_reader_on_every_page(reader: TestClient) -> None:
    spend, savings = reader.get("/").text, reader.get("/savings").text
    assert "3 open findings" in spend
    reader.post("/savings/f0support/dismiss", data={"reason": "not now", "until": ""})
    assert "2 open findings" in reader.get("/").text
    assert reader.get("/savings").text != savings
    reader.post("/savings/f0support/restore")
    assert "3 open findings" in reader.get("/").text


def test_a_dismissal_ends_with_its_day_although_nobody_changes_anything() -> None:
    own = company(no_access_control=True)
    clock = [NOW_US]
    app = create_app(replace(own.deps, now=lambda: clock[0]))
    own.deps.commands.dismiss_finding("f0support", "until then", NOW_US + 5_000_000)
    with TestClient(app, base_url="http://127.0.0.1") as reader:
        assert "2 open findings" in reader.get("/").text
        clock[0] += 5_000_001
        assert "3 open findings" in reader.get("/").text


def test_two_views_never_share_an_answer(reader: TestClient) -> None:
    paths = ("/", "/?unit=tokens", "/?by=model", "/?period=7d", "/?f=is,model,gpt-5", "/?compare=off", "/requests")
    first = {path: reader.get(path).text for path in paths}
    assert len(set(first.values())) == len(paths)
    assert {path: reader.get(path).text for path in reversed(paths)} == first


def test_an_answer_is_made_once_and_the_oldest_are_forgotten() -> None:
    kept, made = Kept(), []

    def make(name: int) -> int:
        made.append(name)
        return name

    for name in [*range(MOST + 1), MOST, MOST - 1]:
        assert kept.get(name, lambda name=name: make(name)) == name
    assert len(made) == MOST + 1
    assert kept.get(0, lambda: make(0)) == 0
    assert len(made) == MOST + 2


def test_the_generation_grows_with_every_transaction(own: Company) -> None:
    before = own.deps.warehouse.generation
    merge_one(own)
    assert own.deps.warehouse.generation > before
