"""What holds for every source that is pulled over HTTP, whatever its protocol: nothing lost, trouble named."""

from __future__ import annotations

import gzip
import json
import logging
import socket
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from app.core.errors import ForbiddenError, InputError, UnavailableError, UsageError
from ingest.connectors import connector_named
from ingest.connectors.connector import DAY_US, Batch, Errand
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience
from tests.connectors.fake_server import FakeServer
from tests.connectors.protocols import KEY, PROTOCOLS, PUBLIC, SECRET, Protocol, Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
BEGIN = NOW - timedelta(days=12)


def _us(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


@dataclass
class World:
    """A fake source with 200 rows of twelve days, and pulls from it."""

    protocol: Protocol
    table: Table
    server: FakeServer
    scratch: Path
    pauses: list[float] = field(default_factory=list)

    def errand(self, held: Any = None, now: datetime = NOW) -> Errand:
        return Errand(
            options={"url": self.server.url, **self.protocol.options},
            held=None if held is None else json.loads(json.dumps(held)),
            now_us=_us(now),
            since_us=_us(BEGIN),
            guard=guard(frozenset({"127.0.0.1"})),
            roots=(),
            scratch=self.scratch,
            patience=Patience(attempts=4, sleep=self.pauses.append, jitter=lambda: 1.0),
        )

    def pull(self, held: Any = None, now: datetime = NOW) -> Iterator[Batch]:
        return connector_named(self.protocol.kind).pull(self.errand(held, now))

    def names(self, batches: list[Batch]) -> Counter[str]:
        lines = (json.loads(line) for batch in batches for line in batch.lines)
        return Counter(name for line in lines for name in self.protocol.names(line))

    def expected(self, names: set[str] | None = None) -> Counter[str]:
        return Counter(dict.fromkeys(self.table.names() if names is None else names, self.protocol.reports))


@pytest.fixture(params=PROTOCOLS, ids=lambda protocol: protocol.kind)
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    protocol: Protocol = request.param
    for name, value in (("FAKE_KEY", KEY), ("FAKE_PUBLIC", PUBLIC), ("FAKE_SECRET", SECRET)):
        monkeypatch.setenv(name, value)
    table = Table()
    last = NOW - timedelta(minutes=5) if protocol.requests else NOW - timedelta(days=1)
    for n in range(200):
        table.add(BEGIN + (last - BEGIN) * n / 199, f"row-{n:04d}-abcdef0123456789")
    with FakeServer(lambda asked: protocol.speak(table, asked)) as server:
        yield World(protocol, table, server, tmp_path)


def test_every_row_is_handed_over_once(world: World) -> None:
    batches = list(world.pull())
    assert world.names(batches) == world.expected()
    assert len(world.server.asked) > 2
    assert all(b"\n" not in line for batch in batches for line in batch.lines)


def test_the_last_batch_says_how_fresh_and_how_complete_the_source_is(world: World) -> None:
    last = list(world.pull())[-1]
    assert last.fresh_us is not None
    assert last.complete_us is not None
    assert last.complete_us < last.fresh_us <= _us(NOW)
    assert _us(NOW) - last.complete_us <= 2 * DAY_US + _us(NOW) % DAY_US


def test_a_pull_resumed_from_any_stored_position_misses_nothing(world: World) -> None:
    whole = list(world.pull())
    for stop in range(len(whole)):
        before = world.names(whole[: stop + 1])
        rest = world.names(list(world.pull(whole[stop].position)))
        assert set(before) | set(rest) == world.table.names()
        assert all(before[name] + rest[name] >= world.protocol.reports for name in world.table.names())


def test_the_next_pull_finds_what_is_new_and_what_came_late(world: World) -> None:
    position = list(world.pull())[-1].position
    before = world.table.names()
    later = NOW + timedelta(days=2)
    late = NOW - timedelta(minutes=9) if world.protocol.requests else NOW - timedelta(days=2)
    world.table.add(late, "late-row-0123456789abcdef")
    world.table.add(later - timedelta(days=1, hours=1), "new-row-0123456789abcdef0")
    found = world.names(list(world.pull(position, later)))
    assert world.table.names() - before <= set(found)
    assert set(found) != world.table.names()  # and the whole past is not read again


def test_rows_that_arrive_while_pages_are_read_push_no_other_row_out(world: World) -> None:
    """LLMC-092; that the next pull overlaps and that what comes twice counts once is shown beside."""
    there = world.table.names()

    def arrive(number: int) -> None:
        if number in (2, 3, 5):
            for n in range(7):
                world.table.add(NOW - timedelta(days=3, minutes=7 * number + n), f"shift-{number}-{n}-0123456789ab")

    world.server.before = arrive
    assert there <= set(world.names(list(world.pull())))


def test_rows_that_vanish_while_pages_are_read_hide_no_other_row(world: World) -> None:
    gone = sorted(world.table.rows)[60:75]

    def vanish(number: int) -> None:
        if number == 3:
            for row in gone:
                world.table.rows.remove(row)

    world.server.before = vanish
    assert world.table.names() - {name for _, name in gone} <= set(world.names(list(world.pull())))


PAGED = [
    protocol
    for protocol in PROTOCOLS
    if any(option.name == "limit" for option in connector_named(protocol.kind).options)
]


@pytest.mark.parametrize("world", PAGED, indirect=True, ids=lambda protocol: protocol.kind)
def test_llmc_091_a_page_size_above_the_servers_or_too_large_in_bytes_is_lowered(world: World) -> None:
    """The reported answers: a size that is refused, a page too large, then pages that are given."""
    world.server.answers += [(400, {}, b'{"detail": "limit too large, maximum 100"}'), (413, {}, b"")]
    batches = list(world.pull())
    assert world.names(batches) == world.expected()
    assert world.pauses == [], "a smaller page is asked for at once"


@pytest.mark.parametrize("world", PAGED, indirect=True, ids=lambda protocol: protocol.kind)
def test_a_question_that_no_size_mends_is_given_up(world: World) -> None:
    world.server.answers += [(400, {}, b'{"detail": "no such filter"}')] * 40
    with pytest.raises(InputError, match="400"):
        list(world.pull())
    assert 20 < len(world.server.answers) < 40


def test_a_storm_of_429_is_sat_out_for_as_long_as_the_server_asks(world: World) -> None:
    world.server.answers += [(429, {"Retry-After": "7"}, b"{}"), (429, {}, b"{}"), (503, {}, b"busy")]
    assert world.names(list(world.pull())) == world.expected()
    assert world.pauses == [7.0, 8.0, 4.0]


def test_a_server_that_asks_for_an_hour_is_left_for_the_next_pull(world: World) -> None:
    world.server.answers.append((429, {"Retry-After": "3600"}, b"{}"))
    with pytest.raises(UnavailableError, match="pause of 3600 s"):
        list(world.pull())
    assert world.pauses == []
    assert world.names(list(world.pull())) == world.expected()


@pytest.mark.parametrize("keep", [0.5, 0.98], ids=["in the middle", "near the end"])
def test_a_page_that_is_cut_off_is_asked_for_again(world: World, keep: float) -> None:
    world.server.twist = lambda number, body: body[: int(len(body) * keep)] if number in (1, 3) else body
    assert world.names(list(world.pull())) == world.expected()
    assert len(world.pauses) == 2


def test_a_changed_layout_is_named_and_takes_nothing_of_the_answer(world: World) -> None:
    def change(number: int, body: bytes) -> bytes:
        return body if number < 3 else json.dumps({"items": [], "schema": 2}).encode()

    world.server.twist = change
    taken: list[Batch] = []
    with pytest.raises(InputError, match=r"another layout|without rows"):
        taken.extend(world.pull())
    assert len(world.server.asked) == 3
    world.server.twist = lambda number, body: body
    rest = world.names(list(world.pull(taken[-1].position if taken else None)))
    assert set(world.names(taken)) | set(rest) == world.table.names()


def test_pages_packed_with_gzip_are_read_and_a_damaged_or_torn_one_is_asked_for_again(world: World) -> None:
    packed = {"Content-Encoding": "gzip"}
    damaged = gzip.compress(b'{"data": []}')
    world.server.answers += [
        (200, packed, damaged[:-12]),
        (200, packed, damaged[:14] + b"\xff\xff\xff\xff" + damaged[18:]),
        (200, packed, b"no gzip at all"),
    ]
    world.server.pack = True
    assert world.names(list(world.pull())) == world.expected()
    assert len(world.pauses) == 3


@pytest.mark.parametrize("start", ["<!doctype html><title>Sign in</title>", "\n\n  <html><body>login</body></html>"])
def test_a_login_page_in_the_place_of_data_is_named_at_once_and_loses_nothing(world: World, start: str) -> None:
    world.server.twist = lambda number, body: start.encode() if number == 2 else body
    taken: list[Batch] = []
    with pytest.raises(InputError, match="a web page instead of data, as a login"):
        taken.extend(world.pull())
    assert (len(world.server.asked), world.pauses) == (2, [])
    rest = world.names(list(world.pull(taken[-1].position if taken else None)))
    assert set(world.names(taken)) | set(rest) == world.table.names()


@pytest.mark.parametrize(
    "body",
    [{"error": {"code": 429, "message": "slow down"}}, {"error": "backend away", "status": 500}, {}, [], None, 5, "x"],
    ids=str,
)
def test_an_error_under_status_200_is_no_empty_page(world: World, body: Any) -> None:
    world.server.twist = lambda number, answer: json.dumps(body).encode() if number == 2 else answer
    taken: list[Batch] = []
    with pytest.raises(InputError, match=r"another layout|without rows"):
        taken.extend(world.pull())
    rest = world.names(list(world.pull(taken[-1].position if taken else None)))
    assert set(world.names(taken)) | set(rest) == world.table.names()


def test_a_redirect_is_never_followed(world: World) -> None:
    elsewhere: list[Any] = []
    with FakeServer(lambda asked: (elsewhere.append(asked), (200, {}))[1]) as other:
        world.server.answers += [(302, {"Location": f"{other.url}/latest/meta-data/"}, b"")]
        with pytest.raises(InputError, match=r"points to 127\.0\.0\.1"):
            list(world.pull())
    assert elsewhere == []


def test_a_name_that_means_another_address_a_moment_later_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked for the check is what the connection goes to: nothing resolves the name a second time."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def rebinding(host: str, *given: Any, **named: Any) -> Any:
        asked.append(host)
        return real("127.0.0.1" if host == "bills.example" else host, *given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    url = world.server.url.replace("127.0.0.1", "bills.example")
    errand = replace(world.errand(), options={**world.errand().options, "url": url}, guard=guard(frozenset({"*"})))
    with pytest.raises(ForbiddenError, match=r"bills\.example is not an allowed host"):
        list(connector_named(world.protocol.kind).pull(errand))
    assert world.server.asked == []
    seen: list[str] = []
    found = replace(errand, guard=lambda host, address: seen.append(host))
    assert world.names(list(connector_named(world.protocol.kind).pull(found))) == world.expected()
    assert set(seen) == {"bills.example"}
    assert set(asked) <= {"bills.example", "127.0.0.1"}


def test_a_key_that_is_rotated_in_mid_pull_stops_it_and_the_new_one_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    speak = world.server.speak
    world.server.speak = lambda asked: (401, {}) if len(world.server.asked) == 3 else speak(asked)
    taken: list[Batch] = []
    with pytest.raises(ForbiddenError, match="refuses the token"):
        taken.extend(world.pull())
    rest = world.names(list(world.pull(taken[-1].position if taken else None)))
    assert set(world.names(taken)) | set(rest) == world.table.names()


def test_a_refused_key_is_said_at_once_and_shown_nowhere(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("FAKE_KEY", "FAKE_SECRET"):
        monkeypatch.setenv(name, "wrong-9876543210-wrong")
    with pytest.raises(ForbiddenError, match="refuses the token") as refused:
        list(world.pull())
    assert len(world.server.asked) == 1
    assert "wrong-9876" not in caplog.text + str(refused.value)


def test_no_log_line_of_a_pull_with_trouble_holds_a_secret(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    world.server.answers += [(500, {}, KEY.encode()), (429, {"Retry-After": "1"}, SECRET.encode())]
    list(world.pull())
    assert "next attempt" in caplog.text
    assert KEY not in caplog.text
    assert SECRET not in caplog.text


def test_a_host_that_is_not_allowed_is_never_called(world: World) -> None:
    errand = replace(world.errand(), guard=guard(frozenset({"*"})))
    with pytest.raises(ForbiddenError, match="not an allowed host"):
        list(connector_named(world.protocol.kind).pull(errand))
    assert world.server.asked == []


def test_hosts_named_beforehand_are_those_that_are_called(world: World) -> None:
    hosts = connector_named(world.protocol.kind).hosts(world.errand().options)
    assert [f"http://{host}:{port}" for host, port in hosts] == [world.server.url]


def test_a_source_without_its_key_is_refused_with_what_it_takes(world: World) -> None:
    with pytest.raises(UsageError, match=f"kind {world.protocol.kind} needs key.*It takes"):
        connector_named(world.protocol.kind).configured({"url": world.server.url, "secret": "env:FAKE_SECRET"})


def test_an_option_that_it_does_not_know_is_refused(world: World) -> None:
    with pytest.raises(UsageError, match="takes no colour"):
        connector_named(world.protocol.kind).configured(
            {"url": world.server.url, **world.protocol.options, "colour": "red"}
        )
