"""Pulls that are killed (-9) at random moments: when the last one is through, every row is in the warehouse once."""

from __future__ import annotations

import random
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from app.control import sources
from app.main.background import Background
from app.main.runtime import opened
from app.main.sources import add_source, remove_source
from app.settings import Settings
from tests.connectors.buckets import filled_bucket
from tests.connectors.fake_server import FakeServer
from tests.connectors.killing import KILLS, puller
from tests.connectors.protocols import KEY, PROTOCOLS, PUBLIC, SECRET, Protocol, Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.soak

ROWS = 400
OBJECTS = 24


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FAKE_KEY", KEY), ("FAKE_PUBLIC", PUBLIC), ("FAKE_SECRET", SECRET)):
        monkeypatch.setenv(name, value)


@pytest.fixture(params=PROTOCOLS, ids=lambda protocol: protocol.kind)
def server(request: pytest.FixtureRequest, keys: None) -> Iterator[tuple[Protocol, Table, FakeServer]]:
    table, now = Table(), datetime.now(UTC)
    protocol: Protocol = request.param
    for n in range(ROWS):
        late = timedelta(minutes=2 + n * 20) if protocol.requests else timedelta(days=1 + n % 28)
        table.add(now - late, f"row-{n:04d}-abcdef0123456789")
    with FakeServer(lambda asked: protocol.speak(table, asked)) as fake:
        yield protocol, table, fake


def pull_and_kill(
    settings: Settings, fake: FakeServer, kind: str, given: dict[str, str], most: int, dice: random.Random
) -> int:
    """Pull KILLS times, each killed soon after some questions; a pull that comes through is begun from the start."""
    killed = 0
    add_source(settings, kind=kind, name="pulled", given=given, every_us=0)
    with puller() as one:
        for _ in range(KILLS):
            due = threading.Event()
            last = len(fake.asked) + dice.randint(1, most)
            fake.before = lambda number, due=due, last=last: due.set() if number >= last else None
            if one.pull_and_kill(settings.data_dir, due.is_set, dice.uniform(0, 0.05)):
                killed += 1
                continue
            remove_source(settings, "pulled")
            add_source(settings, kind=kind, name="pulled", given=given, every_us=0)
    fake.before = lambda number: None
    return killed


def test_nothing_is_lost_and_nothing_twice(server: tuple[Protocol, Table, FakeServer], tmp_path: Path) -> None:
    protocol, table, fake = server
    dice = random.Random(f"{protocol.kind} 4")
    settings = replace(Settings(), data_dir=tmp_path / "data", allow_hosts="127.0.0.1")
    given = {"url": fake.url, **protocol.options, **({"limit": "25"} if protocol.requests else {})}
    assert pull_and_kill(settings, fake, protocol.kind, given, 8, dice) >= KILLS // 2
    with opened(settings) as runtime:
        work = Background(runtime, settings)
        work.run_due_sources()
        with runtime.warehouse.session() as session:
            stored = session.connection.execute("SELECT source_record FROM requests ORDER BY 1").fetchall()
            billed = session.connection.execute("SELECT sum(cost) FROM billed").fetchall()
            rejected = session.connection.execute("SELECT count(*) FROM quarantine").fetchall()
        state = sources.cursor(runtime.control, "pulled")
    if protocol.requests:
        assert [name for (name,) in stored] == sorted(table.names())
    else:
        assert (stored, float(billed[0][0])) == ([], 0.25 * ROWS)
    assert rejected == [(0,)]
    assert (state.state, state.error) == ("ok", None)
    assert state.complete_us is not None


@pytest.mark.parametrize("kind", ["s3", "gcs", "azure"])
def test_objects_of_a_bucket_are_each_read_once(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(kind)
    settings = replace(Settings(), data_dir=tmp_path / "data", allow_hosts="127.0.0.1")
    with filled_bucket(kind, tmp_path, monkeypatch, OBJECTS) as (fake, given):
        assert pull_and_kill(settings, fake, kind, given, OBJECTS, dice) >= KILLS // 2
        with opened(settings) as runtime:
            Background(runtime, settings).run_due_sources()
            with runtime.warehouse.session() as session:
                stored = session.connection.execute("SELECT source_record FROM requests ORDER BY 1").fetchall()
            state = sources.cursor(runtime.control, "pulled")
    assert [name for (name,) in stored] == [f"chatcmpl-{n:032x}" for n in range(2 * OBJECTS)]
    assert (state.state, state.error) == ("ok", None)
