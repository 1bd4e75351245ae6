"""Anthropic's bills say whose they are: it is asked before the reports, and trouble with that question is named."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from app.core.errors import ForbiddenError, InputError, UnavailableError
from ingest.connectors import connector_named
from ingest.connectors.connector import Batch, Errand
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience
from tests.connectors.fake_server import FakeServer
from tests.connectors.protocols import KEY, ORGANIZATION, Table, anthropic_bills

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.connectors.fake_server import Asked, Reply

ME = "/v1/organizations/me"
NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
BEGIN = NOW - timedelta(days=8)
ALLOWED = guard(frozenset({"127.0.0.1"}))


@dataclass
class Organization:
    """A fake organisation with three lines a day, and pulls of its bill."""

    server: FakeServer
    table: Table
    scratch: Path
    pauses: list[float] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)

    def pull(self, held: Any = None, *, allowed: bool = True) -> Iterator[Batch]:
        def watch(host: str, address: Any) -> None:
            self.hosts.append(host)
            if not allowed:
                raise ForbiddenError(f"{host} is not an allowed host")
            ALLOWED(host, address)

        return connector_named("anthropic-bills").pull(
            Errand(
                options={"url": self.server.url, "key": "env:FAKE_KEY"},
                held=held,
                now_us=int(NOW.timestamp()) * 1_000_000,
                since_us=int(BEGIN.timestamp()) * 1_000_000,
                guard=watch,
                roots=(),
                scratch=self.scratch,
                patience=Patience(attempts=4, sleep=self.pauses.append, jitter=lambda: 1.0),
            )
        )

    def paths(self) -> list[str]:
        return [asked.path for asked in self.server.asked]

    def answer(self, reply: Reply) -> None:
        """Answer the question whose key it is with `reply`, always."""
        speak = self.server.speak
        self.server.speak = lambda asked: reply if asked.path == ME else speak(asked)


def _pages(batches: list[Batch]) -> list[Any]:
    return [json.loads(line) for batch in batches for line in batch.lines]


def _names(pages: list[Any]) -> list[str]:
    return sorted(result["workspace_id"] for page in pages for bucket in page["data"] for result in bucket["results"])


def _payers(pages: list[Any]) -> set[str | None]:
    return {page.get("organization_id") for page in pages}


@pytest.fixture
def organization(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Organization]:
    monkeypatch.setenv("FAKE_KEY", KEY)
    table = Table()
    for day in range(1, 8):
        for n in range(3):
            table.add(NOW - timedelta(days=day), f"line-{day}-{n}")

    def speak(asked: Asked) -> tuple[int, Any]:
        return anthropic_bills(table, asked)

    with FakeServer(speak) as server:
        yield Organization(server, table, tmp_path)


def _whole(organization: Organization) -> list[str]:
    return sorted([*organization.table.names()] * 2)  # each line stands in both reports


def test_every_page_names_the_organisation_which_is_asked_for_once_a_pull(organization: Organization) -> None:
    pages = _pages(list(organization.pull()))
    assert (_payers(pages), _names(pages)) == ({ORGANIZATION}, _whole(organization))
    assert len(pages) > 2
    assert [path for path in organization.paths() if path == ME] == [ME]
    assert organization.paths()[0] == ME


@pytest.mark.parametrize("status", [403, 404, 405])
def test_a_key_that_may_read_the_bill_and_not_whose_it_is_reads_the_bill(
    organization: Organization, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    organization.answer((status, {}, b'{"type": "error", "error": {"type": "permission_error", "message": "no"}}'))
    pages = _pages(list(organization.pull()))
    assert (_payers(pages), _names(pages)) == ({None}, _whole(organization))
    assert organization.pauses == []
    assert [path for path in organization.paths() if path == ME] == [ME]
    assert f"status {status} for {ME}" in caplog.text
    assert KEY not in caplog.text


def test_a_key_that_is_not_known_is_sent_once(organization: Organization) -> None:
    organization.answer((401, {}, b'{"type": "error", "error": {"type": "authentication_error", "message": "no"}}'))
    with pytest.raises(ForbiddenError, match="refuses the token with status 401"):
        list(organization.pull())
    assert (organization.paths(), organization.pauses) == ([ME], [])


def test_a_key_that_may_read_nothing_is_named_with_the_report_that_it_needs(organization: Organization) -> None:
    organization.server.speak = lambda asked: (403, {"type": "error"})
    report = "/v1/organizations/usage_report/messages"
    with pytest.raises(ForbiddenError, match=f"status 403. It needs a key that may read {report}"):
        list(organization.pull())
    assert (organization.paths(), organization.pauses) == ([ME, report], [])


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_of_the_first_question_is_said_and_gets_no_key(organization: Organization, status: int) -> None:
    elsewhere: list[str] = []

    def follow(asked: Asked) -> tuple[int, Any]:
        elsewhere.append(asked.path)
        return 200, {"id": "other"}

    with FakeServer(follow) as other:
        organization.answer((status, {"Location": f"{other.url}{ME}"}, b""))
        with pytest.raises(InputError, match=rf"{ME} points to 127\.0\.0\.1"):
            list(organization.pull())
    assert (elsewhere, organization.paths()) == ([], [ME])


@pytest.mark.parametrize("kept", [0, 1, 20, -1])
def test_an_answer_that_is_cut_off_gives_no_half_name(organization: Organization, kept: int) -> None:
    organization.server.twist = lambda number, body: body[:kept] if number in (1, 2) else body
    pages = _pages(list(organization.pull()))
    assert (_payers(pages), _names(pages)) == ({ORGANIZATION}, _whole(organization))
    assert organization.paths()[:4] == [ME, ME, ME, "/v1/organizations/usage_report/messages"]
    assert organization.pauses == [1.0, 2.0]


def test_an_answer_shorter_than_it_says_is_asked_for_again(organization: Organization) -> None:
    organization.server.answers.append((200, {"Content-Length": "400"}, b'{"id": "half"}'))
    pages = _pages(list(organization.pull()))
    assert (_payers(pages), _names(pages)) == ({ORGANIZATION}, _whole(organization))
    assert organization.pauses == [1.0]


def test_a_busy_server_is_waited_for_and_one_that_stays_away_leaves_the_bill_to_the_next_pull(
    organization: Organization,
) -> None:
    organization.server.answers += [(429, {"Retry-After": "7"}, b"{}"), (529, {}, b"{}"), (500, {}, b"")]
    taken = list(organization.pull())
    assert (_payers(_pages(taken)), _names(_pages(taken))) == ({ORGANIZATION}, _whole(organization))
    assert organization.pauses == [7.0, 2.0, 4.0]
    organization.server.answers += [(529, {}, b"{}")] * 4
    again: list[Batch] = []
    with pytest.raises(UnavailableError, match=f"{ME} gave status 529, 4 times"):
        again.extend(organization.pull(taken[-1].position))
    assert again == []
    assert _payers(_pages(list(organization.pull(taken[-1].position)))) == {ORGANIZATION}


@pytest.mark.parametrize("body", [{}, [], None, {"id": None}, {"id": ""}, {"id": 5}, {"error": {"code": 500}}], ids=str)
def test_an_answer_of_another_layout_is_no_organisation_without_a_name(organization: Organization, body: Any) -> None:
    organization.answer((200, {}, json.dumps(body).encode()))
    with pytest.raises(InputError, match=f"{ME} answers in another layout"):
        list(organization.pull())
    assert organization.paths() == [ME]


@pytest.mark.parametrize("status", [400, 402, 410, 501])
def test_any_other_refusal_stops_the_pull(organization: Organization, status: int) -> None:
    organization.answer((status, {}, b"{}"))
    with pytest.raises(InputError, match=f"{ME} answers with status {status}"):
        list(organization.pull())
    assert (organization.paths(), organization.pauses) == ([ME], [])


def test_a_host_that_is_refused_is_tried_once(organization: Organization) -> None:
    with pytest.raises(ForbiddenError, match="not an allowed host"):
        list(organization.pull(allowed=False))
    assert (organization.hosts, organization.paths()) == (["127.0.0.1"], [])
