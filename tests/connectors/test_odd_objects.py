"""Buckets whose clock, objects and servers are odd: nothing is hidden, what cannot be read is named until it can."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from app.core.errors import ForbiddenError, HalveError, UnavailableError
from app.core.hashing import hash64
from ingest.connectors import connector_named, object_store
from ingest.connectors.connector import Errand
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience
from tests.connectors.buckets import filled_bucket
from tests.connectors.fake_server import FakeServer
from tests.connectors.shelf import MINUTE, Shelf, plain_errand, pulled_from

if TYPE_CHECKING:
    from pathlib import Path


def test_a_clock_that_ran_ahead_for_a_while_hides_nothing_afterwards(tmp_path: Path) -> None:
    shelf, now = Shelf(), 100_000
    for n in range(5):
        shelf.put(f"{n}", now - 10 + n)
    shelf.put("from the future", now + 3 * 365 * 24 * 60)
    names, position, error = pulled_from(shelf, plain_errand(tmp_path, now * MINUTE))
    assert (len(names), error) == (6, None)
    for n in range(5):
        shelf.put(f"after {n}", now + n)
        names, position, error = pulled_from(shelf, plain_errand(tmp_path, (now + n + 1) * MINUTE), position)
        assert (names, error) == ([f"after {n}"], None)


def test_what_lies_in_an_archive_is_named_by_every_pull_until_it_is_restored(tmp_path: Path) -> None:
    shelf = Shelf(shut={"1", "3"})
    for n in range(5):
        shelf.put(f"{n}", 1_000 + n)
    names, position, error = pulled_from(shelf, plain_errand(tmp_path))
    assert names == ["0", "2", "4"]
    assert "2 objects" in str(error)
    assert "lie in an archive" in str(error)
    shelf.put("much later", 9_000)
    names, position, error = pulled_from(shelf, plain_errand(tmp_path), position)
    assert names == ["much later"]
    assert "2 objects" in str(error)
    shelf.shut.clear()
    names, position, error = pulled_from(shelf, plain_errand(tmp_path), position)
    assert (names, error) == (["1", "3"], None)
    assert pulled_from(shelf, plain_errand(tmp_path), position)[0] == []


def test_what_was_archived_and_is_deleted_is_missed_no_more(tmp_path: Path) -> None:
    shelf = Shelf(shut={"1"})
    for n in range(3):
        shelf.put(f"{n}", 1_000 + n)
    _, position, error = pulled_from(shelf, plain_errand(tmp_path))
    assert "1 objects" in str(error)
    del shelf.objects["1"]
    assert pulled_from(shelf, plain_errand(tmp_path), position)[2] is None


def test_an_archive_larger_than_a_round_ends_and_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "ROUND", 4)
    monkeypatch.setattr(object_store, "MOST_LEFT", 5)
    shelf = Shelf(shut={f"{n:02d}" for n in range(20)})
    for n in range(25):
        shelf.put(f"{n:02d}", 1_000 + n)
    names, _, error = pulled_from(shelf, plain_errand(tmp_path))
    assert names == ["20", "21", "22", "23", "24"]
    assert "5 objects" in str(error)


def test_tens_of_thousands_of_objects_are_each_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "ROUND", 9_000)
    shelf = Shelf()
    for n in range(30_000):
        shelf.put(f"{n * 7919 % 30_000:05d}", 1_000 + n // 50)
    errand = plain_errand(tmp_path)
    names, position, error = pulled_from(shelf, errand)
    assert error is None
    assert sorted(names) == sorted(shelf.objects)
    assert pulled_from(shelf, errand, position)[0] == []


def test_a_full_disk_is_said_at_once_and_the_object_is_read_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with filled_bucket("azure", tmp_path, monkeypatch, 3) as (server, options):
        pauses: list[float] = []
        errand = Errand(
            options=options,
            held=None,
            now_us=int(datetime.now(UTC).timestamp() * 1_000_000),
            since_us=0,
            guard=guard(frozenset({"127.0.0.1"})),
            roots=(),
            scratch=tmp_path / "scratch",
            patience=Patience(attempts=3, sleep=pauses.append),
        )
        errand.scratch.mkdir()
        for n in range(3):
            (errand.scratch / _scratch_name(f"llm/{n}.jsonl")).symlink_to("/dev/full")
        with pytest.raises(UnavailableError, match="no room for what comes from 127"):
            list(connector_named("azure").pull(errand))
        assert pauses == []
        assert len(server.asked) < 4
        for left in errand.scratch.iterdir():
            left.unlink()
        files = [one.given for batch in connector_named("azure").pull(errand) for one in batch.files]
        assert sorted(files) == [f"az://logs/llm/{n}.jsonl" for n in range(3)]


def _scratch_name(key: str) -> str:
    return f"{hash64(key.encode()) & (2**64 - 1):016x}-{key.rpartition('/')[2]}"


@pytest.mark.parametrize("kind", ["gcs", "azure"])
def test_a_store_that_points_elsewhere_is_not_followed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To an address that is written as a number: no name is resolved on the way there."""
    reached: list[Any] = []
    with (
        FakeServer(lambda asked: (reached.append(asked), (200, {}))[1]) as inner,
        filled_bucket(kind, tmp_path, monkeypatch, 2) as (server, options),
    ):
        speak = server.speak
        target = f"{inner.url}/latest/meta-data/"
        server.speak = lambda asked: (
            (302, {"Location": target}, b"") if "/llm" in asked.path or "llm%2F" in asked.path else speak(asked)
        )
        local = {name: text.replace("127.0.0.1", "localhost") for name, text in options.items()}
        errand = Errand(
            options=local,
            held=None,
            now_us=int(datetime.now(UTC).timestamp() * 1_000_000),
            since_us=0,
            guard=lambda host, address: None,
            roots=(),
            scratch=tmp_path,
            patience=Patience(attempts=2, sleep=lambda _: None),
        )
        with pytest.raises(HalveError, match=r"points to another place|gave no answer"):
            list(connector_named(kind).pull(errand))
    assert reached == []


def test_a_name_that_means_another_address_at_the_connection_is_not_connected_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def changing(host: str, address: str) -> None:
        asked.append(address)
        if len(asked) > 2 * len(_addresses()):
            raise ForbiddenError(f"{host} is not an allowed host any more.")

    with filled_bucket("azure", tmp_path, monkeypatch, 1) as (server, options):
        errand = Errand(
            options={**options, "endpoint": options["endpoint"].replace("127.0.0.1", "localhost")},
            held=None,
            now_us=int(datetime.now(UTC).timestamp() * 1_000_000),
            since_us=0,
            guard=changing,
            roots=(),
            scratch=tmp_path,
            patience=Patience(attempts=1, sleep=lambda _: None),
        )
        with pytest.raises(HalveError, match="any more"):
            list(connector_named("azure").pull(errand))
        assert len(server.asked) <= 1


def _addresses() -> list[Any]:
    return socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM)
