"""Objects of a bucket, on a server that speaks S3: new ones, late ones, changed ones, each version once."""

from __future__ import annotations

import gzip
import io
import json
import socket
import tarfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from app.control import sources
from app.core.errors import ForbiddenError, InputError, UnavailableError, UsageError
from app.main.background import Background
from app.main.runtime import opened
from app.main.sources import add_source
from app.settings import Settings
from ingest.connectors import object_store, s3
from ingest.connectors.connector import Batch, Errand
from ingest.connectors.object_store import Place, pull_objects
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience
from tests.connectors.fake_litellm import row
from tests.connectors.shelf import MINUTE, Shelf, plain_errand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytest.importorskip("s3fs", reason="the extra `s3` is not installed")

NOW = datetime.now(UTC)


def _us(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


def _log(*numbers: int) -> bytes:
    return b"".join(json.dumps(row(n, NOW - timedelta(minutes=n))).encode() + b"\n" for n in numbers)


def _tarred(*bodies: bytes) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for number, body in enumerate(bodies):
            info = tarfile.TarInfo(f"logs/{number}.jsonl")
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return held.getvalue()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    import boto3

    monkeypatch.setenv("S3_KEY", "AKIAFAKEFAKEFAKEFAKE")
    monkeypatch.setenv("S3_SECRET", "secret/0123456789+abcdefghijklmnopqrstuv")
    store = boto3.resource(
        "s3",
        endpoint_url=server,
        region_name="us-east-1",
        aws_access_key_id="AKIAFAKEFAKEFAKEFAKE",
        aws_secret_access_key="secret/0123456789+abcdefghijklmnopqrstuv",
    ).Bucket("logs")
    store.create()
    store.objects.all().delete()
    return store


def _given(server: str, **options: str) -> dict[str, str]:
    return {
        "url": "s3://logs/llm/",
        "key": "env:S3_KEY",
        "secret": "env:S3_SECRET",
        "endpoint": server,
        **options,
    }


@pytest.fixture
def errand(server: str, bucket: Any, tmp_path: Path) -> Callable[..., Errand]:
    def make(held: Any = None, **options: str) -> Errand:
        return Errand(
            options=_given(server, **options),
            held=None if held is None else json.loads(json.dumps(held)),
            now_us=_us(datetime.now(UTC)),
            since_us=_us(NOW - timedelta(days=35)),
            guard=guard(frozenset({"127.0.0.1"})),
            roots=(),
            scratch=tmp_path,
            patience=Patience(attempts=2, sleep=lambda _: None),
        )

    return make


def _pull(errand: Errand) -> tuple[dict[str, bytes], Any]:
    """(the bytes of each object that was handed over, the last position)."""
    found: dict[str, bytes] = {}
    position = errand.held
    for batch in s3.pull(errand):
        for one in batch.files:
            assert one.given not in found
            found[one.given] = one.path.read_bytes()
            one.path.unlink()
        position = batch.position
    return found, position


def test_each_object_under_the_prefix_is_read_once(bucket: Any, errand: Callable[..., Errand]) -> None:
    for n in range(12):
        bucket.put_object(Key=f"llm/2026-11-{n + 1:02d}/calls.jsonl", Body=_log(n))
    bucket.put_object(Key="other/calls.jsonl", Body=_log(99))
    bucket.put_object(Key="llm/empty/", Body=b"")
    found, position = _pull(errand())
    assert found == {f"s3://logs/llm/2026-11-{n + 1:02d}/calls.jsonl": _log(n) for n in range(12)}
    assert _pull(errand(position))[0] == {}


def test_a_new_and_a_changed_object_are_read_and_no_other(bucket: Any, errand: Callable[..., Errand]) -> None:
    for n in range(3):
        bucket.put_object(Key=f"llm/{n}.jsonl", Body=_log(n))
    _, position = _pull(errand())
    bucket.put_object(Key="llm/0-late.jsonl", Body=_log(7))
    bucket.put_object(Key="llm/1.jsonl", Body=_log(1, 8))
    found, _ = _pull(errand(position))
    assert found == {"s3://logs/llm/0-late.jsonl": _log(7), "s3://logs/llm/1.jsonl": _log(1, 8)}


def test_only_matching_keys_are_read(bucket: Any, errand: Callable[..., Errand]) -> None:
    for name in ("a/calls.jsonl", "a/manifest.json", "b/calls.jsonl.gz"):
        bucket.put_object(Key=f"llm/{name}", Body=_log(1))
    found, _ = _pull(errand(only="calls.*"))
    assert sorted(found) == ["s3://logs/llm/a/calls.jsonl", "s3://logs/llm/b/calls.jsonl.gz"]


def test_where_keys_sort_by_time_old_ones_are_not_listed_again(
    bucket: Any, errand: Callable[..., Errand], monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5):
        bucket.put_object(Key=f"llm/{n}.jsonl", Body=_log(n))
    _, position = _pull(errand(ordered="yes"))
    position["marks"] = [(position["seen_us"] - 2 * 3_600_000_000, "llm/2.jsonl")]
    position["recent"], position["first_key"] = {}, "llm/2.jsonl"
    found, _ = _pull(errand(position, ordered="yes"))
    assert sorted(found) == ["s3://logs/llm/3.jsonl", "s3://logs/llm/4.jsonl"]


def test_a_listing_of_many_pages_is_followed_to_its_end(
    bucket: Any, errand: Callable[..., Errand], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "PAGE_KEYS", 3)
    for n in range(10):
        bucket.put_object(Key=f"llm/{n}.jsonl", Body=_log(n))
    assert len(_pull(errand())[0]) == 10


def test_wrong_keys_a_missing_bucket_and_a_foreign_host_are_named(
    bucket: Any, errand: Callable[..., Errand], server: str
) -> None:
    with pytest.raises(InputError, match="no bucket nowhere"):
        _pull(errand(url="s3://nowhere/x"))
    with pytest.raises(ForbiddenError, match="not an allowed host"):
        _pull(replace(errand(), guard=guard(frozenset())))
    with pytest.raises(UnavailableError, match="2 times in a row"):
        _pull(errand(endpoint="http://127.0.0.1:1"))


def test_a_name_that_resolves_to_a_forbidden_address_is_not_connected_to(
    bucket: Any, errand: Callable[..., Errand], server: str
) -> None:
    """The check at the moment of the connection, not only the one beforehand."""
    asked: list[str] = []
    beforehand = len(socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM))

    def changing(host: str, address: str) -> None:
        asked.append(address)
        if len(asked) > beforehand:
            raise ForbiddenError(f"{host} is not an allowed host any more.")

    local = server.replace("127.0.0.1", "localhost")
    with pytest.raises(ForbiddenError, match="any more"):
        _pull(replace(errand(endpoint=local), guard=changing))


