"""Whatever times the rows have and whatever arrives while pages are read: every row that was there is handed over."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.connectors import connector_named, langfuse
from ingest.connectors.connector import Errand
from ingest.connectors.outbound import guard
from ingest.connectors.polite import Patience
from tests.connectors.fake_server import FakeServer
from tests.connectors.protocols import KEY, PROTOCOLS, PUBLIC, SECRET, Protocol, Table

if TYPE_CHECKING:
    from pathlib import Path

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
HOURS = 6
NOW = BEGIN + timedelta(hours=HOURS)


def _us(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FAKE_KEY", KEY), ("FAKE_PUBLIC", PUBLIC), ("FAKE_SECRET", SECRET)):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(langfuse, "DAY_US", 37 * 60_000_000)  # several slices in the hours of this test


@pytest.mark.parametrize("kind", ["langfuse", "helicone"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    count=st.integers(0, 60),
    seed=st.integers(0, 2**32),
    limit=st.integers(1, 20),
    arrivals=st.dictionaries(st.integers(1, 12), st.integers(0, HOURS * 3_600_000 - 1), max_size=4),
    stop=st.integers(0, 8),
)
def test_no_row_is_passed_over(
    keys: None,
    tmp_path: Path,
    kind: str,
    count: int,
    seed: int,
    limit: int,
    arrivals: dict[int, int],
    stop: int,
) -> None:
    protocol: Protocol = next(one for one in PROTOCOLS if one.kind == kind)
    table = Table()
    dice = random.Random(seed)
    shared = [dice.randrange(HOURS * 3_600_000) for _ in range(2)]
    for n in range(count):
        # Many rows share a millisecond, and pages are smaller than what shares it.
        offset = dice.choice((dice.randrange(HOURS * 3_600_000), *shared))
        table.add(BEGIN + timedelta(milliseconds=offset), f"row-{n:04d}-abcdef0123456789")
    there = table.names()
    with FakeServer(lambda asked: protocol.speak(table, asked)) as server:
        server.before = lambda number: (
            table.add(BEGIN + timedelta(milliseconds=arrivals[number]), f"late-{number}-0123456789abcdef")
            if number in arrivals
            else None
        )

        def errand(held: object) -> Errand:
            options = {"url": server.url, **protocol.options, "limit": str(limit)}
            check, patience = guard(frozenset({"127.0.0.1"})), Patience(attempts=1)
            return Errand(options, held, _us(NOW), _us(BEGIN), check, (), tmp_path, patience)

        names: set[str] = set()
        position = None
        pull = connector_named(kind).pull
        for number, batch in enumerate(pull(errand(None))):
            names.update(name for line in batch.lines for name in protocol.names(json.loads(line)))
            position = json.loads(json.dumps(batch.position))
            if number == stop:
                break
        for batch in pull(errand(position)):
            names.update(name for line in batch.lines for name in protocol.names(json.loads(line)))
            position = batch.position
    assert there <= names <= table.names()
    assert position["through_us"] == _us(NOW)
