"""Bills of two organisations are two, one organisation's bill read twice is one, whoever pulls it."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from app.analysis import spend
from app.core.money import usd
from app.core.view import View
from app.main.background import Background
from app.main.refresh import attribute_and_sum
from app.main.runtime import opened
from app.main.sources import add_source
from app.settings import Settings
from tests.connectors.fake_server import FakeServer
from tests.connectors.protocols import KEY

if TYPE_CHECKING:
    from pathlib import Path

    from made_bills import Books

    from app.warehouse.store import Session


def costs(cents: str, *, payer: str | None = None, workspace: str | None = None, day: int = 2) -> dict[str, Any]:
    """A page of a day of Anthropic's costs; of the default workspace it names none."""
    result = {"currency": "USD", "amount": cents, "workspace_id": workspace, "model": "claude-sonnet-4-5"}
    result |= {"token_type": "uncached_input_tokens", "cost_type": "tokens"}
    bucket = {"starting_at": f"2026-03-{day:02}T00:00:00Z", "results": [result]}
    said = {} if payer is None else {"organization_id": payer}
    return {**said, "data": [bucket], "has_more": False, "next_page": None}


def counted(books: Books) -> Decimal:
    return Decimal(books.sql("SELECT sum(cost) FROM bill_lines WHERE doubled_by IS NULL")[0][0])


def spent(session: Session) -> Decimal:
    return usd(spend.totals(session, View(spend.whole_period(session, "UTC"))).cost_pusd or 0)


def test_default_workspaces_of_two_organisations_are_two_bills(books: Books) -> None:
    books.read("a.json", costs("100", payer="org-a"), source="one")
    books.read("b.json", costs("250", payer="org-b"), source="two")
    assert counted(books) == Decimal("3.5")
    assert books.reconciled().asides == ()
    with books.warehouse.session() as session:
        assert spent(session) == Decimal("3.5")


@pytest.mark.parametrize("payers", [("org-a", "org-a"), (None, "org-a"), ("org-a", None), (None, None)])
def test_one_organisation_that_two_sources_tell_of_counts_once(
    books: Books, payers: tuple[str | None, str | None]
) -> None:
    books.read("a.json", costs("100", payer=payers[0]), source="one")
    books.read("b.json", costs("100", payer=payers[1]), source="two")
    assert counted(books) == 1
    assert [aside.what for aside in books.reconciled().asides] == ["the same bill twice"]


def test_pages_that_were_pulled_before_payers_were_told_are_of_the_payer_that_their_source_names(books: Books) -> None:
    books.read("a.json", costs("100"), source="one")
    books.read("a2.json", costs("400", payer="org-a", day=3), source="one")
    books.read("b.json", costs("250", payer="org-b"), costs("800", payer="org-b", day=3), source="two")
    assert counted(books) == Decimal("15.5")


@pytest.mark.parametrize("payers", [(None, "org-a"), ("org-a", None)])
def test_a_day_that_comes_again_replaces_what_was_known_whether_its_payer_is_told_or_not(
    books: Books, payers: tuple[str | None, str | None]
) -> None:
    books.read("a.json", costs("100", payer=payers[0]), source="one")
    books.read("a2.json", costs("130", payer=payers[1]), source="one")
    assert counted(books) == Decimal("1.3")
    with books.warehouse.session() as session:
        assert spent(session) == Decimal("1.3")


def test_two_organisations_in_files_of_one_source_are_two_bills(books: Books) -> None:
    books.read("a.json", costs("100", payer="org-a"))
    books.read("b.json", costs("250", payer="org-b"))
    assert counted(books) == Decimal("3.5")
    books.read("newer-b.json", costs("300", payer="org-b"))
    assert counted(books) == 4
    books.read("again-a.json", costs("100", payer="org-a"), costs("40", payer="org-a", day=3))
    assert counted(books) == Decimal("4.4")
    assert books.reconciled().asides == ()


def row(usd: str, *, payer: str) -> dict[str, Any]:
    """A row of the console's export, with a column of the organisation."""
    said = {"usage_date_utc": "2026-03-02", "cost_usd": usd, "model": "claude-sonnet-4-5", "workspace": None}
    return {**said, "token_type": "input_no_cache", "organization_id": payer}


def test_a_file_that_takes_over_days_and_says_nothing_the_same_is_named_with_the_amount(
    books: Books,
) -> None:
    books.read("a.json", costs("412.5"), costs("99", day=3))
    summary = books.read("b.json", costs("250"), costs("70", day=3))
    assert counted(books) == Decimal("3.2")
    assert len(summary.problems) == 1
    assert "a.json: its 5.115 USD of 2026-03-02 to 2026-03-03 no longer count" in summary.problems[0]
    assert "b.json says these days too, and nothing the same" in summary.problems[0]


def test_a_file_that_takes_over_settled_days_with_far_more_is_named(books: Books) -> None:
    books.read("a.json", costs("100"), costs("99", day=3))
    (problem,) = books.read("b.json", costs("250"), costs("198", day=3)).problems
    assert "a.json: its 1.99 USD of 2026-03-02 to 2026-03-03 no longer count" in problem


@pytest.mark.parametrize("newer", [("100", "99", "30"), ("120", "99", "70"), ("100", "95", "70")])
def test_a_newer_export_of_the_same_bill_is_no_contradiction(books: Books, newer: tuple[str, ...]) -> None:
    books.read("a.json", costs("100"), costs("95", day=3))
    first, second, third = newer
    assert books.read("b.json", costs(first), costs(second, day=3), costs(third, day=4)).problems == []


def test_a_console_export_with_a_column_of_the_organisation_says_whose_bill_it_is(books: Books) -> None:
    books.read("a.jsonl", row("1", payer="org-a"))
    books.read("b.jsonl", row("2.5", payer="org-b"))
    assert counted(books) == Decimal("3.5")


def test_pulls_of_two_organisations_add_up_and_one_pulled_twice_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    payers = {KEY: "org-a", "other": "org-b"}
    cents = {"org-a": "100", "org-b": "250"}

    def speak(asked: Any) -> tuple[int, Any]:
        payer = payers[asked.headers["x-api-key"]]
        if asked.path == "/v1/organizations/me":
            return 200, {"id": payer, "type": "organization", "name": "Acme"}
        if asked.path == "/v1/organizations/cost_report":
            return 200, costs(cents[payer])
        return 200, {"data": [], "has_more": False, "next_page": None}

    monkeypatch.setenv("FAKE_KEY", KEY)
    monkeypatch.setenv("OTHER_KEY", "other")
    settings = Settings(data_dir=tmp_path / "data", allow_hosts="127.0.0.1")
    with FakeServer(speak) as server:
        for name, key in (("a", "env:FAKE_KEY"), ("b", "env:OTHER_KEY"), ("a-again", "env:FAKE_KEY")):
            given = {"url": server.url, "key": key}
            add_source(settings, kind="anthropic-bills", name=name, given=given, every_us=0)
        with opened(settings) as runtime:
            done = Background(runtime, settings).run_due_sources()
            assert sorted(done) == [("a", None), ("a-again", None), ("b", None)]
            attribute_and_sum(runtime, "UTC")
            with runtime.warehouse.session() as session:
                found = session.connection.execute("SELECT payer, sum(cost) FROM billed GROUP BY 1 ORDER BY 1")
                assert found.fetchall() == [("org-a", 2), ("org-b", Decimal("2.5"))]
                assert spent(session) == Decimal("3.5")