@pytest.mark.parametrize(
    "options",
    [{"url": "gs://logs"}, {"url": "s3://"}, {"ordered": "perhaps"}, {"overlap_minutes": "0"}, {"endpoint": "x"}],
)
def test_options_that_cannot_be_used_are_refused(server: str, options: dict[str, str]) -> None:
    with pytest.raises((UsageError, InputError)):
        s3.CONNECTOR.configured({**_given(server), **options})


def test_objects_of_every_packing_come_into_the_warehouse_once(bucket: Any, server: str, tmp_path: Path) -> None:
    bucket.put_object(Key="llm/plain.jsonl", Body=_log(1, 2, 3))
    bucket.put_object(Key="llm/packed.jsonl.gz", Body=gzip.compress(_log(4, 5)))
    bucket.put_object(Key="llm/packed.jsonl.zst", Body=zstandard.compress(_log(6)))
    bucket.put_object(Key="llm/day.tar.gz", Body=_tarred(_log(7), _log(8)))
    bucket.put_object(Key="llm/again.jsonl", Body=_log(1, 2))
    settings = replace(Settings(), data_dir=tmp_path / "data", allow_hosts="127.0.0.1")
    add_source(settings, kind="s3", name="bucket", given=_given(server), every_us=0)
    with opened(settings) as runtime:
        work = Background(runtime, settings)
        for _ in range(2):
            work.run_due_sources()
            with runtime.warehouse.session() as session:
                rows = session.connection.execute("SELECT source_record, source FROM requests ORDER BY 1").fetchall()
            assert rows == [(f"chatcmpl-{n:032x}", "bucket") for n in range(1, 9)]
        state = sources.cursor(runtime.control, "bucket")
        assert (state.state, state.records) == ("ok", 10)
        bucket.put_object(Key="llm/broken.jsonl", Body=b"what is this\n")
        work.run_due_sources()
        with runtime.warehouse.session() as session:
            wrong = session.connection.execute("SELECT file FROM quarantine").fetchall()
    assert wrong == [("s3://logs/llm/broken.jsonl",)]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def _from(shelf: Shelf, errand: Errand, held: Any = None, ordered: bool = False) -> tuple[list[str], Any]:
    place = Place("s3", "shelf", "", "", ordered, 60 * MINUTE)
    names, position = [], held
    for batch in pull_objects(replace(errand, held=held, since_us=0), shelf, place):
        names += [one.given.removeprefix("s3://shelf/") for one in batch.files]
        position = json.loads(json.dumps(batch.position))
    return names, position


