"""Every kind of source against rows that come twice, and every bucket against what the HTTP sources are put through."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from app.control import sources
from app.core.errors import HalveError
from app.main.background import Background
from app.main.runtime import opened
from app.main.sources import add_source
from app.settings import Settings
from ingest.connectors import connector_named
from ingest.connectors.connector import Errand
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience
from tests.connectors.buckets import filled_bucket
from tests.connectors.fake_server import FakeServer
from tests.connectors.protocols import KEY, PROTOCOLS, PUBLIC, SECRET, Protocol, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.connectors.fake_server import Reply

TODAY = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
OBJECTS = 12


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FAKE_KEY", KEY), ("FAKE_PUBLIC", PUBLIC), ("FAKE_SECRET", SECRET)):
        monkeypatch.setenv(name, value)


def repeating(speak: Callable[[Table, Any], tuple[int, Any]], table: Table) -> Callable[[Any], tuple[int, Any]]:
    """Answers that begin with the last row of the page before, as where a row arrived between two pages."""
    last: dict[str, Any] = {}

    def answer(asked: Any) -> tuple[int, Any]:
        status, page = speak(table, asked)
        told = page.get("data") if status == 200 else None
        first = not any(asked.one(name) for name in ("page", "cursor")) or asked.one("page") == "1"
        if asked.path in last and told and not first and last[asked.path] not in told:
            page["data"] = [last[asked.path], *told]
        if told:
            last[asked.path] = told[-1]
        return status, page

    return answer


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.kind)
def test_rows_that_two_pages_give_count_once(protocol: Protocol, tmp_path: Path) -> None:
    table = Table()
    for n in range(90):
        back = timedelta(hours=1 + 7 * n) if protocol.requests else timedelta(days=1 + n % 27)
        table.add(TODAY - back, f"row-{n:04d}-abcdef0123456789")
    settings = replace(Settings(), data_dir=tmp_path / "data", allow_hosts="127.0.0.1")
    with FakeServer(repeating(protocol.speak, table)) as server, opened(settings) as runtime:
        given = {"url": server.url, **protocol.options, **({"limit": "20"} if protocol.requests else {})}
        add_source(settings, kind=protocol.kind, name="pulled", given=given, every_us=0)
        work = Background(runtime, settings)
        for _ in range(2):
            assert work.run_due_sources() == [("pulled", None)]
            with runtime.warehouse.session() as session:
                stored = session.connection.execute("SELECT source_record FROM requests ORDER BY 1").fetchall()
                billed = session.connection.execute("SELECT sum(cost) FROM billed").fetchall()
            if protocol.requests:
                assert [name for (name,) in stored] == sorted(table.names())
            else:
                assert (stored, float(billed[0][0])) == ([], 0.25 * 90)
    assert len(server.asked) > 4


@pytest.fixture(params=["s3", "gcs", "azure"])
def bucket(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, FakeServer, dict[str, str], Path]]:
    (tmp_path / "scratch").mkdir()
    with filled_bucket(request.param, tmp_path, monkeypatch, OBJECTS) as (server, options):
        yield request.param, server, options, tmp_path / "scratch"


def pull(world: tuple[str, FakeServer, dict[str, str], Path], held: Any = None) -> tuple[list[str], Any, str | None]:
    """(keys that were read, the last position, the error that ended the pull)."""
    kind, _, options, scratch = world
    errand = Errand(
        options=options,
        held=held,
        now_us=int(datetime.now(UTC).timestamp() * 1_000_000),
        since_us=0,
        guard=guard(frozenset({"127.0.0.1"})),
        roots=(),
        scratch=scratch,
        patience=Patience(attempts=4, sleep=lambda _: None),
    )
    keys, position, error = [], held, None
    try:
        for batch in connector_named(kind).pull(errand):
            for one in batch.files:
                keys.append(one.given.partition("/llm/")[2])
                assert one.path.read_bytes().endswith(b"}\n")
                one.path.unlink()
            position = json.loads(json.dumps(batch.position))
    except HalveError as ended:
        error = str(ended)
    return sorted(keys), position, error


ALL = sorted(f"{n}.jsonl" for n in range(OBJECTS))
Bucketed = tuple[str, FakeServer, dict[str, str], "Path"]


def is_object(asked: Any) -> bool:
    return ".jsonl" in asked.path and asked.one("comp") != "list"


def test_a_busy_store_is_asked_again_and_nothing_is_left_out(bucket: Bucketed) -> None:
    kind, server, _, _ = bucket
    speak, busy = server.speak, [3 if kind != "gcs" else 2]

    def often_busy(asked: Any) -> tuple[int, Any] | Reply:
        if is_object(asked) and "3.jsonl" in asked.path and busy[0]:
            busy[0] -= 1
            return (503, {"Retry-After": "1"}, b"") if kind != "s3" else (503, {}, SLOW_DOWN)
        return speak(asked)

    server.speak = often_busy
    assert pull(bucket)[::2] == (ALL, None)
    assert busy == [0]


SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


def test_an_object_that_breaks_off_is_never_taken_for_whole(bucket: Bucketed) -> None:
    kind, server, _, _ = bucket
    # gcsfs itself asks again, after pauses that grow to a minute.
    speak, torn = server.speak, [1 if kind == "gcs" else 99]

    def tearing(asked: Any) -> tuple[int, Any] | Reply:
        reply = speak(asked)
        if torn[0] and is_object(asked) and "7.jsonl" in asked.path and len(reply) == 3 and len(reply[2]) > 100:
            torn[0] -= 1
            status, headers, body = reply
            return status, {**headers, "Content-Length": str(len(body))}, body[:-40]
        return reply

    server.speak = tearing
    keys, position, error = pull(bucket)
    if kind != "gcs":
        assert "7.jsonl" not in keys
        assert "Nothing is lost" in str(error) or "changed while it was read" in str(error)
    torn[0] = 0
    rest, _, error = pull(bucket, position)
    assert error is None
    assert sorted({*keys, *rest}) == ALL


def test_a_listing_of_another_layout_is_named_and_takes_nothing(bucket: Bucketed) -> None:
    kind, server, _, _ = bucket
    speak = server.speak

    def changed(asked: Any) -> tuple[int, Any] | Reply:
        if is_object(asked) or asked.path == "/token":
            return speak(asked)
        if kind == "gcs":
            return 200, {"kind": "storage#objects", "items": [{"title": "x", "length": 4}]}
        return 200, {"Content-Type": "application/xml"}, b"<Listing><Thing>llm/0.jsonl</Thing></Listing>"

    server.speak = changed
    keys, _, error = pull(bucket)
    assert keys == []
    assert "another layout" in str(error)
    server.speak = speak
    assert pull(bucket)[::2] == (ALL, None)


def test_a_listing_that_leads_in_a_circle_ends_with_a_word(bucket: Bucketed) -> None:
    kind, server, _, _ = bucket
    speak, shown = server.speak, [0]
    mark = {"s3": "continuation-token", "gcs": "pageToken", "azure": "marker"}[kind]

    def circle(asked: Any) -> tuple[int, Any] | Reply:
        if is_object(asked) or asked.path == "/token":
            return speak(asked)
        shown[0] += 1
        return speak(replace(asked, query={**asked.query, mark: [""]}))  # the first page for ever

    server.bucket.page = 5
    server.speak = circle
    keys, _, error = pull(bucket)
    assert (keys, shown[0]) == ([], 2)
    assert "do not end" in str(error)


def test_objects_that_arrive_and_go_while_the_bucket_is_listed_hide_no_other(bucket: Bucketed) -> None:
    _, server, _, _ = bucket
    speak, shown = server.speak, [0]

    def moving(asked: Any) -> tuple[int, Any] | Reply:
        reply = speak(asked)
        if not is_object(asked) and asked.path != "/token":
            shown[0] += 1
            if shown[0] == 1:
                held = server.bucket
                held.put("llm/0-arrived.jsonl", b"{}\n")
                held.objects.pop("llm/2.jsonl")
        return reply

    server.speak = moving
    keys, position, error = pull(bucket)
    assert error is None
    assert {*ALL} - {"2.jsonl"} <= {*keys}
    rest, _, _ = pull(bucket, position)
    assert {*keys, *rest} - {"2.jsonl"} == {*ALL, "0-arrived.jsonl"} - {"2.jsonl"}


def test_the_same_calls_in_two_objects_count_once(bucket: Bucketed, tmp_path: Path) -> None:
    kind, server, options, _ = bucket
    held = server.bucket
    body = held.objects["llm/4.jsonl"][2]
    held.put("llm/copy of 4.jsonl", body)
    settings = replace(Settings(), data_dir=tmp_path / "data", allow_hosts="127.0.0.1")
    add_source(settings, kind=kind, name="pulled", given=options, every_us=0)
    with opened(settings) as runtime:
        work = Background(runtime, settings)
        assert work.run_due_sources() == [("pulled", None)]
        held.put("llm/4.jsonl", body + body)
        assert work.run_due_sources() == [("pulled", None)]
        with runtime.warehouse.session() as session:
            stored = session.connection.execute("SELECT count(*) FROM requests").fetchall()
        assert stored == [(2 * OBJECTS,)]
        assert sources.cursor(runtime.control, "pulled").records == 2 * OBJECTS + 2 + 4
