"""Servers that page in odd ways, sources that change while they are pulled, and clocks and disks that go wrong."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from app.control import sources
from app.core.errors import InputError, UnavailableError
from app.main.background import Background
from app.main.runtime import opened
from app.main.sources import add_source, remove_source
from app.settings import Settings
from ingest.connectors import connector_named
from ingest.connectors.connector import Batch, Errand
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience
from tests.connectors.fake_server import FakeServer
from tests.connectors.protocols import KEY, PROTOCOLS, PUBLIC, SECRET, Protocol, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def _us(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000


def _protocol(kind: str) -> Protocol:
    return next(one for one in PROTOCOLS if one.kind == kind)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FAKE_KEY", KEY), ("FAKE_PUBLIC", PUBLIC), ("FAKE_SECRET", SECRET)):
        monkeypatch.setenv(name, value)


def _errand(kind: str, url: str, scratch: Path, held: Any = None, **options: str) -> Errand:
    return Errand(
        options={"url": url, **_protocol(kind).options, **options},
        held=held,
        now_us=_us(NOW),
        since_us=_us(NOW - timedelta(hours=20)),
        guard=guard(frozenset({"127.0.0.1"})),
        roots=(),
        scratch=scratch,
        patience=Patience(attempts=3, sleep=lambda _: None),
    )


def _names(kind: str, batches: list[Batch]) -> list[str]:
    return [name for one in batches for line in one.lines for name in _protocol(kind).names(json.loads(line))]


def _filled(kind: str, count: int = 100) -> Table:
    table = Table()
    for n in range(count):
        table.add(NOW - timedelta(minutes=11 + 9 * n), f"row-{n:04d}-abcdef0123456789")
    assert _protocol(kind).requests
    return table


def test_a_cursor_that_the_server_forgot_costs_no_smaller_pages(tmp_path: Path) -> None:
    table = _filled("langfuse")
    with FakeServer(lambda asked: _protocol("langfuse").speak(table, asked)) as server:
        pull = connector_named("langfuse").pull
        first = next(iter(pull(_errand("langfuse", server.url, tmp_path))))
        position = json.loads(json.dumps(first.position))
        assert position["inside"]["page"]
        position["inside"]["page"] = "from before the update"
        begun = len(server.asked)
        rest = list(pull(_errand("langfuse", server.url, tmp_path, position)))
        limits = {asked.one("limit") for asked in server.asked[begun:]}
    assert set(_names("langfuse", [first, *rest])) == table.names()
    assert limits == {_protocol("langfuse").options["limit"]}


def test_an_empty_page_in_the_middle_is_no_end_where_the_server_says_that_more_follows(tmp_path: Path) -> None:
    table = _filled("langfuse")
    speak = _protocol("langfuse").speak

    def gappy(asked: Any) -> tuple[int, Any]:
        if asked.one("cursor").startswith("gap-"):
            return speak(table, replace(asked, query={**asked.query, "cursor": [asked.one("cursor")[4:]]}))
        status, page = speak(table, asked)
        if asked.one("cursor") and page["meta"].get("cursor"):
            return 200, {"data": [], "meta": {"cursor": f"gap-{asked.one('cursor')}"}}
        return status, page

    with FakeServer(gappy) as server:
        found = list(connector_named("langfuse").pull(_errand("langfuse", server.url, tmp_path)))
    assert set(_names("langfuse", found)) == table.names()


def _ring(kind: str) -> Callable[[Any], tuple[int, Any]]:
    """Pages that lead to each other for ever."""
    table = _filled(kind)
    speak = _protocol(kind).speak

    def answer(asked: Any) -> tuple[int, Any]:
        status, page = speak(table, replace(asked, query={**asked.query, "cursor": [""]}))
        return status, page | {"meta": {"cursor": {"": "a", "a": "b", "b": "a"}[asked.one("cursor")]}}

    return answer


def test_pages_that_lead_to_each_other_for_ever_end_with_a_word(tmp_path: Path) -> None:
    with FakeServer(_ring("langfuse")) as server:
        with pytest.raises(InputError, match="do not end"):
            list(connector_named("langfuse").pull(_errand("langfuse", server.url, tmp_path)))
        assert len(server.asked) < 10


def test_a_page_of_one_moment_that_repeats_for_ever_ends_with_a_word(tmp_path: Path) -> None:
    table = Table()
    for n in range(60):
        table.add(NOW - timedelta(hours=2), f"row-{n:04d}-abcdef0123456789")

    def deaf(asked: Any) -> tuple[int, Any]:
        return _protocol("helicone").speak(table, replace(asked, document={**asked.document, "offset": 0}))

    with FakeServer(deaf) as server:
        with pytest.raises(InputError, match="do not end"):
            list(connector_named("helicone").pull(_errand("helicone", server.url, tmp_path)))
        assert len(server.asked) < 40


@pytest.mark.parametrize("kind", ["openai-bills", "anthropic-bills"])
def test_pages_of_a_bill_that_lead_to_each_other_end_with_a_word(kind: str, tmp_path: Path) -> None:
    following = {"": "x", "x": "y", "y": "x"}

    def ring(asked: Any) -> tuple[int, Any]:
        if asked.path == "/v1/organizations/me":
            return _protocol(kind).speak(Table(), asked)
        return 200, {"data": [], "has_more": True, "next_page": following[asked.one("page")]}

    with FakeServer(ring) as server:
        with pytest.raises(InputError, match="more follows and not where"):
            list(connector_named(kind).pull(_errand(kind, server.url, tmp_path)))
        assert len(server.asked) < 6


@pytest.fixture
def pulled(tmp_path: Path) -> Iterator[tuple[Settings, FakeServer, Table]]:
    """A source `b` of Helicone's that is about to be pulled."""
    table = Table()
    for n in range(120):
        table.add(datetime.now(UTC) - timedelta(minutes=40 + n), f"row-{n:04d}-abcdef0123456789")
    with FakeServer(lambda asked: _protocol("helicone").speak(table, asked)) as server:
        settings = replace(Settings(), data_dir=tmp_path / "data", allow_hosts="127.0.0.1")
        given = {"url": server.url, **_protocol("helicone").options}
        add_source(settings, kind="helicone", name="b", given=given, every_us=0)
        yield settings, server, table


