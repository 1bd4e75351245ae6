"""Buckets of Google and Azure, read by their own clients from servers that speak their protocols."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from app.core.errors import ForbiddenError, InputError, UnavailableError, UsageError
from ingest.connectors import azure_blobs, connector_named, gcs
from ingest.connectors.connector import Errand
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience
from tests.connectors.bucket_protocols import ACCOUNT_KEY, Bucket, azure, google
from tests.connectors.buckets import service_account
from tests.connectors.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass
class World:
    kind: str
    bucket: Bucket
    server: FakeServer
    options: dict[str, str]
    scratch: Path

    def errand(self, held: Any = None, **options: str) -> Errand:
        return Errand(
            options={**self.options, **options},
            held=None if held is None else json.loads(json.dumps(held)),
            now_us=int(datetime.now(UTC).timestamp() * 1_000_000),
            since_us=0,
            guard=guard(frozenset({"127.0.0.1"})),
            roots=(),
            scratch=self.scratch,
            patience=Patience(attempts=2, sleep=lambda _: None),
        )

    def pull(self, errand: Errand) -> tuple[dict[str, bytes], Any]:
        found: dict[str, bytes] = {}
        position = errand.held
        for batch in connector_named(self.kind).pull(errand):
            for one in batch.files:
                found[one.given.partition("//logs/")[2]] = one.path.read_bytes()
                one.path.unlink()
            position = batch.position
        return found, position


@pytest.fixture(params=["gcs", "azure"])
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    kind: str = request.param
    if importlib.util.find_spec("gcsfs" if kind == "gcs" else "azure.storage.blob") is None:
        pytest.skip(f"the extra `{kind}` is not installed")
    bucket, speak = Bucket(), google if kind == "gcs" else azure
    with FakeServer(lambda asked: speak(bucket, asked)) as server:
        if kind == "gcs":
            secret = tmp_path / "account.json"
            secret.write_text(json.dumps(service_account(f"{server.url}/token"), indent=2))
            options = {"url": "gs://logs/llm/", "key": f"file:{secret}", "endpoint": server.url}
        else:
            monkeypatch.setenv("AZURE_KEY", ACCOUNT_KEY)
            options = {"url": "az://logs/llm/", "key": "env:AZURE_KEY", "endpoint": f"{server.url}/account"}
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        yield World(kind, bucket, server, options, scratch)


def test_each_object_under_the_prefix_is_read_once_over_all_pages(world: World) -> None:
    bodies = {f"llm/{n} days/Ü{n}.jsonl": f'{{"n": {n}}}\n'.encode() * 50 for n in range(8)}
    for key, body in {**bodies, "other/x.jsonl": b"{}\n"}.items():
        world.bucket.put(key, body)
    found, position = world.pull(world.errand())
    assert found == bodies
    assert world.pull(world.errand(position))[0] == {}


def test_a_new_and_a_changed_object_are_read_and_no_other(world: World) -> None:
    for n in range(4):
        world.bucket.put(f"llm/{n}", b"{}\n")
    _, position = world.pull(world.errand())
    world.bucket.put("llm/0-late", b"[]\n")
    world.bucket.put("llm/2", b'{"a": 1}\n')
    assert world.pull(world.errand(position))[0] == {"llm/0-late": b"[]\n", "llm/2": b'{"a": 1}\n'}


def test_an_object_deleted_after_the_listing_hides_no_other(world: World) -> None:
    for n in range(4):
        world.bucket.put(f"llm/{n}", b"{}\n")

    def delete(number: int) -> None:
        if "/llm" in world.server.asked[-1].path or "llm%2F" in world.server.asked[-1].path:
            world.bucket.objects.pop("llm/2", None)

    world.server.before = delete
    assert sorted(world.pull(world.errand())[0]) == ["llm/0", "llm/1", "llm/3"]


def test_a_missing_bucket_a_refused_key_and_a_foreign_host_are_named(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = world.options["url"].partition(":")[0]
    with pytest.raises(InputError, match=r"no (bucket|container) nowhere"):
        world.pull(world.errand(url=f"{scheme}://nowhere"))
    with pytest.raises(ForbiddenError, match="not an allowed host"):
        world.pull(replace(world.errand(), guard=guard(frozenset({"*"}))))
    without = replace(world.errand(), options={name: text for name, text in world.options.items() if name != "key"})
    with pytest.raises(ForbiddenError, match="refuses the key"):
        world.pull(without)


# gcsfs pauses by itself for a minute before it gives up.
@pytest.mark.parametrize("world", ["azure"], indirect=True)
def test_a_server_that_is_away_is_tried_again_and_then_said(world: World) -> None:
    with pytest.raises(UnavailableError, match="2 times in a row"):
        world.pull(world.errand(endpoint="http://127.0.0.1:1/account"))


def test_a_busy_server_is_asked_again(world: World) -> None:
    world.bucket.put("llm/1", b"{}\n")
    if world.kind == "gcs":
        world.pull(world.errand())  # the token first
    world.server.answers.append((503, {}, b""))
    assert world.pull(world.errand())[0] == {"llm/1": b"{}\n"}


def test_hosts_named_beforehand_are_those_that_are_called(world: World) -> None:
    hosts = connector_named(world.kind).hosts(world.options)
    assert {f"http://{host}:{port}" for host, port in hosts} == {world.server.url}


def test_hosts_of_the_real_stores(tmp_path: Path) -> None:
    secret = tmp_path / "account.json"
    secret.write_text(json.dumps({"type": "service_account", "token_uri": "https://oauth2.googleapis.com/token"}))
    assert list(gcs.CONNECTOR.hosts({"url": "gs://logs", "key": f"file:{secret}"})) == [
        ("storage.googleapis.com", 443),
        ("oauth2.googleapis.com", 443),
    ]
    assert list(azure_blobs.CONNECTOR.hosts({"account": "team"})) == [("team.blob.core.windows.net", 443)]
    with pytest.raises(UsageError, match="account"):
        azure_blobs.CONNECTOR.configured({"url": "az://logs"})


def test_a_key_that_is_no_document_is_named_and_not_shown(tmp_path: Path) -> None:
    secret = tmp_path / "account.json"
    secret.write_text("-----BEGIN PRIVATE KEY----- sesame")
    with pytest.raises(UsageError, match="no JSON document") as refused:
        gcs.CONNECTOR.hosts({"url": "gs://logs", "key": f"file:{secret}"})
    assert "sesame" not in str(refused.value)