@pytest.fixture
def plain(tmp_path: Path) -> Errand:
    return plain_errand(tmp_path)


def test_an_object_that_shows_up_dated_within_the_overlap_is_found(shelf: Shelf, plain: Errand) -> None:
    for n in range(10):
        shelf.put(f"{n}", 1_000 + n)
    names, position = _from(shelf, plain)
    assert names == [str(n) for n in range(10)]
    shelf.put("late", 1_009 - 59)
    shelf.put("new", 1_030)
    names, position = _from(shelf, plain, position)
    assert names == ["late", "new"]
    assert _from(shelf, plain, position)[0] == []


def test_a_pull_resumed_after_any_batch_reads_the_rest_and_nothing_twice(
    shelf: Shelf, plain: Errand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "BATCH_OBJECTS", 3)
    monkeypatch.setattr(object_store, "ROUND", 7)
    for n in range(40):
        shelf.put(f"{(n * 17) % 40:02d}", 1_000 + n // 4)  # names tell no time, and times are shared
    place = Place("s3", "shelf", "", "", False, 60 * MINUTE)
    names = [[one.given for one in batch.files] for batch in pull_objects(replace(plain, since_us=0), shelf, place)]
    assert sorted(name for some in names for name in some) == sorted(f"s3://shelf/{key}" for key in shelf.objects)
    for stop in range(1, len(names)):
        before, position = [], None
        for number, batch in enumerate(pull_objects(replace(plain, since_us=0), shelf, place)):
            if number == stop:
                break
            before += [one.given.removeprefix("s3://shelf/") for one in batch.files]
            position = json.loads(json.dumps(batch.position))
        rest, _ = _from(shelf, plain, position)
        assert sorted(before + rest) == sorted(shelf.objects)


def test_what_is_remembered_is_bounded_by_the_overlap(shelf: Shelf, plain: Errand) -> None:
    for n in range(500):
        shelf.put(f"{n:03d}", n)
    _, position = _from(shelf, plain)
    assert len(position["recent"]) == 61


def test_keys_in_order_of_time_let_a_pull_begin_where_nothing_older_can_be(shelf: Shelf, plain: Errand) -> None:
    for n in range(100):
        shelf.put(f"{n:03d}", n)
    _, position = _from(shelf, plain, ordered=True)
    for n in range(100, 300):
        shelf.put(f"{n:03d}", n)
    names, position = _from(shelf, plain, position, ordered=True)
    assert len(names) == 200
    assert position["first_key"] == "099"
    assert _from(shelf, plain, position, ordered=True)[0] == []


def test_an_object_that_is_deleted_or_torn_hides_no_other(shelf: Shelf, plain: Errand) -> None:
    for n in range(5):
        shelf.put(f"{n}", 1_000 + n)
    shelf.before_fetch = lambda one: shelf.objects.pop("2", None) and None
    names, _ = _from(shelf, plain)
    assert names == ["0", "1", "3", "4"]
    shelf.torn.add("3")
    with pytest.raises(UnavailableError, match="shelf/3 changed while it was read"):
        _from(shelf, plain)
    shelf.torn.clear()
    assert _from(shelf, plain)[0] == ["0", "1", "3", "4"]


def test_an_object_that_is_too_large_is_named_and_the_others_are_read(
    shelf: Shelf, plain: Errand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "MAX_OBJECT_BYTES", 100)
    for n in range(3):
        shelf.put(f"{n}", 1_000 + n, b"x" * (101 if n == 1 else 50))
    batches: list[Batch] = []
    with pytest.raises(InputError, match=r"1 objects are above .* first s3://shelf/1"):
        batches.extend(pull_objects(replace(plain, since_us=0), shelf, Place("s3", "shelf", "", "", False, MINUTE)))
    assert [one.given for batch in batches for one in batch.files] == ["s3://shelf/0", "s3://shelf/2"]