def _stored(work: Background) -> int:
    with work.runtime.warehouse.session() as session:
        return int(session.connection.execute("SELECT count(*) FROM requests").fetchall()[0][0])


def test_a_source_that_is_removed_while_it_is_pulled_ends_and_keeps_what_came(
    pulled: tuple[Settings, FakeServer, Table],
) -> None:
    settings, server, _ = pulled
    server.before = lambda number: remove_source(settings, "b") if number == 2 else None
    with opened(settings) as runtime:
        work = Background(runtime, settings)
        [(name, said)] = work.run_due_sources()
        assert (name, said) == ("b", "It was removed while it was pulled; what came of it is stored.")
        assert work.run_due_sources() == []
        work.take_inbox()
        assert 40 <= _stored(work) < 120


def test_a_source_that_is_pointed_elsewhere_while_it_is_pulled_is_read_there_from_the_beginning(
    pulled: tuple[Settings, FakeServer, Table],
) -> None:
    settings, server, table = pulled
    other = Table([(moment, f"other-{name}") for moment, name in table.rows])

    def point(number: int) -> None:
        if number == 2:
            given = {"url": second.url, **_protocol("helicone").options}
            add_source(settings, kind="helicone", name="b", given=given, every_us=0)

    server.before = point
    with FakeServer(lambda asked: _protocol("helicone").speak(other, asked)) as second, opened(settings) as runtime:
        work = Background(runtime, settings)
        [(_, said)] = work.run_due_sources()
        assert "was changed while it was pulled" in str(said)
        assert work.run_due_sources() == [("b", None)]
        with runtime.warehouse.session() as session:
            rows = session.connection.execute("SELECT source_record FROM requests").fetchall()
    assert other.names() <= {str(name) for (name,) in rows} <= other.names() | table.names()


def test_a_source_that_fails_in_an_unforeseen_way_holds_up_no_other(
    pulled: tuple[Settings, FakeServer, Table],
) -> None:
    settings, _, table = pulled
    add_source(
        settings, kind="helicone", name="a", given={"key": "env:FAKE_KEY", "url": "http://127.0.0.1:1"}, every_us=0
    )
    with opened(settings) as runtime:
        sources.advance(runtime.control, "a", {"a position": "of nobody"}, 1)
        work = Background(runtime, settings)
        results = dict(work.run_due_sources())
        assert "unexpected error" in str(results["a"])
        assert results["b"] is None
        assert sources.cursor(runtime.control, "a").state == "failed"
        assert _stored(work) == len(table.rows)


def test_a_pull_without_room_on_the_disk_says_so_and_goes_on_later(
    pulled: tuple[Settings, FakeServer, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, server, table = pulled
    real, full = os.open, [False]

    def open_on_a_full_disk(path: Any, flags: int, *given: Any, **named: Any) -> int:
        if full[0] and flags & os.O_CREAT and "/pulled/" in str(path):
            raise OSError(28, "No space left on device")
        return real(path, flags, *given, **named)

    monkeypatch.setattr(os, "open", open_on_a_full_disk)
    server.before = lambda number: full.__setitem__(0, number == 2)
    with opened(settings) as runtime:
        work = Background(runtime, settings)
        [(_, said)] = work.run_due_sources()
        assert "No space left on device. Make room" in str(said)
        full[0] = False
        assert work.run_due_sources() == [("b", None)]
        assert _stored(work) == len(table.rows)


def test_days_that_went_by_unread_and_are_given_no_more_are_named_once(tmp_path: Path) -> None:
    table = Table([(NOW - timedelta(days=n), f"day-{n:02d}-0123456789abcdef") for n in range(1, 60)])
    with FakeServer(lambda asked: _protocol("openrouter-activity").speak(table, asked)) as server:
        pull = connector_named("openrouter-activity").pull
        held = {"through_us": _us(NOW.replace(hour=0, minute=0) - timedelta(days=40))}
        batches: list[Batch] = []
        with pytest.raises(InputError, match="from 2026-10-11 until 2026-10-21 was not read"):
            batches.extend(pull(_errand("openrouter-activity", server.url, tmp_path, held)))
        assert len(_names("openrouter-activity", batches)) == 30
        again = list(pull(_errand("openrouter-activity", server.url, tmp_path, batches[-1].position)))
        assert len(_names("openrouter-activity", again)) == 2


def test_the_patience_of_a_pull_has_an_end(tmp_path: Path) -> None:
    with FakeServer(lambda asked: (429, {})) as server, pytest.raises(UnavailableError, match="status 429, 3 times"):
        list(connector_named("helicone").pull(_errand("helicone", server.url, tmp_path)))
